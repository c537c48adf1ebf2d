package uringimpl

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// The tests of this file work out, apart from the strategies, which pages must
// be resident after each message of a counting trial, and compare that with
// every sample the trial took. Sizes are fixed, so all else follows.

// still is a workload of one size in lockstep.
func still(size, budget int64) record.Workload {
	w := wild()
	w.Sizes, w.BudgetBytes = record.Sizes{Kind: "fixed", Bytes: size}, budget
	return w
}

// samples runs a counting trial and returns its residency time line.
func samples(t *testing.T, strategy string, params map[string]string, w record.Workload) (record.Trial, record.Record, record.Series) {
	t.Helper()
	tr := newTrial(strategy, params, w, record.Counting, 256)
	rec, _ := runTrial(t, tr, nil)
	if rec.Status != record.OK {
		t.Fatal(rec.Error)
	}
	i := slices.IndexFunc(rec.Series, func(s record.Series) bool { return s.Name == "buffer_pages" })
	if i < 0 || len(rec.Series[i].X) < 64 {
		t.Fatalf("no time line of at least 64 samples in %v", rec.Series)
	}
	return tr, rec, rec.Series[i]
}

// compare checks every sample against a model that is told the client of each
// message in turn and says how many pages are resident when it is consumed, and
// the summary figures against the samples in the window.
func compare(t *testing.T, tr record.Trial, rec record.Record, got record.Series, model func(client int) int64) {
	t.Helper()
	var sum, n, peak, last, want, done int64
	clients := load.NewSchedule(tr).Client
	for i, x := range got.X {
		for ; done < x; done++ {
			want = model(int(clients[done]))
		}
		if got.Y[i] != want {
			t.Fatalf("after %d messages %d pages are resident, want %d", x, got.Y[i], want)
		}
		if x > int64(tr.Warmup) {
			sum, n, peak, last = sum+want, n+1, max(peak, want), want
		}
	}
	for name, want := range map[string]record.Value{
		"buffer_pages_mean": record.Count(sum, n), "buffer_pages_peak": record.Count(peak, 1), "buffer_pages_end": record.Count(last, 1),
	} {
		if rec.Metrics[name] != want {
			t.Errorf("%s is %v, want %v", name, rec.Metrics[name], want)
		}
	}
}

func pagesOf(n int64) int64 {
	page := int64(unix.Getpagesize())
	return (n + page - 1) / page
}

// TestSlotPages: a slot keeps the pages its largest message touched, unless it
// gives them back; then only the client at hand has any.
func TestSlotPages(t *testing.T) {
	for _, size := range []int64{500, 4096, 4097, 10_000, 60_000} {
		for _, reclaim := range []string{"none", "memset", "dontneed", "free"} {
			for _, strategy := range []string{slot.Name, epollRead.Name} {
				t.Run(fmt.Sprintf("%s/%s/%d", strategy, reclaim, size), func(t *testing.T) {
					tr, rec, got := samples(t, strategy, map[string]string{"reclaim": reclaim}, still(size, 2*pagesOf(size)*int64(unix.Getpagesize())))
					seen := map[int]bool{}
					compare(t, tr, rec, got, func(client int) int64 {
						if reclaim == "dontneed" {
							return pagesOf(size)
						}
						seen[client] = true
						return int64(len(seen)) * pagesOf(size)
					})
				})
			}
		}
	}
}

// TestSlotLazyFree: what MADV_FREE gave back shows as lazily freed. The kernel
// marks pages in batches per CPU, so some tens may be missing.
func TestSlotLazyFree(t *testing.T) {
	for reclaim, lazy := range map[string]bool{"none": false, "dontneed": false, "free": true} {
		w := still(60_000, 64<<10)
		w.Clients = 32
		tr := newTrial(slot.Name, map[string]string{"reclaim": reclaim}, w, record.Counting, 256)
		rec, _ := runTrial(t, tr, nil)
		if rec.Status != record.OK {
			t.Fatal(rec.Error)
		}
		v, ok := rec.Metrics["lazyfree_bytes"]
		if !ok {
			t.Skip(rec.Unavailable["lazyfree_bytes"])
		}
		all := int64(w.Clients) * pagesOf(60_000) * int64(unix.Getpagesize())
		if lazy && (v.Num > all || v.Num < all/2) || !lazy && v.Num != 0 {
			t.Errorf("reclaim %s: %d bytes lazily freed of %d", reclaim, v.Num, all)
		}
	}
}

