package clock

import "testing"

func TestStampsAreMonotoneAcrossCPUs(t *testing.T) {
	for _, c := range sources(t) {
		skew, err := c.SyncSkewNS()
		if err != nil {
			t.Skip(err)
		}
		if skew != 0 {
			t.Errorf("%s: stamps ran %d ns backwards between CPUs", c.Source, skew)
		}
	}
}

// TestPlantedSkewIsSeen sets one CPU's stamps back and expects the test to
// find about that much, from either side.
func TestPlantedSkewIsSeen(t *testing.T) {
	a, b, err := firstTwoCPUs()
	if err != nil {
		t.Skip(err)
	}
	const planted = 50_000_000 // ticks, far more than a hand-over of the lock takes
	for _, late := range []int{a, b} {
		got, err := backwards(a, b, func(cpu int) uint64 {
			now := Ticks()
			if cpu == late {
				now -= planted
			}
			return now
		})
		if err != nil {
			t.Fatal(err)
		}
		if got < planted/2 || got > planted {
			t.Errorf("CPU %d set back by %d ticks: found %d", late, planted, got)
		}
	}
}
