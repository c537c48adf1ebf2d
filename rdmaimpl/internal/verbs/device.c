//go:build cgo && !noverbs

// Devices: their names, and what an opened one can do.

#include "zc.h"
#ifdef ZC_HEADERS
#include "libs.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int zc_device_names(char names[][ZC_NAME], int room)
{
	int count = 0;
	errno = 0;
	struct ibv_device **list = zc_lib.ibv_get_device_list(&count);
	if (!list)
		return errno ? -errno : -EIO;
	int n = 0;
	for (; n < count && n < room; n++)
		snprintf(names[n], ZC_NAME, "%s", zc_lib.ibv_get_device_name(list[n]));
	zc_lib.ibv_free_device_list(list);
	return n;
}

static struct ibv_context *open_named(const char *name)
{
	int count = 0;
	struct ibv_device **list = zc_lib.ibv_get_device_list(&count);
	struct ibv_context *ctx = NULL;
	if (!list)
		return NULL;
	errno = ENODEV;
	for (int i = 0; i < count; i++)
		if (!strcmp(zc_lib.ibv_get_device_name(list[i]), name)) {
			errno = 0;
			ctx = zc_lib.ibv_open_device(list[i]);
			break;
		}
	int err = errno;
	zc_lib.ibv_free_device_list(list);
	errno = err;
	return ctx;
}

static int empty_gid(const union ibv_gid *g)
{
	static const union ibv_gid zero;
	return !memcmp(g, &zero, sizeof zero);
}

// read_port takes the first active port, or the first where none is.
static int read_port(struct ibv_context *ctx, int ports, struct zc_port *out)
{
	for (int num = 1; num <= ports; num++) {
		struct ibv_port_attr a;
		memset(&a, 0, sizeof a);
		int err = zc_lib.ibv_query_port(ctx, num, &a);
		if (err)
			return err;
		if (num > 1 && a.state != IBV_PORT_ACTIVE)
			continue;
		*out = (struct zc_port){.num = num, .active = a.state == IBV_PORT_ACTIVE, .mtu = a.active_mtu, .link_layer = a.link_layer};
		// Each look is a system call, and tables of a thousand hold a few.
		for (int i = 0, none = 0; i < a.gid_tbl_len && out->gids < ZC_GIDS && none < 64; i++) {
			union ibv_gid gid;
			if (zc_lib.ibv_query_gid(ctx, num, i, &gid) || empty_gid(&gid)) {
				none++;
				continue;
			}
			none = 0;
			struct zc_gid *g = &out->gid[out->gids++];
			memcpy(g->raw, gid.raw, sizeof g->raw);
			g->index = i;
		}
		if (out->active)
			break;
	}
	return 0;
}

static void read_limits(const struct ibv_device_attr *a, struct zc_limits *out)
{
	*out = (struct zc_limits){
		.qp_wr = a->max_qp_wr, .sge = a->max_sge, .cqe = a->max_cqe, .qp = a->max_qp, .mr = a->max_mr,
		.mr_bytes = a->max_mr_size, .vendor = a->vendor_id,
	};
	snprintf(out->firmware, sizeof out->firmware, "%s", a->fw_ver);
}

static int describe(struct ibv_context *ctx, struct zc_device *out)
{
	struct ibv_device_attr a;
	memset(&a, 0, sizeof a);
	int err = zc_lib.ibv_query_device(ctx, &a);
	if (!err)
		err = read_port(ctx, a.phys_port_cnt, &out->port);
	if (err)
		return err;
	read_limits(&a, &out->limits);
	Dl_info info;
	if (dladdr((void *)ctx->ops.post_recv, &info) && info.dli_fname)
		snprintf(out->provider, sizeof out->provider, "%s", info.dli_fname);
	// A read of an event must not hang: waiting is poll's business.
	int flags = fcntl(ctx->async_fd, F_GETFL);
	if (flags < 0 || fcntl(ctx->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return errno;
	out->async_fd = ctx->async_fd;
	return 0;
}

int zc_device_open(const char *name, struct zc_device *out)
{
	memset(out, 0, sizeof *out);
	snprintf(out->name, sizeof out->name, "%s", name);
	struct ibv_context *ctx = open_named(name);
	if (!ctx)
		return errno ? errno : EIO;
	int err = describe(ctx, out);
	struct ibv_pd *pd = err ? NULL : zc_lib.ibv_alloc_pd(ctx);
	if (!pd) {
		if (!err)
			err = errno ? errno : EIO;
		zc_lib.ibv_close_device(ctx);
		return err;
	}
	out->ctx = ctx;
	out->pd = pd;
	return 0;
}

int zc_device_close(struct zc_device *d)
{
	int err = d->pd ? zc_lib.ibv_dealloc_pd(d->pd) : 0;
	if (err)
		return err;
	d->pd = NULL;
	if (d->ctx && zc_lib.ibv_close_device(d->ctx))
		err = errno;
	d->ctx = NULL;
	return err;
}

#endif
