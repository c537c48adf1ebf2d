package guest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"golang.org/x/sys/unix"
)

// The test binary also plays the parts that zcbench has: supervisor and init by
// Hook, the trial's process, and small programs to run in the guest.
func TestMain(m *testing.M) {
	guest.Hook()
	if len(os.Args) > 1 {
		if part, ok := parts[os.Args[1]]; ok {
			if err := part(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

var parts map[string]func([]string) error

func init() {
	parts = map[string]func([]string) error{
		harness.TrialCommand: trialPart,
		"part-echo":          echoPart,
		"part-spin":          spinPart,
		"part-hog":           hogPart,
		"part-fds":           fdsPart,
		"part-host":          hostPart,
		"part-mount":         mountPart,
		"part-uring":         uringPart,
		"part-links":         linksPart,
	}
}

// trialPart runs the harness's own null strategy for real, and misbehaves for
// strategies named after a misbehaviour.
func trialPart([]string) error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var t record.Trial
	if err := json.Unmarshal(line, &t); err != nil {
		return err
	}
	switch t.Strategy {
	case "crash":
		fmt.Fprintln(os.Stderr, "about to crash")
		return unix.Kill(os.Getpid(), unix.SIGKILL)
	case "exit":
		os.Exit(3)
	case "hang":
		return spinPart(nil)
	case "garbage":
		_, err := os.NewFile(3, "answer").WriteString("not json\n")
		return err
	case "other":
		t.ID = "another"
		return json.NewEncoder(os.NewFile(3, "answer")).Encode(record.Record{Schema: record.Schema, Trial: t.ID, Status: record.OK})
	case "clock":
		rec := record.Record{Schema: record.Schema, Trial: t.ID, Status: record.OK}
		rec.Notes = []string{t.Clock.Source, strconv.FormatFloat(t.Clock.TicksHz, 'g', -1, 64), strconv.Itoa(t.CPU)}
		return json.NewEncoder(os.NewFile(3, "answer")).Encode(rec)
	}
	return harness.TrialChild(strings.NewReader(string(line)), harness.Registry{harness.Null})
}

// echoPart answers on fd 3 with its standard input, as often as it is told.
func echoPart(args []string) error {
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	times, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	out := os.NewFile(3, "answer")
	for range times {
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// spinPart never ends, and ignores polite requests to.
func spinPart([]string) error {
	for i := 0; ; i++ {
		_ = i
	}
}

// hogPart touches as many MiB of memory as it is told.
func hogPart(args []string) error {
	mib, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var hold [][]byte
	for range mib {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		hold = append(hold, b)
	}
	_, err = fmt.Println(len(hold))
	return err
}

// fdsPart passes a word through fd 5, and counts in the memory of fd 4.
func fdsPart(args []string) error {
	mem, err := unix.Mmap(4, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map fd 4: %w", err)
	}
	link := os.NewFile(5, "link")
	if args[0] == "peer" {
		mem[0] = 42
		if _, err := link.WriteString("ready"); err != nil {
			return err
		}
		return nil
	}
	word := make([]byte, 5)
	if _, err := io.ReadFull(link, word); err != nil {
		return fmt.Errorf("read fd 5: %w", err)
	}
	_, err = fmt.Fprintf(os.NewFile(3, "answer"), "%s %d", word, mem[0])
	return err
}

// mountPart tries to make the host's root writable and to write a file there.
func mountPart(args []string) error {
	at := os.Getenv("TMPDIR") + "/host"
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("none", at, "hostfs", 0, "/"); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	if err := os.WriteFile(at+args[0], []byte("escaped"), 0o666); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// uringPart sets an io_uring up.
func uringPart([]string) error {
	var params [120]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, ptr(&params[0]), 0)
	if errno != 0 {
		return fmt.Errorf("io_uring_setup: %w", errno)
	}
	return unix.Close(int(fd))
}

// hostInfo is what hostPart tells of its guest.
type hostInfo struct {
	PID     int
	RunDir  string
	Kernel  string
	Device  string
	Written string
	Err     string
}

// hostPart is a program that starts a guest, says so, and stays until its
// standard input ends: as the parent to be killed, or as another user.
func hostPart(args []string) error {
	g, err := guest.Start(context.Background(), guest.Options{Kernel: args[0], MemBytes: testMem})
	if err != nil {
		return json.NewEncoder(os.Stdout).Encode(hostInfo{Err: err.Error()})
	}
	info := hostInfo{PID: g.PID(), RunDir: runDir(g), Kernel: g.Ready().Kernel, Device: g.Ready().Device}
	r, err := g.Exec(context.Background(), guest.Command{Program: guest.Program{Argv: []string{"/bin/sh", "-c", "id -u; echo x >$TMPDIR/x && cat $TMPDIR/x"}}, Timeout: 10 * time.Second})
	if err != nil {
		info.Err = err.Error()
	}
	info.Written = string(r.Stdout) + r.Stderr
	if err := json.NewEncoder(os.Stdout).Encode(info); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return g.Close()
}

// startHost runs hostPart in a process of its own.
func startHost(t *testing.T, cmd *exec.Cmd) (hostInfo, io.Closer) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	var info hostInfo
	if err := json.NewDecoder(out).Decode(&info); err != nil {
		t.Fatalf("the host program said nothing of its guest: %v", err)
	}
	if info.Err != "" {
		t.Fatalf("the host program has no guest: %s", info.Err)
	}
	return info, in
}
