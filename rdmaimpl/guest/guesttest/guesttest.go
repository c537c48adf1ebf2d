// Package guesttest gives tests a guest.
package guesttest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/zcbench/zcbench/rdmaimpl/guest"
)

// buildVariable, set to 1, makes tests fail where they would skip for want of a
// kernel, and lets root install what a build lacks. CI, if set, does the same.
const buildVariable = "ZCBENCH_BUILD_GUEST"

// endMargin is kept free before the test binary's own deadline.
const endMargin = 20 * time.Second

// Start boots a guest for a test and closes it at the test's end. The kernel is
// built if the cache has none. Where that cannot be the test is skipped with the
// reason. TestMain must call guest.Hook.
func Start(t testing.TB, o guest.Options) *guest.Guest {
	t.Helper()
	o = Options(t, o)
	g, err := guest.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("boot a guest: %v", err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("close the guest: %v", err)
		}
		if t.Failed() {
			t.Logf("guest console:\n%s", g.Console())
		}
	})
	return g
}

// Options completes o with a kernel, as Start does, for tests that boot guests
// themselves.
func Options(t testing.TB, o guest.Options) guest.Options {
	t.Helper()
	if raceEnabled {
		t.Skip("the race detector's memory layout does not fit into a guest: run without -race")
	}
	st, err := guest.CheckStatus(o.CacheDir)
	if err != nil {
		t.Fatal(err)
	}
	if st.Unsupported != "" {
		t.Skip(st.Unsupported)
	}
	if o.Kernel != "" {
		return o
	}
	if st.Image == nil {
		st.Image = build(t, o.CacheDir)
	}
	o.Kernel = st.Image.Path
	return o
}

func build(t testing.TB, cacheDir string) *guest.Image {
	t.Helper()
	must := os.Getenv(buildVariable) == "1" || os.Getenv("CI") != ""
	if testing.Short() && !must {
		t.Skip("no guest kernel in the cache, and none is built under -short: run `zcbench guest build`")
	}
	ctx := t.Context()
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ok := d.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, end.Add(-endMargin))
			defer cancel()
		}
	}
	t.Logf("no guest kernel in the cache: building one, which takes minutes")
	im, err := guest.Build(ctx, guest.BuildOptions{CacheDir: cacheDir, Install: must}, nil)
	var missing *guest.MissingError
	if errors.As(err, &missing) && !must {
		t.Skip(err.Error())
	}
	if err != nil {
		t.Fatalf("build the guest's kernel: %v", err)
	}
	return &im
}
