package jsonrpc

import (
	"math"
	"math/bits"
	"strings"
)

// number reads a number (RFC 8259 section 6).
func (sc *scanner) number(b []byte, i int) int {
	if first := b[i]; first != '-' && first != '0' {
		if end := digits(b, i+1); uint(end) < uint(len(b)) && b[end] == ',' {
			return end // as nearly all ids do
		}
	}
	end, ok := scanNumber(b, i)
	if !ok {
		return sc.unexpected(b, end)
	}
	return end
}

// mayGoOn reports whether a number that ends at i may have had more digits, because
// the text is cut there. Behind white space only a truncation mark leaves that
// open, as recorders put some in front of it. It stops the scanner.
func (sc *scanner) mayGoOn(b []byte, i int) bool {
	sc.unexpected(b, skipSpace(b, i))
	return sc.state == Cut && (sc.at == i || sc.at < len(b))
}

// scanNumber returns the index behind the number that begins at i, or the index
// of what keeps it from being one.
func scanNumber(b []byte, i int) (end int, ok bool) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = digits(b, first); i == first {
		return i, false
	}
	if i < len(b) && b[i] == '.' {
		first = i + 1
		if i = manyDigits(b, first); i == first {
			return i, false
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		first = i + 1
		if first < len(b) && (b[first] == '+' || b[first] == '-') {
			first++
		}
		if i = digits(b, first); i == first {
			return i, false
		}
	}
	return i, true
}

// digits returns the index of the first byte from i on that is not a digit.
func digits(b []byte, i int) int {
	for uint(i) < uint(len(b)) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// manyDigits is digits for the fractions that come from doubles.
func manyDigits(b []byte, i int) int {
	for ; i <= len(b)-8; i += 8 {
		// Of a digit, and of a digit and 6, the upper half is 3.
		w := word(b[i : i+8])
		const upper, three = 0xf0 * each01, 0x30 * each01
		if other := (w&upper ^ three) | ((w+0x06*each01)&upper ^ three); other != 0 {
			return i + bits.TrailingZeros64(other)/8
		}
	}
	return digits(b, i)
}

// Integer is the value of a JSON number, as far as it is a whole number.
type Integer struct {
	// Value is set if Fits.
	Value int64
	// Integral reports a whole number, however it is written: 100, 1e2, 100.0
	// and -0 are integral. Beyond the largest finite double nothing is, as in
	// JavaScript's Number.isInteger.
	Integral bool
	// Fits reports an integral number that an int64 holds.
	Fits bool
}

// Integer returns the number v by value, exactly and without a float between.
// It is the zero Integer for what is not a number, and for an Open one, to which
// digits may be missing.
func (m *Message) Integer(v Value) Integer {
	if v.Kind != Number || v.Open() {
		return Integer{}
	}
	raw := m.Raw(v)
	if n, ok := plainInt(raw); ok {
		return Integer{Value: n, Integral: true, Fits: true}
	}
	return parseDecimal(raw).integer()
}

// plainInt returns the value of a number that is written as nearly all codes are:
// with at most 18 digits and nothing else but a sign.
func plainInt(raw string) (n int64, ok bool) {
	s, negative := strings.CutPrefix(raw, "-")
	const maxDigits = 18 // as many always fit
	if s == "" || len(s) > maxDigits {
		return 0, false
	}
	for i := range len(s) {
		digit := s[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = n*10 + int64(digit)
	}
	if negative {
		n = -n
	}
	return n, true
}

// decimal is the value of a JSON number in a normal form: 0.DIGITS × 10^exponent.
type decimal struct {
	negative bool
	// digits begin and end with one that is not 0; a decimal point may stand
	// between them. Zero has none.
	digits   string
	exponent int64
	// huge says that the exponent is not to be had: it has more digits than any
	// that matters.
	huge bool
}

// maxExponent is beyond all exponents that matter and still far from overflow
// when the length of a text is added to it.
const maxExponent = 1 << 40

// parseDecimal reads a number that scanNumber has accepted.
func parseDecimal(s string) decimal {
	var d decimal
	s, d.negative = strings.CutPrefix(s, "-")
	if allDigits(s) {
		if d.digits = strings.TrimRight(s, "0"); d.digits == "" {
			return decimal{}
		}
		d.exponent = int64(len(s)) // as no other digit than a lone 0 begins with 0
		return d
	}
	mantissa := s
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		mantissa = s[:e]
		d.exponent, d.huge = parseExponent(s[e+1:])
	}
	d.digits = strings.Trim(mantissa, "0.")
	if d.digits == "" {
		return decimal{}
	}
	first := strings.IndexAny(mantissa, "123456789")
	point := strings.IndexByte(mantissa, '.')
	if point < 0 {
		point = len(mantissa)
	}
	if first > point {
		point++ // so that the point itself does not count as a digit
	}
	d.exponent += int64(point - first)
	return d
}

func parseExponent(s string) (exponent int64, huge bool) {
	s, negative := strings.CutPrefix(s, "-")
	for _, c := range []byte(strings.TrimPrefix(s, "+")) {
		if exponent = exponent*10 + int64(c-'0'); exponent > maxExponent {
			return 0, true
		}
	}
	if negative {
		exponent = -exponent
	}
	return exponent, false
}

// count returns the number of significant digits.
func (d decimal) count() int64 {
	n := int64(len(d.digits))
	if strings.IndexByte(d.digits, '.') >= 0 {
		n--
	}
	return n
}

// The largest finite double as 0.DIGITS × 10^exponent.
const (
	maxDoubleDigits   = "17976931348623157"
	maxDoubleExponent = 309
)

func (d decimal) integral() bool {
	if d.huge || d.exponent < d.count() || d.exponent > maxDoubleExponent {
		return false
	}
	return d.exponent < maxDoubleExponent || compareDigits(d.digits, maxDoubleDigits) <= 0
}

func (d decimal) integer() Integer {
	if d.digits == "" {
		return Integer{Integral: true, Fits: true}
	}
	if !d.integral() {
		return Integer{}
	}
	const maxDigits = 19 // of an int64; as many always fit in a uint64
	if d.exponent > maxDigits {
		return Integer{Integral: true}
	}
	n, places := uint64(0), d.exponent
	for _, c := range []byte(d.digits) {
		if c != '.' {
			n = n*10 + uint64(c-'0')
			places--
		}
	}
	for ; places > 0; places-- {
		n *= 10
	}
	switch {
	case !d.negative && n <= math.MaxInt64:
		return Integer{Value: int64(n), Integral: true, Fits: true}
	case d.negative && n <= -math.MinInt64:
		return Integer{Value: -int64(n), Integral: true, Fits: true}
	}
	return Integer{Integral: true}
}

// equal reports whether both are the same number. With a huge exponent they are
// only known to be if they are written in the same way, which the caller has to
// compare.
func (d decimal) equal(o decimal) bool {
	return !d.huge && !o.huge &&
		d.negative == o.negative && d.exponent == o.exponent && compareDigits(d.digits, o.digits) == 0
}

// compareDigits compares two digit strings as fractions, 0.A and 0.B, and passes
// over a decimal point in them.
func compareDigits(a, b string) int {
	for {
		a, b = strings.TrimPrefix(a, "."), strings.TrimPrefix(b, ".")
		switch {
		case a == "" && b == "":
			return 0
		case a == "":
			return -1
		case b == "":
			return 1
		case a[0] != b[0]:
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
}
