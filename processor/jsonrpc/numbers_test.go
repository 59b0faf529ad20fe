package jsonrpc

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func integerOf(t testing.TB, raw string) Integer {
	t.Helper()
	m := readComplete(t, `{"id":`+raw+`}`)
	return m.Integer(m.ID)
}

func TestIntegerByValue(t *testing.T) {
	fits := func(n int64) Integer { return Integer{Value: n, Integral: true, Fits: true} }
	large := Integer{Integral: true}
	maxDouble := new(big.Int)
	new(big.Float).SetFloat64(math.MaxFloat64).Int(maxDouble)

	for raw, want := range map[string]Integer{
		"0": fits(0), "-0": fits(0), "0.0": fits(0), "0e99999999999999999999": fits(0), "-0.00e-7": fits(0),
		"7": fits(7), "-7": fits(-7), "1.0": fits(1), "1e2": fits(100), "1E+2": fits(100), "100e-2": fits(1), "0.1e1": fits(1), "0.001e3": fits(1), "12.50e1": fits(125), "1200e-2": fits(12),
		"-32603.0": fits(-32603), "1.5": {}, "1e-1": {}, "0.1": {}, "15e-1": {}, "1e-99999999999999999999": {},
		"9223372036854775807": fits(math.MaxInt64), "9223372036854775808": large, "-9223372036854775808": fits(math.MinInt64), "-9223372036854775809": large, "18446744073709551616": large,
		"9.223372036854775807e18": fits(math.MaxInt64), "1e18": fits(1e18), "1e19": large, "9999999999999999999": large, "9007199254740993": fits(9007199254740993),
		"1e308": large, "1e309": {}, "1e400": {}, "-1e400": {}, "1e99999999999999999999": {},
		"1.7976931348623157e308": large, "1.7976931348623158e308": {}, "1.79769313486231570e308": large, "1.79769313486231570000000001e308": {}, "-1.7976931348623157e308": large, "17976931348623157e292": large,
		"1" + strings.Repeat("0", 308): large, "1" + strings.Repeat("0", 309): {}, "0." + strings.Repeat("0", 400) + "1e401": fits(1), maxDouble.String(): {},
	} {
		assert.Equal(t, want, integerOf(t, raw), raw)
	}
	m := readComplete(t, `{"id":"7","method":true,"params":null}`)
	for _, v := range []Value{m.ID, m.Method, m.ParamsValue, m.ResultValue} {
		assert.Equal(t, Integer{}, m.Integer(v))
	}
}

// randomNumber writes a number with a small value in one of many ways.
func randomNumber(r *rand.Rand) string {
	var sb strings.Builder
	if r.IntN(3) == 0 {
		sb.WriteByte('-')
	}
	digits := func(most int) {
		for range 1 + r.IntN(most) {
			sb.WriteByte("0012579"[r.IntN(7)])
		}
	}
	if r.IntN(3) == 0 {
		sb.WriteByte('0')
	} else {
		sb.WriteByte("1259"[r.IntN(4)])
		if r.IntN(2) == 0 {
			digits(20)
		}
	}
	if r.IntN(2) == 0 {
		sb.WriteByte('.')
		digits(4)
	}
	if r.IntN(2) == 0 {
		sb.WriteString([]string{"e", "E", "e+", "e-", "E-"}[r.IntN(5)])
		sb.WriteString(strconv.Itoa(r.IntN(12)))
	}
	return sb.String()
}

func rational(t testing.TB, raw string) *big.Rat {
	t.Helper()
	x, ok := new(big.Rat).SetString(raw)
	require.True(t, ok, raw)
	return x
}

func TestNumbersAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		a, b := randomNumber(r), randomNumber(r)
		x, y := rational(t, a), rational(t, b)

		got := integerOf(t, a)
		require.Equal(t, x.IsInt(), got.Integral, a)
		require.Equal(t, x.IsInt() && x.Num().IsInt64(), got.Fits, a)
		if got.Fits {
			require.Equal(t, x.Num().Int64(), got.Value, a)
		}

		same := x.Cmp(y) == 0
		require.Equal(t, same, NumberID(a).Equal(NumberID(b)), "%s and %s", a, b)
		require.Equal(t, same, string(NumberID(a).AppendCanonical(nil)) == string(NumberID(b).AppendCanonical(nil)), "%s and %s", a, b)
		require.Equal(t, same, NumberID(a).EqualText(StringID(b)), "%s and %s", a, b)

		want := a
		if digits := strings.TrimPrefix(x.Num().String(), "-"); x.IsInt() && len(digits) <= 20 {
			want = x.Num().String()
		}
		require.Equal(t, want, NumberID(a).String(), a)
	}
}
