package scenarios

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// maxTraceBytes bounds a cdf file.
const maxTraceBytes = 64 << 20

// thinWidth is by how much, relatively, sizes of a file with more than
// maxPoints different ones may be rounded up to make them fewer.
const thinWidth = .02

// cdfFile reads the named file; the faults in it carry its own path and line.
func (d *decoder) cdfFile(at, name string) (steps, bool) {
	file, text, err := d.read(name)
	if err != nil {
		d.fail(at, "%s: %v", at, err)
		return nil, false
	}
	d.beside = append(d.beside, text)
	points, e := parseTrace(file, text)
	if e != nil {
		named := d.scenario.Errorf(at, "")
		d.faults = append(d.faults, fault{pos{named.Line, named.Col}, e})
		return nil, false
	}
	return points, true
}

// trace is a cdf file being read: rows of one column (sizes) or of two (bytes
// and cumulative share).
type trace struct {
	columns int
	counts  map[int64]int64
	total   int64
	steps   steps
}

// parseTrace reads the text of a cdf file. Blank lines, lines that begin with #
// and a first line of column names are passed over; commas, semicolons, spaces
// and tabs separate columns.
func parseTrace(name string, text []byte) (steps, *Error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	t := trace{counts: map[int64]int64{}}
	last, lastLine := 1, ""
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",; \t", r) })
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if t.columns == 0 && isHeader(fields) {
			t.columns = len(fields)
			continue
		}
		if err := t.row(fields); err != nil {
			return nil, traceError(name, n, line, err)
		}
		last, lastLine = n, line
	}
	points, err := t.finish()
	if err != nil {
		return nil, traceError(name, last, lastLine, err)
	}
	return points, nil
}

func traceError(name string, n int, line string, err error) *Error {
	e := newError(name, []string{line}, pos{1, 1}, err.Error())
	if b, ok := err.(*badValue); ok {
		e.Msg, e.Suggest = b.msg, b.suggest
	}
	e.Line = n
	return e
}

// isHeader reports whether a first line holds names of columns.
func isHeader(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool {
		return !unicode.IsLetter([]rune(f)[0]) && f[0] != '"' && f[0] != '_'
	})
}

func (t *trace) row(fields []string) error {
	if t.columns == 0 {
		t.columns = len(fields)
	}
	if len(fields) != t.columns || t.columns > 2 {
		return badf("%d columns: expected bytes,cum on every line, or one size on every line", len(fields))
	}
	size, err := ParseBytes(fields[0])
	if err != nil {
		return err
	}
	if size > MaxMessageBytes {
		return badf("%s is over the limit of %s", FormatBytes(size), FormatBytes(MaxMessageBytes))
	}
	if t.columns == 1 {
		t.counts[size]++
		t.total++
		return nil
	}
	cum, err := ParseFraction(fields[1])
	if err != nil {
		return err
	}
	if cum > 1 {
		return badf("the share %s is above 1", fields[1])
	}
	return t.steps.add(SizePoint{size, cum})
}

func (t *trace) finish() (steps, error) {
	cum := int64(0)
	for _, size := range slices.Sorted(maps.Keys(t.counts)) {
		cum += t.counts[size]
		t.steps = append(t.steps, SizePoint{size, float64(cum) / float64(t.total)})
	}
	if len(t.steps) == 0 {
		return nil, badf("the file holds no sizes")
	}
	if err := t.steps.end(); err != nil {
		return nil, err
	}
	return thin(t.steps), nil
}

// thin merges neighbouring steps until there are at most maxPoints, rounding
// sizes up by no more than thinWidth; at the sizes left the shares are exact.
func thin(all steps) steps {
	if len(all) <= maxPoints {
		return all
	}
	var kept steps
	for i := 0; i < len(all); {
		limit := int64(float64(all[i].Bytes) * (1 + thinWidth))
		next, _ := slices.BinarySearchFunc(all[i+1:], limit, func(p SizePoint, limit int64) int {
			return cmp.Compare(p.Bytes, limit+1)
		})
		i += next
		kept = append(kept, all[i])
		i++
	}
	return kept
}
