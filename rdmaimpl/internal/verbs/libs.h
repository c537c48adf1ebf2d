// The libraries' functions, found at run time.
#ifndef ZC_LIBS_H
#define ZC_LIBS_H

#include "zc.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

// Functions that verbs.h hides behind a macro are named by their symbol.
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

// X(name) for each; the type is that of the header's declaration.
#define ZC_VERBS(X)                                                                                          \
	X(ibv_get_device_list) X(ibv_free_device_list) X(ibv_get_device_name) X(ibv_open_device)             \
	X(ibv_close_device) X(ibv_query_device) X(ibv_query_gid) X(ibv_alloc_pd) X(ibv_dealloc_pd)           \
	X(ibv_create_comp_channel) X(ibv_destroy_comp_channel) X(ibv_create_cq) X(ibv_destroy_cq)            \
	X(ibv_get_cq_event) X(ibv_ack_cq_events) X(ibv_create_qp) X(ibv_destroy_qp) X(ibv_modify_qp)         \
	X(ibv_query_qp) X(ibv_reg_mr) X(ibv_dereg_mr) X(ibv_get_async_event) X(ibv_ack_async_event)          \
	X(ibv_wc_status_str) X(ibv_event_type_str) X(ibv_qp_to_qp_ex)

#define ZC_CM(X)                                                                                             \
	X(rdma_create_event_channel) X(rdma_destroy_event_channel) X(rdma_create_id) X(rdma_destroy_id)      \
	X(rdma_bind_addr) X(rdma_listen) X(rdma_resolve_addr) X(rdma_resolve_route) X(rdma_connect)          \
	X(rdma_accept) X(rdma_get_cm_event) X(rdma_ack_cm_event) X(rdma_disconnect)                          \
	X(rdma_create_qp) X(rdma_destroy_qp) X(rdma_event_str) X(rdma_get_src_port)

struct zc_libs {
#define FIELD(name) __typeof__(&name) name;
	ZC_VERBS(FIELD)
	ZC_CM(FIELD)
#undef FIELD
	// The symbol takes the struct of the first ABI, a prefix of today's.
	int (*ibv_query_port)(struct ibv_context *, uint8_t, void *);
};
extern struct zc_libs zc_lib __attribute__((visibility("hidden")));

#endif
