package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/scenarios"
)

// sides are the results a comparison is made of.
type sides struct {
	base, next []*record.Result
	noise      []*record.Result // nil: no --noise
	builds     bool             // base alone, of two builds
}

// readSides reads BASE and NEW, or one RESULT of two builds, at once.
func readSides(args []string, noise string) (sides, error) {
	s := sides{builds: len(args) == 1}
	paths := slices.Clone(args)
	if noise != "" {
		paths = append(paths, noise)
	}
	results := make([][]*record.Result, len(paths))
	failed := make([]error, len(paths))
	var wg sync.WaitGroup
	for i, p := range paths {
		wg.Go(func() { results[i], failed[i] = readBelow(p) })
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		return s, coded{exitResult, err}
	}
	s.base = results[0]
	if !s.builds {
		s.next = results[1]
	}
	if noise != "" {
		s.noise = results[len(results)-1]
	}
	return s, nil
}

// readBelow reads the result a path names, or all those in the directories
// below it, by name.
func readBelow(path string) ([]*record.Result, error) {
	files, err := resultsBelow(path)
	if err != nil {
		return nil, err
	}
	var out []*record.Result
	for _, f := range files {
		r, err := record.Read(f)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func resultsBelow(path string) ([]string, error) {
	file, err := record.Resolve(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); err == nil {
		return []string{file}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == record.FileName {
			files = append(files, p)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s holds no %s, neither itself nor in a directory below", path, record.FileName)
	}
	return files, err
}

// metrics lists the metrics any of the results describes.
func (s sides) metrics() []record.Metric {
	var out []record.Metric
	for _, r := range slices.Concat(s.base, s.next) {
		for _, m := range r.Header.Metrics {
			if !slices.ContainsFunc(out, func(o record.Metric) bool { return o.Name == m.Name }) {
				out = append(out, m)
			}
		}
	}
	return out
}

func (s sides) compare(o analyze.CompareOptions) (*analyze.Comparison, error) {
	if s.noise != nil {
		o.Noise = analyze.NewNoise(s.noise)
	}
	if s.builds {
		return analyze.CompareBuilds(s.base, o)
	}
	if len(s.base) == 1 && len(s.next) == 1 {
		if b, n := s.base[0].Header.Scenario.Name, s.next[0].Header.Scenario.Name; b != n {
			return nil, fmt.Errorf("%s is of scenario %s, %s of %s: nothing to compare", s.base[0].Path, b, s.next[0].Path, n)
		}
	}
	return analyze.Compare(s.base, s.next, o)
}

// setThresholds reads 5%, METRIC=5% and METRIC=10us.
func setThresholds(o *analyze.CompareOptions, given []string, metrics []record.Metric) error {
	o.Metrics = map[string]analyze.Threshold{}
	for _, text := range given {
		name, value, named := strings.Cut(text, "=")
		if !named {
			share, err := scenarios.ParseFraction(text)
			if err != nil || !strings.HasSuffix(text, "%") || share <= 0 {
				return fmt.Errorf("%q: want a share above 0 such as 5%%, or METRIC=5%% or METRIC=10us", text)
			}
			o.Threshold = share
			continue
		}
		at := slices.IndexFunc(metrics, func(m record.Metric) bool { return m.Name == name })
		if at < 0 {
			var names []string
			for _, m := range metrics {
				names = append(names, m.Name)
			}
			return fmt.Errorf("%q: the results describe no metric %q; the nearest is %q", text, name, scenarios.Nearest(name, names))
		}
		t, err := readThreshold(value, metrics[at].Unit)
		if err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
		o.Metrics[name] = t
	}
	return nil
}

// secondsOf are the units of a time threshold. Unlike a scenario's durations
// it need not be whole nanoseconds: a post takes a few.
var secondsOf = []struct {
	suffix string
	s      float64
}{{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}}

func readThreshold(text, unit string) (analyze.Threshold, error) {
	if strings.HasSuffix(text, "%") {
		share, err := scenarios.ParseFraction(text)
		return analyze.Threshold{V: share}, err
	}
	var v float64
	var err error
	switch unit {
	case record.UnitSeconds:
		err = errors.New("want a share such as 5%, or a time such as 10us")
		for _, u := range secondsOf {
			if num, ok := strings.CutSuffix(text, u.suffix); ok {
				v, err = strconv.ParseFloat(num, 64)
				v *= u.s
				break
			}
		}
	case record.UnitBytes:
		var n int64
		n, err = scenarios.ParseBytes(text)
		v = float64(n)
	default:
		v, err = strconv.ParseFloat(text, 64)
	}
	if err == nil && !(v >= 0 && !math.IsInf(v, 0)) {
		err = errors.New("want a finite number, 0 or more")
	}
	return analyze.Threshold{V: v, Absolute: true}, err
}
