//go:build cgo && !noverbs

// Connections over rdma_cm, both ends on one thread, with private data handed
// over owned or borrowed. The windows are what the library's caller does with
// the parameters: around connect, the request and accept, and the reply.

#include "zc.h"
#ifdef ZC_HEADERS
#include "hot.h"
#include "libs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct zc_round *r, int stage, int err)
{
	r->stage = stage;
	r->err = err ? err : EIO;
	return -1;
}

static int check(struct zc_round *r, int stage, int rc)
{
	return rc ? fail(r, stage, rc == -1 ? errno : rc < 0 ? -rc : rc) : 0;
}

static struct sockaddr_in address(const struct zc_cm *c, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	memcpy(&a.sin_addr, c->addr, sizeof c->addr);
	return a;
}

static struct rdma_event_channel *open_channel(void)
{
	struct rdma_event_channel *ch = zc_lib.rdma_create_event_channel();
	if (ch && fcntl(ch->fd, F_SETFL, fcntl(ch->fd, F_GETFL) | O_NONBLOCK)) {
		zc_lib.rdma_destroy_event_channel(ch);
		return NULL;
	}
	return ch;
}

int zc_cm_open(struct zc_cm *c, struct zc_round *r)
{
	r->event = -1;
	c->server = open_channel();
	c->client = c->server ? open_channel() : NULL;
	if (!c->client)
		return fail(r, ZC_CM_CHANNEL, errno);
	struct rdma_cm_id *id;
	if (check(r, ZC_CM_LISTEN, zc_lib.rdma_create_id(c->server, &id, NULL, RDMA_PS_TCP)))
		return -1;
	c->listener = id;
	struct sockaddr_in a = address(c, 0);
	if (check(r, ZC_CM_LISTEN, zc_lib.rdma_bind_addr(id, (struct sockaddr *)&a)) ||
	    check(r, ZC_CM_LISTEN, zc_lib.rdma_listen(id, 4)))
		return -1;
	c->port = ntohs(zc_lib.rdma_get_src_port(id));
	return 0;
}

void zc_cm_close(struct zc_cm *c)
{
	if (c->listener)
		zc_lib.rdma_destroy_id(c->listener);
	if (c->server)
		zc_lib.rdma_destroy_event_channel(c->server);
	if (c->client)
		zc_lib.rdma_destroy_event_channel(c->client);
	c->listener = c->server = c->client = NULL;
}

static int ready(struct rdma_event_channel *ch, int timeout_ms)
{
	struct pollfd p = {.fd = ch->fd, .events = POLLIN};
	int n = poll(&p, 1, timeout_ms);
	if (n == 0)
		errno = ETIMEDOUT;
	return n > 0 ? 0 : -1;
}

// get takes the event that is due. Another kind is the failure of the stage,
// reported with its status.
static struct rdma_cm_event *get(struct rdma_event_channel *ch, enum rdma_cm_event_type want, int stage, struct zc_round *r)
{
	struct rdma_cm_event *ev;
	if (zc_lib.rdma_get_cm_event(ch, &ev)) {
		fail(r, stage, errno);
		return NULL;
	}
	if (ev->event == want && ev->status == 0)
		return ev;
	r->event = ev->event;
	r->status = ev->status;
	fail(r, stage, ev->status < 0 ? -ev->status : EPROTO);
	zc_lib.rdma_ack_cm_event(ev);
	return NULL;
}

static int await(struct zc_cm *c, struct rdma_event_channel *ch, enum rdma_cm_event_type want, int stage, struct zc_round *r)
{
	if (ready(ch, c->timeout_ms))
		return fail(r, stage, errno);
	struct rdma_cm_event *ev = get(ch, want, stage, r);
	if (!ev)
		return -1;
	zc_lib.rdma_ack_cm_event(ev);
	return 0;
}

static int make_qp(struct rdma_cm_id *id, struct zc_round *r)
{
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	return check(r, ZC_CM_QP, zc_lib.rdma_create_qp(id, NULL, &a));
}

// own copies parameters as a caller does who keeps them; borrowed ones are named
// where they lie.
static const void *own(const struct zc_round *r, const void *data, uint32_t len)
{
	if (!r->owned || len == 0)
		return data;
	void *kept = malloc(len);
	if (!kept)
		abort();
	return memcpy(kept, data, len);
}

static void disown(const struct zc_round *r, const void *kept, uint32_t len)
{
	if (r->owned && len)
		free((void *)kept);
}

// change_late changes what was handed over, for the probe of when it is read.
static void change_late(const struct zc_private *p)
{
	if (p->late)
		memcpy((void *)p->data, p->late, p->len);
}

static struct rdma_conn_param param(const void *data, uint32_t len)
{
	return (struct rdma_conn_param){
		.private_data = len ? data : NULL, .private_data_len = len,
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7,
	};
}

static int connect_window(struct rdma_cm_id *id, struct zc_round *r)
{
	const struct zc_private *p = &r->connect;
	zc_shim_watch(NULL, 0);
	zc_shim_watch(p->data, p->len);
	uint64_t from = zc_ticks(r->tsc);
	zc_shim_begin();
	const void *data = own(r, p->data, p->len);
	struct rdma_conn_param conn = param(data, p->len);
	int rc = zc_lib.rdma_connect(id, &conn);
	int err = errno;
	change_late(p);
	disown(r, data, p->len);
	zc_shim_end();
	r->connect_ticks = zc_ticks(r->tsc) - from;
	errno = err;
	return check(r, ZC_CM_CONNECT, rc);
}

