package guest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sourceRoot is where distributions put kernel sources.
const sourceRoot = "/usr/src"

// Requirement is something a build needs that is not there.
type Requirement struct {
	What    string
	Package string // its Debian and Ubuntu package
}

// MissingError says what a build lacks and how to get it.
type MissingError struct{ Missing []Requirement }

func (e *MissingError) Error() string {
	var what, packages []string
	for _, m := range e.Missing {
		what = append(what, m.What)
		packages = append(packages, m.Package)
	}
	remedy := "run `" + InstallCommand(e.Missing) + "`"
	if _, err := exec.LookPath("apt-get"); err != nil {
		remedy = "install what Debian calls " + strings.Join(packages, ", ")
	}
	return fmt.Sprintf("the guest's kernel cannot be built without %s: %s", strings.Join(what, ", "), remedy)
}

// InstallCommand is the command that installs what is missing, on Debian and
// its kin.
func InstallCommand(missing []Requirement) string {
	sudo := ""
	if os.Geteuid() != 0 {
		sudo = "sudo "
	}
	return sudo + "apt-get update && " + sudo + "apt-get " + strings.Join(installArgs(missing), " ")
}

func installArgs(missing []Requirement) []string {
	args := []string{"install", "-y", "--no-install-recommends"}
	for _, m := range missing {
		if !slices.Contains(args, m.Package) {
			args = append(args, m.Package)
		}
	}
	return args
}

// tools are the programs a kernel build calls, beside those every system has.
var tools = []Requirement{
	{"gcc", "gcc"}, {"make", "make"}, {"ld", "binutils"}, {"strip", "binutils"},
	{"flex", "flex"}, {"bison", "bison"}, {"bc", "bc"}, {"tar", "tar"}, {"xz", "xz-utils"},
}

// missing lists what a build lacks.
func missing(haveSource bool) []Requirement {
	var list []Requirement
	if !haveSource {
		list = append(list, Requirement{"a kernel source", newestSourcePackage()})
	}
	for _, t := range tools {
		if _, err := exec.LookPath(t.What); err != nil {
			list = append(list, t)
		}
	}
	if !haveHeaders() {
		list = append(list, Requirement{"the C library's headers", "libc6-dev"})
	}
	return list
}

// haveHeaders asks the compiler, which knows where it looks. Without a compiler
// that is what is missing, and its package brings the headers.
func haveHeaders() bool {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return true
	}
	cmd := exec.Command(gcc, "-E", "-x", "c", "-")
	cmd.Stdin = strings.NewReader("#include <stdio.h>\n")
	return cmd.Run() == nil
}

var (
	sourceFile    = regexp.MustCompile(`^linux-source-(\d+(?:\.\d+)*)\.tar\.(xz|bz2|gz|zst)$`)
	sourcePackage = regexp.MustCompile(`^linux-source-(\d+(?:\.\d+)*)$`)
)

// newestSource returns the newest kernel source below root, empty for none.
// Ubuntu puts its own into a folder.
func newestSource(root string) string {
	files, _ := filepath.Glob(filepath.Join(root, "linux-source-*.tar.*"))
	nested, _ := filepath.Glob(filepath.Join(root, "linux-source-*", "linux-source-*.tar.*"))
	best, version := "", ""
	for _, f := range append(files, nested...) {
		m := sourceFile.FindStringSubmatch(filepath.Base(f))
		if m != nil && (best == "" || newer(m[1], version)) {
			best, version = f, m[1]
		}
	}
	return best
}

// newestSourcePackage asks apt for the newest kernel-source package it knows.
func newestSourcePackage() string {
	best, version := "linux-source", ""
	out, err := exec.Command("apt-cache", "pkgnames", "linux-source-").Output()
	if err != nil {
		return best
	}
	for _, name := range strings.Fields(string(out)) {
		m := sourcePackage.FindStringSubmatch(name)
		if m != nil && (version == "" || newer(m[1], version)) {
			best, version = name, m[1]
		}
	}
	return best
}

// newer compares dotted versions by number.
func newer(a, b string) bool {
	return slices.Compare(versionNumbers(a), versionNumbers(b)) > 0
}

func versionNumbers(v string) []int {
	var n []int
	for _, part := range strings.Split(v, ".") {
		i, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		n = append(n, i)
	}
	return n
}

// install installs packages with apt-get, as root.
func install(ctx context.Context, list []Requirement) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return &MissingError{list}
	}
	// The lists may be old or absent; if they cannot be had, the second says more.
	update := exec.CommandContext(ctx, "apt-get", "update")
	_ = update.Run()
	list = missing(newestSource(sourceRoot) != "") // apt may know a newer source now
	cmd := exec.CommandContext(ctx, "apt-get", installArgs(list)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, lastLines(string(out), 5))
	}
	return nil
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
