package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/zcbench/zcbench/harness/childenv"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// AdapterCommand is the hidden subcommand that becomes an adapter's program.
const AdapterCommand = "__adapter"

// AdapterArgv is the command line that runs the adapter of a trial through
// zcbench, which bounds its memory first. program is the path of the program
// where that runs.
func AdapterArgv(zcbench string, t record.Trial, program string) []string {
	return append([]string{zcbench, AdapterCommand, strconv.FormatInt(addressSpace(t), 10), program}, t.Command[1:]...)
}

// AdapterChild becomes the program args[1] with the arguments behind it, in the
// same process. Its address space is bounded to args[0] bytes before, so that no
// allocation comes first, and it leaves no core file. It returns only to say why
// it could not.
func AdapterChild(args []string) error {
	if len(args) < 2 {
		return errors.New("want the bytes of address space and a program")
	}
	bytes, err := strconv.ParseUint(args[0], 10, 63)
	if err != nil {
		return fmt.Errorf("address space of %q bytes: %w", args[0], err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: bytes, Max: bytes}); err != nil {
		return fmt.Errorf("bound the address space to %d bytes: %w", bytes, err)
	}
	childenv.OfferMemory()
	err = syscall.Exec(args[1], args[1:], os.Environ())
	if errors.Is(err, syscall.ENOEXEC) {
		return fmt.Errorf("run the adapter %s: it is neither a program of this machine nor a script that begins with #!: %w", args[1], err)
	}
	return fmt.Errorf("run the adapter %s: %w", args[1], err)
}

// adapter is what is kept for the adapter of one trial; nil where our own child
// runs.
type adapter struct {
	dir  string // of the shim's report; empty: none is awaited
	read func(report string) (*Posts, error)
}

// adapterOf returns the adapter of a trial, if it has one.
func (p *Processes) adapterOf(t record.Trial) (*adapter, error) {
	if len(t.Command) == 0 {
		return nil, nil
	}
	a := &adapter{read: p.Counts}
	if t.Purpose != record.Counting || p.Counts == nil {
		return a, nil
	}
	var err error
	if a.dir, err = os.MkdirTemp("", "zcbench-counts-"); err != nil {
		return nil, fmt.Errorf("trial %s: make room for the shim's report: %w", t.ID, err)
	}
	return a, nil
}

// report is the file the counting shim is to write, or empty.
func (a *adapter) report() string {
	if a == nil || a.dir == "" {
		return ""
	}
	return filepath.Join(a.dir, "counts")
}

func (a *adapter) counts() (*Posts, error) {
	if a.dir == "" {
		return nil, errors.New("the counting shim was not there")
	}
	return a.read(a.report())
}

func (a *adapter) close() {
	if a != nil && a.dir != "" {
		_ = os.RemoveAll(a.dir) // in the directory of temporary files
	}
}

// exited waits for the end of the process and leaves it to be collected: until
// then its number is no one else's, nor its group's.
func (p *process) exited() {
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// restTime bounds waiting for the end of what an adapter says, once it has ended.
const restTime = 100 * time.Millisecond

// rest refuses what an adapter said behind its record.
func (p *process) rest() error {
	if err := p.answers.SetReadDeadline(time.Now().Add(restTime)); err != nil {
		return fmt.Errorf("bound the reading of fd 3: %w", err)
	}
	for {
		b, err := p.lines.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errors.New("what it started still holds fd 3 open")
		case err != nil:
			return fmt.Errorf("read the end of fd 3: %w", err)
		case b != ' ' && b != '\n' && b != '\r' && b != '\t':
			return errors.New("its answer on fd 3 goes on behind the record")
		}
	}
}
