package sysinfo

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUringRefusals(t *testing.T) {
	const filter, free = "Seccomp:\t2\n", "Seccomp:\t0\n"
	for _, tc := range []struct {
		name           string
		errno          unix.Errno
		sysctl, status string
		reason, remedy string
	}{
		{"old kernel", unix.ENOSYS, "", free, "kernel 6.12.9-amd64 has no io_uring (", "CONFIG_IO_URING"},
		{"old kernel or filter", unix.ENOSYS, "", filter, "or a seccomp filter", "seccomp profile"},
		{"hidden", unix.ENOSYS, "0\n", filter, "hides io_uring", "seccomp profile"},
		{"switched off", unix.EPERM, "2\n", free, "io_uring_disabled is 2", "sysctl kernel.io_uring_disabled=0"},
		{"group only", unix.EPERM, "1\n", filter, "io_uring_disabled is 1", "io_uring_group"},
		{"container", unix.EPERM, "0\n", filter, "seccomp filter forbids", "seccomp=unconfined"},
		{"container on an old kernel", unix.EPERM, "", filter, "seccomp filter forbids", "seccomp=unconfined"},
		{"security module", unix.EPERM, "0\n", free, "security module", "SELinux"},
		{"access denied", unix.EACCES, "0\n", free, "security module", "audit log"},
		{"locked memory", unix.ENOMEM, "0\n", free, "RLIMIT_MEMLOCK is 64 KiB", "ulimit -l"},
		{"descriptors", unix.EMFILE, "0\n", free, "too many files", "ulimit -n"},
		{"unforeseen", unix.EIO, "0\n", free, "refused a ring", "zcbench env"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := laptop.with(files{uringSysctl: tc.sysctl, "proc/self/status": tc.status}).root(t)
			ok, reason, remedy := uringStatus(root, func() (int, error) { return -1, tc.errno })
			if ok || !strings.Contains(reason, tc.reason) || !strings.Contains(remedy, tc.remedy) {
				t.Errorf("%v, %q, %q; want %q and %q", ok, reason, remedy, tc.reason, tc.remedy)
			}
			if !strings.Contains(reason, tc.errno.Error()) {
				t.Errorf("%q does not name the error %q", reason, tc.errno)
			}
		})
	}
}

func TestUringAllowed(t *testing.T) {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ok, reason, remedy := uringStatus(t.TempDir(), func() (int, error) { return fd, nil })
	if !ok || reason != "" || remedy != "" {
		t.Errorf("%v, %q, %q", ok, reason, remedy)
	}
	if err := unix.Close(fd); err != unix.EBADF {
		t.Errorf("the ring was left open: close gives %v", err)
	}
}

// TestUringOnThisKernel compares the answer with an independent sign: kernels
// from 6.6 have the sysctl, and 0 with no filter on this process means allowed.
func TestUringOnThisKernel(t *testing.T) {
	ok, reason, remedy := UringStatus("/")
	if !ok && (reason == "" || remedy == "") {
		t.Errorf("refused with reason %q, remedy %q", reason, remedy)
	}
	sysctl, err := os.ReadFile("/" + uringSysctl)
	if err != nil || strings.TrimSpace(string(sysctl)) != "0" || seccomp(tree{"/"}) != "0" {
		t.Skipf("io_uring may be refused here: %q, %v", sysctl, err)
	}
	if !ok {
		t.Errorf("nothing forbids io_uring, yet: %s", reason)
	}
}
