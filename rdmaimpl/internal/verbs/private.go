package verbs

import (
	"fmt"
	"time"

	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

// The most private data rdma_cm carries over InfiniBand and RoCE, in bytes.
const (
	MaxConnectPrivate = 56
	MaxAcceptPrivate  = 196
)

// ConnectConfig is a window of connections.
type ConnectConfig struct {
	Owned           bool   // copy parameters into memory of our own, as sender and as receiver
	Connect, Accept []byte // private data either way
	Rounds          int
	Monotonic       bool
	Deadline        time.Duration // of each step
}

// ConnectResult is what a window of connections measured: ticks for each round
// of the call of connect, of the request taken in, of the reply taken in, and of
// the whole set-up.
type ConnectResult struct {
	Rounds                               int
	Connect, Request, Established, Setup []uint64
	ConnectArrived, AcceptArrived        int          // bytes of private data, as the library tells
	Counts                               *shim.Counts // nil when the shim is not preloaded
}

// PackPrivate puts a length before a payload: the receiver gets the whole field,
// padded with zeros, and could not tell otherwise. room is MaxConnectPrivate or
// MaxAcceptPrivate.
func PackPrivate(payload []byte, room int) ([]byte, error) {
	if len(payload)+1 > room {
		return nil, fmt.Errorf("private data of %d bytes and its length do not fit in %d", len(payload), room)
	}
	return append([]byte{byte(len(payload))}, payload...), nil
}

// UnpackPrivate returns the payload of a field made by PackPrivate.
func UnpackPrivate(field []byte) ([]byte, error) {
	if len(field) == 0 || int(field[0]) > len(field)-1 {
		return nil, fmt.Errorf("private data of %d bytes holds no length", len(field))
	}
	return field[1 : 1+int(field[0])], nil
}
