//go:build cgo && !noverbs

// Opening libibverbs and librdmacm at run time, so that the program starts
// where they are not installed and can say so.

#include "zc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void say(char *err, size_t room, const char *text)
{
	snprintf(err, room, "%s", text ? text : "unknown error");
}

int zc_has_headers(void)
{
#ifdef ZC_HEADERS
	return 1;
#else
	return 0;
#endif
}

#ifndef ZC_HEADERS

int zc_load(const char *ibverbs, char *err, size_t room)
{
	(void)ibverbs;
	say(err, room, "built without the headers of libibverbs and librdmacm");
	return ZC_NO_HEADERS;
}

#else
#include "hot.h"
#include "libs.h"

struct zc_libs zc_lib;

static void *find(void *lib, const char *name, char *err, size_t room)
{
	void *f = dlsym(lib, name);
	if (!f)
		say(err, room, dlerror());
	return f;
}

#define FIND(name)                                                   \
	if (!(l.name = (__typeof__(l.name))find(lib, #name, err, room))) \
		return ZC_NO_SYMBOL;

int zc_load(const char *ibverbs, char *err, size_t room)
{
	void *lib = dlopen(ibverbs, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		say(err, room, dlerror());
		return ZC_NO_LIBRARY;
	}
	struct zc_libs l = zc_lib;
	ZC_VERBS(FIND)
	FIND(ibv_query_port)
	zc_lib = l;
	zc_shim_find();
	return ZC_LOADED;
}

int zc_load_cm(const char *rdmacm, char *err, size_t room)
{
	void *lib = dlopen(rdmacm, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		say(err, room, dlerror());
		return ZC_NO_LIBRARY;
	}
	struct zc_libs l = zc_lib;
	ZC_CM(FIND)
	zc_lib = l;
	return ZC_LOADED;
}

const char *zc_library_path(int cm)
{
	void *f = cm ? (void *)zc_lib.rdma_create_id : (void *)zc_lib.ibv_open_device;
	Dl_info info;
	return f && dladdr(f, &info) && info.dli_fname ? info.dli_fname : "";
}

const char *zc_wc_status(int status)
{
	return zc_lib.ibv_wc_status_str(status);
}

const char *zc_event_name(int event)
{
	return zc_lib.ibv_event_type_str(event);
}

#endif
