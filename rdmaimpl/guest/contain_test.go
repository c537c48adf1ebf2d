package guest_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"github.com/zcbench/zcbench/rdmaimpl/guest/guesttest"
	"golang.org/x/sys/unix"
)

func killHard(pid int) error { return unix.Kill(pid, unix.SIGKILL) }

func within(t *testing.T, d time.Duration, errc <-chan error) error {
	t.Helper()
	select {
	case err := <-errc:
		return err
	case <-time.After(d):
		t.Fatalf("no end within %v", d)
		return nil
	}
}

// A guest's kernel never runs as root, and its root cannot write to the host
// outside the scratch directory, not even with all rights inside.
func TestGuestCannotWriteOutsideScratch(t *testing.T) {
	g := startGuest(t)
	status, err := os.ReadFile("/proc/" + itoa(g.PID()) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(status), "Uid:\t0\t") {
		t.Error("the guest's kernel runs as root")
	}
	if r := run(t, g, shell("id -u && echo inside >"+g.Scratch()+"/file")); r.Err() != nil || string(r.Stdout) != "0\n" {
		t.Fatalf("write to the scratch directory as root: %+v", r)
	}
	if b, err := os.ReadFile(g.Scratch() + "/file"); err != nil || string(b) != "inside\n" {
		t.Errorf("the host reads %q, %v", b, err)
	}
	open := sharedTempDir(t)
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/etc", "/var/tmp", runDir(g), runDir(g) + "/import"} {
		if r := run(t, g, shell("echo x >"+dir+"/escaped")); r.Err() == nil || !strings.Contains(r.Stderr, "Read-only") {
			t.Errorf("write to %s: %+v", dir, r)
		}
	}
	t.Run("mount", func(t *testing.T) {
		r := run(t, g, part(g, "part-mount", open+"/escaped"))
		if r.Err() == nil || !strings.Contains(r.Stderr, "mount: operation not permitted") {
			t.Errorf("mounting the host's root without the right to: %v: %s", r.Err(), r.Stderr)
		}
	})
	t.Run("privileged", func(t *testing.T) {
		if !strings.Contains(strings.Join(g.Notes(), " "), "confined by Landlock, ABI") {
			t.Skip("the host's kernel has no Landlock")
		}
		p := part(g, "part-mount", open+"/escaped")
		p.Privileged = true
		if r := run(t, g, p); r.Err() == nil || !strings.Contains(r.Stderr, "write:") {
			t.Errorf("writing through a mount of the host's root: %v: %s", r.Err(), r.Stderr)
		}
	})
	if left, _ := filepath.Glob(open + "/*"); len(left) > 0 {
		t.Errorf("the guest wrote %v", left)
	}
}

// The channel to the host is not for programs in the guest.
func TestChannelIsExclusive(t *testing.T) {
	g := startGuest(t)
	if r := run(t, g, shell(`echo '{"id":1,"reply":{}}' >/dev/ttyS0`)); r.Err() == nil || !strings.Contains(r.Stderr, "busy") {
		t.Errorf("a program opened the channel: %+v", r)
	}
}

