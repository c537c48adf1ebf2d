// The window of a thread, and the report a program's parent may read.
#define _GNU_SOURCE
#include "internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct window zc_window;

void zc_window_begin(void)
{
	zc_sides_refresh();
	zc_window.counts.abi = ZC_SHIM_ABI;
	zc_window.on = 1;
}

void zc_window_end(void)
{
	zc_window.on = 0;
	zc_window.counts.windows++;
	zc_report();
}

void zc_window_reset(void)
{
	int on = zc_window.on;
	zc_window.on = 0;
	zc_window.counts = (struct zc_counts){.abi = ZC_SHIM_ABI};
	zc_window.on = on;
}

int zc_window_watch(const void *at, size_t len)
{
	struct window *w = &zc_window;
	if (len == 0) {
		w->watches = w->taints = w->next = 0;
		return 0;
	}
	if (w->watches == WATCHES)
		return -1;
	w->watch[w->watches].lo = (uintptr_t)at;
	w->watch[w->watches].hi = (uintptr_t)at + len;
	w->watches++;
	return 0;
}

int zc_window_counts(struct zc_counts *out, size_t size)
{
	if (size != sizeof *out)
		return -1;
	*out = zc_window.counts;
	out->abi = ZC_SHIM_ABI;
	return 0;
}

static int put_side(char *to, size_t room, const char *name, const struct zc_side *s)
{
	return snprintf(to, room,
		"%s allocs=%lu reallocs=%lu frees=%lu requested_bytes=%lu copies=%lu copied_bytes=%lu syscalls=%lu\n",
		name, s->allocs, s->reallocs, s->frees, s->requested_bytes, s->copies, s->copied_bytes, s->syscalls);
}

// zc_report writes the thread's counts to the file ZC_SHIM_OUT names, for a
// parent whose child does not report them itself. It writes by system calls of
// its own, so that nothing it does is counted.
void zc_report(void)
{
	const char *path = getenv("ZC_SHIM_OUT");
	if (!path || !*path)
		return;
	char text[1024];
	const struct zc_counts *c = &zc_window.counts;
	size_t len = snprintf(text, sizeof text, "zcshim %d windows=%lu\nallocator %s\n", ZC_SHIM_ABI, c->windows, zc_allocator_path());
	if (len < sizeof text)
		len += put_side(text + len, sizeof text - len, "lane", &c->lane);
	if (len < sizeof text)
		len += put_side(text + len, sizeof text - len, "library", &c->library);
	if (len >= sizeof text)
		return;
	int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	syscall(SYS_write, fd, text, len);
	syscall(SYS_close, fd);
}
