package scenarios

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// unit is a name and how many base units it holds.
type unit struct {
	name string
	size int64
}

// byteUnits lists the canonical binary units from large to small, then the
// decimal ones, which are only read.
var byteUnits = []unit{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3},
}

// timeUnits are in nanoseconds; both letters written as mu are read.
var timeUnits = []unit{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"µs", 1e3}, {"μs", 1e3}}

// shorthand are unit names people write that could mean more than one thing.
var shorthand = map[string]string{
	"K": "KiB", "M": "MiB", "G": "GiB", "T": "TiB", "byte": "B", "bytes": "B",
	"sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "us", "nsec": "ns",
}

func findUnit(units []unit, name string) (int64, bool) {
	for _, u := range units {
		if u.name == name {
			return u.size, true
		}
	}
	return 0, false
}

// unknownUnit says which units there are and guesses the one meant.
func unknownUnit(s, name string, units []unit) error {
	var names []string
	for _, u := range units {
		if u.name != "" {
			names = append(names, u.name)
		}
	}
	guess := shorthand[name]
	if guess == "" {
		guess = shorthand[strings.ToUpper(name)]
	}
	if !slices.Contains(names, guess) {
		guess = Nearest(name, names)
	}
	b := badf("%s has the unknown unit %s (known: %s)", quote(s), quote(name), strings.Join(names, ", "))
	if guess != "" {
		b.suggest = strings.TrimSpace(strings.TrimSuffix(s, name)) + guess
	}
	return b
}

func parseUnits(s string, units []unit, of string) (int64, error) {
	num, name, err := splitNumber(s)
	if err != nil {
		return 0, err
	}
	size, ok := findUnit(units, name)
	if !ok {
		return 0, unknownUnit(s, name, units)
	}
	return scaled(s, num, size, of)
}

// ParseBytes reads a number of bytes: 4096, 64KiB, 1.5MiB, or decimal 4KB. It
// must come to a whole number of bytes.
func ParseBytes(s string) (int64, error) {
	return parseUnits(s, append([]unit{{"", 1}}, byteUnits...), "bytes")
}

// FormatBytes gives n bytes in the largest binary unit that holds it a whole
// number of times: 4096 is "4KiB", 1500 "1500B", 1.5 MiB "1536KiB", 0 "0B".
// ParseBytes reads what it gives for every n >= 0.
func FormatBytes(n int64) string { return formatUnits(n, byteUnits[:5]) }

// ParseDuration reads a time in ns, us, ms or s and returns nanoseconds. It
// must come to a whole number of them.
func ParseDuration(s string) (int64, error) {
	if s == "0" {
		return 0, nil
	}
	if num, name, err := splitNumber(s); err == nil && name == "" {
		return 0, badf("%s has no unit: write %ss, %sms, %sus or %sns", quote(s), num, num, num, num)
	}
	return parseUnits(s, timeUnits, "nanoseconds")
}

// FormatDuration gives ns nanoseconds in the largest unit that holds them a
// whole number of times: 2ms, 1500us, 90s. ParseDuration reads it for ns >= 0.
func FormatDuration(ns int64) string {
	if ns == 0 {
		return "0s"
	}
	return formatUnits(ns, timeUnits[:4])
}

func formatUnits(n int64, units []unit) string {
	for _, u := range units {
		if n != 0 && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return "0" + units[len(units)-1].name
}

// ParseRate reads events per second: 20000/s, 2.5/s, 20k/s, 1M/s.
func ParseRate(s string) (float64, error) {
	num, per, err := splitNumber(s)
	if err != nil {
		return 0, err
	}
	shift := 0
	switch per {
	case "/s":
	case "k/s":
		shift = 3
	case "M/s":
		shift = 6
	default:
		return 0, &badValue{quote(s) + " is not a rate", num + "/s"}
	}
	v, err := strconv.ParseFloat(shiftPoint(num, shift), 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, badf("%s is too large", quote(s))
	}
	return v, nil
}

// FormatRate gives hz events per second as ParseRate reads it: 20000/s.
func FormatRate(hz float64) string { return strconv.FormatFloat(hz, 'f', -1, 64) + "/s" }

// ParseFraction reads a share: 50% or 0.5.
func ParseFraction(s string) (float64, error) {
	if !strings.HasSuffix(s, "%") {
		return parseNumber(s)
	}
	num, per, err := splitNumber(s)
	if err != nil {
		return 0, err
	}
	if per != "%" {
		return 0, badf("%s is not a percentage", quote(s))
	}
	v, err := strconv.ParseFloat(shiftPoint(num, -2), 64)
	if err != nil {
		return 0, badf("%s is not a percentage", quote(s))
	}
	return v, nil
}

// FormatFraction gives a share >= 0 in percent, without rounding: 0.07 is "7%".
func FormatFraction(f float64) string {
	return shiftPoint(strconv.FormatFloat(f, 'f', -1, 64), 2) + "%"
}
