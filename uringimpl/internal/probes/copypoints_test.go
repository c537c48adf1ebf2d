package probes

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
)

// wantCopies is when each call reads the caller's buffer over loopback: the same on
// every kernel, as it follows from what the socket can take at the time.
var wantCopies = map[string]record.FindingVerdict{
	"copy-send-tcp":                 record.ReadAtCall,
	"copy-send-unix":                record.ReadAtCall,
	"copy-write-tcp":                record.ReadAtCall,
	"copy-write-unix":               record.ReadAtCall,
	"copy-uring-send-tcp":           record.ReadAtPost,
	"copy-uring-send-tcp-full":      record.ReadLater,
	"copy-uring-send-unix":          record.ReadAtPost,
	"copy-uring-send-unix-full":     record.ReadLater,
	"copy-uring-write-tcp":          record.ReadAtPost,
	"copy-uring-write-tcp-full":     record.ReadLater,
	"copy-uring-write-unix":         record.ReadAtPost,
	"copy-uring-write-unix-full":    record.ReadLater,
	"copy-uring-send-zc-tcp":        record.ReadAtPost,
	"copy-uring-send-zc-tcp-queued": record.ReadLater,
	"copy-uring-send-zc-tcp-full":   record.ReadLater,
	"copy-uring-send-zc-unix":       record.Unsupported,
}

var notificationCounts = regexp.MustCompile(`(\d+) of (\d+) notifications`)

func TestCopyPointsHere(t *testing.T) {
	if len(wantCopies) != len(copyCases()) {
		t.Fatalf("%d cases, %d wanted", len(copyCases()), len(wantCopies))
	}
	for _, c := range copyCases() {
		t.Run(c.name, func(t *testing.T) {
			f := c.run(probe.Changes)
			t.Logf("%s: %s%s", f.Verdict, f.Evidence, f.Reason)
			if c.call.zeroCopy && f.Verdict == record.Unsupported && strings.Contains(f.Reason, unix.EINVAL.Error()) {
				t.Skip("this kernel has no zero-copy sends")
			}
			if f.Verdict != wantCopies[c.name] {
				t.Fatalf("%s, want %s", f.Verdict, wantCopies[c.name])
			}
			if f.Verdict == record.Unsupported {
				return
			}
			for _, s := range f.Steps {
				if s.Changed != probe.Changes {
					t.Errorf("%s: %d changes, want %d", s.Name, s.Changed, probe.Changes)
				}
			}
			if !c.call.zeroCopy {
				return
			}
			m := notificationCounts.FindStringSubmatch(f.Evidence)
			if m == nil || m[1] != m[2] || m[2] == "0" {
				t.Errorf("over loopback every notification says COPIED: %s", f.Evidence)
			}
		})
	}
}

// TestCopyPointsNoticeLies: calls that do not do what they say yield no verdict.
func TestCopyPointsNoticeLies(t *testing.T) {
	stale := bytes.Repeat([]byte{original}, copyMessage)
	for _, c := range []struct {
		name  string
		plain func(fd int, p []byte) (int, error)
		tries int
		says  string
	}{
		{"sends what was there earlier", func(fd int, p []byte) (int, error) { return unix.Write(fd, stale) }, probe.Changes, "must all arrive"},
		{"sends a half", func(fd int, p []byte) (int, error) { return unix.Write(fd, p[:len(p)/2]) }, probe.Changes, "of 2048 bytes"},
		{"sends nothing", func(fd int, p []byte) (int, error) { return 0, unix.EPIPE }, probe.Changes, "broken pipe"},
		{"is tried too seldom", unix.Write, 3, "too few"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := copyCase{name: "planted", call: copyCall{source: "planted", plain: c.plain}, kind: overUnix}.run(c.tries)
			if f.Verdict != record.Inconclusive || !strings.Contains(f.Reason, c.says) {
				t.Errorf("%s: %s%s, want inconclusive as it %q", f.Verdict, f.Reason, f.Evidence, c.says)
			}
		})
	}
}

// TestStretchCutsOutTheMessage: the peer tells the message from what lies before it.
func TestStretchCutsOutTheMessage(t *testing.T) {
	g := newCopyRig(copyCase{call: callSend, kind: overUnix})
	defer g.close()
	s := &stretch{g: g, backlog: 5000}
	g.send(g.tx, bytes.Repeat([]byte{filler}, 5000))
	g.send(g.tx, bytes.Repeat([]byte{changed}, copyMessage))
	g.send(g.tx, []byte{filler})
	for _, n := range []int{4096, 1000, 1, 2000} {
		if err := s.read(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.readTo(5000 + copyMessage + 1); err != nil {
		t.Fatal(err)
	}
	if want := bytes.Repeat([]byte{changed}, copyMessage); !bytes.Equal(s.message, want) {
		t.Errorf("%d bytes taken for the message, want %d of %q", len(s.message), len(want), changed)
	}
}
