//go:build cgo && !noverbs

// Memory that devices read and write, and its registration.

#include "zc.h"
#ifdef ZC_HEADERS
#include "libs.h"

#include <errno.h>
#include <sys/mman.h>

// Pages of their own, kept from any child: a fork would otherwise leave the
// parent with copies of pages the device goes on writing to.
void *zc_mem_map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	if (madvise(at, bytes, MADV_DONTFORK)) {
		munmap(at, bytes);
		return NULL;
	}
	return at;
}

int zc_mem_unmap(void *at, size_t bytes)
{
	return munmap(at, bytes) ? errno : 0;
}

int zc_mr_register(void *pd, void *at, size_t bytes, struct zc_mr *out)
{
	errno = 0;
	struct ibv_mr *mr = zc_lib.ibv_reg_mr(pd, at, bytes, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		return errno ? errno : EIO;
	*out = (struct zc_mr){mr, mr->lkey, mr->rkey};
	return 0;
}

int zc_mr_deregister(struct zc_mr *mr)
{
	int err = mr->mr ? zc_lib.ibv_dereg_mr(mr->mr) : 0;
	if (!err)
		mr->mr = NULL;
	return err;
}

#endif
