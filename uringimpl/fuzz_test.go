package uringimpl

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
	"golang.org/x/sys/unix"
)

// legacyWorld is two groups of buffers that a real kernel is handed by request,
// and what its lists should hold.
type legacyWorld struct {
	t       *testing.T
	l       *legacy
	r       *ring.Ring
	at      [2][]uint16 // per group: buffers the kernel has, in its order
	ours    [2][]uint16
	fds     [2]int
	started byte
}

const legacyPer, legacySize = 24, 16

func newLegacyWorld(t *testing.T, atOnce int, skip bool) *legacyWorld {
	runtime.LockOSThread() // for good: the test's goroutine ends with its thread
	r, err := ring.New(4, 64)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		t.Skipf("no io_uring here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	mem, err := unix.Mmap(-1, 0, 2*legacyPer*legacySize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	w := &legacyWorld{t: t, r: r}
	if w.fds, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), unix.Munmap(mem), unix.Close(w.fds[0]), unix.Close(w.fds[1])); err != nil {
			t.Error(err)
		}
	})
	w.l = newLegacy(r, &pool{mem: mem, size: legacySize, per: legacyPer}, 2, skip)
	w.l.atOnce = atOnce
	for g := range w.ours {
		for bid := range uint16(legacyPer) {
			w.ours[g] = append(w.ours[g], bid)
		}
	}
	return w
}

// reap takes all completions there are and returns those of receives.
func (w *legacyWorld) reap(wait uint32) (got []ring.CQE) {
	if err := w.r.Enter(wait, 1e9, false); err != nil {
		w.t.Fatal(err)
	}
	a, b := w.r.Completions()
	for _, c := range slices.Concat(a, b) {
		if c.UserData < provideTag {
			got = append(got, c)
		} else if err := w.l.done(c); err != nil {
			w.t.Fatal(err)
		}
	}
	w.r.Seen(len(a) + len(b))
	return got
}

// give hands buffers of a group to the kernel.
func (w *legacyWorld) give(group int, bids []uint16) {
	order := slices.Sorted(slices.Values(bids))
	for len(order) > 0 {
		n, err := w.l.give(group, slices.Clone(order))
		if err != nil {
			w.t.Fatal(err)
		}
		w.at[group] = append(w.at[group], order[:n]...)
		if order = order[n:]; n == 0 {
			w.reap(0)
		}
	}
	w.ours[group] = slices.DeleteFunc(w.ours[group], func(b uint16) bool { return slices.Contains(bids, b) })
}

// receive lets the kernel fill a buffer of a group and checks which, and where.
func (w *legacyWorld) receive(group int) {
	w.started++
	if _, err := unix.Write(w.fds[0], []byte{w.started}); err != nil {
		w.t.Fatal(err)
	}
	for w.r.Full() {
		w.reap(0)
	}
	e := w.r.Next()
	e.Opcode, e.Flags, e.Fd, e.BufGroup, e.UserData = ring.OpRecv, ring.SQEBufferSelect, int32(w.fds[1]), uint16(group), 1
	var got []ring.CQE
	for range 10 {
		if got = w.reap(1 + w.l.waitFor()); len(got) > 0 {
			break
		}
	}
	if len(got) != 1 {
		w.t.Fatalf("%d completions of a receive", len(got))
	}
	c := got[0]
	if len(w.at[group]) == 0 {
		if c.Res != -int32(unix.ENOBUFS) {
			w.t.Fatalf("a receive from an empty group: %+v", c)
		}
		var b [1]byte
		if _, err := unix.Read(w.fds[1], b[:]); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	bid := w.at[group][0]
	if c.Res != 1 || c.BufferID() != bid || !w.l.retire(group, bid) || w.l.retire(group, bid) {
		w.t.Fatalf("group %d: %+v, want buffer %d of %v, retired once", group, c, bid, w.at[group])
	}
	if got := w.l.mem[(group*legacyPer+int(bid))*legacySize]; got != w.started {
		w.t.Fatalf("group %d: the byte is not in buffer %d", group, bid)
	}
	w.at[group], w.ours[group] = w.at[group][1:], append(w.ours[group], bid)
}

// FuzzLegacyRuns: whatever buffers are handed back together, in whatever order,
// each is the kernel's once, lies where it should, and is counted; one that the
// kernel has is not handed in again.
func FuzzLegacyRuns(f *testing.F) {
	f.Add([]byte{1, 0, 0, 24, 0, 1, 2, 3, 4, 5, 1, 1, 1, 0, 9, 3, 1, 4, 1, 5, 9, 2, 6, 1, 1})
	f.Add([]byte{3, 1, 4, 3, 7, 1, 12, 4, 3, 2, 2, 9, 8, 6, 0, 1, 1, 0, 2, 2, 0, 0, 4, 4, 1})
	f.Add([]byte{200, 0, 0, 5, 20, 18, 16, 14, 12, 1, 0, 0, 5, 19, 17, 15, 13, 11, 1, 1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() int {
			if len(data) == 0 {
				return -1
			}
			v := int(data[0])
			data = data[1:]
			return v
		}
		w := newLegacyWorld(t, max(1, next()), next()&1 == 1)
		for range 60 {
			what := next()
			group := what >> 2 & 1
			switch {
			case what < 0:
				return
			case what&3 == 0:
				var bids []uint16
				for range min(next(), len(w.ours[group])) {
					bid := w.ours[group][max(0, next())%len(w.ours[group])]
					if !slices.Contains(bids, bid) {
						bids = append(bids, bid)
					}
				}
				w.give(group, bids)
			case what&3 == 3 && len(w.at[group]) > 0 && !w.r.Full():
				// A buffer that the kernel has ends the trial.
				if _, err := w.l.give(group, w.at[group][:1:1]); !errors.Is(err, ring.ErrInRing) {
					t.Fatalf("a buffer that the kernel has is taken: %v", err)
				}
				return
			default:
				w.receive(group)
			}
			if w.l.available(group) != len(w.at[group]) {
				t.Fatalf("%d buffers counted, the kernel has %d", w.l.available(group), len(w.at[group]))
			}
		}
	})
}
