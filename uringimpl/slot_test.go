package uringimpl

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// hugeGiven tells whether the kernel gives a huge page when asked.
func hugeGiven(t *testing.T) bool {
	t.Helper()
	r, err := mapRanges(1, 1, true)
	if err != nil {
		t.Skipf("no huge pages: %v", err)
	}
	defer r.close()
	r.mem[0] = 1
	var vec [hugeBytes / 4096]byte
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&r.mem[0])), hugeBytes, uintptr(unsafe.Pointer(&vec))); errno != 0 {
		t.Fatal(errno)
	}
	return vec[len(vec)-1]&1 == 1
}

// TestSlotOf100MB: sixteen ranges of 100 MB each, more than they ever touch,
// hold to the page what messages touched; memset frees nothing of it; with huge
// pages a touched byte holds 2 MiB.
func TestSlotOf100MB(t *testing.T) {
	const clients, size = 16, 10_000
	huge := hugeGiven(t)
	for _, thp := range []string{"never", "always"} {
		for _, reclaim := range []string{"none", "memset", "dontneed", "free"} {
			t.Run(thp+"/"+reclaim, func(t *testing.T) {
				each := pagesOf(size)
				if thp == "always" {
					if !huge {
						t.Skip("the kernel gives no huge pages here")
					}
					each = hugeBytes / int64(unix.Getpagesize())
				}
				w := still(size, 64<<10)
				w.Clients = clients
				tr, rec, got := samples(t, slot.Name, map[string]string{"range": "100MB", "reclaim": reclaim, "thp": thp}, w)
				seen := map[int]bool{}
				compare(t, tr, rec, got, func(client int) int64 {
					if reclaim == "dontneed" {
						return each
					}
					seen[client] = true
					return int64(len(seen)) * each
				})
				if thp == "always" && reclaim != "dontneed" && rec.Metrics["huge_pages_end"].Num != clients*each {
					t.Errorf("%v pages in huge pages, want %d", rec.Metrics["huge_pages_end"], clients*each)
				}
				if thp == "never" && rec.Metrics["huge_pages_end"].Num != 0 {
					t.Errorf("%v pages in huge pages", rec.Metrics["huge_pages_end"])
				}
			})
		}
	}
}

// TestRangesUnderHugePages: no two ranges share a huge page.
func TestRangesUnderHugePages(t *testing.T) {
	for _, size := range []int{1, 64 << 10, hugeBytes, hugeBytes + 1, 100_000_000} {
		r, err := mapRanges(3, size, true)
		if err != nil {
			t.Skipf("no huge pages: %v", err)
		}
		for c := range 3 {
			p := r.of(c)
			if at := uintptr(unsafe.Pointer(&p[0])); at%hugeBytes != 0 || len(p) < size {
				t.Errorf("range %d of %d bytes begins at %#x and has %d", c, size, at, len(p))
			}
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestReclaimTime: a timing trial tells what reclaiming costs, and nothing where
// nothing is reclaimed.
func TestReclaimTime(t *testing.T) {
	cost := map[string]float64{}
	for _, reclaim := range []string{"none", "memset", "dontneed", "free"} {
		w := still(60_000, 64<<10)
		w.Load = record.Load{Mode: "closed", Depth: 1}
		rec := runChild(t, newTrial(slot.Name, map[string]string{"reclaim": reclaim}, w, record.Timing, 2000))
		v, ok := rec.Metrics["reclaim_time"]
		if !ok {
			t.Fatal(rec.Unavailable["reclaim_time"])
		}
		cost[reclaim] = v.Float64()
		if all := rec.Metrics["cpu_per_msg"].Float64(); v.Float64() >= all {
			t.Errorf("reclaim %s: %g s of %g s of CPU a message", reclaim, v.Float64(), all)
		}
	}
	t.Log(cost)
	if cost["none"] != 0 || cost["memset"] <= 0 || cost["free"] <= 0 || cost["dontneed"] <= 0 {
		t.Errorf("%v", cost)
	}
}

// TestReclaimsAreCounted: each time a range starts again it is reclaimed once,
// for the send half too.
func TestReclaimsAreCounted(t *testing.T) {
	for _, reply := range []int64{0, 500} {
		w := still(1000, 64<<10)
		w.ReplyBytes = reply
		rec, _ := runTrial(t, newTrial(slot.Name, map[string]string{"reclaim": "dontneed"}, w, record.Counting, 100), nil)
		if rec.Status != record.OK {
			t.Fatal(rec.Error)
		}
		want := int64(100)
		if reply > 0 {
			want *= 2
		}
		if v := rec.Metrics["reclaims"]; v.Num != want {
			t.Errorf("replies of %d bytes: %v reclaims, want %d", reply, v, want)
		}
	}
}

// TestDatagramsDoNotFitTheEnd: a datagram is not received into less room than the
// largest may take, though messages that are held lie before it.
func TestDatagramsDoNotFitTheEnd(t *testing.T) {
	for _, hold := range []int{0, 3} {
		t.Run(fmt.Sprint(hold), func(t *testing.T) {
			w := wild()
			w.Transport, w.HoldMessages, w.BudgetBytes = load.UDP, hold, 20_480
			w.Sizes = record.Sizes{Kind: "fixed", Bytes: 9000} // the third would have 2480 bytes of room
			if !verify(t, slot, nil, w, 200) || !verify(t, epollRead, nil, w, 200) {
				t.Fatal("does not fit")
			}
		})
	}
}
