//go:build cgo && !noverbs

package verbs

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestDeviceIsDescribed(t *testing.T) {
	c := openDevice(t)
	if !c.Active || c.Port < 1 || c.MaxQPWR < 1024 || c.MTU < 256 || c.Provider == "" || c.Library == "" {
		t.Errorf("device: %+v", c.Device)
	}
	if _, ok := c.gid.ipv4(); c.LinkLayer == "Ethernet" && !ok {
		t.Errorf("GID %s was picked of %s: not an IPv4-mapped one", c.GID, gidList(c.gids))
	}
	names, err := Devices()
	if err != nil || len(names) == 0 {
		t.Errorf("devices: %v, %v", names, err)
	}
	if _, err := Open("nonesuch0"); err == nil || !strings.Contains(err.Error(), c.Name) {
		t.Errorf("opening a device that is not there: %v, want %s named", err, c.Name)
	}
}

func TestDeviceInlineLimit(t *testing.T) {
	c := openDevice(t)
	limit, err := c.MaxInline()
	if err != nil {
		t.Fatal(err)
	}
	if isProvider(c.Provider, "rxe") && limit != 512 && limit != 400 {
		t.Errorf("soft-RoCE takes %d B inline, want 512, or 400 on old kernels", limit)
	}
	for _, lane := range []Lane{InlineOwned, InlineBorrowed} {
		if n, err := c.Verify(Config{Lane: lane, Batch: 1, Bytes: limit, Batches: 2}, 1); err != nil || n != 2 {
			t.Errorf("lane %s at the limit: %d messages, %v", lane, n, err)
		}
		_, err := c.OpenComplete(Config{Lane: lane, Batch: 1, Bytes: limit + 1})
		var u *Unsupported
		if !errors.As(err, &u) || u.Limit != limit || !errors.Is(err, syscall.EINVAL) {
			t.Fatalf("lane %s beyond the limit: %v, want it refused by the device with the limit %d", lane, err, limit)
		}
		if text := err.Error(); !strings.Contains(text, fmt.Sprintf("limit %d", limit)) || !strings.Contains(text, "inline") {
			t.Errorf("message %q does not name inline and the limit", text)
		}
	}
	if n, err := c.Verify(Config{Lane: SGE, Batch: 1, Bytes: limit + 1, Batches: 2}, 1); err != nil || n != 2 {
		t.Errorf("another lane does not go on: %d messages, %v", n, err)
	}
}

