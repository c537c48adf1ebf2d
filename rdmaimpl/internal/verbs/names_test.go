package verbs

import (
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"testing"
)

func gidOf(index int, addr, kind string) gid {
	return gid{index: index, raw: netip.MustParseAddr(addr).As16(), kind: kind}
}

func TestGIDIsIPv4Mapped(t *testing.T) {
	table := []gid{
		gidOf(0, "fe80::1", "IB/RoCE v1"), gidOf(1, "fe80::1", "RoCE v2"),
		gidOf(2, "::ffff:10.0.0.1", "IB/RoCE v1"), gidOf(3, "::ffff:10.0.0.1", "RoCE v2"),
	}
	for _, c := range []struct {
		table []gid
		want  int
	}{{table, 3}, {table[:3], 2}, {table[:2], 0}, {[]gid{gidOf(5, "::ffff:10.0.0.9", "")}, 5}} {
		if g, err := chooseGID(c.table); err != nil || g.index != c.want {
			t.Errorf("of %s index %d was chosen (%v), want %d", gidList(c.table), g.index, err, c.want)
		}
	}
	if _, err := chooseGID(nil); err == nil {
		t.Error("a GID was chosen of none")
	}
	if text := gidList(table[3:]); !strings.Contains(text, "3 is ::ffff:10.0.0.1") {
		t.Errorf("GIDs are written %q", text)
	}
}

func TestErrorTexts(t *testing.T) {
	e := error(&Error{Op: "post", Detail: "request 3", Errno: syscall.ENOMEM, Remedy: "post less"})
	if got, want := e.Error(), "post: request 3: cannot allocate memory (errno 12): post less"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(e, syscall.ENOMEM) {
		t.Error("the errno is not found")
	}
	u := error(&Unsupported{What: "4096 B inline", Limit: 512, Errno: syscall.EINVAL})
	if got, want := u.Error(), "not supported: limit 512: 4096 B inline: invalid argument (errno 22)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c := &CompletionError{Lane: SendGuard, Batch: 2, WR: 7, Status: wcRetryExceeded, StatusMsg: "transport retry counter exceeded", VendorErr: 0x81}
	for _, part := range []string{"transport retry counter exceeded", "vendor_err 0x81", "send guard", "batch 2", "wr_id 7", "did not answer"} {
		if !strings.Contains(c.Error(), part) {
			t.Errorf("message %q lacks %q", c, part)
		}
	}
}

func TestLaneNames(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range Lanes() {
		if l.Info().Name == "" || seen[l.String()] {
			t.Errorf("lane %d is named %q", int(l), l)
		}
		seen[l.String()] = true
	}
	if s := Lane(99).String(); !strings.Contains(s, "99") {
		t.Errorf("an unknown lane is called %q", s)
	}
}

// A byte of the pattern depends on seed, message and offset.
func TestPattern(t *testing.T) {
	differ := func(name string, f func(i int) byte) {
		seen := map[byte]bool{}
		for i := range 256 {
			seen[f(i)] = true
		}
		if len(seen) < 100 {
			t.Errorf("by %s the pattern takes only %d values", name, len(seen))
		}
	}
	differ("offset", func(i int) byte { return Pattern(1, 2, i) })
	differ("message", func(i int) byte { return Pattern(1, uint64(i), 3) })
	differ("seed", func(i int) byte { return Pattern(uint64(i), 2, 3) })
}
