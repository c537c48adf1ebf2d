package uringimpl

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"golang.org/x/sys/unix"
)

// goNet is the ordinary Go server: a net.Conn and a goroutine for each client,
// which reads into a buffer and handles what came under a mutex. A buffer that a
// message stays in is replaced by a fresh one and left to the garbage collector.
// The Go runtime waits for the sockets, on threads of its own, all charged.
var goNet = harness.Strategy{
	Name: "go-net", Family: "socket", Allocates: true,
	Summary: "Go's net package: a goroutine and a Read buffer a client, garbage collected",
	Params: []harness.Param{
		{Name: "read", Kind: harness.ParamBytes, Default: "16KiB", Help: "bytes of a client's buffer, the most a Read brings"},
	},
	Fits: fitsOwnChunks("read"),
	Open: openGoNet,
}

// netServer is the shared state of the goroutines, under mu.
type netServer struct {
	sink     *harness.Sink
	fds      []int // the harness's, which the connections take over
	conns    []*netConn
	running  sync.WaitGroup
	lockstep bool
	timed    bool // messages are held for a time
	grams    bool // the transport is udp
	notes    []string
	unpin    func()

	mu      sync.Mutex
	count   harness.Counters
	target  uint64
	reached chan struct{} // told when target is, or when something failed
	started bool
	closing bool
}

// netConn is one client and its buffers; number c*per+i is the i-th.
type netConn struct {
	server  *netServer
	client  int
	conn    net.Conn
	per     int
	least   int // bytes of room a Read must have
	size    int
	live    [][]byte // buffers by number; nil: none
	unused  []int32  // numbers of live without a buffer
	current int32    // being read into; -1: none
	cursor  int
	raw     syscall.RawConn
	arrived func(fd uintptr) bool // peek, made once
	ended   bool                  // peek saw the end of the stream
}

func openGoNet(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	w := b.Trial.Workload
	size := int(p.Bytes("read", 16<<10))
	per := int(w.BudgetBytes) / size
	s := &netServer{
		sink: b.Sink, fds: b.FDs, conns: make([]*netConn, 0, len(b.FDs)), reached: make(chan struct{}, 1),
		lockstep: w.Load.Mode == load.Lockstep, timed: w.HoldNS > 0, grams: w.Transport == load.UDP,
	}
	if err := s.pin(b.Trial.CPU); err != nil {
		return nil, err
	}
	b.Sink.Buffers(per * len(b.FDs))
	for c := range b.FDs {
		k := &netConn{server: s, client: c, per: per, least: leastRoom(w), size: size, live: make([][]byte, per), current: -1}
		for i := per - 1; i >= 0; i-- {
			k.unused = append(k.unused, int32(c*per+i))
		}
		if err := k.adopt(); err != nil {
			return nil, errors.Join(fmt.Errorf("client %d: %w", c, err), s.Close())
		}
		s.conns = append(s.conns, k)
	}
	return s, nil
}

// pin keeps every thread of the runtime on the measured CPU: the other strategies
// have no more than that, and the generator is to have its own for itself.
func (s *netServer) pin(cpu int) error {
	s.unpin = func() {}
	if cpu < 0 {
		return nil
	}
	procs := runtime.GOMAXPROCS(1)
	s.unpin = func() { runtime.GOMAXPROCS(procs) }
	if err := pinThreads(cpu); err != nil {
		s.unpin()
		return err
	}
	s.notes = []string{fmt.Sprintf("all threads of the Go runtime on CPU %d, GOMAXPROCS=1", cpu)}
	return nil
}

// pinThreads pins every thread of the process; those to come inherit it. It looks
// again until it finds none that is new.
func pinThreads(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	seen := map[int]bool{}
	for known := -1; known < len(seen); {
		known = len(seen)
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("list the threads of the process: %w", err)
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil || seen[tid] {
				continue
			}
			seen[tid] = true
			if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
				return fmt.Errorf("pin thread %d to CPU %d: %w", tid, cpu, err)
			}
		}
	}
	return nil
}

// adopt makes a net.Conn of the client's socket. The harness goes on with the
// descriptor that has.
func (k *netConn) adopt() error {
	fd := &k.server.fds[k.client]
	f := os.NewFile(uintptr(*fd), "client")
	conn, err := net.FileConn(f)
	*fd = -1
	err = errors.Join(err, f.Close())
	if err != nil {
		return fmt.Errorf("make a net.Conn of the socket: %w", err)
	}
	k.conn = conn
	if k.raw, err = conn.(syscall.Conn).SyscallConn(); err == nil {
		err = k.raw.Control(func(own uintptr) { *fd = int(own) })
	}
	k.arrived = k.peek
	return err
}

// serve is a client's goroutine.
func (k *netConn) serve() {
	defer k.server.running.Done()
	for k.await() {
		buf := k.room()
		if buf == nil {
			return
		}
		n, err := k.conn.Read(buf)
		if !k.handle(buf[:n], err) {
			return
		}
	}
}

