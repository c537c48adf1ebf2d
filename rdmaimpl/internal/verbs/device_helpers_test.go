//go:build cgo && !noverbs

package verbs

import (
	"errors"
	"os"
	"testing"
)

// Tests named TestDevice... run on a device: this machine's, or, by TestInGuest,
// the soft-RoCE device of a guest.

func openDevice(t testing.TB) *Context {
	t.Helper()
	c, err := Open("")
	if errors.Is(err, ErrUnavailable) {
		t.Skipf("run by TestInGuest: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	closing(t, c)
	return c
}

func closing(t testing.TB, c interface{ Close() error }) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// onlyRXE skips what is about soft-RoCE's own limits.
func onlyRXE(t *testing.T, c *Context) {
	t.Helper()
	if !isProvider(c.Provider, "rxe") {
		t.Skipf("%s is not soft-RoCE", c.Provider)
	}
}

// opened is a window that is closed at the test's end.
func opened(t testing.TB, open func(Config) (*Window, error), cfg Config) *Window {
	t.Helper()
	w, err := open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, w)
	return w
}

// within runs f on a window that is closed behind it.
func within(t testing.TB, open func(Config) (*Window, error), cfg Config, f func(*Window)) {
	t.Helper()
	w, err := open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	f(w)
}

// ran is what a window measures.
func ran(t testing.TB, w *Window) Result {
	t.Helper()
	r, err := w.Run()
	if err != nil {
		t.Fatalf("lane %s, %d requests: %v", w.cfg.Lane, w.cfg.Batch, err)
	}
	return r
}

// warmed warms a window up.
func warmed(t testing.TB, w *Window) *Window {
	t.Helper()
	if err := w.Warm(); err != nil {
		t.Fatalf("lane %s: %v", w.cfg.Lane, err)
	}
	return w
}

// counted runs a test of a device in a process of its own with the counting shim
// preloaded.
func counted(t *testing.T, test func(c *Context)) {
	t.Helper()
	c := openDevice(t)
	if os.Getenv(underShim) == "" {
		rerun(t, t.Name())
		return
	}
	test(c)
}