// The host side killed with -9 leaves neither processes nor files; its
// supervisor killed with it leaves the files to the next start.
func TestKilledParentLeavesNothing(t *testing.T) {
	o := guesttest.Options(t, guest.Options{})
	for _, both := range []bool{false, true} {
		cmd := exec.Command("/proc/self/exe", "part-host", o.Kernel)
		info, _ := startHost(t, cmd)
		if len(processesOf(t, info.PID, info.RunDir)) < 2 {
			t.Fatal("the guest's processes cannot be found, so their absence shows nothing")
		}
		if both {
			if err := unix.Kill(cmd.Process.Pid, unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			if err := killHard(supervisorOf(t, info.PID)); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if both {
			for end := time.Now().Add(5 * time.Second); len(processesOf(t, info.PID, info.RunDir)) > 0 && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			_ = cmd.Wait()
			startGuest(t) // sweeps
		}
		mustLeaveNothing(t, info.PID, info.RunDir)
	}
}

// Ctrl-C goes to the terminal's whole process group: the guest must be out of
// its reach, and end with its host side.
func TestSupervisorOutlivesInterrupt(t *testing.T) {
	g := startGuest(t)
	group, err := unix.Getpgid(supervisorOf(t, g.PID()))
	if err != nil {
		t.Fatal(err)
	}
	if own := unix.Getpgrp(); group == own {
		t.Errorf("the supervisor is in the process group of its host side, %d", own)
	}
}

// An ordinary user can run a guest; started by root, this test becomes one.
func TestOrdinaryUser(t *testing.T) {
	o := guesttest.Options(t, guest.Options{})
	dir := sharedTempDir(t)
	for from, to := range map[string]string{"/proc/self/exe": "program", o.Kernel: "kernel"} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "program"), "part-host", filepath.Join(dir, "kernel"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // no HOME either
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	}
	info, in := startHost(t, cmd)
	if info.Device != "rxe0" || info.Written != "0\nx\n" {
		t.Errorf("got %+v", info)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	mustLeaveNothing(t, info.PID, info.RunDir)
}

// A /dev/shm as containers have it is too small: the guest must go elsewhere.
func TestSmallSharedMemoryFallsBack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small memory file system needs root")
	}
	base := sharedTempDir(t)
	small, noexec, good := base+"/small", base+"/noexec", base+"/good"
	for dir, m := range map[string]struct {
		flags uintptr
		size  string
	}{small: {0, "size=16m"}, noexec: {unix.MS_NOEXEC, "size=1g"}, good: {0, "size=1g"}} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("none", dir, "tmpfs", m.flags, m.size+",mode=1777"); err != nil {
			t.Skipf("mount a memory file system: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	}
	o := guest.Options{MemBytes: testMem, TempDirs: []string{small, noexec, good}}
	g := guesttest.Start(t, o)
	notes := strings.Join(g.Notes(), "\n")
	for _, want := range []string{"guest memory in " + good, "not in " + small + ": 16 MiB free", "not in " + noexec + ": mounted noexec"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in the notes:\n%s", want, notes)
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	mustBeEmpty(t, good)
	o = guesttest.Options(t, guest.Options{MemBytes: testMem, TempDirs: []string{small, noexec}})
	if _, err := guest.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("with no place at all: %v", err)
	}
}

// What root tells its guest, the environment above all, is not for other users,
// though they can see where it lies.
func TestInboxIsPrivate(t *testing.T) {
	g := startGuest(t)
	cmd := exec.Command("/bin/cat", filepath.Join(runDir(g), "inbox", "setup.json"))
	if os.Geteuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "Permission denied") {
		t.Errorf("another user reads: %v: %.100s", err, out)
	}
}

// Whatever the umask, what lies in a guest's directory is its user's alone.
func TestDirectoryIsPrivate(t *testing.T) {
	o := guesttest.Options(t, guest.Options{MemBytes: testMem})
	old := unix.Umask(0)
	defer unix.Umask(old)
	info, err := os.Stat(runDir(guesttest.Start(t, o)))
	if err != nil {
		t.Fatal(err)
	}
	// Where root starts it its user, nobody, passes through by its group.
	want := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		want = 0o710
	}
	if st := info.Sys().(*syscall.Stat_t); info.Mode().Perm() != want || want == 0o710 && st.Gid != 65534 {
		t.Errorf("%v of group %d", info.Mode(), st.Gid)
	}
}

// Root's files may be private by default; the guest must still read its own.
func TestPrivateUmask(t *testing.T) {
	o := guesttest.Options(t, guest.Options{MemBytes: testMem})
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	g := guesttest.Start(t, o)
	to, err := g.Import("/bin/echo")
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, g, guest.Program{Argv: []string{to, "ok"}}); string(r.Stdout) != "ok\n" {
		t.Errorf("got %+v", r)
	}
}

// A disk does too, only it is said.
func TestMemoryOnDisk(t *testing.T) {
	dir := sharedTempDir(t)
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || st.Type == unix.TMPFS_MAGIC {
		t.Skip("temporary files are in memory here")
	}
	g := guesttest.Start(t, guest.Options{MemBytes: testMem, TempDirs: []string{dir}})
	if notes := strings.Join(g.Notes(), "\n"); !strings.Contains(notes, "is not in memory") {
		t.Errorf("notes: %s", notes)
	}
	if r := run(t, g, shell("echo ok")); string(r.Stdout) != "ok\n" {
		t.Errorf("got %+v", r)
	}
}

var _ io.Closer = (*guest.Guest)(nil)
