//go:build cgo && !noverbs

package verbs

// #include "hot.h"
import "C"

import (
	"fmt"
	"syscall"
)

const setterFault = "a fault of rdma-core before 64; lanes that use it are invalid here"

// Lengths of the two parts sent: unequal, and short of every inline limit.
const longPart, shortPart = 64, 32

// ProbeSetters sends a message of two unequal parts by each list setter.
func (c *Context) ProbeSetters() (s Setters, err error) {
	if s.InlineList, err = c.probeSetter(true); err != nil {
		return s, err
	}
	s.SGEList, err = c.probeSetter(false)
	return s, err
}

func (c *Context) probeSetter(inline bool) (wrong, err error) {
	lane, name := SendWREx, "ibv_wr_set_sge_list"
	if inline {
		lane, name = InlineEx, "ibv_wr_set_inline_data_list"
	}
	sges := 2
	if inline {
		sges = 1
	}
	w, err := c.OpenComplete(Config{Lane: lane, Batch: 1, SGEs: sges, Bytes: longPart + shortPart, Batches: 1})
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := w.Close(); err == nil {
			err = e
		}
	}()
	total := longPart + shortPart
	src := w.src.slice()
	for i := range total {
		src[i] = Pattern(2, 0, i)
	}
	base := w.lane.src.base
	two := C.struct_zc_two{lkey: w.lane.src.lkey}
	two.at[0], two.len[0] = base, longPart
	two.at[1], two.len[1] = base+longPart, shortPart
	if inline {
		two.as_inline = 1
	}
	if C.zc_two_parts(w.full.f, &two, w.done) != C.ZC_DONE {
		if w.done.err != 0 {
			return &Unsupported{What: name, Limit: -1, Errno: syscall.Errno(w.done.err)}, nil
		}
		return fmt.Errorf("%s of %s fails on two parts of unequal length: %w: %s", name, c.Provider, w.waitError(&w.full.f.wait, 0), setterFault), nil
	}
	return c.setterVerdict(name, w.full.received(), at(&w.full.landing, 0)), nil
}

// received is the length the receive completion told of.
func (f *full) received() int {
	for i := range f.f.wait.sent + f.f.wait.received {
		if wc := wcAt(f.f, uint32(i)); wc.recv != 0 {
			return int(wc.byte_len)
		}
	}
	return -1
}

func (c *Context) setterVerdict(name string, got int, landing []byte) error {
	if want := longPart + shortPart; got != want {
		return fmt.Errorf("%s of %s delivered %d of %d bytes with a successful completion: %s", name, c.Provider, got, want, setterFault)
	}
	for i, b := range landing[:got] {
		if b != Pattern(2, 0, i) {
			return fmt.Errorf("%s of %s delivered other bytes from %d on with a successful completion: %s", name, c.Provider, i, setterFault)
		}
	}
	return nil
}
