//go:build !cgo || noverbs

package verbs

import "time"

// errStub is what everything here answers.
var errStub = &Unavailable{"this binary was built without cgo or with the tag noverbs, and so without RDMA verbs", remedyBuild}

// Load says that this binary has no verbs.
func Load() error { return errStub }

// LoadCM says that this binary has no verbs.
func LoadCM() error { return errStub }

// Devices says that this binary has no verbs.
func Devices() ([]string, error) { return nil, errStub }

// Context is never made in this build.
type Context struct{ Device }

// Open says that this binary has no verbs.
func Open(string) (*Context, error) { return nil, errStub }

// OpenNull says that this binary has no verbs.
func OpenNull() (*Context, error) { return nil, errStub }

// Close does nothing in this build.
func (*Context) Close() error { return nil }

// MaxInline fails in this build.
func (*Context) MaxInline() (int, error) { return 0, errStub }

// HasEx is false in this build.
func (*Context) HasEx() bool { return false }

// Window is never made in this build.
type Window struct{}

// OpenWindow fails in this build.
func (*Context) OpenWindow(Config) (*Window, error) { return nil, errStub }

// OpenComplete fails in this build.
func (*Context) OpenComplete(Config) (*Window, error) { return nil, errStub }

// First fails in this build.
func (*Window) First() (First, error) { return First{}, errStub }

// Warm fails in this build.
func (*Window) Warm() error { return errStub }

// Run fails in this build.
func (*Window) Run() (Result, error) { return Result{}, errStub }

// Seen is empty in this build.
func (*Window) Seen() Seen { return Seen{} }

// Close does nothing in this build.
func (*Window) Close() error { return nil }

// Verify fails in this build.
func (*Context) Verify(Config, uint64) (int, error) { return 0, errStub }

// CopySend fails in this build.
func (*Context) CopySend(Config, int) (Times, error) { return Times{}, errStub }

// CopyPrivate fails in this build.
func (*Context) CopyPrivate(Call, int, time.Duration) (Times, error) { return Times{}, errStub }

// ProbeSetters fails in this build.
func (*Context) ProbeSetters() (Setters, error) { return Setters{}, errStub }

// Connect fails in this build.
func (*Context) Connect(ConnectConfig) (ConnectResult, error) { return ConnectResult{}, errStub }

// ConnectTo fails in this build.
func (*Context) ConnectTo(int, time.Duration) error { return errStub }

// Aging is never made in this build.
type Aging struct{}

// OpenAging fails in this build.
func (*Context) OpenAging(AgingConfig) (*Aging, error) { return nil, errStub }

// Step fails in this build.
func (*Aging) Step() error { return errStub }

// Requests is 0 in this build.
func (*Aging) Requests() uint64 { return 0 }

// LiveBytes is 0 in this build.
func (*Aging) LiveBytes() uint64 { return 0 }

// Close does nothing in this build.
func (*Aging) Close() error { return nil }
