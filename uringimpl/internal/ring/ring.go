package ring

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ring is one io_uring. All calls come from the thread that made it, which must
// be locked: with DEFER_TASKRUN the kernel refuses others (EEXIST).
type Ring struct {
	// Enters counts io_uring_enter calls, Submitted the SQEs they took.
	Enters    uint64
	Submitted uint64

	fd       int
	flags    uint32 // set-up flags in force
	features uint32

	sqMem, cqMem, sqeMem []byte
	sqHead, sqTail       *uint32 // head moved by the kernel, tail by us
	sqFlags              *uint32
	sqMask               uint32
	sqes                 []SQE
	tail                 uint32  // ours, published by Enter
	cqHead, cqTail       *uint32 // head moved by us, tail by the kernel
	cqOverflow           *uint32
	cqMask               uint32
	cqes                 []CQE

	arg getEventsArg
	ts  timespec
}

// tries are the set-up flags to ask for, best first.
var tries = [...]uint32{
	SetupSubmitAll | SetupSingleIssuer | SetupDeferTaskrun,
	SetupSubmitAll | SetupCoopTaskrun | SetupTaskrunFlag,
	0,
}

// New makes a ring with room for sqEntries submissions and cqEntries
// completions; each is rounded up to a power of two by the kernel.
func New(sqEntries, cqEntries int) (*Ring, error) {
	var last error
	for _, flags := range tries {
		r, err := Open(sqEntries, cqEntries, flags|SetupClamp)
		if errors.Is(err, unix.EINVAL) {
			last = err
			continue
		}
		return r, err
	}
	return nil, last
}

// Open makes a ring with exactly these set-up flags, beside that for the number
// of completions; cqEntries 0 leaves it to the kernel.
func Open(sqEntries, cqEntries int, flags uint32) (*Ring, error) {
	p := params{flags: flags, cqEntries: uint32(cqEntries)}
	if cqEntries > 0 {
		p.flags |= SetupCQSize
	}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(sqEntries), uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("io_uring_setup with %d entries: %w", sqEntries, errno)
	}
	r := &Ring{fd: int(fd), flags: p.flags, features: p.features}
	if err := r.mapRings(&p); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Ring) mapRings(p *params) error {
	sqSize := int(p.sqOff.array + p.sqEntries*4)
	cqSize := int(p.cqOff.cqes + p.cqEntries*uint32(unsafe.Sizeof(CQE{}))<<r.doubled(SetupCQE32))
	single := p.features&FeatSingleMmap != 0
	if single {
		sqSize = max(sqSize, cqSize)
	}
	var err error
	if r.sqMem, err = r.mmap(offSQRing, sqSize); err != nil {
		return fmt.Errorf("map the submission ring: %w", err)
	}
	cq := r.sqMem
	if !single {
		if r.cqMem, err = r.mmap(offCQRing, cqSize); err != nil {
			return fmt.Errorf("map the completion ring: %w", err)
		}
		cq = r.cqMem
	}
	if r.sqeMem, err = r.mmap(offSQEs, int(p.sqEntries)*int(unsafe.Sizeof(SQE{}))<<r.doubled(SetupSQE128)); err != nil {
		return fmt.Errorf("map the submission entries: %w", err)
	}
	r.sqHead, r.sqTail = word(r.sqMem, p.sqOff.head), word(r.sqMem, p.sqOff.tail)
	r.sqFlags, r.sqMask = word(r.sqMem, p.sqOff.flags), *word(r.sqMem, p.sqOff.ringMask)
	r.sqes = unsafe.Slice((*SQE)(unsafe.Pointer(&r.sqeMem[0])), p.sqEntries)
	r.cqHead, r.cqTail = word(cq, p.cqOff.head), word(cq, p.cqOff.tail)
	r.cqOverflow, r.cqMask = word(cq, p.cqOff.overflow), *word(cq, p.cqOff.ringMask)
	r.cqes = unsafe.Slice((*CQE)(unsafe.Pointer(&cq[p.cqOff.cqes])), p.cqEntries)
	if r.flags&SetupNoSQArray != 0 {
		return nil
	}
	// Entry i of the index array always names SQE i.
	array := unsafe.Slice(word(r.sqMem, p.sqOff.array), p.sqEntries)
	for i := range array {
		array[i] = uint32(i)
	}
	return nil
}

// doubled is 1 where a flag makes entries twice as large.
func (r *Ring) doubled(flag uint32) int {
	if r.flags&flag != 0 {
		return 1
	}
	return 0
}

func (r *Ring) mmap(off int64, n int) ([]byte, error) {
	return unix.Mmap(r.fd, off, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
}

func word(mem []byte, off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&mem[off])) }

// Close cancels what is in flight, unmaps the ring and closes it. Once it has
// returned no receive writes to memory any more, on kernels that can cancel at
// once (6.0); others do so in their own time.
func (r *Ring) Close() error {
	var errs []error
	if r.fd >= 0 {
		r.cancel()
	}
	for _, m := range [...][]byte{r.sqMem, r.cqMem, r.sqeMem} {
		if m != nil {
			errs = append(errs, unix.Munmap(m))
		}
	}
	r.sqMem, r.cqMem, r.sqeMem = nil, nil, nil
	if r.fd >= 0 {
		errs = append(errs, unix.Close(r.fd))
		r.fd = -1
	}
	return errors.Join(errs...)
}

