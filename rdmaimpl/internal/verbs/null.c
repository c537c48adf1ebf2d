//go:build cgo && !noverbs

// The null queue pair: no device, no work, every request read.

#include "zc.h"
#ifdef ZC_HEADERS
#include "hot.h"
#include "libs.h"

#include <errno.h>
#include <stdlib.h>

struct null_qp {
	struct ibv_qp_ex ex; // its first member is the plain queue pair
	struct ibv_context ctx;
	struct zc_seen seen;
};

static struct null_qp *of(void *qp)
{
	return qp;
}

static int read_sges(struct zc_seen *s, const struct ibv_sge *sge, int n, unsigned flags)
{
	if (n > 0 && !sge)
		return EINVAL;
	for (int i = 0; i < n; i++) {
		s->sges++;
		s->bytes += sge[i].length;
		const uint8_t *at = (const uint8_t *)(uintptr_t)sge[i].addr;
		for (uint32_t j = 0; flags & IBV_SEND_INLINE && j < sge[i].length; j++)
			s->payload += at[j];
	}
	return 0;
}

static int null_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct zc_seen *s = &of(qp)->seen;
	s->posts++;
	for (; wr; wr = wr->next) {
		s->wrs++;
		s->ids += wr->wr_id;
		if (read_sges(s, wr->sg_list, wr->num_sge, 0)) {
			*bad = wr;
			return EINVAL;
		}
	}
	return 0;
}

static int null_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct zc_seen *s = &of(qp)->seen;
	s->posts++;
	for (; wr; wr = wr->next) {
		s->wrs++;
		s->ids += wr->wr_id;
		if (wr->opcode != IBV_WR_SEND || read_sges(s, wr->sg_list, wr->num_sge, wr->send_flags)) {
			*bad = wr;
			return EINVAL;
		}
	}
	return 0;
}

static void null_start(struct ibv_qp_ex *qp)
{
	of(qp)->seen.posts++;
}

static void null_wr_send(struct ibv_qp_ex *qp)
{
	of(qp)->seen.wrs++;
	of(qp)->seen.ids += qp->wr_id;
}

static void null_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {addr, length, lkey};
	read_sges(&of(qp)->seen, &sge, 1, 0);
}

static void null_sge_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_sge *list)
{
	read_sges(&of(qp)->seen, list, n, 0);
}

static void null_inline(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	struct ibv_sge sge = {(uintptr_t)addr, length, 0};
	read_sges(&of(qp)->seen, &sge, 1, IBV_SEND_INLINE);
}

static void null_inline_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_data_buf *list)
{
	for (size_t i = 0; i < n; i++)
		null_inline(qp, list[i].addr, list[i].length);
}

static int null_complete(struct ibv_qp_ex *qp)
{
	(void)qp;
	return 0;
}

int zc_null_open(struct zc_qp *q)
{
	struct null_qp *n = calloc(1, sizeof *n);
	if (!n)
		return ENOMEM;
	n->ctx.ops.post_recv = null_recv;
	n->ctx.ops.post_send = null_send;
	n->ex.qp_base.context = &n->ctx;
	n->ex.wr_start = null_start;
	n->ex.wr_send = null_wr_send;
	n->ex.wr_set_sge = null_sge;
	n->ex.wr_set_sge_list = null_sge_list;
	n->ex.wr_set_inline_data = null_inline;
	n->ex.wr_set_inline_data_list = null_inline_list;
	n->ex.wr_complete = null_complete;
	*q = (struct zc_qp){.qp = n, .ex = n, .granted = {~0u, ~0u, ZC_SGES, ZC_SGES, ~0u}};
	return 0;
}

void zc_null_close(struct zc_qp *q)
{
	free(q->qp);
	q->qp = q->ex = NULL;
}

struct zc_seen zc_null_seen(struct zc_qp *q)
{
	struct zc_seen s = of(q->qp)->seen;
	of(q->qp)->seen = (struct zc_seen){0};
	return s;
}

#endif
