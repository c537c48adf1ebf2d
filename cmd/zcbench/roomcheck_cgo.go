//go:build cgo

package main

/*
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// Go's run-time needs room before any Go code can say what is wrong: where there is
// none it ends with a trace of itself. This runs before it.
static void need(int limit, const char *name, const char *flag, unsigned long mib) {
	struct rlimit have;
	if (getrlimit(limit, &have) != 0 || have.rlim_cur == RLIM_INFINITY || have.rlim_cur >= mib << 20)
		return;
	fprintf(stderr, "zcbench: a process may take %lu MiB (%s), %lu are needed at least: ulimit %s unlimited\n",
		(unsigned long)(have.rlim_cur >> 20), name, mib, flag);
	_exit(4);
}

__attribute__((constructor)) static void room(void) {
	need(RLIMIT_AS, "RLIMIT_AS", "-v", 2048);
	need(RLIMIT_DATA, "RLIMIT_DATA", "-d", 512);
}
*/
import "C"

// checksRoom tells whether too little address space is an error of ours.
const checksRoom = true
