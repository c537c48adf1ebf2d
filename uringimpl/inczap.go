package uringimpl

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// zapState is how far the buffer in use of a group is consumed and given back, in
// bytes.
type zapState struct {
	id     int32
	used   int
	zapped int
}

// zapStep is how many bytes are given back at a time: the cost of MADV_DONTNEED
// falls steeply from 1 to 16 pages.
const zapStep = 64 << 10

// zapPrefix gives back the whole pages of what is consumed in a buffer while no
// message lies in it, of whichever client. The kernel goes on behind them.
func (r *incremental) zapPrefix(group int, id int32, used int) {
	z := &r.zaps[group]
	if z.id != id || used < z.used {
		*z = zapState{id: id}
	}
	z.used = used
	page := unix.Getpagesize()
	end := used / page * page
	if end-z.zapped < zapStep || r.sink.Held(id) {
		return
	}
	base := int(id) * r.size
	r.count.Syscalls++
	r.count.Reclaims++
	begin := r.timer.start()
	err := unix.Madvise(r.mem[base+z.zapped:base+end], unix.MADV_DONTNEED)
	r.timer.stop(begin)
	if err != nil {
		r.sink.Fail(fmt.Errorf("give back %d bytes of a buffer: %w", end-z.zapped, err))
	}
	z.zapped = end
}