// receive reads an event's private data into the round, by way of a copy of its
// own when parameters are owned.
static void receive(struct zc_round *r, struct zc_private *p, const struct rdma_cm_event *ev)
{
	uint32_t len = ev->param.conn.private_data_len;
	const void *at = ev->param.conn.private_data;
	zc_shim_watch(at, len);
	const void *mine = own(r, at, len);
	p->got_len = len;
	const uint8_t *bytes = mine;
	for (uint32_t i = 0; i < len && i < ZC_PRIVATE_ROOM; i++) // read where they lie, not a copy to count
		((volatile uint8_t *)p->got)[i] = bytes[i];
	disown(r, mine, len);
}

static int accept_window(struct zc_cm *c, struct rdma_cm_id **id, struct zc_round *r)
{
	if (ready(c->server, c->timeout_ms))
		return fail(r, ZC_CM_REQUEST, errno);
	zc_shim_watch(NULL, 0);
	uint64_t from = zc_ticks(r->tsc);
	zc_shim_begin();
	struct rdma_cm_event *ev = get(c->server, RDMA_CM_EVENT_CONNECT_REQUEST, ZC_CM_REQUEST, r);
	if (ev) {
		*id = ev->id;
		receive(r, &r->connect, ev);
		zc_lib.rdma_ack_cm_event(ev);
	}
	zc_shim_end();
	r->request_ticks = zc_ticks(r->tsc) - from;
	if (!ev || make_qp(*id, r))
		return -1;
	const struct zc_private *p = &r->accept;
	zc_shim_watch(NULL, 0);
	zc_shim_watch(p->data, p->len);
	zc_shim_begin();
	const void *data = own(r, p->data, p->len);
	struct rdma_conn_param conn = param(data, p->len);
	int rc = zc_lib.rdma_accept(*id, &conn);
	int err = errno;
	change_late(p);
	disown(r, data, p->len);
	zc_shim_end();
	errno = err;
	return check(r, ZC_CM_ACCEPT, rc);
}

static int established_window(struct zc_cm *c, struct zc_round *r)
{
	if (ready(c->client, c->timeout_ms))
		return fail(r, ZC_CM_ESTABLISHED, errno);
	zc_shim_watch(NULL, 0);
	uint64_t from = zc_ticks(r->tsc);
	zc_shim_begin();
	struct rdma_cm_event *ev = get(c->client, RDMA_CM_EVENT_ESTABLISHED, ZC_CM_ESTABLISHED, r);
	if (ev) {
		receive(r, &r->accept, ev);
		zc_lib.rdma_ack_cm_event(ev);
	}
	zc_shim_end();
	r->established_ticks = zc_ticks(r->tsc) - from;
	return ev ? 0 : -1;
}

static int connect_ids(struct zc_cm *c, struct zc_round *r, struct rdma_cm_id *client, struct rdma_cm_id **server)
{
	struct sockaddr_in a = address(c, r->port ? r->port : c->port);
	if (check(r, ZC_CM_RESOLVE, zc_lib.rdma_resolve_addr(client, NULL, (struct sockaddr *)&a, c->timeout_ms)) ||
	    await(c, c->client, RDMA_CM_EVENT_ADDR_RESOLVED, ZC_CM_RESOLVE, r) ||
	    check(r, ZC_CM_ROUTE, zc_lib.rdma_resolve_route(client, c->timeout_ms)) ||
	    await(c, c->client, RDMA_CM_EVENT_ROUTE_RESOLVED, ZC_CM_ROUTE, r) || make_qp(client, r))
		return -1;
	uint64_t from = zc_ticks(r->tsc);
	if (connect_window(client, r))
		return -1;
	if (r->port && r->port != c->port) // nobody of ours listens there
		return established_window(c, r);
	if (accept_window(c, server, r) || established_window(c, r) ||
	    await(c, c->server, RDMA_CM_EVENT_ESTABLISHED, ZC_CM_ESTABLISHED, r))
		return -1;
	r->setup_ticks = zc_ticks(r->tsc) - from;
	return 0;
}

// Both ends say goodbye: the one that is told answers, and the first then knows.
static int take_down(struct zc_cm *c, struct zc_round *r, struct rdma_cm_id *client, struct rdma_cm_id *server)
{
	return check(r, ZC_CM_DISCONNECT, zc_lib.rdma_disconnect(client)) ||
	       await(c, c->server, RDMA_CM_EVENT_DISCONNECTED, ZC_CM_DISCONNECT, r) ||
	       check(r, ZC_CM_DISCONNECT, zc_lib.rdma_disconnect(server)) ||
	       await(c, c->client, RDMA_CM_EVENT_DISCONNECTED, ZC_CM_DISCONNECT, r) ? -1 : 0;
}

static void destroy(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp)
		zc_lib.rdma_destroy_qp(id);
	zc_lib.rdma_destroy_id(id);
}

int zc_cm_round(struct zc_cm *c, struct zc_round *r)
{
	struct rdma_cm_id *client = NULL, *server = NULL;
	r->stage = ZC_CM_DONE;
	r->event = -1;
	if (check(r, ZC_CM_ID, zc_lib.rdma_create_id(c->client, &client, NULL, RDMA_PS_TCP)))
		return -1;
	int err = connect_ids(c, r, client, &server);
	if (!err)
		err = take_down(c, r, client, server);
	destroy(client);
	destroy(server);
	return err;
}

const char *zc_cm_event_name(int event)
{
	return zc_lib.rdma_event_str(event);
}

#endif
