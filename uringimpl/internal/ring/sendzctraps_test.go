package ring

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestZeroCopyIsCopiedOverLoopback: a zero-copy send over TCP loopback has two
// completions, of which the second says that the bytes were copied after all.
func TestZeroCopyIsCopiedOverLoopback(t *testing.T) {
	r := testRing(t, 8, 64)
	x, y := tcpPair(t)
	mem := anonymous(t, 4096)
	copy(mem, fill('z', 4096))
	e := r.Next()
	e.Opcode, e.Fd, e.Ioprio = OpSendZC, int32(rawFD(t, x)), SendZCReportUsage
	e.Addr, e.Len, e.UserData = addressOf(mem), 4096, 5
	if err := r.Enter(1, 1e9, false); err != nil {
		t.Fatal(err)
	}
	if a, _ := r.Completions(); len(a) > 0 && a[0].Res == -int32(unix.EINVAL) {
		lacks(t, "zero-copy sends that report their usage", 6, 2, unix.EINVAL)
	}
	got := make([]byte, 4096)
	for n := 0; n < len(got); {
		k, err := y.Read(got[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	if string(got) != string(mem) {
		t.Error("other bytes arrived")
	}
	both := reap(t, r, 2)
	if c := both[0]; c.Res != 4096 || c.Flags&(CQEMore|CQENotif) != CQEMore || c.UserData != 5 {
		t.Fatalf("result %v, want 4096 bytes and more to come", c)
	}
	c := both[1]
	if c.Flags&(CQEMore|CQENotif) != CQENotif || c.UserData != 5 {
		t.Fatalf("%v is no notification", c)
	}
	if uint32(c.Res) != NotifCopied {
		t.Errorf("the notification says %#x, want COPIED: loopback sends without copying?", uint32(c.Res))
	}
}
