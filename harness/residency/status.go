package residency

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Levels are memory figures of this process in bytes, from /proc/self/status
// (proc_pid_status(5)). From Linux 6.2 to 6.15 the kernel keeps the RSS figures
// per CPU and adds them up only roughly here.
type Levels struct {
	HWM     int64 // VmHWM: the most VmRSS has been
	RSS     int64 // VmRSS: resident, of any kind
	RSSAnon int64 // RssAnon: resident anonymous memory
	PTE     int64 // VmPTE: page tables
	Pinned  int64 // VmPin: pinned, such as registered buffers; ring memory is not in it
	Locked  int64 // VmLck: locked by mlock(2)
}

// statusBytes holds any status file: only its lists of groups and CPUs grow.
const statusBytes = 64 << 10

// Status reads the memory figures of this process. It is not safe for
// concurrent use.
type Status struct {
	f   *os.File
	fd  int
	buf [statusBytes]byte
}

// NewStatus opens /proc/self/status once, so that Read does not allocate.
func NewStatus() (*Status, error) { return newStatus("/proc/self/status") }

func newStatus(path string) (*Status, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("memory figures of this process: %w", err)
	}
	return &Status{f: f, fd: int(f.Fd())}, nil
}

// Read returns the figures as they are now.
func (s *Status) Read() (Levels, error) {
	var v Levels
	n, err := s.fill()
	if err != nil {
		return v, fmt.Errorf("read %s: %w", s.f.Name(), err)
	}
	missing := statusFields
	for text := s.buf[:n]; len(text) > 0 && missing > 0; {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if v.set(line) {
			missing--
		}
	}
	if missing > 0 {
		return v, fmt.Errorf("read %s: %d of %d memory fields are missing", s.f.Name(), missing, statusFields)
	}
	return v, nil
}

func (s *Status) fill() (int, error) {
	for {
		n, err := unix.Pread(s.fd, s.buf[:], 0)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// Close closes the file.
func (s *Status) Close() error { return s.f.Close() }

// statusFields is how many figures Levels has.
const statusFields = 6

// field returns where the figure of that name is kept, or nil.
func (v *Levels) field(name []byte) *int64 {
	switch string(name) {
	case "VmHWM":
		return &v.HWM
	case "VmRSS":
		return &v.RSS
	case "RssAnon":
		return &v.RSSAnon
	case "VmPTE":
		return &v.PTE
	case "VmPin":
		return &v.Pinned
	case "VmLck":
		return &v.Locked
	}
	return nil
}

// set stores the figure of a line and reports whether it was one.
func (v *Levels) set(line []byte) bool {
	name, rest, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return false
	}
	at := v.field(name)
	if at == nil {
		return false
	}
	kb, ok := parseKB(rest)
	if ok {
		*at = kb << 10
	}
	return ok
}

// parseKB reads "   123 kB".
func parseKB(b []byte) (kb int64, ok bool) {
	b = bytes.TrimSpace(b)
	digits := 0
	for digits < len(b) && b[digits] >= '0' && b[digits] <= '9' {
		kb = kb*10 + int64(b[digits]-'0')
		digits++
	}
	return kb, digits > 0 && digits < 16 && string(bytes.TrimSpace(b[digits:])) == "kB"
}

// ResetPeak makes HWM start again from the present RSS (clear_refs, proc(5)).
func ResetPeak() error {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("reset the peak of resident memory: %w", err)
	}
	return nil
}
