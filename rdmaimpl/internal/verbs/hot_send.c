//go:build cgo && !noverbs

#include "zc.h"
#ifdef ZC_HEADERS
#include "hot_steps.h"

// Send, guard: as the receive guard, with requests of 128 bytes.

ALWAYS struct ibv_send_wr *push_wr(struct zc_lane *l, struct batch *b, uint32_t i)
{
	struct ibv_send_wr *wr = vec_extend(&l->wrs, 1, sizeof *wr);
	clear_send_wr(wr);
	wr->wr_id = b->id++;
	wr->send_flags = flags_of(b, i);
	wr->opcode = IBV_WR_SEND;
	return wr;
}

ALWAYS void push_end(struct zc_lane *l, const struct batch *b)
{
	batch_end(l, b);
	link_send((struct ibv_send_wr *)l->wrs.at, (struct ibv_sge *)l->sge.at, b->n);
	KEEP(l->wrs.at);
}

ALWAYS void push_send(struct zc_lane *l)
{
	struct batch b = batch_of(l);
	for (uint32_t i = 0; i < b.n; i++) {
		uint64_t at = buf_at(&b.src, b.at++);
		struct ibv_send_wr *wr = push_wr(l, &b, i);
		wr->num_sge = b.g;
		PUSH_SGES(l, b, at);
	}
	push_end(l, &b);
}

LANE_LOOP(zc_send_guard, push_send, guard_send, guard_drop)

// Send, array: the caller fills arrays made once, the call links them.

ALWAYS void fill_wr(struct ibv_send_wr *wr, struct batch *b, uint32_t i)
{
	wr->wr_id = b->id++;
	wr->num_sge = b->g;
	wr->opcode = IBV_WR_SEND;
	wr->send_flags = flags_of(b, i);
}

ALWAYS void array_send(struct zc_lane *l)
{
	struct ibv_send_wr *wrs = l->wr_array;
	struct ibv_sge *sges = l->sge_array;
	struct batch b = batch_of(l);
	for (uint32_t i = 0; i < b.n; i++) {
		uint64_t at = buf_at(&b.src, b.at++);
		fill_wr(&wrs[i], &b, i);
		FILL_SGES(sges, b, i, at);
	}
	batch_end(l, &b);
	link_send(wrs, sges, b.n);
	KEEP(wrs);
}

LANE_LOOP(zc_send_array, array_send, array_post_send, no_drop)

// Send, array-linked: only what differs from batch to batch is written.

LANE_LOOP(zc_send_array_linked, linked_send, array_post_send, no_drop)

// Send, wr-ex: the provider's setters write the work queue as the batch is built.

ALWAYS void ex_begin(struct ibv_qp_ex *ex, struct batch *b, uint32_t i)
{
	ex->wr_id = b->id++;
	ex->wr_flags = flags_of(b, i);
	ibv_wr_send(ex);
}

ALWAYS void ex_send(struct zc_lane *l)
{
	struct ibv_qp_ex *ex = l->ex;
	struct batch b = batch_of(l);
	ibv_wr_start(ex);
	for (uint32_t i = 0; i < b.n; i++) {
		uint64_t at = buf_at(&b.src, b.at++);
		ex_begin(ex, &b, i);
		if (b.g == 1) {
			ibv_wr_set_sge(ex, b.src.lkey, at, b.src.len);
			continue;
		}
		struct ibv_sge list[ZC_SGES];
		for (uint32_t j = 0; j < b.g; j++)
			list[j] = part(&b, at, j);
		ibv_wr_set_sge_list(ex, b.g, list);
	}
	batch_end(l, &b);
}

ALWAYS int ex_complete(struct zc_lane *l)
{
	return positive(ibv_wr_complete(l->ex));
}

LANE_LOOP(zc_send_wr_ex, ex_send, ex_complete, no_drop)

// Inline, owned: each payload is copied into a buffer of its own as the batch is
// built, so that the caller's may be reused at once; the post copies it again.

ALWAYS void own(struct zc_lane *l, struct ibv_send_wr *wr, struct zc_vec bytes)
{
	struct zc_vec *kept = vec_extend(&l->inlines, 1, sizeof *kept);
	*kept = bytes;
	struct ibv_sge *sge = vec_extend(&l->sge, 1, sizeof *sge);
	*sge = (struct ibv_sge){(uintptr_t)kept->at, kept->len, 0};
	wr->send_flags |= IBV_SEND_INLINE;
	wr->num_sge += 1;
}