// TestFixedPages: chunks are used in turn, so all of them are touched, each as
// far as one receive goes.
func TestFixedPages(t *testing.T) {
	for _, c := range []struct {
		chunk, entries string
		size           int64
		chunks         int64 // a client
	}{
		{"4KiB", "auto", 4096, 64},
		{"4KiB", "auto", 1000, 64},
		{"4KiB", "8", 4000, 8},
		{"4KiB", "3", 4000, 3}, // a ring of four, one of them never filled
		{"64KiB", "auto", 10_000, 4},
		{"64KiB", "auto", 60_000, 4},
		{"16KiB", "16", 16 << 10, 16},
	} {
		t.Run(fmt.Sprintf("chunk=%s/entries=%s/%d", c.chunk, c.entries, c.size), func(t *testing.T) {
			tr, rec, got := samples(t, ringFixed.Name, map[string]string{"chunk": c.chunk, "entries": c.entries}, still(c.size, 256<<10))
			used, pages := make([]int64, tr.Workload.Clients), int64(0)
			compare(t, tr, rec, got, func(client int) int64 {
				if used[client] < c.chunks {
					used[client]++
					pages += pagesOf(c.size)
				}
				return pages
			})
			if all := int64(tr.Workload.Clients) * c.chunks * pagesOf(c.size); rec.Metrics["buffer_pages_end"].Num != all {
				t.Errorf("%v pages at the end, want all %d", rec.Metrics["buffer_pages_end"], all)
			}
		})
	}
}

// incClient is the model of the INC buffers of a client, or of all of them: bytes run through them in
// turn, and whole pages of what is consumed may be given back.
type incClient struct {
	resident map[int64]bool // page numbers, counted over all its buffers
	at       int64          // in bytes, over all its buffers
	zapped   int64          // of the buffer in use, in bytes from its start
}

// take receives one message of size bytes, which lies within one buffer of so
// many bytes, and returns the pages resident while the message is looked at.
func (c *incClient) take(size, buffer, buffers int64, zap bool) int64 {
	page := int64(unix.Getpagesize())
	if c.at%buffer == 0 {
		c.zapped = 0
	}
	if c.at == buffer*buffers {
		c.at = 0
	}
	for p := c.at / page; p*page < c.at+size; p++ {
		c.resident[p] = true
	}
	seen := int64(len(c.resident))
	start := c.at / buffer * buffer
	c.at += size
	if end := (c.at - start) / page * page; zap && end-c.zapped >= zapStep {
		for p := start + c.zapped; p < start+end; p += page {
			delete(c.resident, p/page)
		}
		c.zapped = end
	}
	return seen
}

// TestIncPages: an incrementally consumed buffer is touched from end to end;
// with its consumed prefix given back, little of it stays.
func TestIncPages(t *testing.T) {
	for _, c := range []struct {
		size, budget int64
		entries      string
		buffers      int64
	}{
		{4096, 256 << 10, "2", 2},
		{1024, 512 << 10, "2", 2},
		{8192, 512 << 10, "4", 4},
		{32 << 10, 512 << 10, "2", 2},
	} {
		for _, zap := range []string{"none", "prefix"} {
			for _, group := range []string{"per-client", "shared"} {
				t.Run(fmt.Sprintf("%d/entries=%s/zap=%s/%s", c.size, c.entries, zap, group), func(t *testing.T) {
					params := map[string]string{"entries": c.entries, "zap": zap, "group": group}
					tr, rec, got := samples(t, ringInc.Name, params, still(c.size, c.budget))
					groups, buffers := tr.Workload.Clients, c.buffers
					if group == "shared" {
						groups, buffers = 1, c.buffers*int64(tr.Workload.Clients)
					}
					compare(t, tr, rec, got, incModel(groups, c.size, c.budget/c.buffers, buffers, zap == "prefix"))
					all := int64(tr.Workload.Clients) * pagesOf(c.budget)
					if end := rec.Metrics["buffer_pages_end"].Num; zap == "none" && end != all || zap != "none" && end > all/2 {
						t.Errorf("%d pages at the end, of %d", end, all)
					}
				})
			}
		}
	}
}

// incModel says how many pages of all groups are resident while a message is
// looked at.
func incModel(groups int, size, buffer, buffers int64, zap bool) func(client int) int64 {
	models, pages := make([]incClient, groups), make([]int64, groups)
	return func(client int) int64 {
		g := client % groups
		k := &models[g]
		if k.resident == nil {
			k.resident = map[int64]bool{}
		}
		sum := k.take(size, buffer, buffers, zap)
		pages[g] = int64(len(k.resident))
		for other, n := range pages {
			if other != g {
				sum += n
			}
		}
		return sum
	}
}
