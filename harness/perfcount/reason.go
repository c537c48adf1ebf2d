package perfcount

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// refusal says why perf_event_open failed, in words and with the error.
func refusal(root string, err error) string {
	why := "the kernel refused the event"
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP):
		why = "the CPU shows no such counter here (usual in a virtual machine)"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		why = "not permitted" + paranoid(root) + "; run as root, or as root: sysctl kernel.perf_event_paranoid=1; a container also needs CAP_PERFMON"
	case errors.Is(err, unix.ENOSYS):
		why = "the kernel has no perf events, or a seccomp filter hides them"
	case errors.Is(err, unix.EBUSY):
		why = "another tool holds the counter"
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		why = "too many files are open"
	}
	return fmt.Sprintf("%s (perf_event_open: %v)", why, err)
}

// paranoid tells the setting that governs who may count.
func paranoid(root string) string {
	const name = "proc/sys/kernel/perf_event_paranoid"
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return ""
	}
	return ", kernel.perf_event_paranoid is " + strings.TrimSpace(string(b))
}
