package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// childVar selects what this test binary does when it is started as a child.
const childVar = "HARNESS_TEST_CHILD"

// TestMain lets the test binary stand in for zcbench: started with one of its
// hidden commands it is a trial's child or a generator, well behaved or not.
func TestMain(m *testing.M) {
	how := os.Getenv(childVar)
	if how == "" || len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case TrialCommand:
		err = trialBehaviour(how)
	case GenerateCommand:
		err = generatorBehaviour(how)
	case "lock":
		err = lockBehaviour(how)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
	os.Exit(0)
}

func childRegistry() Registry { return Registry{Null, reader, noisy} }

// noisy is the null strategy in a process that goes on allocating for a while
// after it is set up, as a Go program does that has started threads.
var noisy = Strategy{
	Name: "noisy", Family: Null.Family,
	Open: func(b *Bench, p Values) (Receiver, error) {
		go func() {
			for begin := time.Now(); time.Since(begin) < 20*time.Millisecond; {
				noise = append([]byte(nil), noise...)
			}
		}()
		return Null.Open(b, p)
	},
}

var noise = make([]byte, 1000)

// forever is a hang, in the life of a test.
func forever() { time.Sleep(time.Hour) }

func trialBehaviour(how string) error {
	out := fd(answerFD)
	good := func(trial string) error {
		return answer(record.Record{Schema: record.Schema, Trial: trial, Status: record.OK})
	}
	switch how {
	case "exits 3":
		fmt.Fprintln(os.Stderr, "the ring is on fire")
		os.Exit(3)
	case "exits before it reads its trial":
		os.Stdin.Close()
		os.Exit(3)
	case "answers without reading its trial":
		os.Stdin.Close()
		return answer(record.Record{Schema: record.Schema, Trial: os.Args[2], Status: record.Failed, Error: "this cannot run here"})
	case "exits 0 without an answer":
		return nil
	case "garbage":
		fmt.Fprintln(os.Stderr, "here comes garbage")
		_, err := out.Write([]byte("}not json{\n"))
		return err
	case "takes all memory":
		return takeAllMemory()
	case "stops itself":
		return unix.Kill(os.Getpid(), unix.SIGSTOP)
	case "garbage and hangs":
		_, err := out.Write([]byte("[1,2]\n"))
		forever()
		return err
	case "half an answer":
		_, err := out.Write([]byte(`{"schema":1,"trial":"`))
		return err
	case "record of another trial":
		return good("someone/else")
	case "infinite metric":
		_, err := fmt.Fprintf(out, `{"schema":1,"trial":%q,"status":"ok","metrics":{"m":{"v":1e999}}}`+"\n", os.Args[2])
		return err
	case "hangs":
		fmt.Fprintln(os.Stderr, "waiting for godot")
		forever()
	case "answers and hangs":
		if err := good(os.Args[2]); err != nil {
			return err
		}
		forever()
	case "answers and exits 3":
		if err := good(os.Args[2]); err != nil {
			return err
		}
		os.Exit(3)
	case "is killed by pid":
		return signalPID()
	case "writes 100 MB":
		return flood(out)
	case "logs 100 MB":
		if err := flood(os.Stderr); err != nil {
			return err
		}
	case "closes fd 3 and hangs":
		unix.Close(answerFD)
		forever()
	case "fails by itself":
		fmt.Fprintln(os.Stderr, "the details")
		return answer(record.Record{Schema: record.Schema, Trial: os.Args[2], Status: record.Failed, Error: "client 2: payload byte 9 is wrong"})
	}
	return TrialChild(os.Stdin, childRegistry())
}

var hoard [][]byte

// takeAllMemory never touches what it takes, and never gives it back.
func takeAllMemory() error {
	t, _, err := childTrial(os.Stdin)
	if err == nil {
		err = boundMemory(t)
	}
	for err == nil {
		hoard = append(hoard, make([]byte, 256<<20))
	}
	return err
}

// signalPID tells the test which process to kill, and waits for it.
func signalPID() error {
	if err := os.WriteFile(os.Getenv(childVar+"_PID"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	forever()
	return nil
}

// fd writes to a descriptor that no os.File owns, and so closes.
type fd int

func (f fd) Write(p []byte) (int, error) {
	for n := 0; n < len(p); {
		k, err := unix.Write(int(f), p[n:])
		if err != nil && err != unix.EINTR {
			return n, err
		}
		n += max(k, 0)
	}
	return len(p), nil
}

func flood(f io.Writer) error {
	piece := append(bytes.Repeat([]byte{'x'}, 1<<20-1), ' ')
	for range 100 {
		if _, err := f.Write(piece); err != nil {
			return fmt.Errorf("flood: %w", err)
		}
	}
	return nil
}

func generatorBehaviour(how string) error {
	switch how {
	case "generator exits 3":
		fmt.Fprintln(os.Stderr, "no sockets left")
		os.Exit(3)
	case "generator prints garbage":
		_, err := fd(answerFD).Write([]byte("hello\n"))
		forever()
		return err
	case "generator gives no address":
		return answer(GeneratorLine{})
	case "generator hangs":
		forever()
	case "generator gives no report", "generator gives an empty report":
		t, prog, ln, err := listening()
		if err == nil {
			_, err = load.Generate(t, ln, prog)
		}
		if err != nil {
			return err
		}
		if how == "generator gives no report" {
			fmt.Fprintln(os.Stderr, "forgot it")
			os.Exit(5)
		}
		return answer(GeneratorLine{})
	case "generator is killed":
		t, prog, ln, err := listening()
		if err != nil {
			return err
		}
		go func() {
			for prog.Phase().Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			_ = unix.Kill(os.Getpid(), unix.SIGKILL) // the end of this process
		}()
		_, err = load.Generate(t, ln, prog)
		return err
	case "generator stops itself":
		t, prog, ln, err := listening()
		if err != nil {
			return err
		}
		go func() {
			for prog.Phase().Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			_ = unix.Kill(os.Getpid(), unix.SIGSTOP) // the end of what it does
		}()
		_, err = load.Generate(t, ln, prog)
		return err
	case "generator fails":
		t, prog, ln, err := listening()
		if err == nil {
			_, err = load.Generate(t, ln, prog)
		}
		if err != nil {
			return err
		}
		return answer(GeneratorLine{Report: &record.Generator{Error: "out of order"}})
	}
	return GeneratorChild(os.Stdin)
}

// listening begins as a generator does.
func listening() (t record.Trial, prog *load.Progress, ln *load.Listener, err error) {
	if t, prog, err = childTrial(os.Stdin); err != nil {
		return t, nil, nil, err
	}
	if ln, err = load.Listen(t.Peer.Network); err != nil {
		return t, nil, nil, err
	}
	return t, prog, ln, answer(GeneratorLine{Address: ln.Addr().String()})
}

// lockBehaviour takes the lock and keeps it until it is killed.
func lockBehaviour(path string) error {
	if _, err := Acquire(context.Background(), path, false, nil); err != nil {
		return err
	}
	fmt.Println("locked")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func TestTrialChildRefuses(t *testing.T) {
	trial := trialOf("null", workload(), record.Timing, 10)
	trial.Schema = 2
	future, err := json.Marshal(trial)
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{"nothing": "", "garbage": "hello", "future": string(future)} {
		if err := TrialChild(bytes.NewReader([]byte(in)), childRegistry()); err == nil {
			t.Errorf("%s: no error", name)
		}
		if err := GeneratorChild(bytes.NewReader([]byte(in))); err == nil {
			t.Errorf("%s, as a generator: no error", name)
		}
	}
}
