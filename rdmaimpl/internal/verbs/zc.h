// What Go sees of the C side: plain types only, so that the Go files compile
// where the verbs headers are not installed.
#ifndef ZC_H
#define ZC_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr, RUSAGE_THREAD
#endif

#include <stddef.h>
#include <stdint.h>

#if !defined(ZC_NO_VERBS_HEADERS) && defined(__has_include)
#if __has_include(<infiniband/verbs.h>) && __has_include(<rdma/rdma_cma.h>)
#define ZC_HEADERS 1
#endif
#endif

// Without headers the functions are declared and nowhere defined: weak, they
// link as null, and zc_load says so before any is called. Hidden, because Go
// links with -rdynamic and a name we export could take the place of a library's.
#ifdef ZC_HEADERS
#define ZC_API __attribute__((visibility("hidden")))
#else
#define ZC_API __attribute__((weak, visibility("hidden")))
#endif

enum { ZC_GIDS = 32, ZC_NAME = 64, ZC_TEXT = 256 };

// load.c

enum { ZC_LOADED, ZC_NO_HEADERS, ZC_NO_LIBRARY, ZC_NO_SYMBOL };

__attribute__((visibility("hidden"))) int zc_has_headers(void);

// Opens the libraries by these names. err says what dlopen or dlsym said.
__attribute__((visibility("hidden"))) int zc_load(const char *ibverbs, char *err, size_t room);
ZC_API int zc_load_cm(const char *rdmacm, char *err, size_t room);
ZC_API const char *zc_library_path(int cm);
ZC_API const char *zc_wc_status(int status);
ZC_API const char *zc_event_name(int event);

// device.c

struct zc_gid {
	uint8_t raw[16];
	int32_t index;
};

struct zc_port {
	int32_t num, active, mtu, link_layer, gids;
	struct zc_gid gid[ZC_GIDS];
};

struct zc_limits {
	int32_t qp_wr, sge, cqe, qp, mr;
	uint64_t mr_bytes;
	int32_t vendor;
	char firmware[ZC_NAME];
};

struct zc_device {
	void *ctx; // struct ibv_context
	void *pd;
	int async_fd;
	char name[ZC_NAME];
	char provider[ZC_TEXT]; // file of the provider's code
	struct zc_port port;
	struct zc_limits limits;
};

// Names of the devices, count of them returned, or -errno.
ZC_API int zc_device_names(char names[][ZC_NAME], int room);
ZC_API int zc_device_open(const char *name, struct zc_device *out);
ZC_API int zc_device_close(struct zc_device *d);

// memory.c

struct zc_mr {
	void *mr;
	uint32_t lkey, rkey;
};

ZC_API void *zc_mem_map(size_t bytes);
ZC_API int zc_mem_unmap(void *at, size_t bytes);
ZC_API int zc_mr_register(void *pd, void *at, size_t bytes, struct zc_mr *out);
ZC_API int zc_mr_deregister(struct zc_mr *mr);

// queue.c

struct zc_depths {
	uint32_t send_wr, recv_wr, send_sge, recv_sge, inline_bytes;
};

struct zc_qp {
	void *qp; // struct ibv_qp
	void *ex; // struct ibv_qp_ex, or null where ibv_wr_* is not taken
	void *send_cq, *recv_cq, *channel;
	uint32_t num;
	struct zc_depths granted;
	int32_t cqe;
};

struct zc_path {
	uint8_t gid[16];
	uint32_t qpn, psn;
	int32_t gid_index, port, mtu;
	int32_t min_rnr_timer, rnr_retry, retry, timeout;
};

ZC_API int zc_qp_create(struct zc_device *d, const struct zc_depths *want, uint32_t cqe, int ex, struct zc_qp *out);
ZC_API int zc_qp_destroy(struct zc_qp *q);
ZC_API int zc_qp_reset(struct zc_qp *q);
ZC_API int zc_qp_init(struct zc_qp *q, int port);
ZC_API int zc_qp_rtr(struct zc_qp *q, const struct zc_path *peer);
ZC_API int zc_qp_rts(struct zc_qp *q, const struct zc_path *peer);
ZC_API int zc_qp_state(struct zc_qp *q);

// complete.c

struct zc_wc {
	uint64_t wr_id;
	uint32_t byte_len, vendor_err;
	int32_t status, opcode;
	int32_t recv; // 1 of the receive queue's CQ
};

// Why waiting ended.
enum { ZC_DONE, ZC_WC_FAILED, ZC_ASYNC, ZC_DEADLINE, ZC_ERRNO };

struct zc_wait {
	uint32_t sends, recvs;  // completions wanted
	uint32_t sent, received; // completions seen
	uint32_t wakeups;       // completion events waited for
	int32_t why, detail;    // detail: async event or errno
	struct zc_wc failed;
};

// zc_await waits for completions by events, never longer than timeout_ms, and
// looks at the device's asynchronous events too. wcs may be null.
ZC_API int zc_await(struct zc_device *d, struct zc_qp *sender, struct zc_qp *receiver, int timeout_ms, struct zc_wait *w, struct zc_wc *wcs, uint32_t room);
ZC_API int zc_async_event(struct zc_device *d, int timeout_ms);

// cm.c

enum { ZC_PRIVATE_CONNECT = 56, ZC_PRIVATE_ACCEPT = 196, ZC_PRIVATE_ROOM = 256 };

// Where a connection attempt ended.
enum zc_stage {
	ZC_CM_DONE, ZC_CM_CHANNEL, ZC_CM_LISTEN, ZC_CM_ID, ZC_CM_RESOLVE, ZC_CM_ROUTE, ZC_CM_QP,
	ZC_CM_CONNECT, ZC_CM_REQUEST, ZC_CM_ACCEPT, ZC_CM_ESTABLISHED, ZC_CM_DISCONNECT
};

struct zc_cm {
	void *server, *client; // event channels
	void *listener;
	uint8_t addr[4];
	uint16_t port;
	int32_t timeout_ms;
};

struct zc_private {
	const void *data; // what to send, C memory
	uint32_t len;
	const void *late; // put over data when the call has returned, if not null
	uint32_t got_len; // what arrived, as the library reports it
	uint8_t got[ZC_PRIVATE_ROOM];
};

struct zc_round {
	struct zc_private connect, accept;
	uint16_t port;  // 0: the listener's
	int32_t owned;  // copy parameters into memory of our own, both ways
	int32_t tsc;
	int32_t stage, err, event, status; // of a failure; event is -1 without one
	uint64_t connect_ticks, request_ticks, established_ticks;
	uint64_t setup_ticks; // from connect to established
};

ZC_API int zc_cm_open(struct zc_cm *c, struct zc_round *failed);
ZC_API void zc_cm_close(struct zc_cm *c);
// One connection made and taken down. 0, or the failure is in the round.
ZC_API int zc_cm_round(struct zc_cm *c, struct zc_round *r);
ZC_API const char *zc_cm_event_name(int event);

// doorbell.c

// Makes the provider's write(2) of a doorbell return at once; 0 restores it.
// ENOTSUP where the provider does not ring by write.
ZC_API int zc_doorbell_suppress(struct zc_device *d, int on);
ZC_API uint64_t zc_doorbells_swallowed(void);

#endif
