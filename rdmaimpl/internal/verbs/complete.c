//go:build cgo && !noverbs

// Waiting for completions: by events and with a deadline, so that a lost
// completion ends in an error and never in a hang. A device that polls itself
// would starve soft-RoCE's workers on a guest's only CPU.

#include "zc.h"
#ifdef ZC_HEADERS
#include "libs.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct zc_wc plain(const struct ibv_wc *wc, int recv)
{
	return (struct zc_wc){wc->wr_id, wc->byte_len, wc->vendor_err, wc->status, wc->opcode, recv};
}

// take moves completions of one CQ to the caller; it returns 1 when one failed
// or the CQ cannot be polled.
static int take(struct ibv_cq *cq, int recv, uint32_t *seen, struct zc_wait *w, struct zc_wc *wcs, uint32_t room)
{
	struct ibv_wc got[32];
	for (;;) {
		int n = ibv_poll_cq(cq, 32, got);
		if (n < 0) {
			w->why = ZC_ERRNO;
			w->detail = -n;
			return 1;
		}
		for (int i = 0; i < n; i++) {
			struct zc_wc wc = plain(&got[i], recv);
			if (wcs && w->sent + w->received < room)
				wcs[w->sent + w->received] = wc;
			if (wc.status != IBV_WC_SUCCESS) {
				w->why = ZC_WC_FAILED;
				w->failed = wc;
				return 1;
			}
			++*seen;
		}
		if (n < 32)
			return 0;
	}
}

static int enough(const struct zc_wait *w)
{
	return w->sent >= w->sends && w->received >= w->recvs;
}

static int sweep(struct zc_qp *s, struct zc_qp *r, struct zc_wait *w, struct zc_wc *wcs, uint32_t room)
{
	return take(s->send_cq, 0, &w->sent, w, wcs, room) || take(r->recv_cq, 1, &w->received, w, wcs, room);
}

static void drain(struct ibv_comp_channel *ch)
{
	struct ibv_cq *cq;
	void *unused;
	while (zc_lib.ibv_get_cq_event(ch, &cq, &unused) == 0)
		zc_lib.ibv_ack_cq_events(cq, 1);
}

int zc_async_event(struct zc_device *d, int timeout_ms)
{
	struct pollfd p = {.fd = d->async_fd, .events = POLLIN};
	struct ibv_async_event ev;
	if (poll(&p, 1, timeout_ms) <= 0 || zc_lib.ibv_get_async_event(d->ctx, &ev))
		return -1;
	zc_lib.ibv_ack_async_event(&ev);
	return ev.event_type;
}

// An event that only tells that the connection is up is not a fault.
static int harmless(int event)
{
	return event == IBV_EVENT_COMM_EST || event == IBV_EVENT_SQ_DRAINED || event == IBV_EVENT_GID_CHANGE || event == IBV_EVENT_PORT_ACTIVE;
}

static int block(struct zc_device *d, struct zc_qp *s, struct zc_qp *r, int64_t until, struct zc_wait *w)
{
	struct ibv_comp_channel *sc = s->channel, *rc = r->channel;
	struct pollfd fds[3] = {{sc->fd, POLLIN, 0}, {rc->fd, POLLIN, 0}, {d->async_fd, POLLIN, 0}};
	int64_t left = until - now_ms();
	int n = left > 0 ? poll(fds, 3, left) : 0;
	if (n < 0 && errno != EINTR) {
		w->why = ZC_ERRNO;
		w->detail = errno;
		return 1;
	}
	if (n == 0) {
		w->why = ZC_DEADLINE;
		return 1;
	}
	w->wakeups++;
	drain(sc);
	drain(rc);
	if (fds[2].revents & POLLIN) {
		int event = zc_async_event(d, 0);
		if (event >= 0 && !harmless(event)) {
			w->why = ZC_ASYNC;
			w->detail = event;
			return 1;
		}
	}
	return 0;
}

int zc_await(struct zc_device *d, struct zc_qp *s, struct zc_qp *r, int timeout_ms, struct zc_wait *w, struct zc_wc *wcs, uint32_t room)
{
	int64_t until = now_ms() + timeout_ms;
	w->why = ZC_DONE;
	for (;;) {
		if (sweep(s, r, w, wcs, room))
			return w->why;
		if (enough(w))
			return ZC_DONE;
		int err = ibv_req_notify_cq(s->send_cq, 0);
		if (!err)
			err = ibv_req_notify_cq(r->recv_cq, 0);
		if (err) {
			w->why = ZC_ERRNO;
			w->detail = err;
			return w->why;
		}
		// A completion that came before the request for events raises none.
		if (sweep(s, r, w, wcs, room) || enough(w))
			return w->why;
		if (block(d, s, r, until, w))
			return w->why;
	}
}

#endif
