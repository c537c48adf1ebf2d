package residency

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tcpPair returns the two ends of a loopback connection.
func tcpPair(t testing.TB) (send, recv int) {
	t.Helper()
	listener := socket(t)
	if err := unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(listener, 1); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(listener)
	if err != nil {
		t.Fatal(err)
	}
	send = socket(t)
	if err := unix.Connect(send, at); err != nil {
		t.Fatal(err)
	}
	recv, _, err = unix.Accept4(listener, unix.SOCK_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(recv) })
	return send, recv
}

func socket(t testing.TB) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// TestSocketMemory leaves data unread in one of two sockets: their memory is at
// least the payload, and nothing once it is read.
func TestSocketMemory(t *testing.T) {
	send, recv := tcpPair(t)
	_, idle := tcpPair(t)
	fds := []int{idle, recv}
	if n, err := SocketMemory(fds); err != nil || n != 0 {
		t.Fatalf("idle sockets hold %d bytes, %v", n, err)
	}
	msg := make([]byte, 10_000)
	sent := int64(0)
	for range 5 {
		n, err := unix.Write(send, msg)
		if err != nil {
			t.Fatal(err)
		}
		sent += int64(n)
		waitQueued(t, recv, sent)
		held, err := SocketMemory(fds)
		if err != nil || held < sent || held > 8*sent {
			t.Errorf("%d bytes queued, %d held, %v", sent, held, err)
		}
	}
	for left := sent; left > 0; {
		n, err := unix.Read(recv, msg)
		if err != nil || n == 0 {
			t.Fatalf("read: %d, %v", n, err)
		}
		left -= int64(n)
	}
	if n, err := SocketMemory(fds); err != nil || n != 0 {
		t.Errorf("emptied sockets hold %d bytes, %v", n, err)
	}
}

func waitQueued(t *testing.T, fd int, want int64) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; {
		n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		if int64(n) == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes arrived, want %d", n, want)
		}
	}
}

func TestSocketMemoryNamesTheDescriptor(t *testing.T) {
	if _, err := SocketMemory([]int{-1}); err == nil {
		t.Error("descriptor -1 accepted")
	}
	file, err := unix.Open("/proc/self/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(file)
	if _, err := SocketMemory([]int{file}); err == nil {
		t.Error("a file accepted")
	}
}
