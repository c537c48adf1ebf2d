package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// Limits on what an adapter may say. Its whole answer is kept in the result, for
// each of its trials.
const (
	maxAdapterAnswer    = 1 << 20 // bytes
	maxAdapterPoints    = 1 << 14 // of one time line
	maxAdapterText      = 2000    // runes of one text
	maxAdapterNotes     = 20
	maxAdapterHistogram = 64 << 10 // bytes of one, as text
)

// AdapterRecord reads what an adapter answered on fd 3, which is untrusted input:
// the record comes back only if it is one of this trial and of the metrics of its
// kind. took is how long the program has run. count, in counting trials, reads
// what the counting shim saw of the program; its figures go before the program's
// own, and where they differ the program is refused.
func AdapterRecord(t record.Trial, answer []byte, took time.Duration, count func() (*Posts, error)) (record.Record, error) {
	rec, err := decodeAdapter(answer)
	if err == nil {
		err = rec.Check(t.ID)
	}
	if err == nil {
		err = checkAdapter(t, &rec, took)
	}
	if err != nil {
		return record.Record{}, err
	}
	tidy(&rec)
	if rec.Status != record.OK {
		rec.Metrics, rec.Unavailable, rec.Histograms, rec.Series = nil, nil, nil, nil
		return rec, nil
	}
	keepOf(t.Purpose, &rec)
	missing := "the adapter does not report it"
	if t.Purpose == record.Counting && count != nil {
		counts, err := count()
		if err == nil {
			err = addCounts(t, &rec, counts)
		} else {
			missing, err = fmt.Sprintf("the adapter does not report it, and the shim counted nothing: %v", err), nil
		}
		if err != nil {
			return record.Record{}, err
		}
	}
	for _, r := range table {
		if _, ok := rec.Metrics[r.Name]; !ok && r.ofAdapters(t) && rec.Unavailable[r.Name] == "" {
			rec.Unavailable[r.Name] = missing
		}
	}
	return rec, nil
}

// ofAdapters tells whether an adapter may report a metric in a trial.
func (r row) ofAdapters(t record.Trial) bool {
	return r.posts == (t.Workload.Kind != record.KindReceive) && r.sent == nil && r.yields(t.Purpose)
}

// decodeAdapter reads one record. Members that no record has are refused, so that
// a misspelt one is told and not passed over.
func decodeAdapter(answer []byte) (rec record.Record, err error) {
	if len(answer) > maxAdapterAnswer {
		return rec, fmt.Errorf("its answer on fd 3 is longer than %d bytes", maxAdapterAnswer)
	}
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&rec); err != nil {
		return rec, fmt.Errorf("its answer on fd 3 is not the JSON expected, one record: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return rec, errors.New("its answer on fd 3 goes on behind the record")
	}
	return rec, nil
}