// Vec::from(slice): room for exactly its bytes.
ALWAYS struct zc_vec vec_of(const void *from, size_t len)
{
	struct zc_vec v = {0};
	if (len == 0)
		return v;
	v.at = allocate(len, 1);
	if (!v.at)
		abort();
	KEEP(v.at);
	memcpy(v.at, from, len);
	v.cap = v.len = len;
	return v;
}

ALWAYS void owned_build(struct zc_lane *l)
{
	struct batch b = batch_of(l);
	for (uint32_t i = 0; i < b.n; i++) {
		const void *from = (const void *)(uintptr_t)buf_at(&b.src, b.at++);
		struct ibv_send_wr *wr = push_wr(l, &b, i);
		own(l, wr, vec_of(from, b.src.len));
	}
	push_end(l, &b);
}

ALWAYS void owned_drop(struct zc_lane *l)
{
	guard_drop(l);
	struct zc_vec *kept = (struct zc_vec *)l->inlines.at;
	for (size_t i = 0; i < l->inlines.len; i++)
		if (kept[i].cap)
			deallocate(kept[i].at, kept[i].cap, 1);
	vec_drop(&l->inlines);
}

LANE_LOOP(zc_inline_owned, owned_build, guard_send, owned_drop)

// Inline, owned list: the slices of a WR are gathered into one buffer, each
// copied three times on its way (to_vec, clone, append).

ALWAYS struct zc_vec gather(const struct batch *b, uint64_t at)
{
	struct zc_vec all = {0};
	for (uint32_t j = 0; j < b->g; j++) {
		struct ibv_sge s = part(b, at, j);
		struct zc_vec first = vec_of((const void *)(uintptr_t)s.addr, s.length);
		KEEP(first.at);
		struct zc_vec second = vec_of(first.at, first.len);
		KEEP(second.at);
		memcpy(vec_extend(&all, second.len, 1), second.at, second.len);
		vec_drop(&second);
		vec_drop(&first);
	}
	return all;
}

ALWAYS void owned_list_build(struct zc_lane *l)
{
	struct batch b = batch_of(l);
	for (uint32_t i = 0; i < b.n; i++) {
		uint64_t at = buf_at(&b.src, b.at++);
		struct ibv_send_wr *wr = push_wr(l, &b, i);
		own(l, wr, gather(&b, at));
	}
	push_end(l, &b);
}

LANE_LOOP(zc_inline_owned_list, owned_list_build, guard_send, owned_drop)

// Inline, borrowed: the caller's buffer is named and must keep until the post
// has copied it.
LANE_LOOP(zc_inline_borrowed, array_send, array_post_send, no_drop)

// Inline, setter: the provider copies as the batch is built.

ALWAYS void inline_ex_build(struct zc_lane *l)
{
	struct ibv_qp_ex *ex = l->ex;
	struct batch b = batch_of(l);
	ibv_wr_start(ex);
	for (uint32_t i = 0; i < b.n; i++) {
		void *from = (void *)(uintptr_t)buf_at(&b.src, b.at++);
		ex_begin(ex, &b, i);
		ibv_wr_set_inline_data(ex, from, b.src.len);
	}
	batch_end(l, &b);
}

LANE_LOOP(zc_inline_ex, inline_ex_build, ex_complete, no_drop)

// Inline, setter with a list: the guard makes one exact array of slices a call.

ALWAYS void inline_ex_list_build(struct zc_lane *l)
{
	struct ibv_qp_ex *ex = l->ex;
	struct batch b = batch_of(l);
	ibv_wr_start(ex);
	for (uint32_t i = 0; i < b.n; i++) {
		uint64_t at = buf_at(&b.src, b.at++);
		struct ibv_data_buf *list = malloc(b.g * sizeof *list);
		if (!list)
			abort();
		for (uint32_t j = 0; j < b.g; j++) {
			struct ibv_sge s = part(&b, at, j);
			list[j] = (struct ibv_data_buf){(void *)(uintptr_t)s.addr, s.length};
		}
		KEEP(list);
		ex_begin(ex, &b, i);
		ibv_wr_set_inline_data_list(ex, b.g, list);
		free(list);
	}
	batch_end(l, &b);
}

LANE_LOOP(zc_inline_ex_list, inline_ex_list_build, ex_complete, no_drop)

// SGE: the caller's registered buffer is named and must keep until completion.
LANE_LOOP(zc_sge, array_send, array_post_send, no_drop)

// SGE, bounce: the payload is copied into memory registered beforehand.

