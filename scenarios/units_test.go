package scenarios

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "0B": 0, "24": 24, "4096": 4096, "1500B": 1500, "64KiB": 65536, "64 KiB": 65536, "1.5MiB": 1572864,
		".5KiB": 512, "0.5KiB": 512, "4KB": 4000, "4kB": 4000, "1.001KB": 1001, "2GiB": 2 << 30, "3TB": 3e12,
		"9223372036854775807": math.MaxInt64, "8388607TiB": 8388607 << 40, "1.50KiB": 1536,
	} {
		if got, err := ParseBytes(text); got != want || err != nil {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "0s": 0, "2ms": 2e6, "50us": 5e4, "50µs": 5e4, "50μs": 5e4, "1s": 1e9, "1.5s": 15e8, "7ns": 7, ".25 us": 250,
	} {
		if got, err := ParseDuration(text); got != want || err != nil {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseRateAndFraction(t *testing.T) {
	for text, want := range map[string]float64{"20000/s": 20000, "2.5/s": 2.5, "20k/s": 20000, "1.5M/s": 1.5e6, ".1k/s": 100} {
		if got, err := ParseRate(text); got != want || err != nil {
			t.Errorf("%q is %g, %v; want %g", text, got, err, want)
		}
	}
	for text, want := range map[string]float64{
		"50%": .5, "0.5": .5, ".0074": .0074, "7%": .07, "0.7%": .007, "100%": 1, "1": 1, "0": 0, "0%": 0, "1e-3": .001,
		"1.5E+1": 15, "29%": .29, "250%": 2.5,
	} {
		if got, err := ParseFraction(text); got != want || err != nil {
			t.Errorf("%q is %g, %v; want %g", text, got, err, want)
		}
	}
}

func TestUnitsRefuse(t *testing.T) {
	parsers := map[string]func(string) error{
		"bytes":    func(s string) error { _, err := ParseBytes(s); return err },
		"duration": func(s string) error { _, err := ParseDuration(s); return err },
		"rate":     func(s string) error { _, err := ParseRate(s); return err },
		"fraction": func(s string) error { _, err := ParseFraction(s); return err },
		"integer":  func(s string) error { _, err := parseInt(s); return err },
	}
	for _, unit := range []string{"", "B", "KiB", "ms", "/s", "%"} {
		for _, number := range []string{
			"", "-1", "+1", "--1", "1.", ".", "1..2", "1.2.3", "01", "010", "00", "0x10", "1_000", "1,5", "nan", "NaN", "inf", "Infinity",
			"1e", "1e+", "1e400", "1e99999", "e5", " 1", "1  ", "٣", "½", "1\x00", "1\n", strings.Repeat("9", 300),
		} {
			for name, parse := range parsers {
				if err := parse(number + unit); err == nil {
					t.Errorf("%s accepts %q", name, number+unit)
				}
			}
		}
	}
	for name, texts := range map[string][]string{
		"bytes":    {"64kib", "64K", "1.5", "1.3KiB", "0.1B", "1e3", "9223372036854775808", "9000000TiB", "1KiBs", "4%", "1  KiB"},
		"duration": {"1", "1m", "1h", "1.5ns", "1e3s", "10000000000s", "1 m s"},
		"rate":     {"1", "1/m", "1/s/s", "1K/s", "1 / s", "/s"},
		"fraction": {"5%%", "%", "5 percent", "1e2%", "5/s"},
		"integer":  {"1.0", "1e3", "5%", "9223372036854775808"},
	} {
		for _, text := range texts {
			if err := parsers[name](text); err == nil {
				t.Errorf("%s accepts %q", name, text)
			}
		}
	}
}

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 1: "1B", 1500: "1500B", 4096: "4KiB", 1 << 20: "1MiB", 3 << 19: "1536KiB", 1<<20 + 1: "1048577B", 1 << 40: "1TiB",
		math.MaxInt64: "9223372036854775807B", -4096: "-4KiB",
	} {
		if got := FormatBytes(n); got != want {
			t.Errorf("%d bytes are %s, want %s", n, got, want)
		}
	}
	for ns, want := range map[int64]string{0: "0s", 1: "1ns", 1000: "1us", 1500: "1500ns", 2e6: "2ms", 15e5: "1500us", 9e10: "90s"} {
		if got := FormatDuration(ns); got != want {
			t.Errorf("%d ns are %s, want %s", ns, got, want)
		}
	}
	for f, want := range map[float64]string{0: "0%", .5: "50%", .07: "7%", .29: "29%", .005: "0.5%", 1: "100%", 2.5: "250%", .123456: "12.3456%"} {
		if got := FormatFraction(f); got != want {
			t.Errorf("%g is %s, want %s", f, got, want)
		}
	}
}

// Whatever is formatted reads back as the same value, so that distinct values
// have distinct texts.
func TestFormatReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		n := r.Int64() >> r.IntN(63)
		n -= n % (1 << r.IntN(40))
		if got, err := ParseBytes(FormatBytes(n)); got != n || err != nil {
			t.Fatalf("%d bytes: %s reads as %d, %v", n, FormatBytes(n), got, err)
		}
		if got, err := ParseDuration(FormatDuration(n)); got != n || err != nil {
			t.Fatalf("%d ns: %s reads as %d, %v", n, FormatDuration(n), got, err)
		}
		f := math.Exp(r.Float64()*math.Log(1e5)) / 1e4 // 0.0001 to 10
		if got, err := ParseFraction(FormatFraction(f)); got != f || err != nil {
			t.Fatalf("%g: %s reads as %g, %v", f, FormatFraction(f), got, err)
		}
		hz := math.Exp(r.Float64()*math.Log(1e12)) / 1e3 // 0.001 to 1e9
		if got, err := ParseRate(FormatRate(hz)); got != hz || err != nil {
			t.Fatalf("%g Hz: %s reads as %g, %v", hz, FormatRate(hz), got, err)
		}
	}
}

func FuzzUnits(f *testing.F) {
	for _, s := range []string{"4096", "64KiB", "1.5MiB", "4KB", "2ms", "50us", "1s", "20000/s", "50%", "0.5", "010", "1e-3", "-1", "nan"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseBytes(s); err == nil {
			if back, err := ParseBytes(FormatBytes(n)); n < 0 || back != n || err != nil {
				t.Errorf("%q is %d bytes, %s, which reads as %d, %v", s, n, FormatBytes(n), back, err)
			}
		}
		if n, err := ParseDuration(s); err == nil {
			if back, err := ParseDuration(FormatDuration(n)); n < 0 || back != n || err != nil {
				t.Errorf("%q is %d ns, %s, which reads as %d, %v", s, n, FormatDuration(n), back, err)
			}
		}
		if v, err := ParseRate(s); err == nil && (v < 0 || math.IsInf(v, 0) || math.IsNaN(v)) {
			t.Errorf("%q is the rate %g", s, v)
		}
		if v, err := ParseFraction(s); err == nil && (v < 0 || math.IsInf(v, 0) || math.IsNaN(v)) {
			t.Errorf("%q is the share %g", s, v)
		}
	})
}
