//go:build cgo && !noverbs

#include "zc.h"
#ifdef ZC_HEADERS
#include "hot_steps.h"

// Receive, guard: the arrays of a batch grow from nothing, a WR is pushed with
// no list, then its SGEs, and all is freed after the post.

ALWAYS void push_recv(struct zc_lane *l)
{
	struct batch b = batch_of(l);
	for (uint32_t i = 0; i < b.n; i++) {
		uint64_t at = buf_at(&b.src, b.at++);
		struct ibv_recv_wr *wr = vec_extend(&l->wrs, 1, sizeof *wr);
		*wr = (struct ibv_recv_wr){.wr_id = b.id++};
		wr->num_sge = b.g;
		PUSH_SGES(l, b, at);
	}
	batch_end(l, &b);
	link_recv((struct ibv_recv_wr *)l->wrs.at, (struct ibv_sge *)l->sge.at, b.n);
	KEEP(l->wrs.at);
}

LANE_LOOP(zc_recv_guard, push_recv, guard_recv, guard_drop)

// Receive, guard-reserved: the same with the room asked for at the start.

ALWAYS void reserve_recv(struct zc_lane *l)
{
	vec_with(&l->wrs, l->batch, sizeof(struct ibv_recv_wr));
	vec_with(&l->sge, l->batch * l->sges, sizeof(struct ibv_sge));
	push_recv(l);
}

LANE_LOOP(zc_recv_guard_reserved, reserve_recv, guard_recv, guard_drop)

// Receive, guard-reused: the arrays are emptied, not freed.

ALWAYS void reuse_drop(struct zc_lane *l)
{
	l->wrs.len = l->sge.len = 0;
}

LANE_LOOP(zc_recv_guard_reused, push_recv, guard_recv, reuse_drop)

// Receive, array: the caller fills arrays made once, the call links them.

ALWAYS void fill_recv(struct zc_lane *l, struct ibv_recv_wr *wrs, struct ibv_sge *sges)
{
	struct batch b = batch_of(l);
	for (uint32_t i = 0; i < b.n; i++) {
		uint64_t at = buf_at(&b.src, b.at++);
		wrs[i].wr_id = b.id++;
		wrs[i].num_sge = b.g;
		FILL_SGES(sges, b, i, at);
	}
	batch_end(l, &b);
	link_recv(wrs, sges, b.n);
	KEEP(wrs);
}

ALWAYS void array_recv(struct zc_lane *l)
{
	fill_recv(l, l->wr_array, l->sge_array);
}

LANE_LOOP(zc_recv_array, array_recv, array_post_recv, no_drop)

// Receive, array-stack: arrays of the batch's size on the stack, cleared first.
// Build and post are one function's life here, so the loop is its own.

int zc_recv_array_stack(struct zc_lane *l, uint32_t batches, struct zc_lap *laps, int tsc, struct zc_done *d)
{
	int err = 0;
	uint32_t k = 0;
	l->bad = -1;
	uint64_t start = now(tsc);
	for (; k < batches && !err; k++) {
		uint64_t t0 = laps ? now(tsc) : 0;
		struct ibv_recv_wr wrs[l->batch];
		struct ibv_sge sges[l->batch * l->sges];
		memset(wrs, 0, sizeof wrs);
		memset(sges, 0, sizeof sges);
		fill_recv(l, wrs, sges);
		uint64_t t1 = laps ? now(tsc) : 0;
		err = post_recv(l, wrs);
		if (laps) {
			uint64_t t2 = now(tsc);
			laps[k] = (struct zc_lap){t0, t1 - t0, t2 - t1, now(tsc) - t2};
		}
	}
	d->ticks = now(tsc) - start;
	d->batches = err ? k - 1 : k;
	d->err = err;
	d->bad = l->bad;
	return err;
}

