package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadmeCommands runs every zcbench command of the README, in its order and
// as it stands; runs are shortened to smoke runs. The make commands are run by
// .ci/run, and must be targets of the Makefile.
func TestReadmeCommands(t *testing.T) {
	needUring(t)
	needRDMA(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	commands := shellLines(string(readme))
	if len(commands) < 8 {
		t.Fatalf("only %d commands found: %q", len(commands), commands)
	}
	for _, line := range commands {
		args := fields(strings.ReplaceAll(line, "/tmp/mine", filepath.Join(scratch, "mine")))
		switch args[0] {
		case "make":
			if !strings.Contains(string(makefile), "\n"+args[1]+":") {
				t.Errorf("%s: the Makefile has no such target", line)
			}
		case "bin/zcbench":
			t.Run(line, func(t *testing.T) { runReadme(t, args[1:], scratch) })
		default:
			t.Errorf("%s: neither make nor bin/zcbench", line)
		}
	}
}

func runReadme(t *testing.T, args []string, scratch string) {
	t.Helper()
	if args[0] == "run" && !slices.Contains(args, "--dry-run") {
		if !slices.Contains(args, "--smoke") {
			args = append(args, "--smoke")
		}
		if !slices.Contains(args, "-o") {
			args = append(args, "-o", filepath.Join(scratch, strings.Join(args[:2], "-")))
		}
	}
	for i, a := range args {
		if strings.HasPrefix(a, "scenarios/") || strings.HasPrefix(a, "results/") {
			args[i] = "../../" + a
		}
	}
	zcbench(t, nil, "", args...).want(t, exitOK)
}

// shellLines are the commands in the sh blocks of a markdown text.
func shellLines(text string) []string {
	var out []string
	in := false
	for _, l := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(l, "```"):
			in = !in && strings.HasPrefix(l, "```sh")
		case in && strings.TrimSpace(l) != "":
			out = append(out, l)
		}
	}
	return out
}

// fields splits a command, quotes taken off: the README needs no more of a shell.
func fields(line string) []string {
	var out []string
	for _, f := range strings.Fields(line) {
		out = append(out, strings.Trim(f, "'"))
	}
	return out
}
