package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Output given to a pipe or device goes through it; replacing it, as a file is
// replaced, would take /dev/null from everybody when run as root.
func TestWritingNeverReplacesASpecialFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("pipe", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link} {
		got := make(chan string, 1)
		go func() {
			b, err := os.ReadFile(pipe)
			if err != nil {
				b = []byte(err.Error())
			}
			got <- string(b)
		}()
		if err := writeTo(path, nil, sentence); err != nil {
			t.Fatal(err)
		}
		if s := <-got; s != "a sentence" {
			t.Errorf("%s gave %q", path, s)
		}
	}
	if st, err := os.Stat(pipe); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is no pipe any more: %v, %v", st.Mode(), err)
	}
}

// A symbolic link to a file stays one, and what it leads to is written.
func TestWritingFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := writeTo(link, nil, sentence); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "file" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "a sentence" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

func sentence(w io.Writer) error {
	_, err := io.WriteString(w, "a sentence")
	return err
}
