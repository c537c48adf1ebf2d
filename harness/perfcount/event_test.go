package perfcount

import (
	"math"
	"testing"
)

func TestScaled(t *testing.T) {
	for _, tc := range []struct {
		s    sample
		want int64
		ok   bool
	}{
		{sample{100, 0, 0}, 100, true},
		{sample{100, 50, 50}, 100, true},
		{sample{100, 90, 30}, 300, true},
		{sample{1 << 62, 4, 3}, 1 << 62 / 3 * 4, true},
		{sample{7, 10, 3}, 23, true},
		{sample{0, 10, 3}, 0, true},
		{sample{0, 10, 0}, 0, false},
		{sample{5, 10, 20}, 0, false},
		{sample{math.MaxUint64, math.MaxUint64, 1}, 0, false},
	} {
		got, ok := tc.s.scaled()
		if ok != tc.ok || got-tc.want > 1 || tc.want-got > 1 {
			t.Errorf("%+v scaled is %d, %v; want %d, %v", tc.s, got, ok, tc.want, tc.ok)
		}
	}
}

func TestReadingSaysHowItWasCounted(t *testing.T) {
	r := Reading{Metric: "cycles"}
	r.set(sample{100, 200, 50})
	if r.Value != 400 || !r.Multiplexed || r.Share != 0.25 || r.Unavailable != "" {
		t.Errorf("shared counter: %+v", r)
	}
	r.set(sample{0, 200, 0})
	if r.Unavailable == "" {
		t.Errorf("never counted: %+v", r)
	}
	r.set(sample{9, 200, 200})
	if r.Value != 9 || r.Multiplexed || r.Share != 1 || r.Unavailable != "" {
		t.Errorf("counted throughout: %+v", r)
	}
}
