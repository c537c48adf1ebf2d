package guest

import (
	"strings"
	"sync"
)

// tail keeps the last bytes written to it. It may be read while written.
type tail struct {
	mu  sync.Mutex
	max int
	b   []byte
}

func newTail(max int) *tail { return &tail{max: max} }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - t.max; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

// String returns the kept bytes as valid UTF-8 with plain line ends.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ReplaceAll(strings.ToValidUTF8(string(t.b), "?"), "\r\n", "\n")
}

// head keeps the first bytes written to it and tells if there were more.
type head struct {
	max  int
	b    []byte
	over bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.max - len(h.b)
	if len(p) > room {
		h.over = true
	}
	h.b = append(h.b, p[:min(room, len(p))]...)
	return len(p), nil
}
