package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Exec runs a command in the guest. A command whose time is up, or whose ctx
// ends, is killed alone; only a guest that does not answer then is killed too.
// The error is a *DeadError if the guest is gone, ctx's if that ended first. How
// the program itself ended is in the reply.
func (g *Guest) Exec(ctx context.Context, c Command) (Reply, error) {
	g.exec.Lock()
	defer g.exec.Unlock()
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	if !g.Alive() {
		return Reply{}, g.dead()
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	g.nextID++
	id := g.nextID
	file := g.dir.commandFile(id)
	if err := writeJSON(file, c); err != nil {
		return Reply{}, fmt.Errorf("hand the guest a command: %w", err)
	}
	defer os.Remove(file) // goes with the guest otherwise
	if err := g.send(toGuest{ID: id, Exec: true}); err != nil {
		return Reply{}, err
	}
	r, err := g.reply(ctx, id, c.Timeout+killTime)
	if err == nil || g.isDead(err) {
		return r, err
	}
	if ctx.Err() == nil { // the guest's own timeout did not work
		g.doom(fmt.Sprintf("a command was to end after %v, and no answer came in another %v", c.Timeout, killTime))
		g.waitGone()
		return Reply{}, g.dead()
	}
	if err := g.send(toGuest{ID: id, Kill: true}); err != nil {
		return Reply{}, errors.Join(ctx.Err(), err)
	}
	r, err = g.reply(context.WithoutCancel(ctx), id, killTime)
	if err != nil && !g.isDead(err) {
		g.doom(fmt.Sprintf("it did not kill a command within %v", killTime))
		g.waitGone()
		err = g.dead()
	}
	return r, errors.Join(ctx.Err(), err)
}

func (g *Guest) isDead(err error) bool {
	var d *DeadError
	return errors.As(err, &d)
}

// reply waits for the answer to command id.
func (g *Guest) reply(ctx context.Context, id uint64, d time.Duration) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for {
		m, err := g.next(ctx)
		if err != nil {
			return Reply{}, err
		}
		if m.ID == id && m.Reply != nil {
			return *m.Reply, nil
		}
	}
}

// Import copies a host file to where the guest can read and run it, and returns
// its path there. Needed for programs that lie where the guest has its own
// files (/tmp, /dev) or that the guest's user may not read. A file is copied once.
func (g *Guest) Import(path string) (string, error) {
	g.exec.Lock()
	defer g.exec.Unlock()
	if to, ok := g.imports[path]; ok {
		return to, nil
	}
	to, err := g.dir.importFile(len(g.imports), path)
	if err != nil {
		return "", err
	}
	g.imports[path] = to
	return to, nil
}

// Alive reports whether the guest is there to run commands.
func (g *Guest) Alive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason == ""
}

// Ready returns what the guest said of its device.
func (g *Guest) Ready() Ready { return g.ready }

// BootTime is how long Start took from the first process to the usable device.
func (g *Guest) BootTime() time.Duration { return g.bootTime }

// PID is the process id of the guest's kernel on the host.
func (g *Guest) PID() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pid
}

// Program is the path of this program in the guest.
func (g *Guest) Program() string { return g.dir.program() }

// Env is the environment of programs that name none of their own, and more.
func (g *Guest) Env(more ...string) []string { return append(slices.Clone(g.env), more...) }

// Scratch is the one directory of the host the guest can write to. It has the
// same path in both and is removed with the guest.
func (g *Guest) Scratch() string { return g.dir.scratch() }

// Report is a file in Scratch where the counting shim may leave what it saw of a
// program; Executor reads it after each trial of an adapter.
func (g *Guest) Report() string { return filepath.Join(g.Scratch(), "counts") }

// Console returns the last of what the guest's kernel and init printed.
func (g *Guest) Console() string {
	return strings.ReplaceAll(g.console.String(), deniedTerminal, "")
}

// deniedTerminal is what every confined kernel prints: it tries whether
// pseudo-terminals work, which it does not need and must not open.
const deniedTerminal = "check_one_sigio failed, errno = 13\n"

// Notes says where the guest's memory lies, why not elsewhere, and what keeps
// it from the host's files, for those who want to judge its numbers.
func (g *Guest) Notes() []string {
	notes := []string{"guest memory in " + g.place}
	for _, r := range g.rejected {
		notes = append(notes, "not in "+r)
	}
	if !onTmpfs(g.place) {
		notes = append(notes, g.place+" is not in memory: the guest's pages are also written to its disk")
	}
	if g.landlock > 0 {
		return append(notes, fmt.Sprintf("guest confined by Landlock, ABI %d", g.landlock))
	}
	return append(notes, "guest not confined by Landlock: the kernel has none")
}
