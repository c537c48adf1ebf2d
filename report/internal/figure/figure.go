// Package figure writes measured quantities as people read them. It never
// prints a value that is not zero as 0, and ignores the locale.
package figure

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/zcbench/zcbench/harness/record"
)

// Scale is a display unit: a value in base units divided by Div is shown with Suffix.
type Scale struct {
	Div    float64
	Suffix string // with the space before it, if any
}

// ladders hold the display units of each base unit, smallest first.
var ladders = map[string][]Scale{
	record.UnitSeconds: {{1e-9, " ns"}, {1e-6, " us"}, {1e-3, " ms"}, {1, " s"}},
	record.UnitBytes:   {{1, " B"}, {1 << 10, " KiB"}, {1 << 20, " MiB"}, {1 << 30, " GiB"}, {1 << 40, " TiB"}},
	record.UnitOne:     {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}},
}

// ScaleOf picks the display unit in which v reads best. It suits axes, too:
// give it the largest value shown.
func ScaleOf(v float64, unit string) Scale {
	v = math.Abs(v)
	ladder, known := ladders[unit]
	if !known {
		return Scale{1, suffixOf(unit)}
	}
	best := ladder[0]
	for _, s := range ladder[1:] {
		// 0.9995 of a unit would round up to 1000 of the one below. Counts keep
		// four digits before they take a prefix.
		edge := 0.9995 * s.Div
		if unit == record.UnitOne && s.Div == 1e3 {
			edge = 1e4
		}
		if unit == record.UnitBytes {
			edge = s.Div
		}
		if v >= edge {
			best = s
		}
	}
	return best
}

func suffixOf(unit string) string {
	switch unit {
	case record.UnitPages:
		return " pages"
	case record.UnitTSC:
		return " ticks"
	case "", record.UnitOne:
		return ""
	}
	return " " + printable(unit)
}

// printable is a unit nobody knows. Readers of results refuse such; what prints
// figures does not rest on that.
func printable(unit string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, unit)
}

// Format writes v, in base units, in the display unit that suits it: "4.81 us",
// "61.2 KiB", "0.00012". Values of three digits or more before the point keep
// their integer part; others keep three significant digits. Not finite: "n/a".
func Format(v float64, unit string) string {
	return format(v, unit, 3)
}

// Count writes an exact count as Format does, with four significant digits: a
// difference in the fourth is not noise there.
func Count(v float64, unit string) string { return format(v, unit, 4) }

func format(v float64, unit string, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "n/a"
	}
	s := ScaleOf(v, unit)
	text := Digits(v/s.Div, digits)
	if unit == record.UnitPages && text == "1" {
		return "1 page"
	}
	return text + s.Suffix
}

// In writes v in the display unit s, without its suffix.
func In(v float64, s Scale) string { return Digits(v/s.Div, 3) }

// Digits writes v with n significant digits, without an exponent where that is
// readable. Digits before the point are never rounded away.
func Digits(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "n/a"
	}
	if v == 0 {
		return "0"
	}
	a := math.Abs(v)
	if a < 1e-6 || a >= 1e15 {
		return strconv.FormatFloat(v, 'g', n, 64)
	}
	decimals := max(n-1-int(math.Floor(math.Log10(a))), 0)
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Range writes an interval in the display unit of its larger end: "208–231 us".
// Both ends keep as many decimals as tell them apart.
func Range(lo, hi float64, unit string) string {
	s := ScaleOf(math.Max(math.Abs(lo), math.Abs(hi)), unit)
	d := decimalsFor(0, 3, lo/s.Div, hi/s.Div)
	return fixed(lo/s.Div, d) + dash(lo, hi) + fixed(hi/s.Div, d) + s.Suffix
}

// dash joins the ends of an interval; a minus sign beside a dash is unreadable.
func dash(lo, hi float64) string {
	if lo < 0 || hi < 0 {
		return " to "
	}
	return "–"
}

// Times writes a ratio as "0.98x". One that differs from 1 never reads 1x.
func Times(r float64) string { return Factor(r) + "x" }

// Factor writes a ratio without its "x".
func Factor(r float64) string {
	s := Digits(r, 3)
	for n := 4; s == "1" && r != 1 && n <= 17; n++ {
		s = Digits(r, n)
	}
	return s
}

// TimesRange writes a ratio and its interval with decimals in common: "0.98x"
// and "0.97–0.99". An end that is not 1 does not read 1.
func TimesRange(r, lo, hi float64) (estimate, interval string) {
	d := decimalsFor(1, 2, r, lo, hi)
	return fixed(r, d) + "x", fixed(lo, d) + dash(lo, hi) + fixed(hi, d)
}

// decimalsFor is the number of decimals that gives the largest of values digits
// significant ones (one more from 1 up), shows the distance between the
// smallest and the largest, hides none that is not 0, and rounds none onto
// special that is not special.
func decimalsFor(special float64, digits int, values ...float64) int {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	most := math.Max(math.Abs(lo), math.Abs(hi))
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return 0
	}
	d := digits - 1 - int(math.Floor(math.Log10(most)))
	if digits == 2 && most >= 1 {
		d++
	}
	if hi > lo {
		d = max(d, int(math.Ceil(-math.Log10(hi-lo))))
	}
	d = min(max(d, 0), 15)
	for ; d < 15 && collides(special, d, values); d++ {
	}
	return d
}

// collides reports whether d decimals round one of values onto 0 or special.
func collides(special float64, d int, values []float64) bool {
	zero, s := fixed(0, d), fixed(special, d)
	for _, v := range values {
		if f := strings.TrimPrefix(fixed(v, d), "-"); (f == zero && v != 0) || (f == s && v != special) {
			return true
		}
	}
	return false
}

// fixed writes v with d decimals; what is too small for them in full.
func fixed(v float64, d int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "n/a"
	}
	if a := math.Abs(v); a >= 1e15 || (a > 0 && a < 1e-6) {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', d, 64)
}

// Signed writes a difference with its sign: "+1.2 KiB", "-3 ns", "0 B".
func Signed(v float64, unit string) string {
	if v > 0 {
		return "+" + Format(v, unit)
	}
	return Format(v, unit)
}

// Effect writes an effect, a ratio or else a difference in unit, and its
// interval, empty if it has none.
func Effect(ratio bool, estimate, lo, hi float64, hasInterval bool, unit string) (value, interval string) {
	switch {
	case ratio && hasInterval:
		return TimesRange(estimate, lo, hi)
	case ratio:
		return Times(estimate), ""
	case hasInterval:
		return Signed(estimate, unit), Range(lo, hi, unit)
	}
	return Signed(estimate, unit), ""
}
