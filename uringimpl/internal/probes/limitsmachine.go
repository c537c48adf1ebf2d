package probes

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// machineLimits are what a process may use of the machine.
func machineLimits() []limit {
	return []limit{
		{name: "memlock-pbuf-ring", family: "memory", unit: "B", source: "setrlimit(2), RLIMIT_MEMLOCK",
			help: "What a buffer ring of 4096 entries costs an ordinary user of the memory he may lock.", try: tryMemlock},
		{name: "sockets-per-process", family: "socket", unit: "1", source: "setrlimit(2), RLIMIT_NOFILE",
			help: "Connections one process can hold, two sockets for each where both ends are here.", try: trySockets},
	}
}

const nobody = 65534

// tryMemlock becomes an ordinary user, for whom locked memory is counted, and finds
// the lowest limit at which a buffer ring is still taken.
func tryMemlock() (int64, string, error) {
	if unix.Geteuid() == 0 {
		if err := dropRoot(); err != nil {
			return 0, "", refusal{"becoming an ordinary user", err}
		}
	}
	rings, own, err := settledRings()
	if err != nil {
		return 0, "", err
	}
	defer func() {
		for _, r := range rings {
			_ = r.Close() // the process ends here
		}
	}()
	const entries, other = 4096, 256
	cost, err := lockedFor(rings[0], entries, own)
	if err != nil {
		return 0, "", err
	}
	small, err := lockedFor(rings[0], other, own)
	if err != nil {
		return 0, "", err
	}
	return cost - own, fmt.Sprintf("lowest RLIMIT_MEMLOCK that takes 2 rings of 4 requests: %d B; with %d buffer entries (%d B of memory): %d B; with %d (%d B): %d B",
		own, entries, ring.BufRingBytes(entries), cost, other, ring.BufRingBytes(other), small), nil
}

// settledRings makes two rings once each takes on as much locked memory as the
// other: until then the kernel is still letting go of what the user's rings before
// held. It returns the limit both need.
func settledRings() (rings [2]*ring.Ring, own int64, err error) {
	for range maxSettling {
		var one int64
		if rings[0], one, err = lockedForRing(); err == nil {
			if rings[1], own, err = lockedForRing(); err == nil && own == 2*one {
				return rings, own, nil
			}
		}
		for i, r := range rings {
			if r != nil {
				_ = r.Close() // to be made anew
			}
			rings[i] = nil
		}
		time.Sleep(settling)
	}
	if err == nil {
		err = errors.New("the locked memory of this user does not settle: something else of his locks some")
	}
	return rings, 0, err
}

const (
	settling    = 100 * time.Millisecond
	maxSettling = 40
)

// lockLimit lowers or raises the limit of locked memory.
func lockLimit(bytes int64) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l); err != nil {
		return fmt.Errorf("getrlimit RLIMIT_MEMLOCK: %w", err)
	}
	l.Cur = uint64(bytes)
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &l); err != nil {
		return fmt.Errorf("setrlimit RLIMIT_MEMLOCK to %d B, at most %d: %w", bytes, l.Max, err)
	}
	return nil
}

// lockedForRing makes a ring at the lowest limit that lets it.
func lockedForRing() (*ring.Ring, int64, error) {
	const most = 64
	var refused error
	for n := range most {
		bytes := int64(pages(n))
		if err := lockLimit(bytes); err != nil {
			return nil, 0, err
		}
		r, err := ring.New(4, 8)
		if err == nil {
			return r, bytes, nil
		}
		refused = err
	}
	return nil, 0, fmt.Errorf("io_uring for an ordinary user with %d B of locked memory: %w", pages(most), refused)
}

// dropRoot gives up root in every thread. The kernel then forgets whose end ends
// this process.
func dropRoot() error {
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("setgroups: %w", err)
	}
	if err := syscall.Setgid(nobody); err != nil {
		return fmt.Errorf("setgid: %w", err)
	}
	if err := syscall.Setuid(nobody); err != nil {
		return fmt.Errorf("setuid: %w", err)
	}
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// lockedFor finds the lowest limit of locked memory, in whole pages, at which a
// ring of so many entries is taken, from what the ring itself took on.
func lockedFor(r *ring.Ring, entries int, from int64) (int64, error) {
	page := int64(pages(1))
	size := (int64(ring.BufRingBytes(entries)) + page - 1) / page * page
	mem, err := scratch(int(size))
	if err != nil {
		return 0, err
	}
	takes := func(limit int64) error {
		if err := lockLimit(limit); err != nil {
			return err
		}
		if err := r.TryBufRing(unsafe.Pointer(&mem[0]), uint32(entries), rigGroup, 0, 0); err != nil {
			return err
		}
		return r.DropBufRing(rigGroup)
	}
	most := from + 4*size
	for n := from; n <= most; n += page {
		if takes(n) == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("a ring of %d entries is refused even with a limit of %d B: %w", entries, most, takes(most))
}

// maxSockets bounds the search: each holds kernel memory.
const maxSockets = 1 << 16

func trySockets() (int64, string, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, "", fmt.Errorf("getrlimit: %w", err)
	}
	soft := l.Cur
	l.Cur = l.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, "", fmt.Errorf("setrlimit RLIMIT_NOFILE to its hard limit %d: %w", l.Max, err)
	}
	n := int64(0)
	for ; n < maxSockets; n++ {
		if _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
			return n, fmt.Sprintf("the next one: %s; RLIMIT_NOFILE is %d, at most %d", errnoOf(err), soft, l.Max), nil
		}
	}
	return n, fmt.Sprintf("more was not tried; RLIMIT_NOFILE is %d, at most %d", soft, l.Max), nil
}
