package verbs

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Error is a verb that failed: on what, why, and what to do.
type Error struct {
	Op     string // what was tried
	Detail string // what the figures were
	Errno  syscall.Errno
	Remedy string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	for _, s := range []string{e.Detail, errnoText(e.Errno), e.Remedy} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	return b.String()
}

// Unwrap returns the errno, for errors.Is.
func (e *Error) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

func errnoText(e syscall.Errno) string {
	if e == 0 {
		return ""
	}
	return fmt.Sprintf("%s (errno %d)", e.Error(), int(e))
}

// ErrUnavailable is behind every error that means: no verbs here at all.
var ErrUnavailable = errors.New("RDMA verbs are not available")

// Unavailable says why there are no verbs, and how to get them.
type Unavailable struct {
	Reason, Remedy string
}

func (u *Unavailable) Error() string { return u.Reason + ": " + u.Remedy }

// Is makes every Unavailable an ErrUnavailable.
func (u *Unavailable) Is(target error) bool { return target == ErrUnavailable }

// Remedies.
const (
	remedyBuild   = "install gcc, libibverbs-dev and librdmacm-dev, then build again: make build, or CGO_ENABLED=1 go build -a, as a cached build does not notice new headers"
	remedyInstall = "apt-get install libibverbs1 ibverbs-providers librdmacm1"
	remedyDevice  = "run `zcbench guest build` for a guest with a soft-RoCE device, or as root `modprobe rdma_rxe && rdma link add rxe0 type rxe netdev IFACE`"
)

// Unsupported is something this device or provider does not do; other lanes go on.
type Unsupported struct {
	What  string
	Limit int // of bytes inline, or -1 when it is not about a size
	Errno syscall.Errno
}

func (u *Unsupported) Error() string {
	text := "not supported: " + u.What
	if u.Limit >= 0 {
		text = fmt.Sprintf("not supported: limit %d: %s", u.Limit, u.What)
	}
	if u.Errno != 0 {
		text += ": " + errnoText(u.Errno)
	}
	return text
}

// Unwrap returns the errno, for errors.Is.
func (u *Unsupported) Unwrap() error {
	if u.Errno == 0 {
		return nil
	}
	return u.Errno
}

// Work completion statuses named here (enum ibv_wc_status).
const (
	wcRetryExceeded    = 12
	wcRNRRetryExceeded = 13
)

// CompletionError is a work completion that failed.
type CompletionError struct {
	Lane      Lane
	Batch     int    // of the window
	WR        uint64 // wr_id
	Recv      bool
	Status    int
	StatusMsg string // the library's words
	VendorErr uint32
}

func (e *CompletionError) Error() string {
	side := "send"
	if e.Recv {
		side = "receive"
	}
	text := fmt.Sprintf("%s completion failed: %s (status %d), vendor_err %#x, lane %s, batch %d, wr_id %d",
		side, e.StatusMsg, e.Status, e.VendorErr, e.Lane, e.Batch, e.WR)
	switch e.Status {
	case wcRNRRetryExceeded:
		text += ": RNR retry exceeded: the receiver had no receive posted in time; post receives before sending, or raise rnr_retry (7 retries without end) or min_rnr_timer"
	case wcRetryExceeded:
		text += ": the peer did not answer; check that both ends name the same GID, that the link is up, and that the peer's queue pair is ready to receive"
	}
	return text
}

// AsyncError is an asynchronous event of the device while completions were awaited.
type AsyncError struct {
	Lane         Lane
	Batch        int
	Event        string // the library's words
	Number       int
	Seen         int // completions seen of the batch
	CQE          int // entries of the completion queue
	SendsAwaited int
	RecvsAwaited int
}

// eventCQErr is IBV_EVENT_CQ_ERR.
const eventCQErr = 0

func (e *AsyncError) Error() string {
	text := fmt.Sprintf("device reported %q while lane %s awaited batch %d: %d of %d completions seen",
		e.Event, e.Lane, e.Batch, e.Seen, e.SendsAwaited+e.RecvsAwaited)
	if e.Number == eventCQErr {
		text += fmt.Sprintf(": a completion queue of %d entries overflowed, and what did not fit is lost; make it deeper or poll it more often", e.CQE)
	}
	return text
}

// ErrDeadline is behind a wait for completions that ended without them.
var ErrDeadline = errors.New("no completion before the deadline")

// CMError is a connection that failed.
type CMError struct {
	Stage  string
	Event  string // rdma_cm event, or empty
	Status int    // of the event
	Errno  syscall.Errno
	Remedy string
}

func (e *CMError) Error() string {
	text := "rdma_cm: " + e.Stage
	if e.Event != "" {
		text += fmt.Sprintf(": event %s, status %d", e.Event, e.Status)
	}
	if e.Errno != 0 && (e.Event == "" || e.Status < 0) {
		text += ": " + errnoText(e.Errno)
	}
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return text
}

// Unwrap returns the errno, for errors.Is.
func (e *CMError) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}
