//go:build !cgo

package shim

import (
	"errors"
	"unsafe"
)

// ErrNotPreloaded is returned by Attach: without cgo nothing here allocates in C.
var ErrNotPreloaded = errors.New("this binary was built without cgo and cannot read the counting shim: build it with CGO_ENABLED=1 and gcc")

// Shim cannot be attached to in this build.
type Shim struct{}

// Attach always fails in this build.
func Attach() (*Shim, error) { return nil, ErrNotPreloaded }

// Begin does nothing in this build, where no Shim exists.
func (*Shim) Begin() {}

// End does nothing in this build.
func (*Shim) End() {}

// Reset does nothing in this build.
func (*Shim) Reset() {}

// Watch fails in this build.
func (*Shim) Watch(unsafe.Pointer, int) error { return ErrNotPreloaded }

// Counts fails in this build.
func (*Shim) Counts() (Counts, error) { return Counts{}, ErrNotPreloaded }

// Heap fails in this build.
func (*Shim) Heap() (Heap, error) { return Heap{}, ErrNotPreloaded }

// AllocatorPath is not known in this build.
func AllocatorPath() string { return "" }
