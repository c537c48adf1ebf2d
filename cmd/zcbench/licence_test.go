package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// licences by a sentence each has, and no other here. All let sources and
// binaries be passed on together with their text.
var licences = []struct{ name, says string }{
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"BSD", "redistribution and use in source and binary forms, with or without modification, are permitted"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
	{"OFL-1.1", "this font software is licensed under the sil open font license, version 1.1"},
	{"FTL", "use of the freetype-go software is subject to your choice of exactly one of the following two licenses: * the freetype license"},
	{"CC-BY-4.0", "creative commons attribution 4.0 international"},
}

// allowedLicences are those any module may have; the others were looked at for the
// one module each is named for, which gonum.org/v1/plot brings.
var (
	allowedLicences   = []string{"MIT", "Apache-2.0", "BSD", "ISC"}
	licenceExceptions = map[string]string{
		"codeberg.org/go-fonts/liberation": "OFL-1.1",   // the fonts themselves
		"github.com/golang/freetype":       "FTL",       // or the GPL, as its user chooses
		"github.com/ajstarks/svgo":         "CC-BY-4.0", // asks to name its author
	}
)

// recognise names the licences in a text.
func recognise(text string) []string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	var out []string
	for _, l := range licences {
		if strings.Contains(text, l.says) {
			out = append(out, l.name)
		}
	}
	return out
}

// permittedLicence says what is wrong with the licences of a module, if anything.
func permittedLicence(module string, texts map[string]string) (names []string, err error) {
	for file, text := range texts {
		found := recognise(text)
		if len(found) == 0 && !strings.Contains(file, "link") {
			return nil, fmt.Errorf("%s: %s is of no licence known", module, file)
		}
		for _, n := range found {
			if !slices.Contains(allowedLicences, n) && licenceExceptions[module] != n {
				return nil, fmt.Errorf("%s: %s is under %s", module, file, n)
			}
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	if slices.Sort(names); len(names) == 0 {
		return nil, fmt.Errorf("%s has no licence", module)
	}
	return names, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)`)

// licenceTexts reads the licence files of a module.
func licenceTexts(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

// TestLicences: every module that zcbench or its tests are made of is under a
// licence that lets it be passed on. With -v it prints them.
func TestLicences(t *testing.T) {
	list := func(args ...string) []string {
		args = append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"}, args...)
		cmd := exec.Command("go", args...)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		slices.Sort(lines)
		return slices.DeleteFunc(slices.Compact(lines), func(l string) bool { return l == "" })
	}
	linked := list("./cmd/zcbench")
	all := list("-test", "./...")
	if len(all) < 20 || len(linked) < 10 {
		t.Fatalf("only %d modules, %d of them linked", len(all), len(linked))
	}
	for _, line := range all {
		f := strings.Split(line, "\t")
		names, err := permittedLicence(f[0], licenceTexts(t, f[2]))
		if err != nil {
			t.Errorf("%v: see CONTRIBUTING.md, Dependencies", err)
			continue
		}
		where := "tests only"
		if slices.Contains(linked, line) {
			where = "linked"
		}
		t.Logf("%-45s %-40s %-10s %s", f[0], f[1], where, strings.Join(names, ", "))
	}
	if names := recognise(licenceTexts(t, "../..")["LICENSE"]); !slices.Equal(names, []string{"Apache-2.0"}) {
		t.Errorf("our own licence is %v", names)
	}
}

// TestLicencesAreTold: the check can fail.
func TestLicencesAreTold(t *testing.T) {
	const mit = "MIT License\n\nPermission is hereby granted, free of\ncharge, to any person obtaining a copy of this"
	for _, c := range []struct {
		name, module string
		texts        map[string]string
		ok           bool
	}{
		{"MIT", "a", map[string]string{"LICENSE": mit}, true},
		{"none", "a", nil, false},
		{"unknown", "a", map[string]string{"LICENSE": "All rights reserved."}, false},
		{"copyleft", "a", map[string]string{"COPYING": "GNU GENERAL PUBLIC LICENSE Version 2, June 1991"}, false},
		{"copyleft beside MIT", "a", map[string]string{"LICENSE": mit, "COPYING": "GNU GENERAL PUBLIC LICENSE Version 3"}, false},
		{"another's exception", "a", map[string]string{"LICENSE": "Creative Commons Attribution 4.0 International"}, false},
		{"its exception", "github.com/ajstarks/svgo", map[string]string{"LICENSE": "Creative Commons Attribution 4.0 International"}, true},
		{"not for commerce", "github.com/ajstarks/svgo", map[string]string{"LICENSE": "Creative Commons Attribution-NonCommercial 4.0 International"}, false},
	} {
		if _, err := permittedLicence(c.module, c.texts); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
