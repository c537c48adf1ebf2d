package guest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// channelPath is the serial line that leads to the host.
const channelPath = "/dev/ttyS0"

// InitMain is the main function of the guest's first process, whose run
// directory is runDir. It sets the machine up, serves commands until the host
// halts it or goes away, and powers the guest off. It does not return.
func InitMain(runDir string) {
	if err := serveHost(runDirAt(runDir)); err != nil {
		fmt.Fprintf(os.Stderr, "zcbench guest init: %v\n", err)
	}
	powerOff()
}

func powerOff() {
	for {
		if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
			fmt.Fprintf(os.Stderr, "zcbench guest init: power off: %v\n", err)
			os.Exit(1) // the kernel panics without its first process, which ends it too
		}
	}
}

func serveHost(d runDir) error {
	if err := mountKernelFiles(); err != nil {
		return err
	}
	if err := useConsole(); err != nil {
		return err
	}
	ch, err := openChannel(channelPath)
	if err != nil {
		return err
	}
	defer ch.Close()
	ready, err := setUp(d)
	if err != nil {
		return errors.Join(err, sendLine(ch, fromGuest{Failed: err.Error()}))
	}
	if err := sendLine(ch, fromGuest{Ready: &ready}); err != nil {
		return fmt.Errorf("tell the host of the device: %w", err)
	}
	return serve(d, bufio.NewReader(ch), ch)
}

// setUp does what the host's first message asks for.
func setUp(d runDir) (Ready, error) {
	if err := mountShared(d); err != nil {
		return Ready{}, err
	}
	var s setup
	if err := readJSON(d.setupFile(), &s); err != nil {
		return Ready{}, err
	}
	if err := addEntropy(s.Seed); err != nil {
		return Ready{}, err
	}
	os.Clearenv()
	for _, kv := range s.Env {
		if err := setEnv(kv); err != nil {
			return Ready{}, err
		}
	}
	if err := os.Chdir(d.scratch()); err != nil {
		return Ready{}, fmt.Errorf("enter the scratch directory: %w", err)
	}
	files := unix.Rlimit{Cur: maxOpenFiles, Max: maxOpenFiles}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return Ready{}, fmt.Errorf("allow %d open files: %w", maxOpenFiles, err)
	}
	return bringUp(s.Address)
}

const maxOpenFiles = 65536

// serve runs commands one after the other until the host halts the guest or is
// gone, which ends a command in flight too.
func serve(d runDir, in *bufio.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	work := make(chan toGuest)
	kills := make(chan uint64, 1)
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- receive(ctx, in, work, kills)
	}()
	for {
		select {
		case err := <-ended:
			return err
		case m := <-work:
			var c Command
			if err := readJSON(d.commandFile(m.ID), &c); err != nil {
				return err
			}
			if err := answerCommand(ctx, m.ID, c, kills, out); err != nil {
				return fmt.Errorf("answer the host: %w", err)
			}
		}
	}
}

// receive sorts the host's messages until Halt, nil, or an error.
func receive(ctx context.Context, in *bufio.Reader, work chan<- toGuest, kills chan uint64) error {
	for {
		var m toGuest
		if err := readLine(in, &m); err != nil {
			return fmt.Errorf("the host is gone: %w", err)
		}
		switch {
		case m.Halt:
			return nil
		case m.Kill:
			select {
			case <-kills: // of an earlier command
			default:
			}
			kills <- m.ID
		case m.Exec:
			select {
			case work <- m:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

func answerCommand(ctx context.Context, id uint64, c Command, kills <-chan uint64, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case victim := <-kills:
				if victim == id {
					cancel(errKilled)
					return
				}
			case <-done:
				return
			}
		}
	}()
	reply := runCommand(ctx, c)
	return sendLine(out, fromGuest{ID: id, Reply: &reply})
}
