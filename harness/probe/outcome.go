package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// MaxAnswerBytes bounds what is read of a check's answer.
const MaxAnswerBytes = 64 << 10

// maxSaidBytes bounds what is kept of a check's standard error in a finding.
const maxSaidBytes = 400

// Outcome is how the process of a check ended.
type Outcome struct {
	Answer   []byte // from fd 3, cut beyond MaxAnswerBytes
	Stderr   string // its begin and its end
	TimedOut bool
	Stuck    bool  // killed and still there
	Ended    error // nil: exit status 0
	Err      error // it could not be started
	Class    string
}

// Place runs the process of a check somewhere and tells how it ended. It returns
// soon after the check's deadline, whatever the process does.
type Place func(ctx context.Context, c Check) Outcome

// judge turns how a check's process ended into a finding. The process may have
// been hit by the very fault it looks for: nothing it says is trusted that is not
// a whole finding from a process that ended well.
func judge(c Check, o Outcome) record.Finding {
	said := shortened(o.Stderr)
	var f record.Finding
	switch {
	case o.Err != nil:
		f = c.inconclusive("it could not be started: "+o.Err.Error(), said)
	case o.Stuck:
		f = c.inconclusive(fmt.Sprintf("it did not end within %v and could not be killed: it is stuck in the kernel", c.Deadline()), said)
	case o.TimedOut:
		f = c.inconclusive(fmt.Sprintf("it did not end within %v and was killed", c.Deadline()), said)
	case o.Ended != nil:
		f = c.inconclusive("its process ended with "+o.Ended.Error(), said)
	default:
		got, err := decode(c, o.Answer)
		if err != nil {
			f = c.inconclusive("its answer cannot be used: "+err.Error(), said)
		} else {
			f = got
		}
	}
	if o.Class != "" {
		f.Class = o.Class
	}
	return f
}

func decode(c Check, answer []byte) (record.Finding, error) {
	var f record.Finding
	switch {
	case len(answer) == 0:
		return f, errors.New("there is none")
	case len(answer) > MaxAnswerBytes:
		return f, fmt.Errorf("it is longer than %d bytes", MaxAnswerBytes)
	}
	dec := json.NewDecoder(bytes.NewReader(answer))
	if err := dec.Decode(&f); err != nil {
		return f, fmt.Errorf("it is no finding: %w", err)
	}
	if dec.More() {
		return f, errors.New("there is more than one finding")
	}
	f = c.finding(f)
	return f, f.Check()
}

// shortened is the begin and the end of what a process said, on one line.
func shortened(stderr string) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(stderr, "?")), " ")
	if len(text) > maxSaidBytes {
		const head = maxSaidBytes * 2 / 3
		text = strings.ToValidUTF8(text[:head], "") + " ... " + strings.ToValidUTF8(text[len(text)-maxSaidBytes+head:], "")
	}
	if text == "" {
		return ""
	}
	return "it said: " + text
}
