package childenv

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	in := []string{"PATH=/bin", "LD_PRELOAD=/tmp/x.so", "LD_AUDIT=y", "GOGC=off", "LC_ALL=de_DE.UTF-8", "LD_LIBRARY_PATH=/opt/rdma", "MIMALLOC_VERBOSE=1",
		"MALLOC_CONF=x", "HOME=/h", "=odd", "noequals", "GLIBC_TUNABLES=a=b", "EMPTY="}
	was := slices.Clone(in)
	got := Clean(in, "HOME")
	if want := []string{"PATH=/bin", "LD_LIBRARY_PATH=/opt/rdma", "EMPTY="}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !slices.Equal(in, was) {
		t.Errorf("the argument became %q", in)
	}
}

func TestWarnings(t *testing.T) {
	root := t.TempDir()
	env := []string{"PATH=/bin", "MIMALLOC_VERBOSE=1", "LD_PRELOAD=/tmp/x.so", "LD_AUDIT=", "GOGC=off"}
	got := Warnings(env, root)
	if len(got) != 1 || !strings.HasPrefix(got[0], "LD_PRELOAD, MIMALLOC_VERBOSE in the environment") {
		t.Errorf("%q", got)
	}
	if got := Warnings([]string{"PATH=/bin"}, root); got != nil {
		t.Errorf("nothing to warn of: %q", got)
	}
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, warns := range map[string]bool{" \n": false, "/lib/spy.so\n/lib/two.so": true} {
		if err := os.WriteFile(filepath.Join(root, "etc/ld.so.preload"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := Warnings(nil, root)
		if warns != (len(got) == 1 && strings.Contains(got[0], "/lib/spy.so, /lib/two.so")) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
