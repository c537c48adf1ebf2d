// The timed loops: one function per way of posting. Nothing here opens, waits
// or prints; a window of batches is one call.
#ifndef ZC_HOT_H
#define ZC_HOT_H

#include "zc.h"

// Lanes, as zc_steps_of takes them.
enum zc_kind {
	ZC_RECV_GUARD,
	ZC_RECV_GUARD_RESERVED,
	ZC_RECV_GUARD_REUSED,
	ZC_RECV_ARRAY,
	ZC_RECV_ARRAY_STACK,
	ZC_RECV_ARRAY_LINKED,
	ZC_RECV_BARE,
	ZC_SEND_GUARD,
	ZC_SEND_ARRAY,
	ZC_SEND_ARRAY_LINKED,
	ZC_SEND_WR_EX,
	ZC_INLINE_OWNED,
	ZC_INLINE_OWNED_LIST,
	ZC_INLINE_BORROWED,
	ZC_INLINE_EX,
	ZC_INLINE_EX_LIST,
	ZC_SGE,
	ZC_SGE_BOUNCE,
	ZC_REGISTER_EACH,
	ZC_WQE_COPY,
	ZC_KINDS
};

// The most SGEs a WR has here.
enum { ZC_SGES = 4 };

// Buffers a lane hands over in turn: the i-th begins at base + (i & mask) * stride.
struct zc_bufs {
	uint64_t base;
	uint32_t len, lkey, stride, mask;
};

// A growing array, as Rust's Vec grows.
struct zc_vec {
	char *at;
	size_t cap, len; // elements
};

// A lane between calls. The first part is the caller's to set.
struct zc_lane {
	void *qp, *ex, *pd;
	struct zc_bufs src, bounce;
	uint32_t batch, sges;             // WRs a batch, SGEs (or slices) a WR
	uint32_t flags, last_flags;       // of a batch's WRs and of its last
	uint32_t hold;                    // register-each: keep registrations until zc_lane_release
	uint32_t each;                    // bytes of an SGE: set by zc_lane_open
	uint32_t cursor;                  // buffers handed over so far
	uint64_t wr_id;                   // WRs built so far
	struct zc_vec wrs, sge, inlines;  // what a guard holds
	void *wr_array, *sge_array, *aux; // prepared once: see zc_lane_open
	int32_t bad;                      // index of the WR that was refused, or -1
};

// One batch. Ticks; start is a stamp, the others are spans.
struct zc_lap {
	uint64_t start, build, post, drop;
};

struct zc_done {
	uint64_t ticks;   // of the loop
	uint32_t batches; // completed
	int32_t err, bad; // of the batch that failed
	int64_t minor_faults, major_faults, waits;
};

// zc_ticks is a fenced reading of the TSC, or CLOCK_MONOTONIC in nanoseconds
// where tsc is 0 or there is none.
ZC_API uint64_t zc_ticks(int tsc);
ZC_API uint64_t zc_clock_cost(int tsc);

#define ZC_LOOP(name) \
	ZC_API int name(struct zc_lane *l, uint32_t batches, struct zc_lap *laps, int tsc, struct zc_done *d)

// With laps, each batch is timed in parts; without, only the loop as a whole.
ZC_LOOP(zc_recv_guard);
ZC_LOOP(zc_recv_guard_reserved);
ZC_LOOP(zc_recv_guard_reused);
ZC_LOOP(zc_recv_array);
ZC_LOOP(zc_recv_array_stack);
ZC_LOOP(zc_recv_array_linked);
ZC_LOOP(zc_recv_bare);
ZC_LOOP(zc_send_guard);
ZC_LOOP(zc_send_array);
ZC_LOOP(zc_send_array_linked);
ZC_LOOP(zc_send_wr_ex);
ZC_LOOP(zc_inline_owned);
ZC_LOOP(zc_inline_owned_list);
ZC_LOOP(zc_inline_borrowed);
ZC_LOOP(zc_inline_ex);
ZC_LOOP(zc_inline_ex_list);
ZC_LOOP(zc_sge);
ZC_LOOP(zc_sge_bounce);
ZC_LOOP(zc_register_each);
ZC_LOOP(zc_wqe_copy);

// The parts of a lane, for what is not timed: verification and heap aging.
struct zc_steps {
	int (*run)(struct zc_lane *, uint32_t, struct zc_lap *, int, struct zc_done *);
	void (*build)(struct zc_lane *);
	int (*post)(struct zc_lane *);
	void (*drop)(struct zc_lane *);
};
ZC_API extern const struct zc_steps zc_recv_steps[ZC_KINDS], zc_send_steps[ZC_KINDS];
ZC_API const struct zc_steps *zc_steps_of(enum zc_kind kind);

// lane.c

