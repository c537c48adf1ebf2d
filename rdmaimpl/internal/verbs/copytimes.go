package verbs

import "fmt"

// When says at what time a copy point probe changes the caller's buffer.
type When int

// Times of a change, in order. A connection's call has no build.
const (
	BeforeBuild When = iota // before anything was called
	AfterBuild
	AfterPost // before the completion is taken
	AfterCompletion
	whenCount
)

// Arrivals counts the messages whose source was changed at one time.
type Arrivals struct {
	Changed int // messages
	Arrived int // of them, those of which the peer got changed bytes
	Partly  int // of the arrived, those of which the peer got old bytes too
}

// Times is what arrived of the changes at each time.
type Times [whenCount]Arrivals

// Call is a call that hands over private data of a connection.
type Call int

// Calls with private data.
const (
	CallConnect Call = iota
	CallAccept
)

func (c Call) String() string {
	if c == CallAccept {
		return "rdma_accept"
	}
	return "rdma_connect"
}

// Room is the most private data the call takes, in bytes.
func (c Call) Room() int {
	if c == CallAccept {
		return MaxAcceptPrivate
	}
	return MaxConnectPrivate
}

// note counts one message. Every byte of it was inverted, so that each that
// arrives tells whether it is an old or a changed one; a third value means that the
// wrong bytes were compared.
func (a *Arrivals) note(old, got []byte) error {
	changed := 0
	for i, b := range got {
		switch b {
		case old[i]:
		case ^old[i]:
			changed++
		default:
			return fmt.Errorf("byte %d arrived as %#02x, which is neither the old %#02x nor the changed %#02x", i, b, old[i], ^old[i])
		}
	}
	a.Changed++
	if changed > 0 {
		a.Arrived++
	}
	if changed > 0 && changed < len(got) {
		a.Partly++
	}
	return nil
}

// oldBytes fills a buffer with a message's bytes and another with their inverse.
func oldBytes(old, changed []byte, when When, message int) {
	for i := range old {
		old[i] = Pattern(uint64(when)+1, uint64(message), i)
		changed[i] = ^old[i]
	}
}
