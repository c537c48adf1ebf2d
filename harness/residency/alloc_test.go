package residency

import "testing"

// TestNoAllocation holds for every source, so that a sampler may run where the
// garbage collector is off.
func TestNoAllocation(t *testing.T) {
	mem := mapPages(t, 9000)
	for p := 0; p < 9000; p += 3 {
		writePage(mem, p)
	}
	var failed error
	check := func(name string, f func() error) {
		t.Helper()
		allocs := testing.AllocsPerRun(50, func() {
			if err := f(); err != nil {
				failed = err
			}
		})
		if allocs != 0 || failed != nil {
			t.Errorf("%s: %v allocations, %v", name, allocs, failed)
		}
	}
	for _, s := range everySampler(t, regionOf("low", mem[:4000*pageSize]), regionOf("high", mem[5000*pageSize:])) {
		check(s.Source(), func() error { _, err := s.Pages(); return err })
		if s.Samples() != 51 || s.CostNS() <= 0 {
			t.Errorf("%s: %d samples at %d ns", s.Source(), s.Samples(), s.CostNS())
		}
	}
	status := openStatus(t)
	check("status", func() error { _, err := status.Read(); return err })
	_, recv := tcpPair(t)
	fds := []int{recv, recv}
	check("sockets", func() error { _, err := SocketMemory(fds); return err })
}

func BenchmarkPages(b *testing.B) {
	mem := mapPages(b, 65_536)
	for p := 0; p < 65_536; p += 128 {
		writePage(mem, p)
	}
	for _, s := range everySampler(b, regionOf("mem", mem))[1:] {
		b.Run(s.Source(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := s.Pages(); err != nil || n != 512 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
