package render

// Options fit the text outputs to where they go.
type Options struct {
	// Width is the number of columns a line may take; 0 means as many as it
	// needs. It matters to Table only.
	Width int
	Color bool // ANSI colours, Table only
	// ASCII writes nothing but ASCII: plain lines instead of box drawing, and
	// other characters of names as \u escapes.
	ASCII bool
}

// minWidth is the narrowest a line is laid out for.
const minWidth = 20

// width is the room for a line; unlimited when none was given.
func (o Options) width() int {
	if o.Width <= 0 {
		return 1 << 20
	}
	return max(o.Width, minWidth)
}
