package harness

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
)

// kernelObjects tells which objects the kernel keeps for a client: those there are
// at the end of a window beyond those before the connections were made. /proc/slabinfo
// counts the objects of the whole machine, but what is kept for each client is so
// many whole objects: rounding their growth per client drops what others do.
type kernelObjects struct {
	clients int
	before  map[string]residency.Slab
	bytes   int64  // for a client
	of      string // the objects these are
	reason  string // why it cannot be told
}

// kernelLeast is how many clients it takes: half as many objects of one size may
// come and go at the same time without being taken for theirs.
const kernelLeast = 1000

// Objects of an earlier trial are freed for some time after its processes have
// ended: in batches after a grace period, and by the work that tears a ring down.
// On a machine that is busy otherwise they never come to rest.
const (
	kernelWait  = 1500 * time.Millisecond
	kernelPause = 10 * time.Millisecond
	kernelQuiet = 8 // looks in a row in which no client's worth of objects is freed
)

// watchKernel looks at the kernel's objects once they have come to rest. nil: the
// trial does not count.
func watchKernel(t record.Trial, connects bool) *kernelObjects {
	if t.Purpose != record.Counting {
		return nil
	}
	k := &kernelObjects{clients: t.Workload.Clients}
	switch {
	case !connects:
		k.reason = "nothing is connected"
	case k.clients < kernelLeast:
		k.reason = fmt.Sprintf("%d clients are too few to be told from the rest of the machine: it takes %d", k.clients, kernelLeast)
	}
	begin := time.Now()
	for quiet := 0; quiet < kernelQuiet && k.reason == "" && (k.before == nil || time.Since(begin) < kernelWait); {
		now, err := residency.Slabs()
		if err != nil {
			k.reason = err.Error()
			break
		}
		if quiet++; k.freed(now) {
			quiet = 0
		}
		k.before = now
		time.Sleep(kernelPause)
	}
	return k
}

// freed tells whether some objects have become notably fewer.
func (k *kernelObjects) freed(now map[string]residency.Slab) bool {
	for name, was := range k.before {
		if was.Objects-now[name].Objects > int64(k.clients/50) {
			return true
		}
	}
	return false
}

// end looks again, at the end of the window.
func (k *kernelObjects) end() {
	if k == nil || k.reason != "" {
		return
	}
	now, err := residency.Slabs()
	if err != nil {
		k.reason = err.Error()
		return
	}
	k.tell(now)
}

// tell adds up what there is more of for every client.
func (k *kernelObjects) tell(now map[string]residency.Slab) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		s := now[name]
		each := int64(math.Round(float64(s.Objects-k.before[name].Objects) / float64(k.clients)))
		if each <= 0 {
			continue
		}
		k.bytes += each * s.Bytes
		parts = append(parts, fmt.Sprintf("%d %s of %d B", each, name, s.Bytes))
	}
	k.of = strings.Join(parts, ", ")
}

// note says what a client's objects are.
func (k *kernelObjects) note() []string {
	if k == nil || k.of == "" {
		return nil
	}
	return []string{"kernel objects of a client, both ends: " + k.of}
}

func kernelPerClient(o *Outcome) (record.Value, string) {
	if o.Kernel == nil {
		return record.Value{}, "the kernel's objects were not looked at"
	}
	return record.Count(o.Kernel.bytes, 1), o.Kernel.reason
}
