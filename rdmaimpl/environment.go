package rdmaimpl

import (
	"context"
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

// Preload lists the files a trial's process is to be started with: the counting
// shim in counting trials, and another allocator if the trial names one. Empty
// strings stand for none.
type Preload struct {
	Shim      string
	Allocator string
	Report    string // where the shim is to leave the counts of an adapter
}

// PreloadOf says what a trial of posts, or of an adapter, needs preloaded.
func PreloadOf(ctx context.Context, t record.Trial) (Preload, error) {
	var p Preload
	if t.Workload.Kind == record.KindReceive && len(t.Command) == 0 {
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
		return shim.Env(p.Shim, p.Allocator, p.Report)
	case p.Allocator != "":
		return []string{"LD_PRELOAD=" + p.Allocator}
	}
	return nil
}

// ReadCounts reads what the counting shim saw of an adapter from its report.
func ReadCounts(report string) (*harness.Posts, error) {
	c, _, err := shim.ReadReport(report)
	if err != nil {
		return nil, err
	}
	return &harness.Posts{
		Counted: true, Lane: side(c.Lane), Provider: side(c.Library),
		LaneCopied: int64(c.Lane.CopiedBytes), ProviderCopied: int64(c.Library.CopiedBytes),
		Syscalls: int64(c.Lane.Syscalls + c.Library.Syscalls),
	}, nil
}
