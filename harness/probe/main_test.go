package probe

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be the process of a check, and of what a check
// leaves behind.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == ChildCommand {
		if err := Child(os.Args[2], fakes()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// say writes to the fd of the answer behind the runner's back.
func say(text string) { _, _ = unix.Write(answerFD, []byte(text)) }

// keep holds what must not be collected, or optimised away.
var keep [][]byte

// fakes are checks that behave as badly as a kernel fault could make them.
func fakes() []Check {
	good := record.Finding{Verdict: record.Supported, Evidence: "seen"}
	fake := func(name string, run func() record.Finding) Check {
		return Check{Sort: record.FeatureFound, Family: "fake", Name: name, Source: "a test", Seconds: 20, Run: run}
	}
	short := func(c Check) Check { c.Seconds = 1; return c }
	return []Check{
		fake("good", func() record.Finding { return good }),
		short(fake("hang", func() record.Finding { fmt.Fprintln(os.Stderr, "about to hang"); time.Sleep(time.Hour); return good })),
		short(fake("stopped", func() record.Finding { _ = unix.Kill(os.Getpid(), unix.SIGSTOP); return good })),
		fake("killed", func() record.Finding { _ = unix.Kill(os.Getpid(), unix.SIGKILL); time.Sleep(time.Hour); return good }),
		fake("panic", func() record.Finding { panic("the ring is on fire") }),
		fake("exit 3", func() record.Finding { fmt.Fprintln(os.Stderr, "gave up"); os.Exit(3); return good }),
		fake("answer and exit 3", func() record.Finding { say(`{"verdict":"supported"}` + "\n"); os.Exit(3); return good }),
		fake("silent", func() record.Finding { os.Exit(0); return good }),
		fake("garbage", func() record.Finding { say("\x00\xffnot json\n"); os.Exit(0); return good }),
		fake("twice", func() record.Finding { say(`{"verdict":"supported"}` + "\n"); return good }),
		fake("endless", func() record.Finding {
			for range MaxAnswerBytes / 10 {
				say("          \n          \n")
			}
			os.Exit(0)
			return good
		}),
		fake("no verdict", func() record.Finding { return record.Finding{} }),
		fake("verdict of another sort", func() record.Finding { return record.Finding{Verdict: record.Present} }),
		func() Check {
			c := fake("memory", func() record.Finding {
				for {
					keep = append(keep, make([]byte, 1<<20))
				}
			})
			c.MemoryBytes = 64 << 20
			return c
		}(),
		fake("orphan", func() record.Finding {
			// Holds fd 2 and, by inheritance of a copy, the answer's pipe open.
			fd, err := unix.Dup(answerFD)
			if err == nil {
				cmd := exec.Command("/bin/sleep", "30")
				cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{os.NewFile(uintptr(fd), "answer")}
				err = cmd.Start()
			}
			if err != nil {
				return record.Finding{Verdict: record.Inconclusive, Reason: err.Error()}
			}
			return good
		}),
		short(fake("flood", func() record.Finding {
			for end := time.Now().Add(time.Minute); time.Now().Before(end); {
				fmt.Fprintln(os.Stderr, "noise \x1b[31m and more noise")
			}
			return good
		})),
	}
}