// Makes what a lane prepares once, after its first part is set. 0 or errno.
ZC_API int zc_lane_open(struct zc_lane *l, enum zc_kind kind);
ZC_API void zc_lane_close(struct zc_lane *l);
// Ends the registrations a held batch kept.
ZC_API void zc_lane_release(struct zc_lane *l);

// window.c

// One window of a lane, its faults counted, inside the counting shim's if it is preloaded.
ZC_API void zc_window(enum zc_kind kind, struct zc_lane *l, uint32_t batches, struct zc_lap *laps, int tsc, struct zc_done *d);
// The same uncounted and untimed. 0 or the errno of a refused batch.
ZC_API int zc_plain(enum zc_kind kind, struct zc_lane *l, uint32_t batches);
ZC_API void zc_shim_find(void);
ZC_API void zc_shim_begin(void);
ZC_API void zc_shim_end(void);
// Counts copies out of this memory, if the shim is there; a length of 0 forgets.
ZC_API void zc_shim_watch(const void *at, size_t len);

// full.c

// A connected pair that a lane sends through, with receives posted beforehand.
struct zc_full {
	struct zc_device *device;
	struct zc_qp *sender, *receiver;
	struct zc_lane *recv; // an open lane of ZC_RECV_ARRAY_LINKED on the receiver
	struct zc_wc *wcs;    // room for a batch's completions of both ends
	uint32_t wcs_room;
	int32_t timeout_ms;
	uint32_t pause_us, withhold; // tests: wait before looking; post no receives
	// Out.
	struct zc_wait wait;     // of the last batch
	uint32_t wrong_len;      // receives whose byte_len is not what was sent
	uint32_t first_len;      // the first such length
	uint32_t wakeups;
};

// Batches posted, sent and completed one by one; latency, if not null, gets the
// ticks from the start of each post to its last completion.
ZC_API void zc_full_run(enum zc_kind kind, struct zc_lane *l, struct zc_full *f, uint32_t batches, struct zc_lap *laps, uint64_t *latency, int tsc, struct zc_done *d);

// Receives for so many batches, posted; and a segment's completions awaited,
// where every batch asked for one of its last send.
ZC_API int zc_full_receives(struct zc_full *f, uint32_t batches, struct zc_done *d);
ZC_API int zc_full_await(struct zc_full *f, const struct zc_lane *l, uint32_t batches);

// Receive requests built by Go, posted.
ZC_API int zc_post_recv(void *qp, void *wrs, int32_t *bad);

// One request of two parts of unequal length, sent by the provider's setters for
// lists; the receive is posted by f->recv, whose batch must be one.
struct zc_two {
	uint64_t at[2];
	uint32_t len[2], lkey;
	int32_t as_inline;
};
ZC_API int zc_two_parts(struct zc_full *f, const struct zc_two *two, struct zc_done *d);

// copypoint.c

// When a source is changed, in time order.
enum { ZC_BEFORE_BUILD, ZC_AFTER_BUILD, ZC_AFTER_POST, ZC_AFTER_COMPLETION, ZC_TIMES };

// Bytes put over a source of the same length at that time.
struct zc_change {
	void *at;
	const void *to;
	uint32_t len;
	int32_t when;
};

// One batch, carried through to its completions, whose source is changed once. Its
// receives are posted only after the send and the change: a device that reads at the
// transfer cannot have read before.
ZC_API int zc_changed(enum zc_kind kind, struct zc_lane *l, struct zc_full *f, const struct zc_change *c, struct zc_done *d);

// aging.c

// Long-lived blocks, some of which are replaced while each batch is held.
struct zc_aging {
	void **slot; // blocks, null where none is yet
	uint32_t slots, replace; // replaced a batch
	uint32_t min_bytes, max_bytes;
	uint32_t max_batch;
	uint64_t random;
	uint64_t requests;  // WRs posted, or that would have been
	uint64_t live_bytes;
};

// posts 0 is the control: the same draws, replacements and no batch at all.
ZC_API int zc_aging_run(enum zc_kind kind, struct zc_lane *l, struct zc_aging *a, uint32_t max_requests, int posts, struct zc_done *d);
ZC_API void zc_aging_free(struct zc_aging *a);

// null.c

// What a null queue pair was given, since it was made or asked.
struct zc_seen {
	uint64_t posts, wrs, sges, bytes, ids; // ids: sum of wr_id
	uint64_t payload;                      // sum of the bytes of inline data
};

// A queue pair of no device, which reads every request as a provider must and
// does nothing with it: for the floor of the harness, and for tests.
ZC_API int zc_null_open(struct zc_qp *q);
ZC_API void zc_null_close(struct zc_qp *q);
ZC_API struct zc_seen zc_null_seen(struct zc_qp *q);

#endif