// cancel ends every request in flight. Closing goes on whatever comes of it:
// having nothing to cancel is an error too.
func (r *Ring) cancel() {
	c := syncCancelReg{flags: cancelAll | cancelAny, timeout: timespec{sec: 1}}
	_ = r.register(registerSyncCancel, unsafe.Pointer(&c), 1)
	// With DEFER_TASKRUN requests end, and let their sockets go, in a call that
	// asks for events. What is not submitted stays so.
	unix.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), 0, 0, enterGetEvents, 0, 0)
}

// Fd is the ring's file descriptor.
func (r *Ring) Fd() int { return r.fd }

// Features are the feature bits the kernel reported.
func (r *Ring) Features() uint32 { return r.features }

// Deferred reports whether completions are made in calls of Enter only.
func (r *Ring) Deferred() bool { return r.flags&SetupDeferTaskrun != 0 }

// Mode names the completion mode in force, for the record.
func (r *Ring) Mode() string {
	switch {
	case r.flags&SetupDeferTaskrun != 0:
		return "DEFER_TASKRUN, SINGLE_ISSUER"
	case r.flags&SetupCoopTaskrun != 0:
		return "COOP_TASKRUN"
	}
	return "default task work"
}

// Bytes is the memory of the ring in whole pages: the kernel pins it.
func (r *Ring) Bytes() int64 {
	return pages(len(r.sqMem)) + pages(len(r.cqMem)) + pages(len(r.sqeMem))
}

func pages(n int) int64 {
	page := unix.Getpagesize()
	return int64((n + page - 1) / page * page)
}

// Full reports whether there is no room for an SQE before the next Enter.
func (r *Ring) Full() bool { return r.Pending() > r.sqMask }

// Next returns a cleared SQE to fill in, or nil when the ring is full: submit
// first. It is seen by the kernel at the next Enter.
func (r *Ring) Next() *SQE {
	if r.Full() {
		return nil
	}
	e := &r.sqes[r.tail&r.sqMask]
	*e = SQE{}
	r.tail++
	return e
}

// Pending is the number of SQEs filled in but not taken by the kernel.
func (r *Ring) Pending() uint32 { return r.tail - atomic.LoadUint32(r.sqHead) }

// Enter submits what is pending and returns when at least wait completions are
// there, or waitNS nanoseconds have passed (0: no limit; ignored where the
// kernel lacks EXT_ARG), or a signal came. Only the submission of SQEs can fail.
//
// The call is made without telling Go's scheduler unless blocking is set, which
// strategies must do that leave garbage collection on: a collection waits for
// every thread that Go believes to be running.
func (r *Ring) Enter(wait uint32, waitNS int64, blocking bool) error {
	// The kernel reads the entries after it has read the tail.
	atomic.StoreUint32(r.sqTail, r.tail)
	n := r.Pending()
	flags, arg, size := uintptr(enterGetEvents), uintptr(0), uintptr(0)
	if wait > 0 && waitNS > 0 && r.features&FeatExtArg != 0 {
		r.ts = timespec{waitNS / 1e9, waitNS % 1e9}
		r.arg = getEventsArg{ts: uint64(uintptr(unsafe.Pointer(&r.ts)))}
		flags |= enterExtArg
		arg, size = uintptr(unsafe.Pointer(&r.arg)), unsafe.Sizeof(r.arg)
	}
	r.Enters++
	var done uintptr
	var errno unix.Errno
	if blocking {
		done, _, errno = unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(n), uintptr(wait), flags, arg, size)
	} else {
		done, _, errno = unix.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(n), uintptr(wait), flags, arg, size)
	}
	switch errno {
	case 0:
		r.Submitted += uint64(done)
		return nil
	case unix.EINTR, unix.ETIME, unix.EAGAIN, unix.EBUSY:
		// EBUSY: completions overflowed; the caller reaps and comes again.
		return nil
	}
	return fmt.Errorf("io_uring_enter(submit %d, wait %d): %w", n, wait, errno)
}

// Completions returns the completions that are there, oldest first, as up to
// two runs of the ring's memory. They stay valid until Seen.
func (r *Ring) Completions() (a, b []CQE) {
	head, tail := *r.cqHead, atomic.LoadUint32(r.cqTail)
	n := tail - head
	if n == 0 {
		return nil, nil
	}
	first := head & r.cqMask
	if end := first + n; end <= uint32(len(r.cqes)) {
		return r.cqes[first:end], nil
	}
	k := uint32(len(r.cqes)) - first
	return r.cqes[first:], r.cqes[:n-k]
}

// Reap hands the completions that have come to take, in their order, and then
// gives their places back.
func (r *Ring) Reap(take func([]CQE) error) error {
	a, b := r.Completions()
	err := take(a)
	if err == nil {
		err = take(b)
	}
	r.Seen(len(a) + len(b))
	return err
}

// Seen gives n completions back to the kernel, after their last use.
func (r *Ring) Seen(n int) { atomic.StoreUint32(r.cqHead, *r.cqHead+uint32(n)) }

// Overflowed reports whether completions wait inside the kernel for want of
// room; an Enter fetches them.
func (r *Ring) Overflowed() bool { return atomic.LoadUint32(r.sqFlags)&sqCQOverflow != 0 }

// Lost is the number of completions the kernel dropped for want of memory.
func (r *Ring) Lost() uint32 { return atomic.LoadUint32(r.cqOverflow) }

// register calls io_uring_register.
func (r *Ring) register(op uintptr, arg unsafe.Pointer, n uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), op, uintptr(arg), n, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func powerOfTwo(n int) bool { return n > 0 && bits.OnesCount(uint(n)) == 1 }
