// Package perfcount counts hardware events and system calls of the calling
// thread through perf_event_open(2). The caller must lock its goroutine to the
// thread from opening to reading. After opening nothing allocates. Linux only.
package perfcount

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sample is what reading an event gives with the format asked for here.
type sample struct {
	value            uint64
	enabled, running uint64 // nanoseconds
}

// event is one open perf event.
type event struct {
	fd   int
	base sample
	buf  [24]byte
}

// opener is perf_event_open on the calling thread, any CPU.
type opener func(attr *unix.PerfEventAttr) (fd int, err error)

func perfEventOpen(attr *unix.PerfEventAttr) (int, error) {
	return unix.PerfEventOpen(attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// attrOf describes an event that counts nothing until it is started. Times are
// asked for, since the kernel shares counters out when there are too few.
func attrOf(kind uint32, config uint64, userOnly bool) *unix.PerfEventAttr {
	attr := &unix.PerfEventAttr{
		Type:        kind,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config:      config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitDisabled,
	}
	if userOnly {
		attr.Bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	}
	return attr
}

// start remembers where the event stands and lets it count. A reset would not
// clear its times.
func (e *event) start() (err error) {
	if e.base, err = e.read(); err != nil {
		return err
	}
	return e.ioctl(unix.PERF_EVENT_IOC_ENABLE)
}

func (e *event) stop() error { return e.ioctl(unix.PERF_EVENT_IOC_DISABLE) }

func (e *event) ioctl(request uintptr) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(e.fd), request, 0); errno != 0 {
		return errno
	}
	return nil
}

func (e *event) read() (sample, error) {
	n, err := unix.Read(e.fd, e.buf[:])
	if err != nil {
		return sample{}, err
	}
	if n != len(e.buf) {
		return sample{}, fmt.Errorf("perf event gave %d bytes, want %d", n, len(e.buf))
	}
	return sample{
		value:   binary.NativeEndian.Uint64(e.buf[0:]),
		enabled: binary.NativeEndian.Uint64(e.buf[8:]),
		running: binary.NativeEndian.Uint64(e.buf[16:]),
	}, nil
}

// since returns what was counted since the last start.
func (e *event) since() (sample, error) {
	s, err := e.read()
	if err != nil {
		return sample{}, err
	}
	return sample{s.value - e.base.value, s.enabled - e.base.enabled, s.running - e.base.running}, nil
}

// scaled extends what was counted while the event had a counter to all the
// time it was enabled. ok is false if it never had one.
func (s sample) scaled() (n int64, ok bool) {
	switch {
	case s.running == s.enabled:
		return int64(s.value), true
	case s.running == 0 || s.running > s.enabled:
		return 0, false
	}
	hi, lo := bits.Mul64(s.value, s.enabled)
	if hi >= s.running {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, s.running)
	return int64(q), true
}