// A post longer than its queue pair was made for is refused at the post, or at
// completion of the setters.
func TestDeviceInlineRefusedAtPost(t *testing.T) {
	c := openDevice(t)
	onlyRXE(t, c)
	for lane, want := range map[Lane]syscall.Errno{InlineBorrowed: syscall.EINVAL, InlineOwned: syscall.EINVAL, InlineEx: syscall.ENOSPC} {
		w, err := c.open(Config{Lane: lane, Batch: 2, Bytes: 256, Batches: 1}, modeReset, 16)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.First()
		var u *Unsupported
		if !errors.As(err, &u) || !errors.Is(err, want) || !strings.Contains(err.Error(), "inline") {
			t.Errorf("lane %s: %v, want an unsupported size by errno %d", lane, err, want)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// sendLanes are those whose messages can be carried through.
func sendLanes(c *Context) []Lane {
	var out []Lane
	for _, l := range Lanes() {
		if i := l.Info(); !i.Recv && !i.Model && (!i.Ex || c.HasEx()) {
			out = append(out, l)
		}
	}
	return out
}

// Every byte and every byte_len of every send lane arrives as it was sent.
func TestDevicePayloadVerified(t *testing.T) {
	c := openDevice(t)
	setters, err := c.ProbeSetters()
	if c.HasEx() && err != nil {
		t.Fatal(err)
	}
	for _, lane := range sendLanes(c) {
		for _, cfg := range []Config{
			{Lane: lane, Batch: 1, Bytes: 16}, {Lane: lane, Batch: 5, Bytes: 64}, {Lane: lane, Batch: 33, Bytes: 256},
			{Lane: lane, Batch: 17, SGEs: 4, Bytes: 256},
		} {
			if cfg.SGEs > 1 && lane.Info().Single {
				continue
			}
			cfg.Batches = 3
			n, err := c.Verify(cfg, 42)
			if lane == InlineExList && setters.InlineList != nil {
				if err == nil || !strings.Contains(err.Error(), "invalid") {
					t.Errorf("lane %s passes although its setter is broken: %v", lane, err)
				}
				continue
			}
			if err != nil || n != cfg.Batch*cfg.Batches {
				t.Errorf("lane %s, %+v: %d messages right, %v", lane, cfg, n, err)
			}
		}
	}
}

// The setters for lists are either right or found out, never taken on trust.
func TestDeviceSetterQuirks(t *testing.T) {
	c := openDevice(t)
	if !c.HasEx() {
		t.Skipf("%s has no ibv_wr_*", c.Provider)
	}
	s, err := c.ProbeSetters()
	if err != nil {
		t.Fatal(err)
	}
	old := isProvider(c.Provider, "rxe") && strings.Contains(c.Provider, "rdmav34") && c.RDMACore() < "64"
	if old && (s.InlineList == nil || !strings.Contains(s.InlineList.Error(), "delivered 0 of 96 bytes")) {
		t.Errorf("the inline list setter of %s passes for right: %v", c.Provider, s.InlineList)
	}
	if old && (s.SGEList == nil || !strings.Contains(s.SGEList.Error(), "ibv_wr_set_sge_list")) {
		t.Errorf("the SGE list setter of %s passes for right: %v", c.Provider, s.SGEList)
	}
	t.Logf("%s: %v; %v", c.Provider, s.InlineList, s.SGEList)
}

// When each lane, or the device behind it, really reads the caller's buffer.
func TestDeviceCopySend(t *testing.T) {
	c := openDevice(t)
	const n = 3
	for _, lane := range sendLanes(c) {
		i := lane.Info()
		if !i.Payload || lane == InlineExList {
			continue
		}
		got, err := c.CopySend(Config{Lane: lane, Bytes: 64}, n)
		if err != nil {
			t.Fatalf("lane %s: %v", lane, err)
		}
		for when, reads := range map[When]bool{
			BeforeBuild: true, AfterBuild: i.Blocked >= UntilPosted, AfterPost: i.Blocked >= UntilCompleted, AfterCompletion: false,
		} {
			want := Arrivals{Changed: n}
			if reads {
				want.Arrived = n
			}
			if got[when] != want {
				t.Errorf("lane %s, changed at %d: %+v reached the peer, want %+v", lane, when, got[when], want)
			}
		}
	}
}

// 40 requests on a depth of 16: how many were taken is told, and what to do.
func TestDeviceFullQueue(t *testing.T) {
	c := openDevice(t)
	for _, lane := range []Lane{RecvGuard, RecvArray, RecvGoArray, SendArray} {
		within(t, c.OpenWindow, Config{Lane: lane, Batch: 40, Bytes: 64, Batches: 1, Depth: 16}, func(w *Window) {
			_, err := w.First()
			if !errors.Is(err, syscall.ENOMEM) || !strings.Contains(err.Error(), "queue is full: depth 16") {
				t.Errorf("lane %s: %v, want a full queue", lane, err)
			}
			if isProvider(c.Provider, "rxe") && !strings.Contains(err.Error(), "request 31 of 40") {
				t.Errorf("lane %s: %v, want request 31 refused", lane, err)
			}
		})
	}
}

// A completion queue too small for what arrives is told by the device's
// asynchronous event, in bounded time.
func TestDeviceCQOverflow(t *testing.T) {
	c := openDevice(t)
	onlyRXE(t, c)
	w := opened(t, c.OpenComplete, Config{Lane: SendArray, Batch: 64, Bytes: 16, Batches: 1, CQE: 4, Deadline: 5 * time.Second})
	start := time.Now()
	w.pauseBeforeAwait(200 * time.Millisecond)
	_, err := w.Run()
	var a *AsyncError
	if !errors.As(err, &a) || a.Number != eventCQErr {
		t.Fatalf("%v, want the device's event", err)
	}
	if text := err.Error(); !strings.Contains(text, "overflowed") || !strings.Contains(text, "CQ") {
		t.Errorf("message %q does not explain", text)
	}
	if d := time.Since(start); d > 4*time.Second {
		t.Errorf("it took %v", d)
	}
}

// Completions that never come end the wait at its deadline.
func TestDeviceDeadline(t *testing.T) {
	c := openDevice(t)
	w := opened(t, c.OpenComplete, Config{Lane: SendArray, Batch: 4, Bytes: 16, Batches: 1, Deadline: 300 * time.Millisecond})
	w.unsignal()
	_, err := w.Run()
	if !errors.Is(err, ErrDeadline) || !strings.Contains(err.Error(), "0 of 1 sends and 4 of 4 receives") {
		t.Errorf("%v, want the deadline with what was seen", err)
	}
}

func TestDeviceRNR(t *testing.T) {
	c := openDevice(t)
	w := opened(t, c.OpenComplete, Config{Lane: SendGuard, Batch: 1, Bytes: 16, Batches: 1, RNRRetry: 1, MinRNRTimer: 1})
	w.withholdReceives()
	_, err := w.Run()
	var ce *CompletionError
	if !errors.As(err, &ce) || ce.Status != wcRNRRetryExceeded {
		t.Fatalf("%v, want RNR retry exceeded", err)
	}
	for _, part := range []string{"RNR retry exceeded", "post receives", "vendor_err", "send guard", "batch 0"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q lacks %q", err, part)
		}
	}
}

func TestDeviceWrongGID(t *testing.T) {
	c := openDevice(t)
	onlyRXE(t, c)
	q, err := c.newQueue(Config{CQE: 4}, depths{send: 1, recv: 1, sges: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer q.close()
	if err := q.toInit(); err != nil {
		t.Fatal(err)
	}
	err = q.connect(q.num(), 7)
	if !errors.Is(err, syscall.ENODATA) {
		t.Errorf("%v, want errno 61", err)
	}
	if text := err.Error(); !strings.Contains(text, "GID index 7") || !strings.Contains(text, c.GID) {
		t.Errorf("message %q does not name the index and what there is", text)
	}
}

// A user without CAP_IPC_LOCK may pin no more than the limit.
func TestDeviceMemlock(t *testing.T) {
	if os.Getenv("ZC_TEST_MEMLOCK") == "" {
		openDevice(t)
		out, err := again(t, "TestDeviceMemlock", "ZC_TEST_MEMLOCK=1")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	c := openDevice(t)
	var old unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 65536, Max: 65536}, &old); err != nil {
		t.Fatal(err)
	}
	if err := dropIPCLock(); err != nil {
		t.Fatal(err)
	}
	_, err := c.newMemory(8 << 20)
	if !errors.Is(err, syscall.ENOMEM) {
		t.Fatalf("registering beyond the limit: %v", err)
	}
	for _, part := range []string{"RLIMIT_MEMLOCK is 65536 bytes", "8388608", "ulimit -l"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q lacks %q", err, part)
		}
	}
}

// again runs one test of this binary in a process of its own.
func again(t *testing.T, test, env string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), env)
	return cmd.CombinedOutput()
}

