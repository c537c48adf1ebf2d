package harness

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
	"golang.org/x/sys/unix"
)

// Params of strategy exec.
const (
	execCommand = "command" // stands in for the command in labels
	execLabel   = "label"
	execMemory  = "memory"
)

// Exec runs a program of the user's as the child of its trials: an adapter. It
// speaks the protocol of our own children, see harness/record.
var Exec = Strategy{
	Name: "exec", Family: "adapter", Allocates: true,
	Summary: "a program of your own that speaks the trial protocol, given by command",
	Kinds:   scenarios.Kinds(),
	Params: []Param{
		{Name: execCommand, Kind: ParamName, Help: "names the case in claims: the program's file name, where label is not given"},
		{Name: execLabel, Kind: ParamName, Help: "names the case instead, in tables and claims"},
		{Name: execMemory, Kind: ParamBytes, Default: Auto, Help: "address space the program may take; auto: 4GiB and twice the clients' budgets"},
	},
	Run: func(t record.Trial, _ Values, _ *Outcome) error {
		return fmt.Errorf("trial %s is one of a program of its own, %q", t.ID, t.Command)
	},
}

// execLeast is the address space an adapter gets at least.
const execLeast = 4 << 30

// addressSpace is the address space a trial's adapter may take, in bytes.
func addressSpace(t record.Trial) int64 {
	w := t.Workload
	return Values(t.Params).Bytes(execMemory, execLeast+2*int64(w.Clients)*w.BudgetBytes)
}

// program is what the cases of one use of strategy exec run; empty for others.
type program struct {
	name    string   // in labels
	command []string // the program's path and its arguments; nil: missing
	missing *Skip
}

// program finds the program of the i-th use of a strategy. A missing one is a
// fault of the file unless it is optional.
func (p *Plan) program(i int, o PlanOptions) (program, error) {
	sc, use := p.Scenario, p.Scenario.Strategies[i]
	if use.Name != Exec.Name {
		return program{}, nil
	}
	at := fmt.Sprintf("strategies[%d]", i)
	if _, given := use.Params[execCommand]; given {
		return program{}, sc.KeyErrorf(at+".params."+execCommand, "the command of exec is a key of its own, beside params")
	}
	find := o.FindProgram
	if find == nil {
		find = FindProgram
	}
	prog := program{name: commandName(sc.Strategies, i)}
	path, err := find(sc, use.Command[0])
	switch {
	case err == nil:
		prog.command = append([]string{path}, use.Command[1:]...)
	case use.Optional != "":
		prog.missing = &Skip{Reason: err.Error(), Remedy: use.Optional}
	default:
		return prog, sc.Errorf(at+".command[0]", "%v", err)
	}
	return prog, nil
}

// commandName names a command in labels: by its file name, or by all of it where
// another command of the scenario has that.
func commandName(uses []scenarios.StrategyUse, i int) string {
	base := func(u scenarios.StrategyUse) string { return filepath.Base(u.Command[0]) }
	for j, other := range uses {
		if j != i && len(other.Command) > 0 && base(other) == base(uses[i]) && fmt.Sprint(other.Params) == fmt.Sprint(uses[i].Params) {
			return strings.Join(uses[i].Command, " ")
		}
	}
	return base(uses[i])
}

// named adds what names the program to the params that pick a case out.
func (g program) named(ref scenarios.CaseRef) scenarios.CaseRef {
	if _, labelled := ref.Params[execLabel]; labelled || g.name == "" {
		return ref
	}
	params := maps.Clone(ref.Params)
	params[execCommand] = g.name
	return scenarios.CaseRef{Strategy: ref.Strategy, Params: params}
}

// apart says how to tell two cases of exec apart.
func (g program) apart() string {
	if g.name == "" {
		return ""
	}
	return ", for all that tables and claims tell: give each a label of its own"
}

// FindProgram returns the absolute path of the program a scenario's command
// names. A relative name is looked for beside the scenario file, then beside
// zcbench itself; one without a slash also on the PATH.
func FindProgram(sc *scenarios.Scenario, name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, runnable(name)
	}
	var dirs []string
	if !sc.BuiltIn {
		dirs = append(dirs, filepath.Dir(sc.File))
	}
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(self))
	}
	for _, dir := range dirs {
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err == nil {
			err = runnable(path)
		}
		if !errors.Is(err, os.ErrNotExist) {
			return path, err
		}
	}
	where := strings.Join(dirs, " and ")
	if !strings.Contains(name, "/") {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
		where += ", nor on the PATH"
	}
	return "", fmt.Errorf("there is no program %s in %s", name, where)
}

// runnable tells whether a file can be run.
func runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no program %s: %w", path, os.ErrNotExist)
	case err != nil:
		return fmt.Errorf("the program cannot be looked at: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a program but a %s", path, kindOfFile(info))
	case unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf("%s may not be run: chmod +x it", path)
	}
	return nil
}

func kindOfFile(info os.FileInfo) string {
	if info.IsDir() {
		return "directory"
	}
	return "special file"
}
