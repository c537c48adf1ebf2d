package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/zcbench/zcbench/"

// allowed lists what each package may import of the others, by path below the
// module; a trailing slash stands for everything below.
var allowed = map[string][]string{
	"harness/record":            {},
	"scenarios":                 {},
	"harness/clock":             {},
	"harness/residency":         {},
	"harness/perfcount":         {},
	"harness/sysinfo":           {"harness/record"},
	"harness/childenv":          {},
	"harness/probe":             {"harness/record", "harness/childenv"},
	"harness/load":              {"harness/record", "harness/clock"},
	"harness":                   {"scenarios", "harness/"},
	"uringimpl":                 {"harness", "harness/", "uringimpl/internal/"},
	"uringimpl/internal/ring":   {},
	"uringimpl/internal/probes": {"harness/probe", "harness/record", "harness/residency", "harness/perfcount", "uringimpl/internal/ring"},
	"report/analyze":            {"harness/record", "report/internal/figure"},
	"report/render":             {"harness/record", "report/"},
	"report/internal/figure":    {"harness/record"},
	"report/internal/fixture":   {"harness/record"},
	"rdmaimpl":                  {"harness", "harness/", "rdmaimpl/"},
	"rdmaimpl/guest":            {"harness", "harness/", "rdmaimpl/guest/netlink"},
	"rdmaimpl/guest/guesttest":  {"rdmaimpl/guest"},
	"rdmaimpl/guest/netlink":    {},
	"rdmaimpl/internal/shim":    {},
	"rdmaimpl/internal/probes":  {"harness/probe", "harness/record", "rdmaimpl/internal/"},
	"rdmaimpl/internal/verbs":   {"rdmaimpl/internal/shim", "harness/clock"},
	"cmd/zcbench":               {"scenarios", "harness", "harness/", "uringimpl", "rdmaimpl", "rdmaimpl/guest", "report/"},
}

func TestImportDirection(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module)
		may, known := allowed[pkg]
		if !known {
			t.Errorf("package %s is not in the architecture: add it to this test with what it may import", pkg)
			continue
		}
		for _, imp := range fields[1:] {
			if dep, ours := strings.CutPrefix(imp, module); ours && !permitted(dep, may) {
				t.Errorf("%s imports %s", pkg, dep)
			}
		}
	}
}

func permitted(dep string, may []string) bool {
	for _, m := range may {
		if dep == m || strings.HasSuffix(m, "/") && strings.HasPrefix(dep, m) {
			return true
		}
	}
	return false
}

// maxLines is the longest a function may be, its braces included.
const maxLines = 70

func TestFunctionLength(t *testing.T) {
	root := filepath.Join("..", "..")
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := fset.Position(fn.Pos()), fset.Position(fn.End())
			if n := to.Line - from.Line + 1; n > maxLines {
				t.Errorf("%s: function %s has %d lines, more than %d", from, fn.Name.Name, n, maxLines)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
