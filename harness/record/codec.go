package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"unicode/utf8"
)

// FileName is the name of the result file inside a result directory.
const FileName = "result.jsonl"

// MaxLineBytes bounds one line of a result file.
const MaxLineBytes = 16 << 20

// line is the envelope of every line: exactly one member is set.
type line struct {
	Header  *Header    `json:"header,omitempty"`
	Trial   *TrialLine `json:"trial,omitempty"`
	Skip    *Skip      `json:"skip,omitempty"`
	Warning *string    `json:"warning,omitempty"`
	Footer  *Footer    `json:"footer,omitempty"`
}

// Writer appends lines to a result file and syncs each one, so that what was
// measured survives whatever happens next.
type Writer struct {
	f   *os.File
	end int64 // behind the last whole line
}

// Create makes a new result file and writes its header. It refuses to
// overwrite an existing file.
func Create(path string, h Header) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create result file: %w", err)
	}
	w := &Writer{f: f}
	if err := w.write(line{Header: &h}); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return w, nil
}

// Append opens an interrupted result file to continue it, cutting off the
// footer and anything after offset.
func Append(path string, offset int64) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open result file to resume: %w", err)
	}
	st, err := f.Stat()
	if err == nil && st.Size() < offset {
		err = fmt.Errorf("it has only %d bytes", st.Size())
	}
	if err == nil {
		err = f.Truncate(offset)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cut %s at byte %d: %w", path, offset, err), f.Close())
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("seek in %s: %w", path, err), f.Close())
	}
	return &Writer{f: f, end: offset}, nil
}

func (w *Writer) write(l line) error {
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode result line: %w", err)
	}
	if len(b) >= MaxLineBytes {
		return fmt.Errorf("result line of %d bytes is over the limit of %d", len(b), MaxLineBytes)
	}
	n, err := w.f.Write(append(b, '\n'))
	if err != nil {
		return errors.Join(fmt.Errorf("write %s (the lines before are kept): %w", w.f.Name(), err), w.cut())
	}
	w.end += int64(n)
	if err := w.f.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", w.f.Name(), err)
	}
	return w.inPlace()
}

// cut takes off what was written of a line that did not fit.
func (w *Writer) cut() error {
	if err := w.f.Truncate(w.end); err != nil {
		return fmt.Errorf("cut its last line off, which is not whole: %w", err)
	}
	return nil
}

// inPlace fails when the file is no longer where its name says: what is written
// to it then would be lost, or not be found, at the end of a long run.
func (w *Writer) inPlace() error {
	open, err := w.f.Stat()
	if err != nil {
		return fmt.Errorf("look at %s: %w", w.f.Name(), err)
	}
	named, err := os.Stat(w.f.Name())
	if err != nil {
		return fmt.Errorf("the result file was moved or removed while it was being written: %w", err)
	}
	if !os.SameFile(open, named) {
		return fmt.Errorf("the result file %s was replaced while it was being written", w.f.Name())
	}
	return nil
}

// Trial appends one finished trial.
func (w *Writer) Trial(t TrialLine) error { return w.write(line{Trial: &t}) }

// Skip appends a case that could not be measured.
func (w *Writer) Skip(s Skip) error { return w.write(line{Skip: &s}) }

// Warning appends a remark on the run.
func (w *Writer) Warning(text string) error { return w.write(line{Warning: &text}) }

// Close writes the footer and closes the file.
func (w *Writer) Close(f Footer) error {
	return errors.Join(w.write(line{Footer: &f}), w.f.Close())
}

// Abandon closes the file as it is, without a footer.
func (w *Writer) Abandon() error { return w.f.Close() }

// SyntaxError is a result file that cannot be read; Line counts from 1.
type SyntaxError struct {
	Path string
	Line int
	Err  error
	// Offset is the number of bytes before the bad line.
	Offset int64
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d:1: %v", e.Path, e.Line, e.Err) }
func (e *SyntaxError) Unwrap() error { return e.Err }

// ErrTruncated means the file ends inside a line.
var ErrTruncated = errors.New("the file ends inside a line; resume the run, or cut the last line off")

// Resolve returns the result file named by path, which may be a result directory.
func Resolve(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("open result: %w", err)
	}
	if st.IsDir() {
		return path + string(os.PathSeparator) + FileName, nil
	}
	return path, nil
}

// Read reads a result file or directory. A file without a footer is a killed
// run and is returned as it is, Footer nil.
func Read(path string) (*Result, error) {
	file, err := Resolve(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open result: %w", err)
	}
	defer f.Close()
	return Decode(f, file)
}

// Decode reads a result from r; name is used in errors. On a *SyntaxError the
// lines before the bad one are returned beside the error.
func Decode(r io.Reader, name string) (*Result, error) {
	res := &Result{Path: name}
	br := bufio.NewReaderSize(r, 1<<20)
	seen := map[string]int{}
	var offset int64
	for n := 1; ; n++ {
		b, err := readLine(br)
		if errors.Is(err, io.EOF) && len(b) == 0 {
			if n == 1 {
				return res, &SyntaxError{name, n, errors.New("the file is empty"), 0}
			}
			return res, nil
		}
		if err == nil {
			err = res.add(b, n, seen)
		} else if errors.Is(err, io.EOF) {
			err = ErrTruncated
		}
		if err != nil {
			return res, &SyntaxError{name, n, err, offset}
		}
		offset += int64(len(b)) + 1
		if res.Footer == nil {
			res.End = offset
		}
	}
}

