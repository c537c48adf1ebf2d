package scenarios

import (
	"math"
	"sort"

	"github.com/goccy/go-yaml/ast"
)

// Bounds of one message.
const (
	MinMessageBytes = 24 // the header
	MaxMessageBytes = 16 << 20
)

// Floor is the least size in use: smaller ones are raised to it.
func (s Sizes) Floor() int64 { return max(s.Min, MinMessageBytes) }

// Ceiling is the largest size in use: larger ones are cut to it.
func (s Sizes) Ceiling() int64 {
	if s.Max == 0 {
		return MaxMessageBytes
	}
	return s.Max
}

// Largest is the size of the largest message that can occur, in bytes.
func (s Sizes) Largest() int64 {
	switch s.Kind {
	case "fixed":
		return max(s.Bytes, s.Floor())
	case "bimodal":
		return s.Large
	case "cdf":
		if len(s.Points) == 0 {
			return 0
		}
		last := s.Points[len(s.Points)-1].Bytes
		return max(min(last, s.Ceiling()), s.Floor())
	}
	return s.Ceiling()
}

// RaisedShare is the share of messages that the distribution makes smaller
// than Floor and that are raised to it.
func (s Sizes) RaisedShare() float64 {
	switch s.Kind {
	case "lognormal":
		return s.normal(s.Floor())
	case "cdf":
		return s.below(s.Floor() - 1)
	}
	return 0
}

// CutShare is the share of messages that the distribution makes larger than
// Ceiling and that are cut to it.
func (s Sizes) CutShare() float64 {
	switch s.Kind {
	case "lognormal":
		return 1 - s.normal(s.Ceiling())
	case "cdf":
		return 1 - s.below(s.Ceiling())
	}
	return 0
}

// normal is the share of a lognormal distribution below size.
func (s Sizes) normal(size int64) float64 {
	z := (math.Log(float64(size)) - math.Log(float64(s.Median))) / s.Sigma
	return math.Erfc(-z/math.Sqrt2) / 2
}

// below is the share of a cdf of at most size.
func (s Sizes) below(size int64) float64 {
	i := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].Bytes > size })
	if i == 0 {
		return 0
	}
	return s.Points[i-1].Cum
}

// sizes reads a distribution. Its schema is a definition: it is long, and used
// more than once.
func sizes() codec[Sizes] {
	return codec[Sizes]{ref("sizes"), distribution().decode}
}

func distribution() codec[Sizes] {
	return choice(sizesKeys, func(s *Sizes, kind string) { s.Kind = kind })
}

func sizesKeys(s *Sizes) table {
	return table{
		field("fixed", &s.Bytes, messageSize(), "Every size is this one."),
		field("uniform", s, checked(object(uniformKeys), checkUniform), "Every size from min to max alike."),
		field("lognormal", s, checked(object(lognormalKeys), checkLognormal), "The logarithm of the size is normally distributed."),
		field("bimodal", s, checked(object(bimodalKeys), checkBimodal), "A small size and a share of a large one."),
		field("cdf", s, cdf(), "A cumulative distribution, or the sizes of the user's own trace."),
	}
}

func messageSize() codec[int64] { return byteSize(MinMessageBytes, MaxMessageBytes) }

const nameDoc = "Label of the distribution in point ids and tables."

func sizesName(s *Sizes) key {
	return field("name", &s.Name, name("name of a distribution", nameRule), nameDoc)
}

func uniformKeys(s *Sizes) table {
	return table{
		field("min", &s.Min, messageSize(), "Required. Least size."),
		field("max", &s.Max, messageSize(), "Required. Largest size."),
		sizesName(s),
	}
}

func checkUniform(s Sizes) (string, error) {
	if s.Min >= s.Max {
		return "max", badf("%s is not above min, %s", FormatBytes(s.Max), FormatBytes(s.Min))
	}
	return "", nil
}

