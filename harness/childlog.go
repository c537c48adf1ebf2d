package harness

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/sysinfo"
)

// tail keeps the first and the last bytes written to it: a program that dies says
// why first, and where it was last.
type tail struct {
	head []byte
	b    []byte
	cut  bool
}

const (
	tailBytes = 4 << 10 // of all that is kept
	headBytes = 512
	tailCut   = "\n[...]\n"
)

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if k := min(headBytes-len(t.head), n); k > 0 {
		t.head, p = append(t.head, p[:k]...), p[k:]
	}
	const most = tailBytes - headBytes - len(tailCut)
	if over := len(p) - most; over > 0 {
		p, t.cut = p[over:], true
	}
	t.b = append(t.b, p...)
	if over := len(t.b) - most; over > 0 {
		t.b, t.cut = append(t.b[:0], t.b[over:]...), true
	}
	return n, nil
}

func (t *tail) String() string {
	join := ""
	if t.cut {
		join = tailCut
	}
	return strings.ToValidUTF8(string(t.head)+join+string(t.b), "?")
}

// seen adds what is known of a process that ended badly: how far it was when its
// time was over, or that memory was what it lacked. Empty: nothing.
func seen(ctx context.Context, t record.Trial, p *process, progress *os.File) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return far(t, progress)
	case ranOut(p.stderr.String()):
		bound := memoryBound(t)
		if p.adapter != nil {
			bound = addressSpace(t)
		}
		return fmt.Sprintf("; it ran out of memory, of which it may take %s", sysinfo.Bytes(bound))
	}
	return ""
}

// far says how far a trial of receives had come.
func far(t record.Trial, progress *os.File) string {
	var shared [3 * 64]byte
	if _, err := progress.ReadAt(shared[:], 0); err != nil || t.Workload.Kind != record.KindReceive {
		return ""
	}
	done := uint64(0)
	for c := range t.Workload.Clients {
		var one [8]byte
		if _, err := progress.ReadAt(one[:], load.ProgressBytes(c)); err != nil {
			return ""
		}
		done += binary.NativeEndian.Uint64(one[:])
	}
	text := "; its window had not begun"
	if binary.NativeEndian.Uint64(shared[128:]) > 0 {
		text = "; its window had begun"
	}
	if done > 0 { // not every load has messages acknowledged
		text += fmt.Sprintf(", and %d of %d messages had come", done, t.Warmup+t.Messages)
	}
	return text
}