// readLine returns one line without its newline; io.EOF with bytes means the
// newline is missing.
func readLine(br *bufio.Reader) ([]byte, error) {
	var buf []byte
	for {
		frag, err := br.ReadSlice('\n')
		buf = append(buf, frag...)
		if len(buf) > MaxLineBytes {
			return nil, fmt.Errorf("line longer than %d bytes", MaxLineBytes)
		}
		switch {
		case err == nil:
			return buf[:len(buf)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return buf, err
		}
	}
}

// kinds counts the members that are set.
func (l line) kinds() int {
	n := 0
	for _, set := range []bool{l.Header != nil, l.Trial != nil, l.Skip != nil, l.Warning != nil, l.Footer != nil} {
		if set {
			n++
		}
	}
	return n
}

func (res *Result) add(b []byte, n int, seen map[string]int) error {
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return errors.New("not UTF-8 text: a zcbench result is JSON lines")
	}
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return fmt.Errorf("not a result line: %w", err)
	}
	if kinds := l.kinds(); kinds > 1 {
		return fmt.Errorf("a line of %d kinds at once", kinds)
	}
	if n == 1 {
		if l.Header == nil {
			return errors.New("the first line is not a header: not a zcbench result")
		}
		if l.Header.Schema != Schema {
			return fmt.Errorf("result schema %d: this zcbench reads schema %d", l.Header.Schema, Schema)
		}
		res.Header = *l.Header
		if err := checkMetrics(res.Header.Metrics); err != nil || res.Header.Probe == nil {
			return err
		}
		return res.Header.Probe.Check()
	}
	if res.Footer != nil {
		return errors.New("a line after the footer")
	}
	switch {
	case l.Header != nil:
		return errors.New("a second header: two results in one file")
	case l.Trial != nil:
		return res.addTrial(*l.Trial, n, seen)
	case l.Skip != nil:
		res.Skips = append(res.Skips, *l.Skip)
	case l.Warning != nil:
		res.Warnings = append(res.Warnings, *l.Warning)
	case l.Footer != nil:
		res.Footer = l.Footer
	default:
		return errors.New("a line of no known kind (trial, skip, warning, footer)")
	}
	return nil
}

func (res *Result) addTrial(t TrialLine, n int, seen map[string]int) error {
	if t.Trial.ID == "" {
		return errors.New("a trial without an id")
	}
	key := fmt.Sprintf("%s\x00%d", t.Trial.ID, t.Trial.Attempt)
	if at, dup := seen[key]; dup {
		return fmt.Errorf("trial %q attempt %d again, first on line %d", t.Trial.ID, t.Trial.Attempt, at)
	}
	seen[key] = n
	err := t.Record.checkFigures()
	if err == nil {
		err = t.check(res.Header)
	}
	if err != nil {
		return fmt.Errorf("trial %q: %w", t.Trial.ID, err)
	}
	if last := len(res.Trials) - 1; last >= 0 && t.Trial.Order < res.Trials[last].Trial.Order {
		return fmt.Errorf("trial %q has order %d after order %d: the lines are not in the order of the run",
			t.Trial.ID, t.Trial.Order, res.Trials[last].Trial.Order)
	}
	res.Trials = append(res.Trials, t)
	return nil
}

func (v Value) check() error {
	switch {
	case v.Float != nil && (math.IsNaN(*v.Float) || math.IsInf(*v.Float, 0)):
		return errors.New("not a finite number")
	case v.Float != nil && (v.Num != 0 || v.Den != 0):
		return errors.New("both a count and a float")
	case v.Float == nil && v.Den < 0:
		return errors.New("a negative denominator")
	case v.Float == nil && v.Den == 0:
		return errors.New("neither a count (den is 0) nor a float")
	}
	return nil
}

func checkMetrics(ms []Metric) error {
	names := map[string]bool{}
	for _, m := range ms {
		if m.Name == "" || names[m.Name] {
			return fmt.Errorf("metric name %q is empty or twice in the header", m.Name)
		}
		names[m.Name] = true
		if err := m.check(); err != nil {
			return err
		}
	}
	return nil
}

// Check validates a record received from a child, which is untrusted input.
func (r Record) Check(trial string) error {
	if r.Schema != Schema {
		return fmt.Errorf("record schema %d, want %d", r.Schema, Schema)
	}
	if r.Trial != trial {
		return fmt.Errorf("record of trial %q, asked for %q", r.Trial, trial)
	}
	return r.checkFigures()
}

func (r Record) checkFigures() error {
	switch r.Status {
	case OK, Failed, Skipped:
	default:
		return fmt.Errorf("record status %q, want ok, failed or skipped", r.Status)
	}
	for name, v := range r.Metrics {
		if err := v.check(); err != nil {
			return fmt.Errorf("metric %s: %w", name, err)
		}
	}
	for _, s := range r.Series {
		if len(s.X) != len(s.Y) {
			return fmt.Errorf("series %s: %d x against %d y", s.Name, len(s.X), len(s.Y))
		}
	}
	return nil
}
