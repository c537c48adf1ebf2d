package verbs

import (
	"strings"
	"testing"
)

func TestArrivalsNote(t *testing.T) {
	old, changed := make([]byte, 64), make([]byte, 64)
	oldBytes(old, changed, AfterPost, 7)
	part := append(append([]byte(nil), old[:63]...), changed[63])
	foreign := append([]byte(nil), old...)
	foreign[5] ^= 0x0f
	for name, c := range map[string]struct {
		got  []byte
		want Arrivals
		err  string
	}{
		"old bytes":       {old, Arrivals{Changed: 1}, ""},
		"changed bytes":   {changed, Arrivals{Changed: 1, Arrived: 1}, ""},
		"one changed":     {part, Arrivals{Changed: 1, Arrived: 1, Partly: 1}, ""},
		"foreign bytes":   {foreign, Arrivals{}, "byte 5 arrived as"},
		"another message": {message(AfterPost, 8), Arrivals{}, "neither"},
		"of another time": {message(AfterBuild, 7), Arrivals{}, "neither"},
	} {
		var a Arrivals
		err := a.note(old, c.got)
		if a != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v; want %+v, %q", name, a, err, c.want, c.err)
		}
	}
}

// message is the bytes of one, as they are before a change.
func message(when When, number int) []byte {
	old, changed := make([]byte, 64), make([]byte, 64)
	oldBytes(old, changed, when, number)
	return old
}
