package residency

import (
	"errors"
	"fmt"
)

// Try tells how a source of resident pages counts a scratch mapping of two pages
// written, one only read and one untouched: 2 where it leaves out the page that
// holds no memory, 3 where it does not. The source is pagemap-scan, pagemap or
// mincore.
func Try(source string) (pages int, err error) {
	var refused error
	for _, open := range openers() {
		s, err := open()
		if err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		if s.name() != source {
			if err := s.close(); err != nil {
				return 0, err
			}
			continue
		}
		exact, err := probe(s)
		if err = errors.Join(err, s.close()); err != nil {
			return 0, err
		}
		if exact {
			return 2, nil
		}
		return 3, nil
	}
	return 0, fmt.Errorf("no source %s here: %w", source, refused)
}