// dropIPCLock gives up the capability that lifts the limit, on this thread, which
// stays locked to its goroutine until the process ends.
func dropIPCLock() error {
	runtime.LockOSThread()
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return err
	}
	data[0].Effective &^= 1 << unix.CAP_IPC_LOCK
	data[0].Permitted &^= 1 << unix.CAP_IPC_LOCK
	return unix.Capset(&hdr, &data[0])
}

// A child started after memory was registered does not part the process from
// its buffers.
func TestDeviceForkAfterRegistering(t *testing.T) {
	c := openDevice(t)
	w := opened(t, c.OpenComplete, Config{Lane: SGE, Batch: 4, Bytes: 4096, Batches: 1, Cold: true, ColdBytes: 1 << 16})
	for i := range 5 {
		if out, err := exec.Command("/bin/true").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := w.verifyBatch(uint64(i)); err != nil {
			t.Fatalf("after child %d: %v", i, err)
		}
	}
	if dontFork, err := hasVMFlag(w.src.at, "dc"); err != nil || !dontFork {
		t.Errorf("registered memory is given to children (%v)", err)
	}
}

// hasVMFlag looks for a flag of the mapping at p in /proc/self/smaps.
func hasVMFlag(p unsafe.Pointer, flag string) (bool, error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return false, err
	}
	defer f.Close()
	here := false
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(sc.Text(), "%x-%x ", &lo, &hi); n == 2 {
			here = uintptr(p) >= lo && uintptr(p) < hi
		}
		if rest, ok := strings.CutPrefix(sc.Text(), "VmFlags:"); ok && here {
			return strings.Contains(rest, " "+flag), nil
		}
	}
	return false, fmt.Errorf("no mapping holds %p", p)
}

