//go:build cgo && !noverbs

// One window: the counting shim's begin and end around a lane's loop.

#include "zc.h"
#ifdef ZC_HEADERS
#include "hot.h"

#include <dlfcn.h>
#include <sys/resource.h>

static void (*shim_begin)(void), (*shim_end)(void);
static int (*shim_watch)(const void *, size_t);

// zc_shim_find looks for the preloaded shim. Without it windows are not counted.
void zc_shim_find(void)
{
	shim_begin = (void (*)(void))dlsym(RTLD_DEFAULT, "zc_window_begin");
	shim_end = (void (*)(void))dlsym(RTLD_DEFAULT, "zc_window_end");
	shim_watch = (int (*)(const void *, size_t))dlsym(RTLD_DEFAULT, "zc_window_watch");
}

void zc_shim_begin(void)
{
	if (shim_begin)
		shim_begin();
}

void zc_shim_end(void)
{
	if (shim_end)
		shim_end();
}

void zc_shim_watch(const void *at, size_t len)
{
	if (shim_watch)
		shim_watch(at, len);
}

void zc_window(enum zc_kind kind, struct zc_lane *l, uint32_t batches, struct zc_lap *laps, int tsc, struct zc_done *d)
{
	const struct zc_steps *steps = zc_steps_of(kind);
	struct rusage before = {0}, after = {0};
	getrusage(RUSAGE_THREAD, &before);
	zc_shim_begin();
	steps->run(l, batches, laps, tsc, d);
	zc_shim_end();
	getrusage(RUSAGE_THREAD, &after);
	d->minor_faults = after.ru_minflt - before.ru_minflt;
	d->major_faults = after.ru_majflt - before.ru_majflt;
	d->waits = after.ru_nvcsw - before.ru_nvcsw;
}

int zc_plain(enum zc_kind kind, struct zc_lane *l, uint32_t batches)
{
	struct zc_done d;
	return zc_steps_of(kind)->run(l, batches, NULL, 0, &d);
}

#endif
