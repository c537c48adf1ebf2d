//go:build cgo && !noverbs

package verbs

// The compiler may neither drop an allocation nor copy by instructions of its own:
// both are counted where they are called.

// #cgo CFLAGS: -O2 -std=gnu11 -fno-builtin-malloc -fno-builtin-realloc -fno-builtin-free -fno-builtin-memcpy
// #cgo noverbsheaders CFLAGS: -DZC_NO_VERBS_HEADERS
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "hot.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// Names the libraries are opened by.
const (
	ibverbsName = "libibverbs.so.1"
	rdmacmName  = "librdmacm.so.1"
)

var loadOnce = sync.OnceValue(func() error { return load(ibverbsName) })
var loadCMOnce = sync.OnceValue(func() error { return loadCM(rdmacmName) })

// Load opens libibverbs. The error, an ErrUnavailable, says what to install.
func Load() error { return loadOnce() }

func load(name string) error {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var text [C.ZC_TEXT]C.char
	code := C.zc_load(cname, &text[0], C.ZC_TEXT)
	return unavailable(int(code), name, C.GoString(&text[0]))
}

// loadCM opens librdmacm, after libibverbs.
func loadCM(name string) error {
	if err := Load(); err != nil {
		return err
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var text [C.ZC_TEXT]C.char
	code := C.zc_load_cm(cname, &text[0], C.ZC_TEXT)
	return unavailable(int(code), name, C.GoString(&text[0]))
}

func unavailable(code int, name, text string) error {
	switch code {
	case C.ZC_LOADED:
		return nil
	case C.ZC_NO_HEADERS:
		return &Unavailable{"this binary was " + text, remedyBuild}
	case C.ZC_NO_SYMBOL:
		return &Unavailable{fmt.Sprintf("%s is too old: %s", name, text), "install rdma-core 22 or later"}
	}
	return &Unavailable{fmt.Sprintf("%s cannot be opened (%s)", name, text), remedyInstall}
}

// maxDevices bounds a listing.
const maxDevices = 64

// Devices lists the names of the RDMA devices. Having none is an Unavailable
// that says how to get one.
func Devices() ([]string, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	var names [maxDevices][C.ZC_NAME]C.char
	n := int(C.zc_device_names(&names[0], maxDevices))
	if n == 0 {
		return nil, &Unavailable{"no RDMA device", rxeRemedy()}
	}
	if n < 0 {
		errno := syscall.Errno(-n)
		return nil, &Unavailable{fmt.Sprintf("the kernel offers no RDMA devices: %s", errnoText(errno)), rxeRemedy()}
	}
	var out []string
	for i := range n {
		out = append(out, C.GoString(&names[i][0]))
	}
	return out, nil
}

// Context is an opened device with its protection domain, or the null device.
type Context struct {
	Device
	dev   *C.struct_zc_device // C memory; nil for the null device
	gids  []gid
	gid   gid
	limit int // inline bytes, once found
	found bool
}

// Open opens a device by name, or the first with an active port when name is
// empty.
func Open(name string) (*Context, error) {
	names, err := Devices()
	if err != nil {
		return nil, err
	}
	if name != "" {
		c, err := openOne(name)
		if errors.Is(err, syscall.ENODEV) {
			return nil, fmt.Errorf("device %s does not exist; there is %s", name, strings.Join(names, ", "))
		}
		return c, err
	}
	var idle []string
	for _, n := range names {
		c, err := openOne(n)
		if err != nil {
			return nil, err
		}
		if c.Active {
			return c, nil
		}
		idle = append(idle, n)
		if err := c.Close(); err != nil {
			return nil, err
		}
	}
	return nil, &Unavailable{fmt.Sprintf("no RDMA device has an active port (%s)", strings.Join(idle, ", ")), "bring its link up"}
}

func openOne(name string) (*Context, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	dev := (*C.struct_zc_device)(C.calloc(1, C.sizeof_struct_zc_device))
	if errno := C.zc_device_open(cname, dev); errno != 0 {
		C.free(unsafe.Pointer(dev))
		e := syscall.Errno(errno)
		remedy := ""
		if e == syscall.EACCES || e == syscall.EPERM {
			remedy = "the user may not open /dev/infiniband/uverbs*; run as root or give access"
		}
		return nil, &Error{Op: "open RDMA device " + name, Errno: e, Remedy: remedy}
	}
	c := &Context{dev: dev}
	c.describe()
	if g, err := chooseGID(c.gids); err == nil {
		c.gid, c.GIDIndex, c.GID, c.GIDType = g, g.index, gidText(g.raw), g.kind
	}
	return c, nil
}

// linkLayers are the values of ibv_port_attr.link_layer.
var linkLayers = map[C.int32_t]string{1: "InfiniBand", 2: "Ethernet"}

func (c *Context) describe() {
	d := c.dev
	c.Device = Device{
		Name: C.GoString(&d.name[0]), Provider: C.GoString(&d.provider[0]), Library: C.GoString(C.zc_library_path(0)),
		Firmware: C.GoString(&d.limits.firmware[0]), Port: int(d.port.num), Active: d.port.active != 0,
		LinkLayer: linkLayers[d.port.link_layer], MTU: 128 << d.port.mtu,
		MaxQPWR: int(d.limits.qp_wr), MaxSGE: int(d.limits.sge), MaxCQE: int(d.limits.cqe), MaxMR: int(d.limits.mr),
	}
	for _, g := range d.port.gid[:d.port.gids] {
		e := gid{index: int(g.index), kind: gidKind(c.Name, c.Port, int(g.index))}
		for i, b := range g.raw {
			e.raw[i] = byte(b)
		}
		c.gids = append(c.gids, e)
	}
}

// OpenNull opens the null device: it reads every request as a provider must, and
// does nothing with it. It gives the floor of the harness, and needs no library.
func OpenNull() (*Context, error) {
	if C.zc_has_headers() == 0 {
		return nil, Load()
	}
	C.zc_shim_find()
	return &Context{Device: Device{Name: "null", Provider: "none", MaxQPWR: 1 << 16, MaxSGE: C.ZC_SGES}}, nil
}

func (c *Context) null() bool { return c.dev == nil }

// Close closes the device. Everything opened on it must be closed before.
func (c *Context) Close() error {
	if c.null() {
		return nil
	}
	if errno := C.zc_device_close(c.dev); errno != 0 {
		return &Error{Op: "close RDMA device " + c.Name, Errno: syscall.Errno(errno), Remedy: "close its queue pairs and memory first"}
	}
	C.free(unsafe.Pointer(c.dev))
	return nil
}
