package guest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"github.com/zcbench/zcbench/rdmaimpl/guest/guesttest"
)

func TestBootToDevice(t *testing.T) {
	g := startGuest(t)
	ready := g.Ready()
	t.Logf("boot to device in %v, %v of it in the guest; %+v; %s", g.BootTime(), time.Duration(ready.UptimeNS), ready, strings.Join(g.Notes(), "; "))
	r := run(t, g, shell("cat /sys/class/infiniband/rxe0/ports/1/state /sys/class/infiniband/rxe0/ports/1/gids/"+
		"1 && ls /dev/infiniband && uname -r && nproc"))
	if err := r.Err(); err != nil {
		t.Fatalf("%v: %s", err, r.Stderr)
	}
	for _, want := range []string{"ACTIVE", "ffff:c612:0001", "uverbs0", "rdma_cm", ready.Kernel + "\n1\n"} {
		if !strings.Contains(string(r.Stdout), want) {
			t.Errorf("no %q in:\n%s", want, r.Stdout)
		}
	}
	if ready.Device != "rxe0" || ready.GIDIndex != 1 || ready.Address.String() != "198.18.0.1" {
		t.Errorf("ready says %+v", ready)
	}
}

// Boot to device is to take at most 1.5 s; a shared machine gets three tries.
func TestBootTime(t *testing.T) {
	o := guesttest.Options(t, guest.Options{})
	best := time.Hour
	for range 3 {
		g, err := guest.Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, g.BootTime())
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("boot to device with %d MiB: %v", guest.DefaultMemBytes>>20, best)
	if best > 1500*time.Millisecond {
		t.Errorf("the best of three boots took %v, want at most 1.5 s", best)
	}
}

// With libibverbs on the host its own tools must see the device, and a pair of
// processes must be able to talk over it.
func TestVerbsLibrary(t *testing.T) {
	if _, err := exec.LookPath("ibv_devinfo"); err != nil {
		t.Skip("no ibv_devinfo: apt-get install ibverbs-utils ibverbs-providers")
	}
	g := startGuest(t)
	r := run(t, g, guest.Program{Argv: []string{"ibv_devinfo", "-v"}})
	if err := r.Err(); err != nil {
		t.Fatalf("ibv_devinfo: %v: %s", err, r.Stderr)
	}
	for _, want := range []string{"rxe0", "PORT_ACTIVE", "::ffff:198.18.0.1, RoCE v2", "active_mtu:		4096"} {
		if !strings.Contains(string(r.Stdout), want) {
			t.Errorf("no %q in ibv_devinfo:\n%s", want, r.Stdout)
		}
	}
	t.Run("connection", func(t *testing.T) {
		if _, err := exec.LookPath("rping"); err != nil {
			t.Skip("no rping: apt-get install rdmacm-utils")
		}
		address := g.Ready().Address.String()
		client := guest.Program{Argv: []string{"/bin/sh", "-c", "sleep 0.3; exec rping -c -v -C 3 -a " + address}}
		server := guest.Program{Argv: []string{"rping", "-s", "-C", "3", "-a", address}}
		r, err := g.Exec(t.Context(), guest.Command{Program: client, Peer: &server, Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(r.Stdout), "ping data"); r.Err() != nil || got != 3 {
			t.Errorf("%d pings of 3, %v: %s%s", got, r.Err(), r.Stdout, r.Stderr)
		}
		if r.Peer == nil || r.Peer.Err() != nil {
			t.Errorf("the server: %+v", r.Peer)
		}
	})
}

func TestIOUringInGuest(t *testing.T) {
	g := startGuest(t)
	if r := run(t, g, part(g, "part-uring")); r.Err() != nil {
		t.Errorf("%v: %s", r.Err(), r.Stderr)
	}
}

func TestNoKernel(t *testing.T) {
	_, err := guest.Start(t.Context(), guest.Options{CacheDir: t.TempDir()})
	if !errors.Is(err, guest.ErrNoKernel) {
		t.Errorf("start without a kernel: %v, want %v", err, guest.ErrNoKernel)
	}
}

// A kernel that is none must fail with what was said, and leave nothing.
func TestKernelThatIsNone(t *testing.T) {
	base := t.TempDir()
	kernel := base + "/kernel"
	script := "#!/bin/sh\necho I am no kernel\nexit 7\n"
	if err := os.WriteFile(kernel, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := guest.Start(t.Context(), guest.Options{Kernel: kernel, MemBytes: testMem})
	var dead *guest.DeadError
	if !errors.As(err, &dead) || !strings.Contains(err.Error(), "status 7") || !strings.Contains(err.Error(), "I am no kernel") {
		t.Errorf("got %v", err)
	}
}

// A guest that never gets ready is given up at its deadline.
func TestBootDeadline(t *testing.T) {
	kernel := t.TempDir() + "/kernel"
	if err := os.WriteFile(kernel, []byte("#!/bin/sh\nsleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	base := sharedTempDir(t)
	began := time.Now()
	_, err := guest.Start(t.Context(), guest.Options{Kernel: kernel, Boot: 300 * time.Millisecond, TempDirs: []string{base}})
	if err == nil || !strings.Contains(err.Error(), "not usable within 300ms") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("giving up took %v", took)
	}
	mustBeEmpty(t, base)
}

func TestLifetime(t *testing.T) {
	o := guesttest.Options(t, guest.Options{MemBytes: testMem, Lifetime: 1500 * time.Millisecond})
	g, err := guest.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	_, err = g.Exec(t.Context(), guest.Command{Program: part(g, "part-spin"), Timeout: 30 * time.Second})
	if err == nil || !strings.Contains(err.Error(), "lifetime of 1.5s") {
		t.Errorf("got %v", err)
	}
	mustLeaveNothing(t, g.PID(), runDir(g))
}

func TestCancelledStart(t *testing.T) {
	base := sharedTempDir(t)
	o := guesttest.Options(t, guest.Options{MemBytes: testMem, TempDirs: []string{base}})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := guest.Start(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	mustBeEmpty(t, base)
}

// The channel must carry any byte, and more than its buffers hold, both ways.
func TestChannelCarriesBytes(t *testing.T) {
	g := startGuest(t)
	every := make([]byte, 256*1024)
	for i := range every {
		every[i] = byte(i ^ i>>8)
	}
	p := part(g, "part-echo", "8")
	p.Stdin = every
	began := time.Now()
	r := run(t, g, p)
	if r.Err() != nil {
		t.Fatalf("%v: %s", r.Err(), r.Stderr)
	}
	t.Logf("%d bytes in, %d out in %v", len(every), len(r.Answer), time.Since(began))
	if !bytes.Equal(r.Answer, bytes.Repeat(every, 8)) {
		t.Errorf("%d bytes came back, not those sent", len(r.Answer))
	}
	p.Argv[2] = "33" // one more than fits
	if r := run(t, g, p); r.Err() == nil || !strings.Contains(r.Err().Error(), "longer than") || len(r.Answer) != guest.MaxAnswerBytes {
		t.Errorf("an answer too long: %v, %d bytes", r.Err(), len(r.Answer))
	}
}
