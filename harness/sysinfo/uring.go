package sysinfo

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// uringSysctl is 0, 1 (a group and the administrator only) or 2 (nobody), since
// Linux 6.6 (Documentation/admin-guide/sysctl/kernel.rst).
const uringSysctl = "proc/sys/kernel/io_uring_disabled"

// uringParamsBytes is the size of struct io_uring_params.
const uringParamsBytes = 120

// setupFunc makes a ring and returns its descriptor.
type setupFunc func() (fd int, err error)

// UringStatus tries whether this process may make an io_uring, by making one.
// If not, reason says what refuses it and remedy what to do; root, normally
// "/", is where the settings that explain a refusal are read.
func UringStatus(root string) (ok bool, reason, remedy string) {
	return uringStatus(root, uringSetup)
}

func uringSetup() (int, error) {
	var params [uringParamsBytes]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func uringStatus(root string, setup setupFunc) (ok bool, reason, remedy string) {
	fd, err := setup()
	if err == nil {
		unix.Close(fd)
		return true, "", ""
	}
	t := tree{root}
	switch {
	case errors.Is(err, unix.ENOSYS):
		reason, remedy = uringMissing(t)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		reason, remedy = uringForbidden(t)
	case errors.Is(err, unix.ENOMEM):
		reason = "there is not enough memory that may be locked for a ring"
		if v, err := t.limit("Max locked memory", bytesText); err == nil {
			reason += "; RLIMIT_MEMLOCK is " + v
		}
		remedy = "raise it (ulimit -l unlimited), or run as root"
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		reason, remedy = "too many files are open", "raise the limit of open files (ulimit -n)"
	default:
		reason, remedy = "the kernel refused a ring", "report this with the output of zcbench env"
	}
	return false, fmt.Sprintf("%s (io_uring_setup: %v)", reason, err), remedy
}

const seccompRemedy = "allow io_uring_setup, io_uring_enter and io_uring_register in the container's seccomp profile, " +
	"or start it with --security-opt seccomp=unconfined"

// uringMissing explains ENOSYS. The sysctl exists only in kernels that have
// io_uring, so where it does a filter pretends.
func uringMissing(t tree) (reason, remedy string) {
	if t.exists(uringSysctl) {
		return "a seccomp filter hides io_uring from this process", seccompRemedy
	}
	kernel := "the kernel"
	if v, err := t.text("proc/sys/kernel/osrelease"); err == nil {
		kernel = "kernel " + v
	}
	if seccomp(t) == "2" {
		return kernel + " has no io_uring, or a seccomp filter hides it",
			"use Linux 6.1 or later with CONFIG_IO_URING; in a container, " + seccompRemedy
	}
	return kernel + " has no io_uring", "use Linux 6.1 or later with CONFIG_IO_URING"
}

// uringForbidden explains EPERM: the sysctl, else a seccomp filter, else a
// security module.
func uringForbidden(t tree) (reason, remedy string) {
	v, err := t.text(uringSysctl)
	switch {
	case err == nil && v == "2":
		return "io_uring is switched off: kernel.io_uring_disabled is 2", "as root: sysctl kernel.io_uring_disabled=0"
	case err == nil && v == "1":
		return "io_uring is for administrators and a group only: kernel.io_uring_disabled is 1",
			"run as root, join the group in kernel.io_uring_group, or as root: sysctl kernel.io_uring_disabled=0"
	case seccomp(t) == "2":
		return "a seccomp filter forbids io_uring, as container runtimes do by default", seccompRemedy
	}
	return "a security module forbids io_uring", "look in the audit log of SELinux or AppArmor, or run outside the sandbox"
}

// seccomp returns the seccomp mode of this process: 2 means a filter. It is
// empty if unknown.
func seccomp(t tree) string {
	v, _ := t.keyed("proc/self/status", "Seccomp")
	return v
}
