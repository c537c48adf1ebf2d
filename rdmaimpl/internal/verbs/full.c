//go:build cgo && !noverbs

// Sends carried through to their completions.

#include "zc.h"
#ifdef ZC_HEADERS
#include "hot.h"
#include "libs.h"

#include <unistd.h>

static int post_receives(struct zc_full *f, struct zc_done *d)
{
	const struct zc_steps *recv = zc_steps_of(ZC_RECV_ARRAY_LINKED);
	d->err = 0;
	if (f->withhold)
		return 0;
	recv->build(f->recv);
	d->err = recv->post(f->recv);
	d->bad = f->recv->bad;
	return d->err;
}

int zc_full_receives(struct zc_full *f, uint32_t batches, struct zc_done *d)
{
	int err = 0;
	for (uint32_t k = 0; k < batches && !err; k++)
		err = post_receives(f, d);
	return err;
}

// zc_full_await collects batches and looks at the lengths that arrived.
int zc_full_await(struct zc_full *f, const struct zc_lane *l, uint32_t batches)
{
	f->wait = (struct zc_wait){.sends = batches, .recvs = batches * l->batch};
	if (f->pause_us)
		usleep(f->pause_us);
	int why = zc_await(f->device, f->sender, f->receiver, f->timeout_ms, &f->wait, f->wcs, f->wcs_room);
	f->wakeups += f->wait.wakeups;
	uint32_t seen = f->wait.sent + f->wait.received;
	for (uint32_t i = 0; i < seen && i < f->wcs_room; i++) {
		if (!f->wcs[i].recv || f->wcs[i].byte_len == l->src.len)
			continue;
		if (f->wrong_len++ == 0)
			f->first_len = f->wcs[i].byte_len;
	}
	return why;
}

void zc_full_run(enum zc_kind kind, struct zc_lane *l, struct zc_full *f, uint32_t batches, struct zc_lap *laps, uint64_t *latency, int tsc, struct zc_done *d)
{
	struct zc_done one = {0};
	int64_t minor = 0, major = 0, waits = 0;
	uint32_t k = 0;
	uint64_t start = zc_ticks(tsc);
	f->wrong_len = f->wakeups = 0;
	for (; k < batches; k++) {
		if (post_receives(f, &one))
			break;
		zc_window(kind, l, 1, &laps[k], tsc, &one);
		minor += one.minor_faults;
		major += one.major_faults;
		waits += one.waits;
		if (one.err || zc_full_await(f, l, 1) != ZC_DONE)
			break;
		uint64_t end = zc_ticks(tsc);
		if (latency)
			latency[k] = end - laps[k].start - laps[k].build;
		if (l->hold) {
			zc_lane_release(l);
			laps[k].drop += zc_ticks(tsc) - end;
		}
	}
	*d = (struct zc_done){zc_ticks(tsc) - start, k, one.err, one.bad, minor, major, waits};
}

int zc_two_parts(struct zc_full *f, const struct zc_two *two, struct zc_done *d)
{
	struct ibv_qp_ex *ex = f->sender->ex;
	struct ibv_data_buf bufs[2];
	struct ibv_sge sges[2];
	*d = (struct zc_done){.bad = -1};
	if (post_receives(f, d))
		return ZC_ERRNO;
	for (int i = 0; i < 2; i++) {
		bufs[i] = (struct ibv_data_buf){(void *)(uintptr_t)two->at[i], two->len[i]};
		sges[i] = (struct ibv_sge){two->at[i], two->len[i], two->lkey};
	}
	ibv_wr_start(ex);
	ex->wr_id = 0;
	ex->wr_flags = IBV_SEND_SIGNALED | (two->as_inline ? IBV_SEND_INLINE : 0);
	ibv_wr_send(ex);
	if (two->as_inline)
		ibv_wr_set_inline_data_list(ex, 2, bufs);
	else
		ibv_wr_set_sge_list(ex, 2, sges);
	d->err = ibv_wr_complete(ex);
	if (d->err)
		return ZC_ERRNO;
	f->wait = (struct zc_wait){.sends = 1, .recvs = 1};
	return zc_await(f->device, f->sender, f->receiver, f->timeout_ms, &f->wait, f->wcs, f->wcs_room);
}

int zc_post_recv(void *qp, void *wrs, int32_t *bad)
{
	struct ibv_recv_wr *refused = NULL;
	int err = ibv_post_recv(qp, wrs, &refused);
	*bad = err && refused ? refused - (struct ibv_recv_wr *)wrs : -1;
	return err < 0 ? -err : err;
}

#endif
