package scenarios

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// kind is what one kind of scenario measures: the axes of its workload, and
// how much of it where the file does not say.
type kind struct {
	name    string
	counts  string  // what the messages of measure are, such as Posts
	measure Measure // the defaults
	// axes are the keys of the workload, in the order their lists multiply.
	axes func(w *Workload) table
	// fill sets the axes that were left out to their defaults.
	fill func(w *Workload)
	// check refuses what every axis by itself allows but the whole does not.
	check func(d *decoder, w Workload)
}

func kinds() []kind {
	posts := "Posts (batches of work requests)"
	return []kind{
		{KindReceive, "Messages", measured(20_000, 4000, 2000), receiveAxes, fillReceive, checkReceive},
		{KindPostRecv, posts, measured(4000, 400, 200), postAxes, fillPost, checkSGEs},
		{KindPostSend, posts, measured(1000, 400, 200), postAxes, fillPost, checkSGEs},
		{KindPayload, posts, measured(1000, 400, 200), payloadAxes, fillPayload, nil},
		{KindConnect, "Connections", measured(200, 50, 20), connectAxes, fillConnect, nil},
		{KindAging, posts, aged(), agingAxes, nil, checkLive},
	}
}

// measured are the defaults of a kind: messages in the window of a timing, a
// counting and a verify trial.
func measured(timing, counting, verify int) Measure {
	return Measure{
		Blocks: 10, Messages: timing, CountingMessages: counting, VerifyMessages: verify,
		CountingTrials: 3, Alpha: .05, TimeoutNS: 30 * second,
	}
}

// aged are the defaults of alloc-aging: a heap ages over many posts, in the
// counting trials too, and there are more of them for what stays resident.
func aged() Measure {
	m := measured(20_000, 20_000, 1000)
	m.CountingTrials, m.TimeoutNS = 6, 60*second
	return m
}

// Kinds returns the kinds of scenarios there are.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// Axes returns the keys of the workload of a kind, in the order their lists
// multiply; nil for an unknown kind. Axes of other kinds are empty in the
// Workload of a parsed scenario, its own never are.
func Axes(name string) []string {
	for _, k := range kinds() {
		if k.name == name {
			return k.axes(&Workload{}).names()
		}
	}
	return nil
}

// kindOf finds the kind a file is of, wherever it says so. A misspelt kind is
// taken for the nearest one, so that the rest of the file is read as meant.
func kindOf(body ast.Node) kind {
	m, ok := body.(*ast.MappingNode)
	if !ok {
		return anyKind()
	}
	for _, kv := range m.Values {
		if keyText(kv.Key) != "kind" {
			continue
		}
		text, _, _ := scalarText(kv.Value)
		if !slices.Contains(Kinds(), text) {
			text = Nearest(text, Kinds())
		}
		for _, k := range kinds() {
			if k.name == text {
				return k
			}
		}
		break
	}
	return anyKind()
}

// anyKind reads a file that does not say its kind: with the keys of all, none
// of them required. Such a file is at fault already.
func anyKind() kind {
	k := kinds()[0]
	k.name, k.fill, k.check = "", nil, nil
	k.axes = func(w *Workload) table {
		var all table
		for _, of := range kinds() {
			for _, axis := range of.axes(w) {
				if _, known := all.find(axis.name); !known {
					axis.required = false
					all = append(all, axis)
				}
			}
		}
		return all
	}
	return k
}

// home names the mapping that the key belongs in, of the two larger ones.
func (k kind) home(name string) string {
	if _, ok := measureKeys(k, &Measure{}).find(name); ok {
		return "measure"
	}
	if _, ok := k.axes(&Workload{}).find(name); ok {
		return "workload"
	}
	return ""
}

// kindsWith names the kinds whose workload has the key, as in a, b or c.
func kindsWith(name string) string {
	var of []string
	for _, k := range kinds() {
		if _, ok := k.axes(&Workload{}).find(name); ok {
			of = append(of, k.name)
		}
	}
	if n := len(of) - 1; n > 0 {
		return strings.Join(of[:n], ", ") + " or " + of[n]
	}
	return strings.Join(of, "")
}

// fillAxis sets an axis that was left out to its default.
func fillAxis[T any](axis *[]T, value T) {
	if len(*axis) == 0 {
		*axis = []T{value}
	}
}
