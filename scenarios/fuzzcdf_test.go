package scenarios

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCDF: any text of a cdf file is a distribution that rises to 1, of sizes
// that messages may have, or an error at a line of it.
func FuzzCDF(f *testing.F) {
	for _, text := range []string{
		"", "bytes,cum\n", "# note\nbytes,cum\n7,.175\n16,1\n", "92,.0074\n271,1\n", "\ufeffbytes,cum\r\n92, 1%\r\n4KiB,1\r\n",
		"0\t0\n# all\n7;1e0\n", "100\n\n30\n100\n100\n", "\"size\"\n64KiB", "7,.5\n8,.9\n", "\xff\xfe1\x00", "17MiB\n", "1,1e-320\n2,1",
		strings.Repeat("7\n", 100) + "9", "9223372036854775807\n", "7,nan\n", "7,1\n7,1\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		points, e := parseTrace("t.csv", text)
		if e != nil {
			if lines := strings.Count(string(text), "\n") + 1; e.File != "t.csv" || e.Line < 1 || e.Line > lines || e.Col < 1 || e.Msg == "" {
				t.Errorf("the fault %s:%d:%d %q in a text of %d lines", e.File, e.Line, e.Col, e.Msg, lines)
			}
			if out := e.Error(); !utf8.ValidString(out) || strings.ContainsAny(out, "\x00\x1b\r\t\u0085") {
				t.Errorf("the message cannot be printed: %q", out)
			}
			return
		}
		if len(points) == 0 || points[len(points)-1].Cum != 1 {
			t.Fatalf("a distribution that does not end at 1: %v", points)
		}
		last := SizePoint{Bytes: -1}
		for _, p := range points {
			if p.Bytes <= last.Bytes || p.Bytes > MaxMessageBytes || !(p.Cum >= last.Cum && p.Cum <= 1) {
				t.Fatalf("%+v behind %+v", p, last)
			}
			last = p
		}
	})
}
