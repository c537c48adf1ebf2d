package residency

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeProc writes the files that tell of control groups, and the group's own
// below a mount point, which %M stands for.
func fakeProc(t *testing.T, cgroup, mountinfo, group, stat string) string {
	t.Helper()
	dir := t.TempDir()
	mount := filepath.Join(dir, "mnt")
	files := map[string]string{
		filepath.Join(dir, "cgroup"):    cgroup,
		filepath.Join(dir, "mountinfo"): strings.ReplaceAll(mountinfo, "%M", mount),
	}
	if stat != "" {
		files[filepath.Join(mount, group, "memory.stat")] = stat
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCgroupSocketBytes(t *testing.T) {
	const v2 = "30 23 0:26 / %M rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
	const v1 = "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	const stat = "anon 4096\nfile 0\nsock 28672\nsock_throttled 1\nshmem 0\n"
	for _, c := range []struct {
		name, cgroup, mounts, group, stat string
		want                              int64
		says                              string
	}{
		{"version 2", "0::/a/b\n", v2, "a/b", stat, 28672, ""},
		{"hybrid", "4:memory:/x\n0::/\n", v1 + v2, "", stat, 28672, ""},
		{"part of the tree", "0::/a/b\n", strings.Replace(v2, "0:26 / ", "0:26 /a ", 1), "b", stat, 28672, ""},
		{"optional fields", "0::/a\n", "30 23 0:26 / %M rw - cgroup2 none rw\n", "a", stat, 28672, ""},
		{"version 1 alone", "4:memory:/x\n", v1, "", "", 0, "no control group of version 2"},
		{"not mounted", "0::/\n", v1, "", "", 0, "no cgroup2 file system"},
		{"no memory controller", "0::/\n", v2, "", "", 0, "no memory controller of version 2"},
		{"outside", "0::/c\n", strings.Replace(v2, "0:26 / ", "0:26 /a ", 1), "c", stat, 0, "outside of what is mounted"},
		{"no such line", "0::/a\n", v2, "a", "anon 1\nsock_throttled 5\n", 0, "no line sock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got int64
			g, err := newCgroup(fakeProc(t, c.cgroup, c.mounts, c.group, c.stat))
			if err == nil {
				defer g.Close()
				got, err = g.SocketBytes()
			}
			if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d bytes, %v; want %d, %q", got, err, c.want, c.says)
			}
		})
	}
}

// TestCgroupHere: what this machine has can be read, or the reason is told.
func TestCgroupHere(t *testing.T) {
	g, err := NewCgroup()
	if err != nil {
		t.Skip(err)
	}
	defer g.Close()
	if n, err := g.SocketBytes(); err != nil || n < 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = g.SocketBytes() }); n != 0 {
		t.Errorf("%g allocations a look", n)
	}
}
