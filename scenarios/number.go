package scenarios

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// numberBytes bounds the text of a number.
const numberBytes = 40

// splitNumber cuts a leading decimal number off s and returns the rest, its
// unit, which one space may precede. Signs, exponents, leading zeros and words
// are refused with what to write instead.
func splitNumber(s string) (num, unit string, err error) {
	if len(s) > numberBytes {
		return "", "", badf("%s is too long for a number", quote(s))
	}
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	num, unit = s[:i], strings.TrimPrefix(s[i:], " ")
	if err := checkDigits(s, num); err != nil {
		return "", "", err
	}
	if strings.HasPrefix(unit, "_") {
		return "", "", &badValue{quote(s) + " has an underscore", strings.ReplaceAll(s, "_", "")}
	}
	return num, unit, nil
}

// checkDigits refuses what is not digits with at most one point between or
// before them; whole is the text to name in the message.
func checkDigits(whole, num string) error {
	switch {
	case strings.HasPrefix(whole, "-"):
		return badf("%s is negative", quote(whole))
	case num == "" || num == "." || strings.Count(num, ".") > 1 || strings.HasSuffix(num, "."):
		return badf("%s is not a number", quote(whole))
	case len(num) > 1 && num[0] == '0' && num[1] != '.':
		dec := strings.TrimLeft(num, "0")
		if dec == "" || dec[0] == '.' {
			dec = "0" + dec
		}
		return &badValue{quote(whole) + " has a leading zero, which some programs read as octal", dec + whole[len(num):]}
	}
	return nil
}

// scaled returns num times unit when that is a whole number of at most
// math.MaxInt64; of names the quantity, such as "bytes".
func scaled(whole, num string, unit int64, of string) (int64, error) {
	r, ok := new(big.Rat).SetString(num)
	if !ok {
		return 0, badf("%s is not a number", quote(whole))
	}
	r.Mul(r, new(big.Rat).SetInt64(unit))
	if !r.IsInt() {
		return 0, badf("%s is %s %s, not a whole number of them", quote(whole), strings.TrimRight(r.FloatString(9), "0"), of)
	}
	if !r.Num().IsInt64() {
		return 0, badf("%s is too large", quote(whole))
	}
	return r.Num().Int64(), nil
}

// parseInt reads a whole number without sign, unit, exponent or leading zero.
func parseInt(s string) (int64, error) {
	num, unit, err := splitNumber(s)
	if err != nil {
		return 0, err
	}
	if unit != "" {
		return 0, &badValue{quote(s) + " is not a whole number", ""}
	}
	if strings.Contains(num, ".") {
		return 0, badf("%s is not a whole number", quote(s))
	}
	return scaled(s, num, 1, "")
}

// parseNumber reads a finite number >= 0 in decimal or scientific notation.
func parseNumber(s string) (float64, error) {
	if len(s) > numberBytes {
		return 0, badf("%s is too long for a number", quote(s))
	}
	mantissa, exp, sci := s, "", false
	if i := strings.IndexAny(s, "eE"); i > 0 {
		mantissa, exp, sci = s[:i], s[i+1:], true
	}
	if err := checkDigits(s, mantissa); err != nil {
		return 0, err
	}
	if strings.Trim(mantissa, "0123456789.") != "" || sci && !isExponent(exp) {
		return 0, badf("%s is not a number", quote(s))
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, badf("%s is too large", quote(s))
	}
	return v, nil
}

func isExponent(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return s != "" && len(s) <= 4 && strings.Trim(s, "0123456789") == ""
}

// shiftPoint multiplies the plain decimal text s by 10^n without rounding.
func shiftPoint(s string, n int) string {
	whole, frac, _ := strings.Cut(s, ".")
	for ; n > 0; n-- {
		if frac == "" {
			frac = "0"
		}
		whole, frac = whole+frac[:1], frac[1:]
	}
	for ; n < 0; n++ {
		if whole == "" {
			whole = "0"
		}
		frac, whole = whole[len(whole)-1:]+frac, whole[:len(whole)-1]
	}
	whole, frac = strings.TrimLeft(whole, "0"), strings.TrimRight(frac, "0")
	if whole == "" {
		whole = "0"
	}
	if frac == "" {
		return whole
	}
	return whole + "." + frac
}
