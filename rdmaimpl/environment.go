package rdmaimpl

import (
	"context"
	"fmt"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

// Preload lists the files a trial's process is to be started with: the counting
// shim in counting trials, and another allocator if the trial names one. Empty
// strings stand for none.
type Preload struct {
	Shim      string
	Allocator string
}

// PreloadOf says what a trial of posts needs preloaded.
func PreloadOf(ctx context.Context, t record.Trial) (Preload, error) {
	var p Preload
	if t.Workload.Kind == record.KindReceive {
		return p, nil
	}
	if name := t.Params["allocator"]; name != "" && name != "glibc" {
		// A missing allocator is the trial's own skip.
		p.Allocator, _ = shim.FindAllocator(name)
	}
	if t.Purpose != record.Counting {
		return p, nil
	}
	path, err := shim.Path(ctx)
	if err != nil {
		return p, fmt.Errorf("build the counting shim: %w", err)
	}
	p.Shim = path
	return p, nil
}

// Env returns the variables that preload p.
func (p Preload) Env() []string {
	switch {
	case p.Shim != "":
		return shim.Env(p.Shim, p.Allocator, "")
	case p.Allocator != "":
		return []string{"LD_PRELOAD=" + p.Allocator}
	}
	return nil
}
