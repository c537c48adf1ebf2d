package harness

import (
	"context"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
)

// Only what grew by whole objects for every client counts; what others do is less.
func TestKernelObjectsOfAClient(t *testing.T) {
	k := &kernelObjects{clients: 10_000, before: map[string]residency.Slab{
		"TCP": {Objects: 40, Bytes: 2368}, "dentry": {Objects: 90_000, Bytes: 192}, "bio": {Objects: 9000, Bytes: 320}, "filp": {Objects: 5000, Bytes: 256},
	}}
	k.tell(map[string]residency.Slab{
		"TCP": {Objects: 20_043, Bytes: 2368}, "dentry": {Objects: 113_700, Bytes: 192}, // 3,700 of others
		"bio": {Objects: 13_900, Bytes: 320}, "filp": {Objects: 100, Bytes: 256}, "io_kiocb": {Objects: 10_016, Bytes: 256},
	})
	if want := int64(2*2368 + 2*192 + 256); k.bytes != want || k.of != "2 TCP of 2368 B, 2 dentry of 192 B, 1 io_kiocb of 256 B" {
		t.Errorf("%d bytes, want %d: %s", k.bytes, want, k.of)
	}
	if n := k.note(); len(n) != 1 || !strings.HasSuffix(n[0], k.of) {
		t.Errorf("note %q", n)
	}
	for objects, freed := range map[int64]bool{39: false, 40: false, 300: false} {
		if got := k.freed(map[string]residency.Slab{"TCP": {Objects: objects}, "dentry": {Objects: 90_000}, "bio": {Objects: 8900}, "filp": {Objects: 5000}}); got != freed {
			t.Errorf("%d sockets: freed %t", objects, got)
		}
	}
	if !k.freed(map[string]residency.Slab{"TCP": {Objects: 40}, "dentry": {Objects: 89_000}, "bio": {Objects: 9000}, "filp": {Objects: 5000}}) {
		t.Error("a thousand freed objects are not seen")
	}
}

// A thousand idle clients: everything works, what is not measured says why, and
// each has a socket at both ends.
func TestIdleClients(t *testing.T) {
	for _, clients := range []int{100, 1200} {
		w := uneven(clients, .99, 0)
		w.BudgetBytes, w.Sizes = 4<<10, record.Sizes{Kind: "fixed", Bytes: 512}
		tr := trialOf("reader", w, record.Counting, 100)
		rec := behave(t, context.Background(), "well", tr).Record
		if rec.Status != record.OK {
			t.Fatal(rec.Error)
		}
		if want := load.NewSchedule(tr).Fingerprint(tr.Seed); rec.Fingerprint != want {
			t.Errorf("%d clients: did %+v, want %+v", clients, rec.Fingerprint, want)
		}
		v, told := rec.Metrics["kernel_bytes_per_client"]
		reason := rec.Unavailable["kernel_bytes_per_client"]
		switch {
		case clients < kernelLeast && (told || !strings.Contains(reason, "too few")):
			t.Errorf("%d clients: %v, %q", clients, v, reason)
		case clients >= kernelLeast && !told && !strings.Contains(reason, "root only"):
			t.Errorf("%d clients: %q", clients, reason)
		case told && (v.Float64() < 3000 || v.Float64() > 50_000): // two TCP sockets take more than 4 KB
			t.Errorf("%d clients: %g bytes for each, %q", clients, v.Float64(), rec.Notes)
		}
	}
}
