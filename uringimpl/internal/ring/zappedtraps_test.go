package ring

import (
	"bytes"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestZappedRingIsBlind (22): the kernel pinned the pages of a buffer ring when it
// was registered. After MADV_DONTNEED we write to others: it goes on with what it
// knew, and nothing handed back from then on is seen.
func TestZappedRingIsBlind(t *testing.T) {
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, 4, 64, 0, 0)
	g.provide(t, 0)
	a, b := unixPair(t)
	if err := unix.Madvise(g.mem0(), unix.MADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if addr, n, _ := g.Slot(0); addr != 0 || n != 0 {
		t.Fatalf("slot 0 still shows %#x, %d bytes: the page was not dropped", addr, n)
	}
	// What was provided before is still used, from the old page.
	send(t, a, fill('x', 10))
	recv(t, r, b, 1, 0, 0)
	is(t, reap(t, r, 1)[0], 10, 0, false)
	if string(g.buffer(0)[:10]) != string(fill('x', 10)) {
		t.Errorf("buffer 0 holds %q", g.buffer(0)[:10])
	}
	g.Retire(0)
	// What is provided from now on is not seen.
	g.provide(t, 0, 1, 2, 3)
	send(t, a, fill('y', 10))
	for range 2 {
		recv(t, r, b, 1, 0, 0)
		is(t, reap(t, r, 1)[0], noBufs, -1, false)
	}
	if h, err := g.KernelHead(); err != nil || h != 1 {
		t.Errorf("the kernel's head is %d, %v: want 1", h, err)
	}
}

// TestZappedRegisteredBuffer (22): registered buffers are pinned too. After
// MADV_DONTNEED the kernel reads into the old page and the user reads zeroes.
func TestZappedRegisteredBuffer(t *testing.T) {
	r := testRing(t, 8, 64)
	page := unix.Getpagesize()
	mem := anonymous(t, page)
	if err := r.RegisterBuffers([]unix.Iovec{{Base: &mem[0], Len: uint64(page)}}); err != nil {
		lacks(t, "registered buffers", 5, 1, err)
	}
	a, b := unixPair(t)
	fixed := func(text []byte) {
		t.Helper()
		send(t, a, text)
		e := r.Next()
		e.Opcode, e.Fd, e.Addr, e.Len = OpReadFixed, int32(b), addressOf(mem), uint32(page)
		is(t, reap(t, r, 1)[0], int32(len(text)), -1, false)
	}
	fixed(fill('x', 10))
	if string(mem[:10]) != string(fill('x', 10)) {
		t.Fatalf("the buffer holds %q", mem[:10])
	}
	if err := unix.Madvise(mem, unix.MADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	fixed(fill('y', 20))
	if !bytes.Equal(mem[:20], make([]byte, 20)) {
		t.Errorf("after MADV_DONTNEED the buffer holds %q, want zeroes", mem[:20])
	}
	// Registered again, it is the page we see.
	if err := r.UnregisterBuffers(); err != nil {
		t.Fatal(err)
	}
	if err := r.RegisterBuffers([]unix.Iovec{{Base: &mem[0], Len: uint64(page)}}); err != nil {
		t.Fatal(err)
	}
	fixed(fill('z', 30))
	if string(mem[:30]) != string(fill('z', 30)) {
		t.Errorf("registered again the buffer holds %q", mem[:30])
	}
}

// TestGiantIncBuffer: one buffer of 1 GiB, consumed incrementally; pages that were
// not reached stay untouched.
func TestGiantIncBuffer(t *testing.T) {
	const giant = 1 << 30
	r := testRing(t, 8, 64)
	b, err := r.NewBufRing(1, 1, PbufInc, 0)
	if err != nil {
		lacks(t, "incremental consumption", 6, 12, err)
	}
	defer b.Close()
	mem, err := unix.Mmap(-1, 0, giant, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		t.Skipf("no 1 GiB of address space: %v", err)
	}
	defer unix.Munmap(mem)
	if err := b.Add(unsafe.Pointer(&mem[0]), giant, 0); err != nil {
		t.Fatal(err)
	}
	b.Publish()
	x, y := unixPair(t)
	multishot(t, r, y, 1, 0, 0)
	for i := range 3 {
		send(t, x, fill(byte('a'+i), 1000))
		c := reap(t, r, 1)[0]
		if is(t, c, 1000, 0, true); c.Flags&CQEBufMore == 0 {
			t.Fatalf("%v: 1 GiB used up after %d bytes", c, 1000*(i+1))
		}
		if got := mem[1000*i:][:1000]; string(got) != string(fill(byte('a'+i), 1000)) {
			t.Fatalf("receive %d is not at %d", i, 1000*i)
		}
	}
	if _, n, _ := b.Slot(0); n != giant-3000 {
		t.Errorf("%d bytes left, want %d", n, giant-3000)
	}
	vec := make([]byte, giant/unix.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mem[0])), giant, uintptr(unsafe.Pointer(&vec[0]))); errno != 0 {
		t.Fatal(errno)
	}
	resident := 0
	for _, v := range vec {
		resident += int(v & 1)
	}
	// A huge page brings more than the receives touched; all of it would be the lot.
	if resident == 0 || resident > len(vec)/2 {
		t.Errorf("%d of %d pages are resident after 3000 bytes", resident, len(vec))
	}
}

// TestMappedRing: a ring in the kernel's memory is mapped at an offset made of its
// group, and works as one in ours.
func TestMappedRing(t *testing.T) {
	r := testRing(t, 8, 64)
	newGroup(t, r, 9, 1, 64, 0, 0) // skips where there are none
	for _, bgid := range []uint16{0, 3, 300} {
		b, err := r.MapBufRing(bgid, 4, 0)
		if err != nil {
			lacks(t, "mapped buffer rings", 6, 4, err)
		}
		mem := anonymous(t, 4*64)
		// Each group's own memory: a ring mapped at another's offset would not be seen.
		for bid := range uint16(4) {
			if err := b.Add(unsafe.Pointer(&mem[int(bid)*64]), 64, bid); err != nil {
				t.Fatal(err)
			}
		}
		b.Publish()
		x, y := unixPair(t)
		for bid := range 4 {
			send(t, x, fill(byte('a'+bid), 20))
			recv(t, r, y, bgid, 0, 0)
			is(t, reap(t, r, 1)[0], 20, bid, false)
			if string(mem[bid*64:][:20]) != string(fill(byte('a'+bid), 20)) {
				t.Errorf("group %d, buffer %d holds %q", bgid, bid, mem[bid*64:][:20])
			}
		}
		if _, err := r.mmap(offPbuf|int64(bgid+1)<<offPbufShift, 4096); err == nil {
			t.Errorf("a ring that is not there was mapped at the offset of group %d", bgid+1)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
