package residency

import (
	"maps"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const slabText = `slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>
TCP                   10     13   2432   13    8 : tunables    0    0    0 : slabdata      1      1      0
filp               3000   3040    256   16    1 : tunables    0    0    0 : slabdata    190    190      0
kmalloc-8k             0      0   8192    4    8 : tunables    0    0    0 : slabdata      0      0      0
`

func TestParseSlabs(t *testing.T) {
	got, err := parseSlabs([]byte(slabText))
	if want := map[string]Slab{"TCP": {10, 2432}, "filp": {3000, 256}, "kmalloc-8k": {0, 8192}}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for old, change := range map[string]struct{ new, says string }{
		"TCP                   10": {"TCP many", "objects in use of TCP"},
		"3040    256":              {"3040 small", "size of an object of filp"},
		"kmalloc-8k             0      0   8192    4    8 : tunables    0    0    0 : slabdata      0      0      0": {"short 1 2", "too short"},
	} {
		if _, err := parseSlabs([]byte(strings.Replace(slabText, old, change.new, 1))); err == nil || !strings.Contains(err.Error(), change.says) {
			t.Errorf("%s: %v, want %q", change.new, err, change.says)
		}
	}
	if _, err := parseSlabs([]byte("slabinfo - version: 2.1\n")); err == nil {
		t.Error("no caches are no error")
	}
}

// Sockets are seen, to within what else goes on, and but for objects that a CPU has
// put by, which count as in use: others may come and go at the same
// time, so that it is tried several times.
func TestSlabsSeeSockets(t *testing.T) {
	const pairs = 2000
	var seen int64
	for range 5 {
		seen = filesOfSockets(t, pairs)
		if seen > 2*pairs*9/10 && seen < 3*pairs {
			return
		}
	}
	t.Errorf("%d more files of %d sockets", seen, 2*pairs)
}

// filesOfSockets makes pairs of sockets and returns how many more files there are.
func filesOfSockets(t *testing.T, pairs int) int64 {
	t.Helper()
	before, err := Slabs()
	if err != nil {
		t.Skip(err)
	}
	if _, named := before["filp"]; !named {
		t.Skip("this kernel has merged the cache of files with another")
	}
	for range pairs {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fds[0])
		defer unix.Close(fds[1])
	}
	after, err := Slabs()
	if err != nil {
		t.Fatal(err)
	}
	return after["filp"].Objects - before["filp"].Objects
}
