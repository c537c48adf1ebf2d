package harness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func lockFile(t *testing.T) string { return filepath.Join(t.TempDir(), "lock") }

// acquire takes a lock that must be free.
func acquire(t *testing.T, path string) *Lock {
	t.Helper()
	l, err := Acquire(context.Background(), path, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func release(t *testing.T, l *Lock) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestLockKeepsTheSecondOut(t *testing.T) {
	path := lockFile(t)
	first := acquire(t, path)
	_, err := Acquire(context.Background(), path, false, nil)
	if want := fmt.Sprintf("process %d", os.Getpid()); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), want) {
		t.Errorf("second: error %v, want ErrBusy and %q", err, want)
	}
	release(t, first)
	release(t, acquire(t, path))
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o644 {
		t.Errorf("the file is not kept: %v, %v", st, err)
	}
}

func TestLockWaits(t *testing.T) {
	path := lockFile(t)
	first := acquire(t, path)
	told := make(chan string, 10)
	got := make(chan *Lock)
	go func() {
		l, err := Acquire(context.Background(), path, true, func(holder string) { told <- holder })
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	if holder := <-told; !strings.HasPrefix(holder, "process ") {
		t.Errorf("told that %q holds it", holder)
	}
	select {
	case <-got:
		t.Fatal("two hold the lock")
	case <-time.After(300 * time.Millisecond):
	}
	release(t, first)
	release(t, <-got)
	if n := len(told); n != 0 {
		t.Errorf("told %d times more", n)
	}
}

func TestLockWaitIsCancelled(t *testing.T) {
	path := lockFile(t)
	defer release(t, acquire(t, path))
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := Acquire(ctx, path, true, func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A process that dies lets go of its lock.
func TestLockOfADeadProcess(t *testing.T) {
	path := lockFile(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "lock")
	cmd.Env = append(os.Environ(), childVar+"="+path)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "locked\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	_, err = Acquire(context.Background(), path, false, nil)
	if want := fmt.Sprintf("process %d", cmd.Process.Pid); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), want) {
		t.Errorf("while it lives: error %v, want %q", err, want)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	release(t, acquire(t, path))
}

func TestLockRefusesLinksAndPipes(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	link, loose := filepath.Join(dir, "link"), filepath.Join(dir, "loose")
	for at, to := range map[string]string{link: target, loose: filepath.Join(dir, "none")} {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		if _, err := Acquire(context.Background(), at, false, nil); !errors.Is(err, unix.ELOOP) || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: error %v", at, err)
		}
	}
	if b, err := os.ReadFile(target); err != nil || string(b) != "precious" {
		t.Errorf("what the link points at was changed: %q, %v", b, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); err == nil {
		t.Error("what the loose link points at was made")
	}
	if _, err := Acquire(context.Background(), dir, false, nil); err == nil {
		t.Error("a folder was locked")
	}
}

// As one who may not write it, a lock can be taken; one who may not read it is
// told what to do. The thread gives up root's rights over files meanwhile.
func TestLockOfAnotherOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to make files of two owners")
	}
	dir, err := os.MkdirTemp("", "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	readable, hidden, pipe := filepath.Join(dir, "readable"), filepath.Join(dir, "hidden"), filepath.Join(dir, "pipe")
	for path, mode := range map[string]os.FileMode{readable: 0o644, hidden: 0o600} {
		if err := os.WriteFile(path, []byte("process 1"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer unix.Setfsuid(0)
	if err := unix.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	l := acquire(t, readable)
	if _, err := Acquire(context.Background(), readable, false, nil); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "process 1") {
		t.Errorf("second: error %v", err)
	}
	release(t, l)
	if b, err := os.ReadFile(readable); err != nil || string(b) != "process 1" {
		t.Errorf("a file of another owner holds %q, %v", b, err)
	}
	if _, err := Acquire(context.Background(), hidden, false, nil); !errors.Is(err, unix.EACCES) || !strings.Contains(err.Error(), "can remove it") {
		t.Errorf("a hidden file: error %v", err)
	}
	if l, err := Acquire(context.Background(), pipe, false, nil); err == nil { // it must not wait
		release(t, l)
	}
	mine := filepath.Join(dir, "mine")
	release(t, acquire(t, mine))
	if err := unix.Setfsuid(0); err != nil {
		t.Fatal(err)
	}
	release(t, acquire(t, mine))
}

// A tight umask of who comes first must not keep the others out.
func TestLockIgnoresTheUmask(t *testing.T) {
	path := lockFile(t)
	old := unix.Umask(0o077)
	l := acquire(t, path)
	unix.Umask(old)
	release(t, l)
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}
