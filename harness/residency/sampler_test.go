package residency

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

// pageState is what the test knows of a page.
type pageState byte

const (
	untouched pageState = iota
	onlyRead
	written
)

// model applies random work to memory and keeps the truth beside it.
type model struct {
	mem   []byte
	state []pageState
	rng   *rand.Rand
}

func (m *model) step(t *testing.T) {
	t.Helper()
	p := m.rng.IntN(len(m.state))
	n := 1 + m.rng.IntN(min(8, len(m.state)-p))
	part := m.mem[p*pageSize : (p+n)*pageSize]
	switch m.rng.IntN(8) {
	case 0:
		advise(t, part, unix.MADV_DONTNEED)
		clear(m.state[p : p+n])
	case 1:
		clear(part) // a memset to zero dirties pages, it frees none
		for i := range n {
			m.state[p+i] = written
		}
	case 2, 3:
		readPage(m.mem, p)
		m.state[p] = max(m.state[p], onlyRead)
	default:
		writePage(m.mem, p)
		m.state[p] = written
	}
}

func (m *model) count() (wrote, zero int) {
	for _, s := range m.state {
		switch s {
		case written:
			wrote++
		case onlyRead:
			zero++
		}
	}
	return wrote, zero
}

// TestRandomWork compares every source with the truth, in total and by region,
// while memory is written, read, zeroed and given back at random. Two regions
// touch, one has a hole after it, one is apart and one is empty.
func TestRandomWork(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shared, apart := mapPages(t, 300), mapPages(t, 77)
	parts := [][]byte{apart, shared[:100*pageSize], shared[100*pageSize : 163*pageSize], shared[170*pageSize:], nil}
	var regions []Region
	var models []*model
	for i, mem := range parts {
		regions = append(regions, regionOf(string(rune('a'+i)), mem))
		models = append(models, &model{mem, make([]pageState, len(mem)/pageSize), rng})
	}
	shared[165*pageSize] = 1 // in the hole: nobody's
	samplers := everySampler(t, regions...)
	for round := range 60 {
		for range 12 {
			models[rng.IntN(4)].step(t)
		}
		for _, s := range samplers {
			checkModels(t, s, models, round)
		}
	}
}

func checkModels(t *testing.T, s *Sampler, models []*model, round int) {
	t.Helper()
	total, err := s.Pages()
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for i, m := range models {
		wrote, zero := m.count()
		want := int64(wrote)
		if s.CountsZeroPages() {
			want += int64(zero)
		}
		if got := s.RegionPages(i); got != want {
			t.Fatalf("round %d, %s, region %d: %d pages, want %d", round, s.Source(), i, got, want)
		}
		sum += want
	}
	if total != sum {
		t.Fatalf("round %d, %s: %d pages in all, want %d", round, s.Source(), total, sum)
	}
}

func TestMemsetKeepsAndDontneedFrees(t *testing.T) {
	const pages = 1024
	mem := mapPages(t, pages)
	samplers := everySampler(t, regionOf("mem", mem))
	expect(t, samplers, 0, 0)
	for p := range pages {
		writePage(mem, p)
	}
	expect(t, samplers, pages, 0)
	clear(mem)
	expect(t, samplers, pages, 0)
	advise(t, mem[:pages/4*pageSize], unix.MADV_DONTNEED)
	expect(t, samplers, pages*3/4, 0)
	advise(t, mem, unix.MADV_DONTNEED)
	expect(t, samplers, 0, 0)
}

func TestReadingHoldsNoMemory(t *testing.T) {
	const pages = 64
	mem := mapPages(t, pages)
	samplers := everySampler(t, regionOf("mem", mem))
	for p := range pages {
		readPage(mem, p)
	}
	expect(t, samplers, 0, pages)
	writePage(mem, 7)
	expect(t, samplers, 1, pages-1)
	if samplers[0].CountsZeroPages() || len(samplers[0].Notes()) != 0 {
		t.Errorf("the chosen source %s is not exact: %v", samplers[0].Source(), samplers[0].Notes())
	}
	if kernelHasScan(t) && samplers[0].Source() != "pagemap-scan" {
		t.Errorf("chose %s, not the cheapest exact source", samplers[0].Source())
	}
}

// TestManyRanges has more resident ranges than one call returns, over more
// pages than one buffer holds.
func TestManyRanges(t *testing.T) {
	const pages = 70_000
	mem := mapPages(t, pages)
	count := 0
	touch := func(p int) { writePage(mem, p); count++ }
	for p := 0; p < 2*(2*scanVecLen+3); p += 2 {
		touch(p)
	}
	for _, p := range []int{8191, 8192, 16_383, 16_385, 65_535, 65_536, pages - 1} {
		touch(p)
	}
	expect(t, everySampler(t, regionOf("mem", mem)), count, 0)
}

func TestRegionsAreWidenedToPages(t *testing.T) {
	mem := mapPages(t, 4)
	for p := range 4 {
		writePage(mem, p)
	}
	inner := Region{Name: "inner", Addr: addrOf(mem) + uintptr(pageSize) + 5, Len: uintptr(pageSize)}
	expect(t, everySampler(t, inner), 2, 0)
}

func TestRefusedRegions(t *testing.T) {
	mem := mapPages(t, 2)
	a := Region{"a", addrOf(mem), uintptr(pageSize + 1)}
	b := Region{"b", addrOf(mem) + uintptr(pageSize+100), 10}
	for _, list := range [][]Region{{a, b}, {b, a}, {a, a}, {{"end", ^uintptr(0) - 10, 20}}, {{"top", ^uintptr(0) - 10, 5}}} {
		if s, err := NewSampler(list); err == nil {
			t.Errorf("%v accepted: %d runs", list, len(s.runs))
		}
	}
}

func TestNoRegions(t *testing.T) {
	expect(t, everySampler(t), 0, 0)
}

func TestMincoreSaysWhatIsNotMapped(t *testing.T) {
	s, err := newSampler([]Region{{"gone", uintptr(pageSize), uintptr(pageSize)}}, []opener{openMincore})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Pages(); err == nil {
		t.Errorf("an unmapped range has %d pages", n)
	}
}