ALWAYS void bounce_build(struct zc_lane *l)
{
	struct ibv_send_wr *wrs = l->wr_array;
	struct ibv_sge *sges = l->sge_array;
	struct zc_bufs bounce = l->bounce;
	struct batch b = batch_of(l);
	for (uint32_t i = 0; i < b.n; i++) {
		const void *from = (const void *)(uintptr_t)buf_at(&b.src, b.at);
		uint64_t to = buf_at(&bounce, b.at++);
		memcpy((void *)(uintptr_t)to, from, b.src.len);
		fill_wr(&wrs[i], &b, i);
		sges[i] = (struct ibv_sge){to, b.src.len, bounce.lkey};
	}
	batch_end(l, &b);
	link_send(wrs, sges, b.n);
	KEEP(wrs);
}

LANE_LOOP(zc_sge_bounce, bounce_build, array_post_send, no_drop)

// Register each: a registration for every payload, ended after it was sent.

ALWAYS void register_build(struct zc_lane *l)
{
	struct ibv_send_wr *wrs = l->wr_array;
	struct ibv_sge *sges = l->sge_array;
	struct zc_mr *mrs = l->aux;
	struct batch b = batch_of(l);
	for (uint32_t i = 0; i < b.n; i++) {
		uint64_t at = buf_at(&b.src, b.at++);
		mrs[i] = (struct zc_mr){0};
		(void)zc_mr_register(l->pd, (void *)(uintptr_t)at, b.src.len, &mrs[i]); // the post looks
		fill_wr(&wrs[i], &b, i);
		sges[i] = (struct ibv_sge){at, b.src.len, mrs[i].lkey};
	}
	batch_end(l, &b);
	link_send(wrs, sges, b.n);
	KEEP(wrs);
}

ALWAYS int register_post(struct zc_lane *l)
{
	struct zc_mr *mrs = l->aux;
	for (uint32_t i = 0; i < l->batch; i++)
		if (!mrs[i].mr) {
			l->bad = i;
			return ENOMEM;
		}
	return post_send(l, l->wr_array);
}

ALWAYS void register_drop(struct zc_lane *l)
{
	if (!l->hold)
		zc_lane_release(l);
}

LANE_LOOP(zc_register_each, register_build, register_post, register_drop)

// A model, not a provider: the payload is copied behind a header into memory
// laid out like a work queue, for sizes no device takes inline.

ALWAYS void model_build(struct zc_lane *l)
{
	array_send(l);
}

struct header {
	uint64_t words[8];
} __attribute__((may_alias));

ALWAYS int model_post(struct zc_lane *l)
{
	const struct ibv_send_wr *wr = l->wr_array;
	for (uint32_t slot = l->cursor - l->batch; wr; wr = wr->next, slot++) {
		char *wqe = (char *)(uintptr_t)buf_at(&l->bounce, slot);
		*(struct header *)wqe = *(const struct header *)wr;
		memcpy(wqe + 64, (const void *)(uintptr_t)wr->sg_list->addr, wr->sg_list->length);
		KEEP(wqe);
	}
	return 0;
}

LANE_LOOP(zc_wqe_copy, model_build, model_post, no_drop)

const struct zc_steps zc_send_steps[ZC_KINDS] = {
	[ZC_SEND_GUARD] = {zc_send_guard, push_send, guard_send, guard_drop},
	[ZC_SEND_ARRAY] = {zc_send_array, array_send, array_post_send, no_drop},
	[ZC_SEND_ARRAY_LINKED] = {zc_send_array_linked, linked_send, array_post_send, no_drop},
	[ZC_SEND_WR_EX] = {zc_send_wr_ex, ex_send, ex_complete, no_drop},
	[ZC_INLINE_OWNED] = {zc_inline_owned, owned_build, guard_send, owned_drop},
	[ZC_INLINE_OWNED_LIST] = {zc_inline_owned_list, owned_list_build, guard_send, owned_drop},
	[ZC_INLINE_BORROWED] = {zc_inline_borrowed, array_send, array_post_send, no_drop},
	[ZC_INLINE_EX] = {zc_inline_ex, inline_ex_build, ex_complete, no_drop},
	[ZC_INLINE_EX_LIST] = {zc_inline_ex_list, inline_ex_list_build, ex_complete, no_drop},
	[ZC_SGE] = {zc_sge, array_send, array_post_send, no_drop},
	[ZC_SGE_BOUNCE] = {zc_sge_bounce, bounce_build, array_post_send, no_drop},
	[ZC_REGISTER_EACH] = {zc_register_each, register_build, register_post, register_drop},
	[ZC_WQE_COPY] = {zc_wqe_copy, model_build, model_post, no_drop},
};

#endif
