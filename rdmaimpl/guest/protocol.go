package guest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"
)

// Limits on what crosses the channel, in bytes.
const (
	MaxAnswerBytes = 8 << 20   // of a program on fd 3
	maxStdoutBytes = 256 << 10 // of its standard output; the rest is dropped
	maxStderrBytes = 4 << 10   // the tail of its standard error
	maxLineBytes   = 32 << 20  // one message, binary parts in base64
)

// Program is one process to run in the guest. It finds fd 3 open to write its
// answer on, fd 4 a memory file of Command.ProgressBytes, and beside a peer fd 5, a
// stream socket connected to the peer's.
type Program struct {
	Argv  []string `json:"argv"`
	Env   []string `json:"env,omitempty"` // nil: that of the guest's init
	Dir   string   `json:"dir,omitempty"` // empty: the scratch directory
	Stdin []byte   `json:"stdin,omitempty"`
	// Privileged keeps the rights to mount, make device nodes and the like,
	// which programs otherwise go without, though they run as root.
	Privileged bool `json:"privileged,omitempty"`
}

// Command is what Exec runs: a program and, if wanted, a second one beside it.
type Command struct {
	Program
	Peer *Program `json:"peer,omitempty"` // started first; killed soon after the program ends
	// Timeout is when both are killed, the guest living on. 0: DefaultTimeout.
	Timeout       time.Duration `json:"timeout_ns,omitempty"`
	ProgressBytes int64         `json:"progress_bytes,omitempty"` // 0: no fd 4
}

// DefaultTimeout bounds a command that names no time of its own.
const DefaultTimeout = time.Minute

// Exit is how one program ended and what it said.
type Exit struct {
	Code   int           `json:"code"`             // -1 after a signal
	Signal string        `json:"signal,omitempty"` // that ended it, e.g. "killed"
	Answer []byte        `json:"answer,omitempty"` // from fd 3
	Stdout []byte        `json:"stdout,omitempty"` // its first 256 KiB
	Stderr string        `json:"stderr,omitempty"` // its last 4 KiB
	Wall   time.Duration `json:"wall_ns"`          // by the guest's clock
	// Error says why there is no such process, or why its answer is cut.
	Error string `json:"error,omitempty"`
}

// Err returns nil if the program ran and exited 0 with its whole answer, else
// how it ended.
func (e Exit) Err() error {
	switch {
	case e.Error != "":
		return errors.New(e.Error)
	case e.Signal != "":
		return fmt.Errorf("ended by signal: %s", e.Signal)
	case e.Code != 0:
		return fmt.Errorf("exit status %d", e.Code)
	}
	return nil
}

// Reply is the outcome of a command.
type Reply struct {
	Exit
	Peer     *Exit `json:"peer,omitempty"`
	TimedOut bool  `json:"timed_out,omitempty"`
	Killed   bool  `json:"killed,omitempty"` // because the caller's context ended
}

// Ready is what the guest says of itself when its device is up.
type Ready struct {
	Kernel   string     `json:"kernel"` // its release
	Device   string     `json:"device"` // the RDMA device
	NetDev   string     `json:"netdev"` // the interface under it
	Address  netip.Addr `json:"address"`
	GIDIndex int        `json:"gid_index"` // of the GID that maps Address
	UptimeNS int64      `json:"uptime_ns"` // since its kernel started
}

// setup is what the guest's init is told, in a file.
type setup struct {
	Address netip.Prefix `json:"address"`
	Seed    []byte       `json:"seed"` // for the guest's random pool
	Env     []string     `json:"env"`
}

// toGuest is a message of the host. It is kept short, and a command lies in a
// file that it only names: the kernel's serial line goes deaf for good when it
// once had to hold back input (linux 6.12: line_throttle takes the descriptor
// out of epoll, nothing puts it back), and holds back from 4 KB unread.
type toGuest struct {
	ID   uint64 `json:"id,omitempty"`
	Exec bool   `json:"exec,omitempty"` // the command in the file commandFile(ID)
	Kill bool   `json:"kill,omitempty"` // command ID
	Halt bool   `json:"halt,omitempty"`
}

// fromGuest is a message of the guest; one field is set, beside ID.
type fromGuest struct {
	ID     uint64 `json:"id,omitempty"`
	Ready  *Ready `json:"ready,omitempty"`
	Failed string `json:"failed,omitempty"` // set-up failed
	Reply  *Reply `json:"reply,omitempty"`
}

func sendLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if len(b) >= maxLineBytes {
		return fmt.Errorf("message of %d bytes is over the limit of %d", len(b), maxLineBytes)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// readLine reads one message into v. The limit holds while reading, so that a
// peer without newlines costs no more memory than that.
func readLine(r *bufio.Reader, v any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLineBytes {
			return fmt.Errorf("message longer than %d bytes", maxLineBytes)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(line, v); err != nil {
			return fmt.Errorf("message is not the JSON expected: %w", err)
		}
		return nil
	}
}