// await, in lockstep, returns when the whole of a message is there, so that the
// number of reads it takes repeats. The program itself does not do this.
func (k *netConn) await() bool {
	s := k.server
	if !s.lockstep {
		return true
	}
	if err := k.raw.Read(k.arrived); err != nil {
		return k.handle(nil, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !k.ended && !s.closing {
		s.sink.Gate()
	}
	return !s.closing
}

// peek tells the runtime's poller whether there is something to read.
func (k *netConn) peek(fd uintptr) bool {
	var one [1]byte
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&one[0])), 1, unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	k.ended = errno == 0 && n == 0
	return errno != unix.EAGAIN
}

// room returns where a client reads to next: behind what its buffer holds, at its
// start if no message is left in it, or into a fresh one.
func (k *netConn) room() []byte {
	s := k.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.current >= 0 && !s.sink.Held(k.current) {
		k.cursor = 0
	}
	if k.current >= 0 && k.size-k.cursor >= k.least {
		return k.buffer()[k.cursor:]
	}
	if k.current >= 0 {
		s.count.Wasted += uint64(k.size - k.cursor)
		s.sink.Unref(k.current)
		k.current = -1
	}
	for !s.closing {
		s.recycle()
		switch n := len(k.unused); {
		case n > 0:
			k.current, k.cursor, k.unused = k.unused[n-1], 0, k.unused[:n-1]
			k.live[int(k.current)-k.client*k.per] = make([]byte, k.size)
			s.sink.Lend(k.current)
			return k.buffer()
		case s.sink.ForceRelease():
		case s.sink.Holding() > 0:
			s.sleep()
		default:
			s.sink.Fail(fmt.Errorf("client %d: an open message fills all %d buffers of %d bytes; raise the budget", k.client, k.per, k.size))
			s.tell()
			return nil
		}
	}
	return nil
}

// sleep lets go of the mutex until the oldest held message is due.
func (s *netServer) sleep() {
	wait := time.Duration(s.sink.WaitNS())
	s.mu.Unlock()
	time.Sleep(wait)
	s.mu.Lock()
	s.sink.ReleaseDue(s.sink.Now())
}

func (k *netConn) buffer() []byte { return k.live[int(k.current)-k.client*k.per] }

// handle takes what a Read brought, and reports whether to go on.
func (k *netConn) handle(p []byte, err error) bool {
	s := k.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	if len(p) > 0 {
		s.count.Receives++
		k.cursor += len(p)
		now := s.sink.Now()
		s.sink.Deliver(k.client, p, k.current, now)
		if s.timed {
			s.sink.ReleaseDue(now)
		}
		s.recycle()
	}
	if err == io.EOF {
		s.sink.Gone(k.client, nil)
	} else if err != nil {
		s.sink.Gone(k.client, err)
	}
	s.tell()
	return err == nil
}

// recycle leaves the buffers that nobody holds to the garbage collector.
func (s *netServer) recycle() {
	for _, id := range s.sink.TakeFreed() {
		k := s.conns[int(id)/s.conns[0].per]
		k.live[int(id)-k.client*k.per] = nil
		k.unused = append(k.unused, id)
	}
}

// tell wakes the measured thread once its target is reached.
func (s *netServer) tell() {
	if s.sink.More(s.target) {
		return
	}
	select {
	case s.reached <- struct{}{}:
	default: // it is told already
	}
}

// Receive waits, on the measured thread, for what the goroutines do.
func (s *netServer) Receive(target uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.target = target
	if !s.started {
		s.started = true
		s.running.Add(len(s.conns))
		for _, k := range s.conns {
			go k.serve()
		}
	}
	for s.sink.More(target) {
		wait := time.Duration(s.sink.WaitNS()) // looks after the generator, too
		s.mu.Unlock()
		s.pause(wait)
		s.mu.Lock()
	}
	return s.sink.Err()
}

// pause returns when the target is reached. Over udp it returns once in a while:
// that the generator is gone does not show on the sockets.
func (s *netServer) pause(wait time.Duration) {
	if !s.grams {
		<-s.reached
		return
	}
	select {
	case <-s.reached:
	case <-time.After(wait):
	}
}

func (s *netServer) Counters() harness.Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *netServer) Notes() []string { return s.notes }

func (s *netServer) Memory() harness.Memory { return harness.Memory{GoHeap: true} }

// Unavailable lists what is not known of this strategy: the Go runtime makes the
// system calls, on threads other than the measured one.
func (s *netServer) Unavailable() map[string]string {
	const calls = "the Go runtime makes the system calls and does not count them"
	const thread = "the work is done on threads of the Go runtime, not on the measured one"
	return map[string]string{
		"syscalls": calls, "minor_faults": thread,
		"instructions": thread, "cycles": thread, "cache_misses": thread, "dtlb_misses": thread,
	}
}

func (s *netServer) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	var errs []error
	for _, k := range s.conns {
		if tcp, ok := k.conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // as the harness closes: nothing stays in TIME_WAIT
		}
		errs = append(errs, k.conn.Close())
		s.fds[k.client] = -1
	}
	s.running.Wait()
	s.unpin()
	return errors.Join(errs...)
}

// Kept is what is filled of the buffer a client reads into, all of another.
func (s *netServer) Kept(id int32) int64 {
	k := s.conns[int(id)/s.conns[0].per]
	if k.current == id {
		return int64(k.cursor)
	}
	return int64(k.size)
}
