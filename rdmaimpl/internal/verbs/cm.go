//go:build cgo && !noverbs

package verbs

// #include <stdlib.h>
// #include "hot.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

// LoadCM opens librdmacm. The error, an ErrUnavailable, says what to install.
func LoadCM() error { return loadCMOnce() }

// Connect makes and takes down connections over rdma_cm, both ends on this
// thread, checking the private data that arrives.
func (c *Context) Connect(cfg ConnectConfig) (ConnectResult, error) {
	return c.connect(cfg, 0)
}

// connect connects to port, or to its own listener where it is 0.
func (c *Context) connect(cfg ConnectConfig, port int) (r ConnectResult, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, _ := shim.Attach() // absent in timing trials
	if s != nil {
		s.Reset()
	}
	err = c.withCM(cfg, func(m *C.struct_zc_cm, round *C.struct_zc_round) error {
		round.port = C.uint16_t(port)
		return rounds(m, round, cfg, &r)
	})
	if err != nil || s == nil {
		return r, err
	}
	counts, err := s.Counts()
	r.Counts = &counts
	return r, err
}

// withCM opens a listener on the device's address, prepares a round, and runs f
// on the thread that made them.
func (c *Context) withCM(cfg ConnectConfig, f func(*C.struct_zc_cm, *C.struct_zc_round) error) error {
	if err := LoadCM(); err != nil {
		return err
	}
	addr, ok := c.gid.ipv4()
	if !ok {
		return fmt.Errorf("connect on %s: its GID %s maps no IPv4 address: give its interface one", c.Name, c.GID)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	round := (*C.struct_zc_round)(C.calloc(1, C.sizeof_struct_zc_round))
	defer C.free(unsafe.Pointer(round))
	m := (*C.struct_zc_cm)(C.calloc(1, C.sizeof_struct_zc_cm))
	defer C.free(unsafe.Pointer(m))
	for i, b := range addr {
		m.addr[i] = C.uint8_t(b)
	}
	if cfg.Deadline <= 0 {
		cfg.Deadline = DefaultDeadline
	}
	m.timeout_ms = C.int32_t(cfg.Deadline.Milliseconds())
	defer C.zc_cm_close(m)
	if C.zc_cm_open(m, round) != 0 {
		return cmError(round)
	}
	fillRound(round, cfg)
	defer freeRound(round)
	return f(m, round)
}

func rounds(m *C.struct_zc_cm, round *C.struct_zc_round, cfg ConnectConfig, r *ConnectResult) error {
	for range cfg.Rounds {
		if err := oneRound(m, round); err != nil {
			return err
		}
		for _, p := range []struct {
			name string
			got  *C.struct_zc_private
			want []byte
			len  *int
		}{{"connect", &round.connect, cfg.Connect, &r.ConnectArrived}, {"accept", &round.accept, cfg.Accept, &r.AcceptArrived}} {
			*p.len = int(p.got.got_len)
			if err := checkPrivate(p.name, C.GoBytes(unsafe.Pointer(&p.got.got[0]), C.int(p.got.got_len)), p.want); err != nil {
				return err
			}
		}
		r.Rounds++
		r.Connect = append(r.Connect, uint64(round.connect_ticks))
		r.Request = append(r.Request, uint64(round.request_ticks))
		r.Established = append(r.Established, uint64(round.established_ticks))
		r.Setup = append(r.Setup, uint64(round.setup_ticks))
	}
	return nil
}

func oneRound(m *C.struct_zc_cm, round *C.struct_zc_round) error {
	if C.zc_cm_round(m, round) != 0 {
		return cmError(round)
	}
	return nil
}

func fillRound(r *C.struct_zc_round, cfg ConnectConfig) {
	r.connect.data, r.connect.len = C.CBytes(cfg.Connect), C.uint32_t(len(cfg.Connect))
	r.accept.data, r.accept.len = C.CBytes(cfg.Accept), C.uint32_t(len(cfg.Accept))
	if cfg.Owned {
		r.owned = 1
	}
	if !cfg.Monotonic && runtime.GOARCH == "amd64" {
		r.tsc = 1
	}
}

func freeRound(r *C.struct_zc_round) {
	C.free(unsafe.Pointer(r.connect.data))
	C.free(unsafe.Pointer(r.accept.data))
}

// stages are the words for enum zc_stage.
var stages = map[C.int32_t]string{
	C.ZC_CM_CHANNEL: "open event channels", C.ZC_CM_LISTEN: "listen", C.ZC_CM_ID: "create an id",
	C.ZC_CM_RESOLVE: "resolve the address", C.ZC_CM_ROUTE: "resolve the route", C.ZC_CM_QP: "create a queue pair",
	C.ZC_CM_CONNECT: "connect", C.ZC_CM_REQUEST: "take the connection request", C.ZC_CM_ACCEPT: "accept",
	C.ZC_CM_ESTABLISHED: "establish", C.ZC_CM_DISCONNECT: "disconnect",
}

func cmError(r *C.struct_zc_round) error {
	e := &CMError{Stage: stages[r.stage], Errno: syscall.Errno(r.err)}
	if r.event >= 0 {
		e.Event, e.Status = C.GoString(C.zc_cm_event_name(C.int(r.event))), int(r.status)
		e.Remedy = cmRemedy(e.Event)
	}
	switch {
	case r.stage == C.ZC_CM_CONNECT && r.connect.len > C.ZC_PRIVATE_CONNECT:
		e.Remedy = fmt.Sprintf("private data of a connect is at most %d bytes, not %d", C.ZC_PRIVATE_CONNECT, r.connect.len)
	case r.stage == C.ZC_CM_ACCEPT && r.accept.len > C.ZC_PRIVATE_ACCEPT:
		e.Remedy = fmt.Sprintf("private data of an accept is at most %d bytes, not %d", C.ZC_PRIVATE_ACCEPT, r.accept.len)
	case r.stage == C.ZC_CM_CHANNEL && errors.Is(e.Errno, syscall.ENODEV):
		e.Remedy = "the kernel has no rdma_cm: `modprobe rdma_ucm`"
	}
	return e
}

// ConnectTo tries one connection to a port of the device's own address, where
// nothing of ours listens.
func (c *Context) ConnectTo(port int, deadline time.Duration) error {
	_, err := c.connect(ConnectConfig{Rounds: 1, Deadline: deadline}, port)
	return err
}

// checkPrivate compares what arrived with what was sent: the same bytes, then
// zeros, for rdma_cm delivers its whole field and no length.
func checkPrivate(which string, got, want []byte) error {
	if len(got) < len(want) {
		return fmt.Errorf("private data of the %s: %d bytes arrived of %d sent", which, len(got), len(want))
	}
	for i, b := range got {
		var w byte
		if i < len(want) {
			w = want[i]
		}
		if b != w {
			return fmt.Errorf("private data of the %s: byte %d arrived as %#02x instead of %#02x", which, i, b, w)
		}
	}
	return nil
}

// cmRemedy says what to do about an event that was not the one awaited.
func cmRemedy(event string) string {
	switch event {
	case "RDMA_CM_EVENT_REJECTED":
		return "the peer refused, or nothing listens on that port"
	case "RDMA_CM_EVENT_UNREACHABLE", "RDMA_CM_EVENT_CONNECT_ERROR":
		return "the peer did not answer: check its address, and that UDP port 4791 is open for RoCE"
	case "RDMA_CM_EVENT_ADDR_ERROR":
		return "no RDMA device reaches that address: check that it is on the device's network interface"
	case "RDMA_CM_EVENT_ROUTE_ERROR":
		return "no route to the peer: check the network"
	}
	return ""
}
