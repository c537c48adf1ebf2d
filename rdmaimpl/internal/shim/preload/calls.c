// System calls by the C library's wrappers, which is how the verbs libraries
// make them. What the C library does inside, growing its heap, is not seen here.
#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void called(const void *ra)
{
	if (zc_window.on)
		zc_side_of(ra)->syscalls++;
}

// NEXT finds the wrapper behind the shim once; two threads may both look it up,
// and find the same.
#define NEXT(call)                                          \
	static __typeof__(&call) next;                      \
	if (!next)                                          \
		next = (__typeof__(&call))dlsym(RTLD_NEXT, #call); \
	called(__builtin_return_address(0))

ssize_t write(int fd, const void *buf, size_t n)
{
	NEXT(write);
	return next(fd, buf, n);
}

ssize_t read(int fd, void *buf, size_t n)
{
	NEXT(read);
	return next(fd, buf, n);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	va_start(args, request);
	void *arg = va_arg(args, void *);
	va_end(args);
	NEXT(ioctl);
	return next(fd, request, arg);
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	NEXT(poll);
	return next(fds, n, timeout);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	NEXT(sendmsg);
	return next(fd, msg, flags);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	NEXT(recvmsg);
	return next(fd, msg, flags);
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	NEXT(mmap);
	return next(at, len, prot, flags, fd, offset);
}

int munmap(void *at, size_t len)
{
	NEXT(munmap);
	return next(at, len);
}

int madvise(void *at, size_t len, int advice)
{
	NEXT(madvise);
	return next(at, len, advice);
}
