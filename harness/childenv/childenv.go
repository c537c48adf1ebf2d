// Package childenv makes the environment of the processes that measure: that of
// the user, but for what would change what they measure.
package childenv

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// runtimes change how Go runs or prints; zcbench sets them itself where it must.
var runtimes = []string{"GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK", "LC_ALL"}

// loaders put code of the user's before that which is measured, or steer the
// allocator beneath it: counts, copies and times would be of those (ld.so(8),
// mallopt(3), and the manuals of jemalloc and mimalloc). A scenario names an
// allocator, where it wants one.
var loaders = []string{"LD_PRELOAD", "LD_AUDIT", "LD_PROFILE", "LD_DEBUG", "GLIBC_TUNABLES", "MALLOC_CONF", "MALLOC_CHECK_", "MALLOC_PERTURB_",
	"MALLOC_ARENA_MAX", "MALLOC_ARENA_TEST", "MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_"}

// loaderPrefix begins the variables of an allocator.
const loaderPrefix = "MIMALLOC_"

// Clean returns env, as os.Environ has it, without what would change how a child
// runs, what it counts or how it prints, and without the further variables named.
func Clean(env []string, more ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		return !ok || name == "" || slices.Contains(runtimes, name) || loads(name) || slices.Contains(more, name)
	})
}

func loads(name string) bool {
	return slices.Contains(loaders, name) || strings.HasPrefix(name, loaderPrefix)
}

// Warnings says what of env is kept from the measuring processes although the
// user may count on it, and what of the machine at root, usually /, cannot be
// kept from them.
func Warnings(env []string, root string) []string {
	var out, names []string
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); loads(name) && value != "" {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		out = append(out, fmt.Sprintf("%s in the environment would change what is counted: what is measured runs without it. A scenario's allocator axis swaps allocators.",
			strings.Join(names, ", ")))
	}
	const system = "etc/ld.so.preload"
	if text, err := os.ReadFile(filepath.Join(root, system)); err == nil && len(strings.Fields(string(text))) > 0 {
		out = append(out, fmt.Sprintf("/%s puts %s into every program, those measured too: counts of allocations, copies and system calls may be of that. Empty it for the run.",
			system, strings.Join(strings.Fields(string(text)), ", ")))
	}
	return out
}
