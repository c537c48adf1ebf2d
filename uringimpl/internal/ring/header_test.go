package ring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// figure is a number of ours and the C expression that gives the header's.
type figure struct {
	name, expression string
	ours             uint64
}

func figures() []figure {
	var out []figure
	for _, l := range layouts() {
		f := figure{l.structure, fmt.Sprintf("sizeof(struct %s)", l.structure), uint64(l.got)}
		if l.field != "" {
			f.name += "." + l.field
			f.expression = fmt.Sprintf("offsetof(struct %s, %s)", l.structure, l.field)
		}
		out = append(out, f)
	}
	for _, c := range constants() {
		out = append(out, figure{c.name, c.name, c.got})
	}
	return out
}

// TestAgainstKernelHeader compiles a program against the installed
// <linux/io_uring.h> that prints every size, offset and constant, and compares
// them with ours. What an older header does not know is left out and told.
func TestAgainstKernelHeader(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc to ask for the kernel header's figures")
	}
	dir := t.TempDir()
	asked := figures()
	bin, unknown := compileFigures(t, gcc, dir, asked)
	for _, name := range unknown {
		asked = slices.DeleteFunc(asked, func(f figure) bool { return f.name == name })
	}
	if len(unknown) > 0 {
		t.Logf("the installed header does not know %s", strings.Join(unknown, ", "))
		if bin, unknown = compileFigures(t, gcc, dir, asked); len(unknown) > 0 {
			t.Fatalf("still unknown: %v", unknown)
		}
	}
	out, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := strings.Fields(string(out))
	if len(theirs) != len(asked) || len(asked) < 60 {
		t.Fatalf("%d figures for %d, want at least 60", len(theirs), len(asked))
	}
	for i, f := range asked {
		if theirs[i] != strconv.FormatUint(f.ours, 10) {
			t.Errorf("%s: %d here, %s in the header", f.name, f.ours, theirs[i])
		}
	}
}

var unknownFigure = regexp.MustCompile(`(?m)abi\.c:(\d+):\d+: error: .*(no member named|undeclared|undefined type|incomplete type)`)

// compileFigures builds a program that prints the figures, one a line, and
// returns the names the header does not know.
func compileFigures(t *testing.T, gcc, dir string, list []figure) (bin string, unknown []string) {
	t.Helper()
	head := "#include <stddef.h>\n#include <stdio.h>\n#include <linux/io_uring.h>\n#include <linux/time_types.h>\nint main(void) {\n"
	first := strings.Count(head, "\n") + 1
	var b strings.Builder
	b.WriteString(head)
	for _, f := range list {
		fmt.Fprintf(&b, "printf(\"%%llu\\n\", (unsigned long long)(%s));\n", f.expression)
	}
	b.WriteString("return 0; }\n")
	src, bin := filepath.Join(dir, "abi.c"), filepath.Join(dir, "abi")
	if err := os.WriteFile(src, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gcc, "-fmax-errors=0", "-o", bin, src)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return bin, nil
	}
	if strings.Contains(string(out), "No such file") {
		t.Skipf("gcc cannot read the kernel's headers; install them: %s", out)
	}
	for _, m := range unknownFigure.FindAllStringSubmatch(string(out), -1) {
		n, _ := strconv.Atoi(m[1])
		if name := list[n-first].name; !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	return bin, unknown
}
