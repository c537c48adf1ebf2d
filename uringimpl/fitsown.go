package uringimpl

import (
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// fitsOwnChunks is fitsChunks of strategies that name the memory of each receive
// themselves, with the size of a chunk in the param of that name.
func fitsOwnChunks(name string) func(record.Workload, harness.Values) error {
	return func(w record.Workload, p harness.Values) error {
		if err := fitsDatagrams(w, name, p.Bytes(name, 0)); err != nil {
			return err
		}
		q := harness.Values{"chunk": p[name], "entries": harness.Auto}
		if n, ok := p["entries"]; ok {
			q["entries"] = n
		}
		return fitsChunks(w, q)
	}
}

// fitsDatagrams refuses receives with less room than the largest datagram: what
// does not fit of one is lost.
func fitsDatagrams(w record.Workload, name string, room int64) error {
	if largest := load.Largest(w.Sizes); w.Transport == "udp" && largest > room {
		return fmt.Errorf("%s of %d bytes would cut datagrams of up to %d bytes; make it as large", name, room, largest)
	}
	return nil
}
