package ring

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// TakesMultishotLength finds out by trying whether a multishot receive may have a
// length, which limits each of its pieces (6.17; before, EINVAL). The ring must
// have nothing in flight.
func (r *Ring) TakesMultishotLength() (bool, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return false, fmt.Errorf("make a socket pair to try receives on: %w", err)
	}
	defer unix.Close(pair[0])
	unix.Close(pair[1]) // whatever the kernel makes of it, the receive ends at once
	e := r.Next()
	if e == nil {
		return false, fmt.Errorf("try a receive: the submission ring is full")
	}
	e.Opcode, e.Fd, e.Flags, e.BufGroup = OpRecv, int32(pair[0]), SQEBufferSelect, noGroup
	e.Ioprio, e.Len = RecvMultishot, 1
	if err := r.Enter(1, 1e9, false); err != nil {
		return false, err
	}
	a, _ := r.Completions()
	if len(a) == 0 {
		return false, fmt.Errorf("try a receive: nothing came of it")
	}
	res := a[0].Res
	r.Seen(len(a))
	return res != -int32(unix.EINVAL), nil
}

// noGroup is a buffer group that nobody makes.
const noGroup = 65535
