//go:build cgo && !noverbs

// What a lane prepares once, outside any window.

#include "zc.h"
#ifdef ZC_HEADERS
#include "hot_steps.h"

const struct zc_steps *zc_steps_of(enum zc_kind kind)
{
	return kind < ZC_SEND_GUARD ? &zc_recv_steps[kind] : &zc_send_steps[kind];
}

static int is_recv(enum zc_kind kind)
{
	return kind < ZC_SEND_GUARD;
}

static void prepare_recv(struct zc_lane *l)
{
	struct ibv_recv_wr *wrs = l->wr_array;
	for (uint32_t i = 0; i < l->batch; i++)
		wrs[i].num_sge = l->sges;
	link_recv(wrs, l->sge_array, l->batch);
}

static void prepare_send(struct zc_lane *l)
{
	struct ibv_send_wr *wrs = l->wr_array;
	struct batch b = batch_of(l);
	for (uint32_t i = 0; i < l->batch; i++) {
		wrs[i].num_sge = l->sges;
		wrs[i].opcode = IBV_WR_SEND;
		wrs[i].send_flags = flags_of(&b, i);
	}
	link_send(wrs, l->sge_array, l->batch);
}

int zc_lane_open(struct zc_lane *l, enum zc_kind kind)
{
	if (kind >= ZC_KINDS || l->batch == 0 || l->sges == 0 || l->sges > ZC_SGES)
		return EINVAL;
	size_t wr_size = is_recv(kind) ? sizeof(struct ibv_recv_wr) : sizeof(struct ibv_send_wr);
	l->each = l->src.len / l->sges;
	l->wr_array = calloc(l->batch, wr_size);
	l->sge_array = calloc((size_t)l->batch * l->sges, sizeof(struct ibv_sge));
	l->aux = calloc(l->batch, sizeof(struct zc_mr));
	if (!l->wr_array || !l->sge_array || !l->aux) {
		zc_lane_close(l);
		return ENOMEM;
	}
	struct ibv_sge *sges = l->sge_array;
	for (uint32_t i = 0; i < l->batch * l->sges; i++)
		sges[i] = (struct ibv_sge){l->src.base, l->each, l->src.lkey};
	is_recv(kind) ? prepare_recv(l) : prepare_send(l);
	return 0;
}

void zc_lane_release(struct zc_lane *l)
{
	struct zc_mr *mrs = l->aux;
	for (uint32_t i = 0; mrs && i < l->batch; i++)
		if (mrs[i].mr && zc_mr_deregister(&mrs[i]) == 0)
			mrs[i].mr = NULL;
}

void zc_lane_close(struct zc_lane *l)
{
	zc_lane_release(l);
	vec_drop(&l->wrs);
	vec_drop(&l->sge);
	vec_drop(&l->inlines);
	free(l->wr_array);
	free(l->sge_array);
	free(l->aux);
	l->wr_array = l->sge_array = l->aux = NULL;
}

#endif