// In the guest a fault costs more than a thousand posts: a warm window of a lane
// in C sees none, and the first batch of one that allocates nothing none either.
func TestDeviceNoFaultsInWindows(t *testing.T) {
	c := openDevice(t)
	for _, lane := range Lanes() {
		i := lane.Info()
		if i.Go || i.Model || i.Ex && !c.HasEx() || lane == RegisterEach || !i.Recv && !c.Suppressible() {
			continue
		}
		within(t, c.OpenWindow, Config{Lane: lane, Batch: 33, Bytes: 256, Batches: 200, Totals: 200, Cold: i.Payload, ColdBytes: 8 << 20}, func(w *Window) {
			first, err := w.First()
			if err != nil {
				t.Fatal(err)
			}
			warmed(t, w)
			r := ran(t, w)
			if r.MinorFaults != 0 || r.MajorFaults != 0 || r.Waits != 0 {
				t.Errorf("lane %s: %d minor and %d major faults and %d waits in a warm window", lane, r.MinorFaults, r.MajorFaults, r.Waits)
			}
			if (lane == RecvArray || lane == SendArray || lane == InlineBorrowed) && first.MinorFaults != 0 {
				t.Errorf("lane %s: %d faults in its first batch", lane, first.MinorFaults)
			}
		})
	}
}

// Where the doorbell is rung, a window sends what it posts, one system call a
// batch, and what was refused beside it still goes through.
func TestDeviceRungWindow(t *testing.T) {
	c := openDevice(t)
	for _, lane := range sendLanes(c) {
		if lane == InlineExList {
			continue
		}
		// A suppressed window beside it must not swallow its doorbells.
		beside, err := c.OpenWindow(Config{Lane: SendArray, Batch: 2, Bytes: 64, Batches: 2, Ring: !c.Suppressible()})
		if err != nil {
			t.Fatal(err)
		}
		w, err := c.OpenWindow(Config{Lane: lane, Batch: 5, Bytes: 64, Batches: 40, Totals: 40, Depth: 64, Ring: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := beside.Run(); err != nil {
			t.Fatal(err)
		}
		warmed(t, w)
		r := ran(t, w)
		if r.Suppressed || r.Batches != 80 || len(r.Laps) != 40 || totals(r) != 40 {
			t.Errorf("lane %s: %d batches, %d laps, %d as a whole, suppressed %v", lane, r.Batches, len(r.Laps), totals(r), r.Suppressed)
		}
		if err := errors.Join(w.Close(), beside.Close()); err != nil {
			t.Error(err)
		}
	}
}
