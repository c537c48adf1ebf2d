package residency

import (
	"errors"
	"strings"
	"testing"
)

// fakeSource claims a fixed number of pages for whatever it is asked.
type fakeSource struct {
	label  string
	pages  uintptr
	err    error
	closed bool
}

func (f *fakeSource) name() string    { return f.label }
func (f *fakeSource) hugeKnown() bool { return false }
func (f *fakeSource) close() error    { f.closed = true; return nil }
func (f *fakeSource) scan(s span, t *tally) error {
	t.add(s.start, s.start+f.pages*t.pageSize, false)
	return f.err
}

func TestChooseSource(t *testing.T) {
	for _, tc := range []struct {
		name    string
		sources []*fakeSource
		want    string
		exact   bool
	}{
		{"first exact", []*fakeSource{{label: "a", pages: 2}, {label: "b", pages: 2}}, "a", true},
		{"counts zeros", []*fakeSource{{label: "a", pages: 3}, {label: "b", pages: 2}}, "b", true},
		{"none exact", []*fakeSource{{label: "a", pages: 3}, {label: "b", pages: 3}}, "a", false},
		{"wrong count", []*fakeSource{{label: "a", pages: 1}, {label: "b", pages: 3}}, "b", false},
		{"refused", []*fakeSource{{label: "a", pages: 2, err: errors.New("no")}, {label: "b", pages: 2}}, "b", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src, exact, err := choose(openAll(tc.sources))
			if err != nil || src.name() != tc.want || exact != tc.exact {
				t.Fatalf("got %v, exact %v, %v", src, exact, err)
			}
			for _, f := range tc.sources[:2] {
				if kept, opened := f.label == tc.want, tc.want == "b" || f.label == "a" || !exact; f.closed == kept && opened {
					t.Errorf("source %s: closed %v, kept %v", f.label, f.closed, kept)
				}
			}
		})
	}
}

func openAll(list []*fakeSource) []opener {
	var out []opener
	for _, f := range list {
		out = append(out, func() (source, error) { return f, nil })
	}
	return out
}

func TestNoSourceNamesEveryReason(t *testing.T) {
	_, _, err := choose([]opener{
		func() (source, error) { return nil, errors.New("closed for repair") },
		func() (source, error) { return &fakeSource{label: "blind", pages: 0}, nil },
	})
	if err == nil || !strings.Contains(err.Error(), "closed for repair") || !strings.Contains(err.Error(), "blind") {
		t.Errorf("error %v does not name both sources", err)
	}
}

func TestMincoreIsNotedAsInexact(t *testing.T) {
	s, err := newSampler(nil, []opener{openMincore})
	if err != nil {
		t.Fatal(err)
	}
	if !s.CountsZeroPages() || len(s.Notes()) != 1 || !strings.Contains(s.Notes()[0], "only read") {
		t.Errorf("notes %q", s.Notes())
	}
}

// TestPagemapWithHiddenFrames is what a user without CAP_SYS_ADMIN sees.
func TestPagemapWithHiddenFrames(t *testing.T) {
	src, err := openPagemap()
	if err != nil {
		t.Fatal(err)
	}
	defer src.close()
	src.(*pagemapSource).zeroFrame = 0
	if exact, err := probe(src); err != nil || !exact {
		t.Errorf("exact %v, %v", exact, err)
	}
}
