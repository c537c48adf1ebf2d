package analyze

import (
	"path/filepath"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// tenThousand is a result of about 10,000 trials: over blocks, or over points.
func tenThousand(seed uint64, points int) *record.Result {
	s := fixture.Spec{Seed: seed, Messages: 100, Blocks: 1650, Repeats: 6}
	if points > 1 {
		s.Blocks = 1650 / points
		for i := range points {
			s.Points = append(s.Points, "clients="+string(rune('A'+i)))
		}
	}
	res := fixture.New(s)
	for i := range res.Trials { // the counts of one seed
		res.Trials[i].Trial.Seed %= 1000
	}
	return res
}

func written(b *testing.B, res *record.Result) string {
	path := filepath.Join(b.TempDir(), record.FileName)
	w, err := record.Create(path, res.Header)
	for i := 0; err == nil && i < len(res.Trials); i++ {
		err = w.Trial(res.Trials[i])
	}
	if err == nil {
		err = w.Close(*res.Footer)
	}
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkCompareFiles reads two files of 10,000 trials and compares them.
func BenchmarkCompareFiles(b *testing.B) {
	paths := []string{written(b, tenThousand(1, 1)), written(b, tenThousand(2, 1))}
	for b.Loop() {
		var rs [2]*record.Result
		for i, p := range paths {
			var err error
			if rs[i], err = record.Read(p); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := Compare(rs[:1], rs[1:], CompareOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompareManyPoints compares 33 points of 50 blocks, with a noise floor.
func BenchmarkCompareManyPoints(b *testing.B) {
	base, next := tenThousand(1, 33), tenThousand(2, 33)
	var sessions []*record.Result
	for range MinSessions {
		sessions = append(sessions, base)
	}
	for b.Loop() {
		if _, err := Compare([]*record.Result{base}, []*record.Result{next}, CompareOptions{Noise: NewNoise(sessions)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAnalyze analyses 10,000 trials.
func BenchmarkAnalyze(b *testing.B) {
	res := tenThousand(1, 1)
	for b.Loop() {
		if _, err := Analyze(res); err != nil {
			b.Fatal(err)
		}
	}
}
