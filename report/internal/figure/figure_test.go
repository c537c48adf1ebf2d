package figure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0, "s", "0 ns"}, {4.81e-6, "s", "4.81 us"}, {999.7e-9, "s", "1 us"}, {41e-9, "s", "41 ns"}, {1.5e-12, "s", "0.0015 ns"},
		{0.0123, "s", "12.3 ms"}, {90, "s", "90 s"}, {12345, "s", "12345 s"}, {-3e-6, "s", "-3 us"},
		{12, "B", "12 B"}, {1023, "B", "1023 B"}, {62668.8, "B", "61.2 KiB"}, {4 << 20, "B", "4 MiB"}, {0.004, "B", "0.004 B"}, {3 << 40, "B", "3 TiB"},
		{0, "1", "0"}, {1, "1", "1"}, {0.00012345, "1", "0.000123"}, {1e-9, "1", "1e-09"}, {9999, "1", "9999"}, {12345, "1", "12.3k"}, {2.5e6, "1", "2.5M"},
		{1, "page", "1 page"}, {239.7, "page", "240 pages"}, {0.25, "page", "0.25 pages"}, {1500, "tsc", "1500 ticks"}, {3, "widget", "3 widget"}, {3, "", "3"},
		{math.NaN(), "s", "n/a"}, {math.Inf(-1), "B", "n/a"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestCountsKeepMoreDigits(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{{2.004, "1", "2.004"}, {2, "1", "2"}, {62668.8, "B", "61.2 KiB"}, {1.0151234, "1", "1.015"}, {0, "B", "0 B"}, {1, "page", "1 page"}} {
		if got := Count(c.v, c.unit); got != c.want {
			t.Errorf("Count(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// zeroish reports whether a text reads as zero.
func zeroish(s string) bool {
	return !strings.ContainsAny(strings.SplitN(s, "e", 2)[0], "123456789")
}

func TestNeverPrintsAValueAsZero(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	units := []string{record.UnitSeconds, record.UnitBytes, record.UnitOne, record.UnitPages, record.UnitTSC, "x"}
	for range 20000 {
		v := math.Pow(10, r.Float64()*40-25) * (1 + r.Float64())
		lo := v * math.Pow(10, -12*r.Float64())
		u := units[r.IntN(len(units))]
		if s := Format(v, u); zeroish(s) {
			t.Fatalf("Format(%v, %q) = %q", v, u, s)
		}
		for s := range strings.SplitSeq(Range(lo, v, u), "–") {
			if zeroish(s) {
				t.Fatalf("Range(%v, %v, %q) = %q", lo, v, u, Range(lo, v, u))
			}
		}
		if s := Times(v); zeroish(s) || (s == "1x" && v != 1) {
			t.Fatalf("Times(%v) = %q", v, s)
		}
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Range(208e-6, 231e-6, "s"), "208–231 us"}, {Range(0.9e-6, 1.04e-3, "s"), "0.001–1.040 ms"},
		{Range(-2048, 1024, "B"), "-2.00 to 1.00 KiB"}, {Range(5, 5, "1"), "5.00–5.00"}, {Range(0, 0, "B"), "0–0 B"},
		{Times(1), "1x"}, {Times(1.0001), "1.0001x"}, {Times(0.5), "0.5x"}, {Signed(2048, "B"), "+2 KiB"}, {Signed(-3e-9, "s"), "-3 ns"}, {Signed(0, "B"), "0 B"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	for _, c := range []struct {
		r, lo, hi      float64
		value, between string
	}{
		{0.98, 0.97, 0.99, "0.98x", "0.97–0.99"}, {0.2416, 0.24, 0.2444, "0.242x", "0.240–0.244"}, {1.0051, 0.9743, 1.0376, "1.01x", "0.97–1.04"},
		{1.05, 1.002, 1.1, "1.050x", "1.002–1.100"}, {1, 1, 1, "1.00x", "1.00–1.00"}, {34.51, 33.9, 35.1, "34.5x", "33.9–35.1"},
		{0.00019, 0.00018, 0.0002, "0.00019x", "0.00018–0.00020"}, {3448, 3300, 3600, "3448x", "3300–3600"},
	} {
		if v, b := TimesRange(c.r, c.lo, c.hi); v != c.value || b != c.between {
			t.Errorf("TimesRange(%v, %v, %v) = %q, %q, want %q, %q", c.r, c.lo, c.hi, v, b, c.value, c.between)
		}
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"latency_p50": "median latency", "latency_p999": "p99.9 latency", "latency_small_p99": "p99 latency of small messages",
		"wasted_bytes": "wasted bytes", "latency_x": "latency x", "cpu_per_msg": "CPU time", "new_metric": "new metric",
	} {
		if got := Name(in); got != want {
			t.Errorf("Name(%q) = %q, want %q", in, got, want)
		}
	}
	if Per("msg") != " per message" || Per("") != "" || Per("blue") != " per blue" || PerShort("wr") != "/wr" || PerShort("") != "" {
		t.Error("denominators read wrong")
	}
}
