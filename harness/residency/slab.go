package residency

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// Slab is a cache of kernel objects of one size: how many are in use on the whole
// machine, and the bytes of each.
type Slab struct {
	Objects, Bytes int64
}

// Slabs reads the kernel's caches of objects by name, from /proc/slabinfo
// (slabinfo(5)). Sockets, files, epoll entries and io_uring requests are such
// objects; pages, such as those of rings and page tables, are not. The kernel may
// have merged caches of one size under one of their names. Only root may read it.
func Slabs() (map[string]Slab, error) {
	const name = "/proc/slabinfo"
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("%s may be read by root only", name)
	}
	if err != nil {
		return nil, fmt.Errorf("read the kernel's objects: %w", err)
	}
	slabs, err := parseSlabs(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return slabs, nil
}

func parseSlabs(text []byte) (map[string]Slab, error) {
	all := map[string]Slab{}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("slabinfo - version")) {
			continue
		}
		// name active_objs num_objs objsize ...
		f := bytes.Fields(line)
		if len(f) < 4 {
			return nil, fmt.Errorf("row %q is too short", line)
		}
		objects, err := strconv.ParseInt(string(f[1]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("objects in use of %s: %w", f[0], err)
		}
		size, err := strconv.ParseInt(string(f[3]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("size of an object of %s: %w", f[0], err)
		}
		all[string(f[0])] = Slab{objects, size}
	}
	if len(all) == 0 {
		return nil, errors.New("no cache is listed")
	}
	return all, nil
}