func lognormalKeys(s *Sizes) table {
	return table{
		field("median", &s.Median, messageSize(), "Required. Half of the sizes are smaller."),
		field("sigma", &s.Sigma, real(10), "Required. Standard deviation of the natural logarithm of the size."),
		field("min", &s.Min, messageSize(), "Smaller sizes are raised to this. Default: 24B, the header of a message."),
		field("max", &s.Max, messageSize(), "Larger sizes are cut to this. Default: 16MiB."),
		sizesName(s),
	}
}

func checkLognormal(s Sizes) (string, error) {
	if s.Median < s.Floor() || s.Median > s.Ceiling() {
		return "median", badf("%s is not from min to max, %s to %s", FormatBytes(s.Median), FormatBytes(s.Floor()), FormatBytes(s.Ceiling()))
	}
	return checkClip(s)
}

func bimodalKeys(s *Sizes) table {
	return table{
		field("small", &s.Small, messageSize(), "Required. The small size."),
		field("large", &s.Large, messageSize(), "Required. The large size."),
		field("share", &s.Share, fraction(0, 1), "Required. Share of the large size."),
		sizesName(s),
	}
}

func checkBimodal(s Sizes) (string, error) {
	if s.Small >= s.Large {
		return "large", badf("%s is not above small, %s", FormatBytes(s.Large), FormatBytes(s.Small))
	}
	if s.Share <= 0 || s.Share >= 1 {
		return "share", badf("%s leaves one of the two sizes out: use fixed", FormatFraction(s.Share))
	}
	return "", nil
}

// checkClip refuses a min and max that leave no sizes between them.
func checkClip(s Sizes) (string, error) {
	if s.Min != 0 && s.Floor() >= s.Ceiling() {
		return "min", badf("%s is not below max, %s", FormatBytes(s.Min), FormatBytes(s.Ceiling()))
	}
	return "", nil
}

// load reads how messages are offered.
func load() codec[Load] {
	return choice(loadKeys, func(l *Load, mode string) { l.Mode = mode })
}

func loadKeys(l *Load) table {
	return table{
		field("closed", &l.Depth, integer(1, maxOutstanding), "This many messages of each client are outstanding at any time."),
		field("open", l, offered(), "Messages arrive at a rate of their own: a share of the measured capacity such as 50%, or 20000/s over all clients."),
	}
}

// offered reads an open load. A bare number above 1 is refused: it could mean
// percent, times the capacity or per second.
func offered() codec[Load] {
	s := schema{"anyOf": []schema{ref("fraction"), ref("rate")}}
	return numberOf("a share of the capacity such as 50%, or a rate such as 20000/s", s, func(text string) (Load, error) {
		if hz, err := ParseRate(text); err == nil {
			if hz < .001 || hz > 1e9 {
				return Load{}, badf("%s is not from 0.001/s to 1000000000/s", text)
			}
			return Load{RateHz: hz}, nil
		}
		f, err := ParseFraction(text)
		if err != nil {
			return Load{}, badf("%s is neither a share such as 50%% nor a rate such as 20000/s", quote(text))
		}
		if text[len(text)-1] != '%' && f > 1 {
			return Load{}, badf("%s could be percent or per second: write %s%% or %s/s", text, text, text)
		}
		if f < .0001 || f > 10 {
			return Load{}, badf("%s is not from 0.01%% to 1000%% of the capacity", text)
		}
		return Load{Fraction: f}, nil
	})
}

// hold reads a number of messages, of all clients or of each, or a time.
func hold() codec[Hold] {
	held := integer(0, maxHeld)
	kept := duration(0, 60*second)
	each := object(func(h *Hold) table {
		return table{field("each", &h.Each, integer(1, maxHeldEach), "Required. How many messages of each client the application holds: its latest.")}
	})
	return codec[Hold]{schema{"anyOf": []schema{held.schema, kept.schema, each.schema}}, func(d *decoder, path string, n ast.Node) (Hold, bool) {
		if _, mapping := n.(*ast.MappingNode); mapping {
			return each.decode(d, path, n)
		}
		text, _, scalar := scalarText(n)
		if _, err := parseInt(text); scalar && err != nil {
			ns, ok := kept.decode(d, path, n)
			return Hold{NS: ns}, ok
		}
		messages, ok := held.decode(d, path, n)
		return Hold{Messages: messages}, ok
	}}
}
