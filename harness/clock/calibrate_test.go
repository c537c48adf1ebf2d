package clock

import (
	"math"
	"testing"
	"time"
)

func TestCalibrateAgainstMonotonic(t *testing.T) {
	hz := Calibrate(50 * time.Millisecond)
	// The widest span between two stamps is compared, so a pause between the two
	// reads of one end weighs little.
	from, start := Ticks(), Monotonic()
	time.Sleep(50 * time.Millisecond)
	ticks, ns := Ticks()-from, Monotonic()-start
	ratio := float64(ticks) * 1e9 / hz / float64(ns)
	if math.Abs(ratio-1) > 0.01 {
		t.Errorf("calibrated %v Hz is off: %d ticks in %d ns, ratio %.5f", hz, ticks, ns, ratio)
	}
}

func TestCalibrateRepeats(t *testing.T) {
	a, b := Calibrate(20*time.Millisecond), Calibrate(20*time.Millisecond)
	if math.Abs(a/b-1) > 0.001 {
		t.Errorf("two calibrations differ: %v and %v Hz", a, b)
	}
}
