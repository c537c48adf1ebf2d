//go:build cgo && !noverbs

package verbs

import "testing"

func TestDeviceDbg(t *testing.T) {
	c := openDevice(t)
	for _, lane := range Lanes() {
		for _, n := range []int{1, 33, 128} {
			for _, bytes := range []int{16, 512, 4096} {
			for _, cold := range []bool{false, true} {
			i := lane.Info()
			if i.Inline && bytes > 512 || lane == InlineExList || lane == RegisterEach { continue }
			if !i.Payload && bytes > 16 { continue }
			w, err := c.OpenWindow(Config{Lane: lane, Batch: n, Bytes: bytes, Batches: 4000/n+1, Totals: 4000/n+1, Cold: cold})
			if err != nil { t.Fatal(err) }
			f, err := w.First()
			if err != nil { t.Fatal(err) }
			if err := w.Warm(); err != nil { t.Fatal(err) }
			r, err := w.Run()
			if err != nil { t.Fatal(err) }
			var l Lap
			for _, x := range r.Laps { l.Build += x.Build; l.Post += x.Post; l.Drop += x.Drop }
			k := uint64(len(r.Laps)*n)
			if r.MinorFaults > 0 || bytes == 16 {
			t.Logf("%v n %d bytes %d cold %v: first faults %d first %d/%d/%d; run faults %d waits %d; per wr %d %d %d", lane, n, bytes, cold, f.MinorFaults, f.Lap.Build, f.Lap.Post, f.Lap.Drop, r.MinorFaults, r.Waits, l.Build/k, l.Post/k, l.Drop/k) }
			w.Close()
			}}
		}
	}
}
