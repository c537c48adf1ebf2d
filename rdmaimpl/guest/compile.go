package guest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// configure makes the kernel's configuration and checks that it came out.
func (b *build) configure(ctx context.Context) error {
	path := filepath.Join(b.dir, "guest.config")
	if err := os.WriteFile(path, fragment, 0o644); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	cmd := b.command(ctx, "make", "ARCH=um", "KCONFIG_ALLCONFIG="+path, "allnoconfig")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("configure the guest's kernel: %w: %s", errors.Join(err, ctx.Err()), lastLines(string(out), 5))
	}
	config, err := os.ReadFile(filepath.Join(b.tree(), ".config"))
	if err != nil {
		return fmt.Errorf("configure the guest's kernel: %w", err)
	}
	if lost := unmet(fragment, config); len(lost) > 0 {
		return fmt.Errorf("kernel source %s cannot make the guest's kernel: it leaves out %s; use one of linux 6.1 or later", b.source, strings.Join(lost, ", "))
	}
	return nil
}

// unmet lists the lines of a fragment that a configuration lacks, but for those
// after a comment that begins with "wanted".
func unmet(fragment, config []byte) []string {
	have := map[string]bool{}
	for l := range bytes.Lines(config) {
		have[string(bytes.TrimSpace(l))] = true
	}
	var lost []string
	wanted := false
	for l := range bytes.Lines(fragment) {
		line := string(bytes.TrimSpace(l))
		switch {
		case strings.HasPrefix(line, "# wanted"):
			wanted = true
			continue
		case strings.HasPrefix(line, "CONFIG_") && !wanted && !have[line]:
			lost = append(lost, line)
		}
		wanted = false
	}
	return lost
}

// compiledLine is what a kernel build prints for each object it makes.
var compiledLine = regexp.MustCompile(`^ {2}(CC|AS|HOSTCC) `)

// compile runs the build and counts what it makes.
func (b *build) compile(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(b.dir, logName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("build log: %w", err)
	}
	defer log.Close()
	b.meter.startCompiling(b.objects(), usualObjects)
	cmd := b.command(ctx, "make", "ARCH=um", "-j"+strconv.Itoa(b.jobs), "linux")
	last := newTail(4 << 10)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for s := bufio.NewScanner(io.TeeReader(r, io.MultiWriter(log, last))); s.Scan(); {
			if compiledLine.Match(s.Bytes()) {
				b.meter.object()
			}
		}
		_, _ = io.Copy(io.MultiWriter(log, last), r) // after a line too long to scan
	}()
	err = cmd.Run()
	w.Close()
	<-counted
	if ctx.Err() != nil {
		return fmt.Errorf("the build was stopped; the next one goes on from here: %w", ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("compile the guest's kernel: %w; the end of %s:\n%s", err, log.Name(), lastLines(last.String(), 15))
	}
	return nil
}

// objects counts those of an interrupted build: make notes the command of each
// when it is whole.
func (b *build) objects() (n int64) {
	_ = filepath.WalkDir(b.tree(), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".") && strings.HasSuffix(d.Name(), ".o.cmd") {
			n++
		}
		return nil
	})
	return n
}

// finish puts the stripped kernel into the cache and removes the tree.
func (b *build) finish(ctx context.Context, began time.Time) (Image, error) {
	im := Image{
		Digest: b.digest, Fragment: fragmentDigest(), Source: filepath.Base(b.source),
		Objects: b.meter.done, BuildNS: time.Since(began).Nanoseconds(), Built: time.Now().UTC(),
	}
	stripped := filepath.Join(b.tree(), "linux.stripped")
	if out, err := b.command(ctx, "strip", "-o", stripped, "linux").CombinedOutput(); err != nil {
		return im, fmt.Errorf("strip the guest's kernel: %w: %s", err, lastLines(string(out), 3))
	}
	release, err := b.command(ctx, stripped, "--version").Output()
	if err != nil {
		return im, fmt.Errorf("the guest's kernel was built but does not run: %w", err)
	}
	im.Kernel = strings.TrimSpace(string(release))
	compiler, err := b.command(ctx, "gcc", "--version").Output()
	if err != nil {
		return im, fmt.Errorf("ask gcc for its version: %w", err)
	}
	im.Compiler, _, _ = strings.Cut(string(compiler), "\n")
	im.Path = filepath.Join(b.dir, imageName)
	if err := os.Rename(stripped, im.Path); err != nil {
		return im, fmt.Errorf("keep the guest's kernel: %w", err)
	}
	if err := writeJSON(filepath.Join(b.dir, imageInfo), im); err != nil {
		return im, fmt.Errorf("note what was built: %w", err)
	}
	if err := os.RemoveAll(b.tree()); err != nil {
		return im, fmt.Errorf("remove the build directory: %w", err)
	}
	return im, nil
}