// Receive, array-linked: lists, lengths and keys are set once, only what differs
// from batch to batch is written. The loop holds the lane in locals from batch to
// batch, for a lane this short feels a load. With laps it is the common one.
int zc_recv_array_linked(struct zc_lane *l, uint32_t batches, struct zc_lap *laps, int tsc, struct zc_done *d)
{
	if (laps || l->sges > 1)
		return loop(l, batches, laps, tsc, d, linked_recv, array_post_recv, no_drop);
	struct ibv_qp *qp = l->qp;
	struct ibv_recv_wr *wrs = l->wr_array, *bad = NULL;
	struct ibv_sge *sges = l->sge_array;
	struct batch b = batch_of(l);
	uint32_t k = 0;
	int err = 0;
	uint64_t start = now(tsc);
	for (; k < batches; k++) {
		for (uint32_t i = 0; i < b.n; i++) {
			wrs[i].wr_id = b.id++;
			sges[i].addr = buf_at(&b.src, b.at++);
		}
		err = ibv_post_recv(qp, wrs, &bad);
		if (err)
			break;
	}
	*d = (struct zc_done){.ticks = now(tsc) - start, .batches = k, .err = positive(err), .bad = err && bad ? bad - wrs : -1};
	batch_end(l, &b);
	return d->err;
}

// Receive, bare: what a C program with prelinked requests of one SGE would write,
// with nothing of ours in it. The comparison array-linked is held to.

int zc_recv_bare(struct zc_lane *l, uint32_t batches, struct zc_lap *laps, int tsc, struct zc_done *d)
{
	struct ibv_qp *qp = l->qp;
	struct ibv_recv_wr *wrs = l->wr_array, *bad = NULL;
	struct ibv_sge *sges = l->sge_array;
	uint64_t base = l->src.base, id = l->wr_id;
	uint32_t n = l->batch, mask = l->src.mask, stride = l->src.stride, next = l->cursor;
	uint32_t k;
	int err = 0;
	(void)laps;
	uint64_t start = now(tsc);
	for (k = 0; k < batches; k++) {
		for (uint32_t i = 0; i < n; i++) {
			wrs[i].wr_id = id++;
			sges[i].addr = base + (uint64_t)(next++ & mask) * stride;
		}
		err = ibv_post_recv(qp, wrs, &bad);
		if (err)
			break;
	}
	d->ticks = now(tsc) - start;
	d->batches = k;
	d->err = positive(err);
	d->bad = err && bad ? bad - wrs : -1;
	l->wr_id = id;
	l->cursor = next;
	return d->err;
}

const struct zc_steps zc_recv_steps[ZC_KINDS] = {
	[ZC_RECV_GUARD] = {zc_recv_guard, push_recv, guard_recv, guard_drop},
	[ZC_RECV_GUARD_RESERVED] = {zc_recv_guard_reserved, reserve_recv, guard_recv, guard_drop},
	[ZC_RECV_GUARD_REUSED] = {zc_recv_guard_reused, push_recv, guard_recv, reuse_drop},
	[ZC_RECV_ARRAY] = {zc_recv_array, array_recv, array_post_recv, no_drop},
	[ZC_RECV_ARRAY_STACK] = {zc_recv_array_stack, array_recv, array_post_recv, no_drop},
	[ZC_RECV_ARRAY_LINKED] = {zc_recv_array_linked, linked_recv, array_post_recv, no_drop},
	[ZC_RECV_BARE] = {zc_recv_bare, linked_recv, array_post_recv, no_drop},
};

uint64_t zc_ticks(int tsc)
{
	return now(tsc);
}

// The cost of a reading is the least mean of many runs: an interruption only adds.
uint64_t zc_clock_cost(int tsc)
{
	enum { RUNS = 32, READINGS = 256 };
	uint64_t best = ~0ull;
	for (int r = 0; r < RUNS; r++) {
		uint64_t start = now(tsc), end = start;
		for (int i = 0; i < READINGS; i++)
			end = now(tsc);
		if ((end - start) / READINGS < best)
			best = (end - start) / READINGS;
	}
	return best;
}

#endif
