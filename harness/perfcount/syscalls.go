package perfcount

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tracefs lists where the tracing file system is usually mounted.
func tracefs() []string { return []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} }

// Counter counts the system calls the thread that opened it enters.
type Counter struct {
	event event
	count int64
}

// OpenSyscalls opens a counter on the tracepoint raw_syscalls:sys_enter of the
// calling thread. It needs the tracing file system mounted and readable.
func OpenSyscalls() (*Counter, error) { return openSyscalls("/", tracefs(), perfEventOpen) }

func openSyscalls(root string, mounts []string, perf opener) (*Counter, error) {
	id, err := tracepointID(mounts)
	if err != nil {
		return nil, fmt.Errorf("count system calls: %w", err)
	}
	fd, err := perf(attrOf(unix.PERF_TYPE_TRACEPOINT, id, false))
	if err != nil {
		return nil, fmt.Errorf("count system calls: %s", refusal(root, err))
	}
	return &Counter{event: event{fd: fd}}, nil
}

// tracepointID finds the number of the tracepoint in the first mount that has it.
func tracepointID(mounts []string) (uint64, error) {
	for _, dir := range mounts {
		b, err := os.ReadFile(filepath.Join(dir, "events/raw_syscalls/sys_enter/id"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("the tracing file system is not readable; run as root: %w", err)
		}
		id, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("number of the tracepoint in %s: %w", dir, err)
		}
		return id, nil
	}
	return 0, fmt.Errorf("no tracepoint raw_syscalls:sys_enter in %s; as root: mount -t tracefs tracefs /sys/kernel/tracing",
		strings.Join(mounts, " or "))
}

// Start begins counting from zero. The call that starts is not counted.
func (c *Counter) Start() error {
	if err := c.event.start(); err != nil {
		return fmt.Errorf("start counting system calls: %w", err)
	}
	return nil
}

// Stop ends counting. The call that stops is left out of the count.
func (c *Counter) Stop() error {
	err := c.event.stop()
	if err != nil {
		return fmt.Errorf("stop counting system calls: %w", err)
	}
	s, err := c.event.since()
	if err != nil {
		return fmt.Errorf("read the count of system calls: %w", err)
	}
	c.count = int64(s.value) - 1
	return nil
}

// Count returns the system calls between the last Start and Stop, those of the
// Go runtime on this thread included: the return from a signal is one.
func (c *Counter) Count() int64 { return c.count }

// Close closes the counter.
func (c *Counter) Close() error { return unix.Close(c.event.fd) }
