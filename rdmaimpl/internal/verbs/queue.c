//go:build cgo && !noverbs

// Queue pairs and the states they pass through.

#include "zc.h"
#ifdef ZC_HEADERS
#include "libs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int make_cqs(struct zc_device *d, uint32_t cqe, struct zc_qp *q)
{
	struct ibv_comp_channel *ch = zc_lib.ibv_create_comp_channel(d->ctx);
	if (!ch)
		return errno ? errno : EIO;
	q->channel = ch;
	int flags = fcntl(ch->fd, F_GETFL);
	if (flags < 0 || fcntl(ch->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return errno;
	errno = 0;
	q->send_cq = zc_lib.ibv_create_cq(d->ctx, cqe, NULL, ch, 0);
	if (q->send_cq)
		q->recv_cq = zc_lib.ibv_create_cq(d->ctx, cqe, NULL, ch, 0);
	if (!q->recv_cq)
		return errno ? errno : EIO;
	q->cqe = ((struct ibv_cq *)q->send_cq)->cqe;
	return 0;
}

static struct ibv_qp *make_ex(struct zc_device *d, const struct ibv_qp_init_attr *a)
{
	struct verbs_context *v = verbs_get_ctx_op((struct ibv_context *)d->ctx, create_qp_ex);
	if (!v) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	struct ibv_qp_init_attr_ex ex = {
		.send_cq = a->send_cq, .recv_cq = a->recv_cq, .cap = a->cap, .qp_type = a->qp_type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = d->pd, .send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	return v->create_qp_ex(d->ctx, &ex);
}

int zc_qp_create(struct zc_device *d, const struct zc_depths *want, uint32_t cqe, int ex, struct zc_qp *q)
{
	memset(q, 0, sizeof *q);
	int err = make_cqs(d, cqe, q);
	if (err) {
		zc_qp_destroy(q);
		return err;
	}
	struct ibv_qp_init_attr a = {
		.send_cq = q->send_cq, .recv_cq = q->recv_cq, .qp_type = IBV_QPT_RC,
		.cap = {want->send_wr, want->recv_wr, want->send_sge, want->recv_sge, want->inline_bytes},
	};
	errno = 0;
	struct ibv_qp *qp = ex ? make_ex(d, &a) : zc_lib.ibv_create_qp(d->pd, &a);
	if (!qp) {
		err = errno ? errno : EINVAL;
		zc_qp_destroy(q);
		return err;
	}
	q->qp = qp;
	q->num = qp->qp_num;
	q->ex = ex ? zc_lib.ibv_qp_to_qp_ex(qp) : NULL;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr got;
	memset(&got, 0, sizeof got);
	err = zc_lib.ibv_query_qp(qp, &attr, IBV_QP_CAP, &got);
	if (err) {
		zc_qp_destroy(q);
		return err;
	}
	q->granted = (struct zc_depths){got.cap.max_send_wr, got.cap.max_recv_wr, got.cap.max_send_sge, got.cap.max_recv_sge, got.cap.max_inline_data};
	return 0;
}

int zc_qp_destroy(struct zc_qp *q)
{
	int err = 0, e;
	if (q->qp && (e = zc_lib.ibv_destroy_qp(q->qp)))
		err = e;
	if (q->send_cq && (e = zc_lib.ibv_destroy_cq(q->send_cq)))
		err = e;
	if (q->recv_cq && (e = zc_lib.ibv_destroy_cq(q->recv_cq)))
		err = e;
	if (q->channel && (e = zc_lib.ibv_destroy_comp_channel(q->channel)))
		err = e;
	memset(q, 0, sizeof *q);
	return err;
}

int zc_qp_reset(struct zc_qp *q)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};
	return zc_lib.ibv_modify_qp(q->qp, &a, IBV_QP_STATE);
}

int zc_qp_init(struct zc_qp *q, int port)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = port};
	return zc_lib.ibv_modify_qp(q->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int zc_qp_rtr(struct zc_qp *q, const struct zc_path *p)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR, .path_mtu = p->mtu, .dest_qp_num = p->qpn, .rq_psn = p->psn,
		.max_dest_rd_atomic = 1, .min_rnr_timer = p->min_rnr_timer,
		.ah_attr = {.is_global = 1, .port_num = p->port, .grh = {.sgid_index = p->gid_index, .hop_limit = 64}},
	};
	memcpy(a.ah_attr.grh.dgid.raw, p->gid, sizeof p->gid);
	return zc_lib.ibv_modify_qp(q->qp, &a,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int zc_qp_rts(struct zc_qp *q, const struct zc_path *p)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTS, .sq_psn = p->psn, .timeout = p->timeout, .retry_cnt = p->retry,
		.rnr_retry = p->rnr_retry, .max_rd_atomic = 1,
	};
	return zc_lib.ibv_modify_qp(q->qp, &a,
		IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

int zc_qp_state(struct zc_qp *q)
{
	struct ibv_qp_attr a;
	struct ibv_qp_init_attr init;
	int err = zc_lib.ibv_query_qp(q->qp, &a, IBV_QP_STATE, &init);
	return err ? -err : (int)a.qp_state;
}

#endif
