package scenarios

import (
	"github.com/goccy/go-yaml/ast"
)

// maxPoints bounds the steps of a cdf, which every trial carries.
const maxPoints = 1024

// cdfDraft is a cdf before its file is read.
type cdfDraft struct {
	Sizes
	file string
}

func cdfKeys(c *cdfDraft) table {
	return table{
		field("points", &c.Points, cdfPoints(), "Steps [bytes, share of sizes up to that one], rising, the last share 1. Only the listed sizes occur."),
		field("file", &c.file, prose(4096, false), "A file beside the scenario: lines of bytes,cum as in points, or one size a line, which is the user's own trace."),
		field("min", &c.Min, messageSize(), "Smaller sizes are raised to this. Default: 24B, the header of a message."),
		field("max", &c.Max, messageSize(), "Larger sizes are cut to this."),
		sizesName(&c.Sizes),
	}
}

// cdf reads the points of a cumulative distribution, or the file of them.
func cdf() codec[Sizes] {
	keys := object(cdfKeys)
	return codec[Sizes]{keys.schema, func(d *decoder, path string, n ast.Node) (Sizes, bool) {
		v, ok := keys.decode(d, path, n)
		if !ok {
			return Sizes{}, false
		}
		if (v.file == "") == (v.Points == nil) {
			d.fail(path, "%s: expected exactly one of points, file", path)
			return Sizes{}, false
		}
		if at, err := checkClip(v.Sizes); err != nil {
			d.failBelow(path, at, err)
			return Sizes{}, false
		}
		if v.file != "" {
			if v.Points, ok = d.cdfFile(join(path, "file"), v.file); !ok {
				return Sizes{}, false
			}
		}
		return v.Sizes, true
	}}
}

// cdfPoints reads [[bytes, cum], ...] and names the step at fault.
func cdfPoints() codec[[]SizePoint] {
	size := byteSize(0, MaxMessageBytes)
	share := fraction(0, 1)
	pair := schema{"type": "array", "prefixItems": []schema{size.schema, share.schema}, "minItems": 2, "maxItems": 2}
	s := schema{"type": "array", "items": pair, "minItems": 1, "maxItems": maxPoints}
	return codec[[]SizePoint]{s, func(d *decoder, path string, n ast.Node) ([]SizePoint, bool) {
		seq, ok := n.(*ast.SequenceNode)
		if ok && len(seq.Values) == 0 {
			d.failNode(n, "%s: the list is empty", path)
			return nil, false
		}
		if !ok {
			d.failNode(n, "%s: expected a list of [bytes, share], found %s", path, describe(n))
			return nil, false
		}
		if len(seq.Values) > maxPoints {
			d.fail(index(path, maxPoints), "%s: more than %d points; give them as a file", path, maxPoints)
			return nil, false
		}
		var steps steps
		for i, item := range seq.Values {
			at := index(path, i)
			step, ok := item.(*ast.SequenceNode)
			if !ok || len(step.Values) != 2 {
				d.failNode(item, "%s: expected [bytes, share], found %s", at, describe(item))
				return nil, false
			}
			var p SizePoint
			var okSize, okShare bool
			p.Bytes, okSize = size.decode(d, index(at, 0), step.Values[0])
			p.Cum, okShare = share.decode(d, index(at, 1), step.Values[1])
			if !okSize || !okShare {
				return nil, false
			}
			if err := steps.add(p); err != nil {
				d.failValue(at, err)
				return nil, false
			}
		}
		if err := steps.end(); err != nil {
			d.failValue(index(path, len(steps)-1), err)
			return nil, false
		}
		return steps, true
	}}
}

// steps is a cumulative distribution that rises.
type steps []SizePoint

// add appends p or says why it cannot follow what is there.
func (s *steps) add(p SizePoint) error {
	if n := len(*s); n > 0 {
		prev := (*s)[n-1]
		if p.Bytes <= prev.Bytes {
			return badf("the size %d does not rise above %d before it", p.Bytes, prev.Bytes)
		}
		if p.Cum < prev.Cum {
			return badf("the share falls from %g at size %d to %g at size %d", prev.Cum, prev.Bytes, p.Cum, p.Bytes)
		}
	}
	*s = append(*s, p)
	return nil
}

// end checks that the distribution is complete.
func (s steps) end() error {
	if last := s[len(s)-1]; last.Cum != 1 {
		return badf("the last share is %g at size %d, not 1", last.Cum, last.Bytes)
	}
	return nil
}
