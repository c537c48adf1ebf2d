package scenarios

import "strings"

// nearestRunes bounds the words Nearest compares; nobody mistypes longer ones.
const nearestRunes = 64

// Nearest returns the candidate that word was probably meant to be: the one of
// least edit distance (insert, delete, replace, swap of neighbours, case
// ignored), the first of equals. It returns "" when even that one differs in
// more than two fifths of the longer word.
func Nearest(word string, candidates []string) string {
	best, bestDist := "", -1
	w := []rune(strings.ToLower(word))
	if len(w) > nearestRunes {
		return ""
	}
	for _, c := range candidates {
		r := []rune(strings.ToLower(c))
		if len(r) > nearestRunes {
			continue
		}
		d := distance(w, r)
		if d*5 > max(len(w), len(r))*2 {
			continue
		}
		if bestDist < 0 || d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// distance is the optimal string alignment distance of a and b.
func distance(a, b []rune) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
