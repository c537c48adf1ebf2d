// What the timed loops are made of. The loop is inlined with its steps as
// constants, so that each lane's function holds no indirect call of ours.
#ifndef ZC_HOT_STEPS_H
#define ZC_HOT_STEPS_H

#include "hot.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALWAYS static inline __attribute__((always_inline))

// The compiler must take it that p and all memory are used here.
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")

ALWAYS uint64_t now(int tsc)
{
#ifdef __x86_64__
	if (tsc) {
		uint32_t lo, hi, cpu;
		__asm__ volatile("rdtscp\n\tlfence" : "=a"(lo), "=d"(hi), "=c"(cpu) : : "memory");
		return (uint64_t)hi << 32 | lo;
	}
#endif
	(void)tsc;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__clang__)
#define APART __attribute__((noinline, unused))
#else
#define APART __attribute__((noipa, unused))
#endif

// The calls Rust makes to grow a Vec are kept as calls: grow_one, finish_grow and
// the allocator's three. Each growth costs what it costs there.
struct block {
	char *at;
	size_t bytes, align;
};

static APART void *allocate(size_t bytes, size_t align)
{
	if (align <= 16 && align <= bytes)
		return malloc(bytes);
	void *at = NULL;
	return posix_memalign(&at, align < 8 ? 8 : align, bytes) ? NULL : at;
}

static APART void *reallocate(char *at, size_t bytes, size_t align)
{
	if (align > 16 || align > bytes)
		abort(); // no element here is aligned so
	return realloc(at, bytes);
}

static APART void deallocate(char *at, size_t bytes, size_t align)
{
	(void)bytes, (void)align;
	free(at);
}

static APART int finish_grow(struct block *out, size_t bytes, size_t align, const struct block *now)
{
	if (bytes > PTRDIFF_MAX)
		return 1;
	char *at = now->align && now->bytes ? reallocate(now->at, bytes, align) : allocate(bytes, align);
	*out = (struct block){at, bytes, align};
	return at == NULL;
}

// A Vec grows to max(twice its capacity, what is needed), at least 8 elements of
// one byte, 4 of up to 1024 bytes, else 1; the first growth is an allocation, the
// others reallocations (RawVec::grow_amortized).
static APART void vec_grow(struct zc_vec *v, size_t need, size_t elem, size_t align)
{
	size_t least = elem == 1 ? 8 : elem <= 1024 ? 4 : 1;
	size_t cap = v->cap * 2 > need ? v->cap * 2 : need;
	if (cap < least)
		cap = least;
	size_t bytes;
	struct block now = {v->at, v->cap * elem, v->cap ? align : 0}, grown;
	if (__builtin_mul_overflow(cap, elem, &bytes) || finish_grow(&grown, bytes, align, &now))
		abort(); // as a Vec does
	v->at = grown.at;
	v->cap = cap;
}

// vec_with makes an empty array of exactly n (Vec::with_capacity).
ALWAYS void vec_with(struct zc_vec *v, size_t n, size_t elem)
{
	*v = (struct zc_vec){malloc(n * elem), n, 0};
	if (!v->at)
		abort();
	KEEP(v->at);
}

ALWAYS void *vec_extend(struct zc_vec *v, size_t n, size_t elem)
{
	if (__builtin_expect(v->cap - v->len < n, 0))
		vec_grow(v, v->len + n, elem, elem == 1 ? 1 : 8);
	void *at = v->at + v->len * elem;
	v->len += n;
	return at;
}

ALWAYS void vec_drop(struct zc_vec *v)
{
	if (v->cap)
		deallocate(v->at, v->cap, 8);
	*v = (struct zc_vec){0};
}

ALWAYS uint64_t buf_at(const struct zc_bufs *b, uint32_t i)
{
	return b->base + (uint64_t)(i & b->mask) * b->stride;
}

// What a batch is built from, held apart from the lane so that no store into an
// array can be taken to change it.
struct batch {
	struct zc_bufs src;
	uint64_t id;
	uint32_t n, g, each, at, flags, last_flags;
};

ALWAYS struct batch batch_of(const struct zc_lane *l)
{
	return (struct batch){l->src, l->wr_id, l->batch, l->sges, l->each, l->cursor, l->flags, l->last_flags};
}

ALWAYS void batch_end(struct zc_lane *l, const struct batch *b)
{
	l->wr_id = b->id;
	l->cursor = b->at;
}

// The j-th of a buffer's equal parts.
ALWAYS struct ibv_sge part(const struct batch *b, uint64_t at, uint32_t j)
{
	return (struct ibv_sge){.addr = at + (uint64_t)j * b->each, .length = b->each, .lkey = b->src.lkey};
}

// The SGEs of a batch's i-th request, whose buffer lies at at: appended to the
// lane's growing array, as the last thing of a loop's round, or written into an array
// made once. They are macros because as functions, though inlined, they cost lanes
// this short up to a quarter of their time.

#define PUSH_SGES(l, b, at)                                                             \
	if (b.g == 1) {                                                                 \
		struct ibv_sge *sge = vec_extend(&l->sge, 1, sizeof *sge);              \
		*sge = (struct ibv_sge){at, b.src.len, b.src.lkey};                     \
		continue;                                                               \
	}                                                                               \
	struct ibv_sge list[ZC_SGES];                                                   \
	for (uint32_t j = 0; j < b.g; j++)                                              \
		list[j] = part(&b, at, j);                                              \
	memcpy(vec_extend(&l->sge, b.g, sizeof *list), list, b.g * sizeof *list)

