package record

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRoundTrip(t *testing.T) {
	path, w := newFile(t)
	first, second := sampleTrial("a/counting/1"), sampleTrial("a/counting/2")
	second.Invalid, second.Generator = "generator-limited", nil
	skip := Skip{Case: "b{k=v}", Reason: "EPERM", Remedy: "sysctl", Needs: "uring"}
	footer := Footer{Ended: time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC), Status: "complete", Trials: 2, Invalid: 1}
	must(t, w.Skip(skip))
	must(t, w.Trial(first))
	must(t, w.Warning("this is a\nvirtual machine"))
	must(t, w.Trial(second))
	must(t, w.Close(footer))
	got, err := Read(path)
	must(t, err)
	want := &Result{
		Path: path, Header: sampleHeader(), Trials: []TrialLine{first, second}, Skips: []Skip{skip},
		Warnings: []string{"this is a\nvirtual machine"}, Footer: &footer, End: got.End,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwrote\n%+v", got, want)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	if tail := string(text[got.End:]); !strings.HasPrefix(tail, `{"footer":`) || strings.Count(tail, "\n") != 1 {
		t.Errorf("End points at %q, want the footer", tail)
	}
	byDir, err := Read(filepath.Dir(path))
	must(t, err)
	if !reflect.DeepEqual(byDir, got) {
		t.Errorf("reading the directory gives another result than reading its file")
	}
}

func TestCreateRefusesToOverwrite(t *testing.T) {
	path, w := newFile(t)
	must(t, w.Abandon())
	if _, err := Create(path, sampleHeader()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Create: %v, want %v", err, fs.ErrExist)
	}
}

func TestWriterRefusesWhatCouldNotBeRead(t *testing.T) {
	path, w := newFile(t)
	bad := sampleTrial("nan")
	bad.Record.Metrics["time"] = Level(math.NaN())
	if err := w.Trial(bad); err == nil {
		t.Error("a NaN was written")
	}
	long := sampleTrial("long")
	long.Stderr = strings.Repeat("x", MaxLineBytes)
	if err := w.Trial(long); err == nil || !strings.Contains(err.Error(), "over the limit") {
		t.Errorf("a line over the limit: %v", err)
	}
	// The longest line that is written is one that can be read.
	longest := sampleTrial("longest")
	longest.Stderr = ""
	longest.Stderr = strings.Repeat("x", MaxLineBytes-len(encoded(t, line{Trial: &longest}))-len(`"stderr":"",`)-1)
	must(t, w.Trial(longest))
	must(t, w.Abandon())
	res, err := Read(path)
	must(t, err)
	if len(res.Trials) != 1 || res.Trials[0].Trial.ID != "longest" {
		t.Errorf("%d trials read", len(res.Trials))
	}
}

func TestWriteFailureNamesTheFile(t *testing.T) {
	path, w := newFile(t)
	must(t, w.f.Close())
	if err := w.Trial(sampleTrial("a")); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("writing to a closed file: %v, want its name", err)
	}
}

func TestAppendContinues(t *testing.T) {
	whole, w := newFile(t)
	must(t, w.Trial(sampleTrial("a")))
	must(t, w.Trial(sampleTrial("b")))
	must(t, w.Close(Footer{Status: "complete", Trials: 2}))
	for name, end := range map[string]func(w *Writer) error{
		"no footer": func(w *Writer) error { return w.Abandon() },
		"footer":    func(w *Writer) error { return w.Close(Footer{Status: "interrupted", Trials: 1}) },
		"torn line": func(w *Writer) error {
			_, err := w.f.WriteString(`{"trial":{"trial":`)
			return errors.Join(err, w.Abandon())
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, w := newFile(t)
			must(t, w.Trial(sampleTrial("a")))
			must(t, end(w))
			res, err := Read(path)
			if (err != nil) != (name == "torn line") {
				t.Fatalf("read: %v", err)
			}
			if len(res.Trials) != 1 {
				t.Fatalf("%d trials before the end, want 1", len(res.Trials))
			}
			w, err = Append(path, res.End)
			must(t, err)
			must(t, w.Trial(sampleTrial("b")))
			must(t, w.Close(Footer{Status: "complete", Trials: 2}))
			sameBytes(t, path, whole)
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	path, w := newFile(t)
	must(t, w.Abandon())
	before, err := os.ReadFile(path)
	must(t, err)
	if _, err := Append(path, int64(len(before))+1); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("an offset behind the end: %v, want a refusal", err)
	}
	after, err := os.ReadFile(path)
	must(t, err)
	if string(after) != string(before) {
		t.Error("the refusal changed the file")
	}
	if _, err := Append(path+".none", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// A result that is no longer where its name says is found out with the next line.
func TestWriterMissesItsFile(t *testing.T) {
	for name, vanish := range map[string]func(path string) error{
		"removed": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
	} {
		path, w := newFile(t)
		must(t, w.Trial(sampleTrial("a")))
		must(t, vanish(path))
		if err := w.Trial(sampleTrial("b")); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "while it was being written") {
			t.Errorf("%s: %v", name, err)
		}
		must(t, w.Abandon())
		if name == "moved" {
			res, err := Read(path + ".old")
			if err != nil || len(res.Trials) != 2 {
				t.Errorf("what was moved: %+v, %v", res, err)
			}
		}
	}
}
