//go:build cgo && !noverbs

package verbs

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A library that is not installed is said so, with the packages to install.
func TestLibraryAbsent(t *testing.T) {
	for name, err := range map[string]error{"libzc-no-ibverbs.so.1": load("libzc-no-ibverbs.so.1"), "libzc-no-rdmacm.so.1": loadCM("libzc-no-rdmacm.so.1")} {
		if !errors.Is(err, ErrUnavailable) {
			t.Fatalf("%s: %v", name, err)
		}
		if Load() != nil {
			continue // not the library's absence, but of the headers or of libibverbs itself
		}
		for _, part := range []string{name, "apt-get install", "libibverbs1", "librdmacm1"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("message %q lacks %q", err, part)
			}
		}
	}
	// A library without the verbs is named too.
	if err := load("libm.so.6"); Load() == nil && (!errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "too old")) {
		t.Errorf("a library without the verbs: %v", err)
	}
}

// A machine without a device says how to get one.
func TestNoDevice(t *testing.T) {
	if err := Load(); err != nil {
		t.Skip(err)
	}
	_, err := Devices()
	if err == nil {
		t.Skip("this machine has a device")
	}
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	for _, part := range []string{"zcbench guest build", "rdma_rxe"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q lacks %q", err, part)
		}
	}
	if _, err := Open(""); !errors.Is(err, ErrUnavailable) {
		t.Errorf("opening a device: %v", err)
	}
}

// The builds without cgo, without the package's C and without the headers pass
// vet and their own tests.
func TestOtherBuilds(t *testing.T) {
	if testing.Short() || os.Getenv(underShim) != "" || os.Getenv(inGuest) != "" {
		t.Skip("builds the package three times")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool here: ", err)
	}
	for name, v := range map[string]struct{ env, tags string }{
		"no cgo":     {"CGO_ENABLED=0", ""},
		"noverbs":    {"CGO_ENABLED=1", "noverbs"},
		"no headers": {"CGO_ENABLED=1", "noverbsheaders"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{{"vet", "-tags", v.tags, "."}, {"test", "-tags", v.tags, "-run", "^TestWithout", "-v", "."}} {
				cmd := exec.CommandContext(t.Context(), goTool, args...)
				cmd.Env = append(os.Environ(), v.env)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
				}
				if args[0] == "test" && !strings.Contains(string(out), "--- PASS: TestWithout") {
					t.Errorf("no test of this build ran:\n%s", out)
				}
			}
		})
	}
}