#define FILL_SGES(sges, b, i, at)                                                       \
	if (b.g == 1)                                                                   \
		sges[i] = (struct ibv_sge){at, b.src.len, b.src.lkey};                  \
	else                                                                            \
		for (uint32_t j = 0; j < b.g; j++)                                      \
			sges[i * b.g + j] = part(&b, at, j)

ALWAYS uint32_t flags_of(const struct batch *b, uint32_t i)
{
	return i + 1 == b->n ? b->last_flags : b->flags;
}

// Clears a request by vector stores: what is built here is too short for the
// string instruction gcc picks.
ALWAYS void clear_send_wr(struct ibv_send_wr *wr)
{
	typedef long long two __attribute__((vector_size(16), aligned(8), may_alias));
	_Static_assert(sizeof *wr == 128, "ibv_send_wr is 128 bytes on 64-bit machines");
	two *at = (two *)wr;
	const two zero = {0, 0};
	at[0] = at[1] = at[2] = at[3] = zero;
	at[4] = at[5] = at[6] = at[7] = zero;
}

// Providers differ in the sign of what they return.
ALWAYS int positive(int err)
{
	return err < 0 ? -err : err;
}

// What receives and sends share but for the type of their requests: the posts of
// arrays made once and of growing ones; the fix-up pass, which links the requests and
// points each at its SGEs; and the build of prelinked requests, of which only what
// differs from batch to batch is written.
#define OF_REQUESTS(way)                                                                        \
	ALWAYS int post_##way(struct zc_lane *l, struct ibv_##way##_wr *wrs)                    \
	{                                                                                       \
		struct ibv_##way##_wr *bad = NULL;                                              \
		int err = ibv_post_##way(l->qp, wrs, &bad);                                     \
		if (__builtin_expect(err, 0))                                                   \
			l->bad = bad ? bad - wrs : -1;                                          \
		return positive(err);                                                           \
	}                                                                                       \
                                                                                                \
	ALWAYS int array_post_##way(struct zc_lane *l)                                          \
	{                                                                                       \
		return post_##way(l, l->wr_array);                                              \
	}                                                                                       \
                                                                                                \
	ALWAYS int guard_##way(struct zc_lane *l)                                               \
	{                                                                                       \
		return post_##way(l, (struct ibv_##way##_wr *)l->wrs.at);                       \
	}                                                                                       \
                                                                                                \
	ALWAYS void link_##way(struct ibv_##way##_wr *wrs, struct ibv_sge *sges, uint32_t n)    \
	{                                                                                       \
		size_t at = 0;                                                                  \
		for (uint32_t i = 0; i < n; i++) {                                              \
			wrs[i].next = i + 1 < n ? &wrs[i + 1] : NULL;                           \
			if (wrs[i].num_sge > 0) {                                               \
				wrs[i].sg_list = &sges[at];                                     \
				at += wrs[i].num_sge;                                           \
			}                                                                       \
		}                                                                               \
	}                                                                                       \
                                                                                                \
	ALWAYS void linked_##way(struct zc_lane *l)                                             \
	{                                                                                       \
		struct ibv_##way##_wr *wrs = l->wr_array;                                       \
		struct ibv_sge *sges = l->sge_array;                                            \
		struct batch b = batch_of(l);                                                   \
		for (uint32_t i = 0; i < b.n; i++) {                                            \
			uint64_t at = buf_at(&b.src, b.at++);                                   \
			wrs[i].wr_id = b.id++;                                                  \
			if (b.g == 1)                                                           \
				sges[i].addr = at;                                              \
			else                                                                    \
				for (uint32_t j = 0; j < b.g; j++)                              \
					sges[i * b.g + j].addr = at + (uint64_t)j * b.each;     \
		}                                                                               \
		batch_end(l, &b);                                                               \
		KEEP(wrs);                                                                      \
	}

OF_REQUESTS(recv)
OF_REQUESTS(send)

ALWAYS void no_drop(struct zc_lane *l)
{
	(void)l;
}

ALWAYS void guard_drop(struct zc_lane *l)
{
	vec_drop(&l->wrs);
	vec_drop(&l->sge);
}

// Build is all a lane does before the provider's post, the fix-up pass included.
ALWAYS int loop(struct zc_lane *l, uint32_t batches, struct zc_lap *laps, int tsc, struct zc_done *d,
		void (*build)(struct zc_lane *), int (*post)(struct zc_lane *), void (*drop)(struct zc_lane *))
{
	int err = 0;
	uint32_t k = 0;
	l->bad = -1;
	uint64_t start = now(tsc);
	if (!laps) {
		for (; k < batches && !err; k++) {
			build(l);
			err = post(l);
			drop(l);
		}
	}
	for (; k < batches && !err; k++) {
		uint64_t t0 = now(tsc);
		build(l);
		uint64_t t1 = now(tsc);
		err = post(l);
		uint64_t t2 = now(tsc);
		drop(l);
		uint64_t t3 = now(tsc);
		laps[k] = (struct zc_lap){t0, t1 - t0, t2 - t1, t3 - t2};
	}
	d->ticks = now(tsc) - start;
	d->batches = err ? k - 1 : k;
	d->err = err;
	d->bad = l->bad;
	return err;
}

#define LANE_LOOP(name, build, post, drop)                                                            \
	int name(struct zc_lane *l, uint32_t batches, struct zc_lap *laps, int tsc, struct zc_done *d) \
	{                                                                                              \
		return loop(l, batches, laps, tsc, d, build, post, drop);                              \
	}

#endif