// checkAdapter refuses a record that cannot be true.
func checkAdapter(t record.Trial, rec *record.Record, took time.Duration) error {
	if rec.Status != record.OK {
		if strings.TrimSpace(rec.Error) == "" {
			return fmt.Errorf("its status is %s, and its error does not say why", rec.Status)
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(rec.Metrics)) {
		if err := checkMetric(t, name, rec.Metrics[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rec.Unavailable)) {
		if _, err := adapterMetric(t, name); err != nil {
			return err
		}
	}
	if err := checkDistributions(t, rec); err != nil {
		return err
	}
	if err := checkWindow(t, rec, took); err != nil {
		return err
	}
	if want, ok := workOf(t); ok && rec.Fingerprint != want {
		return fmt.Errorf("the work does not match: its fingerprint is %s, the trial's %s", workText(rec.Fingerprint), workText(want))
	}
	return nil
}

func checkWindow(t record.Trial, rec *record.Record, took time.Duration) error {
	w := rec.Window
	if w.NS == 0 && t.Purpose != record.Verify {
		return errors.New("it has no window: give window.ns, and what it saw of page faults and system calls")
	}
	for name, v := range map[string]int64{
		"ns": w.NS, "minor_faults": w.MinorFaults, "major_faults": w.MajorFaults, "syscalls": w.Syscalls, "steal_ns": w.StealNS,
		"voluntary_switches": w.Voluntary, "involuntary_switches": w.Involuntary,
	} {
		if v < 0 {
			return fmt.Errorf("its window.%s is %d, below zero", name, v)
		}
	}
	if rec.SetupNS < 0 || rec.WarmupEnd < 0 {
		return errors.New("its setup_ns or warmup_end is below zero")
	}
	most := took + took/20 // the clocks of the two may differ a little
	for name, v := range map[string]int64{"window.ns": w.NS, "setup_ns": rec.SetupNS} {
		if v > most.Nanoseconds() {
			return fmt.Errorf("its %s is %v, but the program has run for %v only", name, time.Duration(v), took)
		}
	}
	return nil
}

// workOf is the fingerprint a trial's work must have. That of an aging heap cannot
// be told beforehand; verify trials of kinds that post have none.
func workOf(t record.Trial) (record.Fingerprint, bool) {
	w := t.Workload
	ops := int64(t.Messages) * int64(max(w.Batch, 1))
	switch {
	case w.Kind == record.KindReceive:
		return load.NewSchedule(t).Fingerprint(t.Seed), true
	case w.Kind == KindAging:
		return record.Fingerprint{}, false
	case t.Purpose == record.Verify:
		return record.Fingerprint{}, true
	case w.Kind == KindConnect:
		return record.Fingerprint{Ops: int64(t.Messages), Bytes: int64(t.Messages) * (w.ConnectData + w.AcceptData)}, true
	}
	return record.Fingerprint{Ops: ops, Bytes: ops * w.Bytes}, true
}

func workText(f record.Fingerprint) string {
	return fmt.Sprintf("{ops %d, bytes %d, sum %d}", f.Ops, f.Bytes, f.Sum)
}

// adapterMetric finds a metric that an adapter may report in trials of a kind.
func adapterMetric(t record.Trial, name string) (row, error) {
	var known []string
	for _, r := range table {
		if r.posts == (t.Workload.Kind != record.KindReceive) && r.sent == nil {
			if r.Name == name {
				return r, nil
			}
			known = append(known, r.Name)
		}
	}
	err := fmt.Errorf("metric %q is not one of kind %s; `zcbench list metrics` has them", short(name), t.Workload.Kind)
	if near := scenarios.Nearest(name, known); near != "" {
		err = fmt.Errorf("%w; did it mean %q?", err, near)
	}
	return row{}, err
}

func checkMetric(t record.Trial, name string, v record.Value) error {
	r, err := adapterMetric(t, name)
	switch {
	case err != nil:
		return err
	case v.Float64() < 0:
		return fmt.Errorf("metric %s is %g, below zero", name, v.Float64())
	case r.Kind == record.Exact && !v.IsCount():
		return fmt.Errorf("metric %s is a count: report it as {\"num\": events, \"den\": units of work}, not as a number", name)
	}
	return nil
}

// seriesOf are the time lines of a kind that posts, or of one that receives.
func seriesOf(posts bool) map[string]string {
	if posts {
		return map[string]string{"heap_held_bytes": record.UnitBytes, "heap_used_bytes": record.UnitBytes}
	}
	return map[string]string{"buffer_pages": record.UnitPages, "socket_bytes": record.UnitBytes}
}

func checkDistributions(t record.Trial, rec *record.Record) error {
	lines := seriesOf(t.Workload.Kind != record.KindReceive)
	for i, s := range rec.Series {
		unit, known := lines[s.Name]
		same := func(o record.Series) bool { return o.Name == s.Name }
		switch {
		case !known:
			return fmt.Errorf("series %q is not one of kind %s; there are %s", short(s.Name), t.Workload.Kind, strings.Join(slices.Sorted(maps.Keys(lines)), ", "))
		case s.Unit != unit:
			return fmt.Errorf("series %s is in %q, not in %s", s.Name, short(s.Unit), unit)
		case slices.ContainsFunc(rec.Series[:i], same):
			return fmt.Errorf("series %s is there twice", s.Name)
		case len(s.X) > maxAdapterPoints:
			return fmt.Errorf("series %s has %d points, more than %d", s.Name, len(s.X), maxAdapterPoints)
		case !slices.IsSorted(s.X) || slices.ContainsFunc(slices.Concat(s.X, s.Y), func(v int64) bool { return v < 0 }):
			return fmt.Errorf("series %s goes back in x or below zero", s.Name)
		}
	}
	names := []string{"latency"}
	for _, b := range bandNames {
		names = append(names, "latency_"+b)
	}
	for _, name := range slices.Sorted(maps.Keys(rec.Histograms)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("histogram %q is none; there are %s", short(name), strings.Join(names, ", "))
		}
		if err := checkHistogram(rec.Histograms[name]); err != nil {
			return fmt.Errorf("histogram %s: %w", name, err)
		}
	}
	return nil
}

func checkHistogram(text string) (err error) {
	if len(text) > maxAdapterHistogram {
		return fmt.Errorf("%d bytes, more than %d", len(text), maxAdapterHistogram)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not an HdrHistogram: %v", p)
		}
	}()
	if _, err := hdrhistogram.Decode([]byte(text)); err != nil {
		return fmt.Errorf("not an HdrHistogram of V2, compressed, in base64: %w", err)
	}
	return nil
}

// keepOf leaves the metrics that trials of a purpose yield: an adapter may report
// all it knows in every trial.
func keepOf(p record.Purpose, rec *record.Record) {
	if rec.Metrics == nil {
		rec.Metrics = map[string]record.Value{}
	}
	if rec.Unavailable == nil {
		rec.Unavailable = map[string]string{}
	}
	for _, r := range table {
		if _, both := rec.Metrics[r.Name]; both || !r.yields(p) {
			delete(rec.Unavailable, r.Name)
		}
		if !r.yields(p) {
			delete(rec.Metrics, r.Name)
		}
	}
}

// tidy makes an adapter's texts fit to print, and short.
func tidy(rec *record.Record) {
	rec.Error, rec.Remedy, rec.Placement = plainText(rec.Error), plainText(rec.Remedy), plainText(rec.Placement)
	rec.Notes = rec.Notes[:min(len(rec.Notes), maxAdapterNotes)]
	for i := range rec.Notes {
		rec.Notes[i] = plainText(rec.Notes[i])
	}
	for name, reason := range rec.Unavailable {
		if rec.Unavailable[name] = plainText(reason); rec.Unavailable[name] == "" {
			rec.Unavailable[name] = "the adapter does not say why"
		}
	}
}

// plainText replaces what could move a terminal's cursor.
func plainText(s string) string {
	if r := []rune(s); len(r) > maxAdapterText {
		s = string(r[:maxAdapterText]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.TrimSpace(s))
}

// short cuts a name from untrusted input for a message that quotes it.
func short(name string) string {
	if r := []rune(name); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return name
}
