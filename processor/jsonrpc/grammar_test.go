package jsonrpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The values of RFC 8259, and what is easily taken for one. Every text is tried
// where a reader may be lax: alone, as a member that is tracked or not, deep in
// what is passed over, and in an array at the top.
var (
	validValues = []string{
		`null`, `true`, `false`,
		`0`, `-0`, `7`, `-7`, `10`, `1234567890123456789012345678901234567890`,
		`0.0`, `-0.1`, `1.25`, `123.456789012345678901234567890`,
		`1e5`, `1E5`, `1e+5`, `1e-5`, `0e0`, `0E+0`, `0.5e00`, `1e400`, `-1e-400`, `1e99999999999999999999`,
		`""`, `"a"`, `" "`, `"ab cd"`, "\"\x7f\"", `"'"`, `"/"`, `"<>&"`,
		`"\""`, `"\\"`, `"\/"`, `"\b\f\n\r\t"`, `"\\\\\\"`, `"\\\""`,
		`"\u0000"`, `"\u00e9"`, `"\uABCD"`, `"\uabcd"`, `"\uD83D\uDE00"`, `"\ud800"`, `"\udc00\ud800"`, `"\uD800\n"`,
		`"é"`, `"工具"`, `"工具调用失败"`, `"😀"`, "\"\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\"", "\"\u2028\u2029\ufeff\"",
		`"1234567"`, `"12345678"`, `"123456789012345"`, `"1234567890123456"`, `"` + strings.Repeat("x", 31) + `"`, `"` + strings.Repeat("x", 32) + `"`, `"` + strings.Repeat("é", 40) + `"`,
		`[]`, `[ ]`, "[\t\n\r ]", `[1]`, `[1,2]`, `[ 1 , 2 ]`, `[[]]`, `[[],[[]]]`, `["a","b"]`, `[null,true,false,0,"",[],{}]`,
		`{}`, `{ }`, `{"":0}`, `{"a":1}`, `{ "a" : 1 , "b" : 2 }`, `{"a":1,"a":2}`, `{"a":{"b":{"c":{}}}}`, `{"a":[{"b":[]}]}`, `{"\u0061":1}`, `{"é":1}`,
		`{"a long name of more than thirty-two bytes":"a long text of more than thirty-two bytes"}`,
	}

	invalidValues = []string{
		`nul1`, `trux`, `falsy`, `True`, `NULL`, `nulll`, `truefalse`, `undefined`, `NaN`, `-NaN`, `Infinity`, `-Infinity`, `nan`,
		`+1`, `-a`, `--1`, `- 1`, `01`, `-01`, `00`, `1.a`, `.5`, `-.5`, `1.e5`, `1ea`, `1e+a`, `1e5.5`, `1.2.3`, `0x10`, `1_000`, `1a`, `0e+-1`, `１`, `1 2`, `1,2`, `1e 5`, `1. 5`,
		`'a'`, `a`, "\"\x00\"", "\"\x1f\"", "\"\n\"", "\"\t\"", "\"abcdefgh\n\"", `"\a"`, `"\x41"`, `"\'"`, `"\U0041"`, `"\u00g0"`, `"\u 041"`, `"\u-123"`, `"\uD83D\u12x0"`, "\"\\\n\"", `"\é"`, `"a"b"`, `"a" "b"`,
		`[,]`, `[1,]`, `[,1]`, `[1,,2]`, `[1 2]`, `[1}`, `["a":1]`, `[1;2]`, `[1]]`, `[*]`, "[1\f]", "[1,\v2]", "[\u00a01]", "[\u20281]", `[1/*c*/]`,
		`{,}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a" 1}`, `{"a":1 "b":2}`, `{a:1}`, `{1:1}`, `{null:1}`, `{'a':1}`, `{"a":1]`, `{"a"::1}`, `{"a":1;}`, `{[]:1}`, `{"a":1}}`, `{"a\x":1}`, "{\"a\n\":1}", `{"a","b"}`, `{"a":b}`, "{\"a\":\u00a01}",
		"\u00a0", "\u2028", "\x00", "\x7f", "\ufeff\ufeff1", "\xff", "[\xff]", "\xe9", `#1`, `//1`, "\v1", "\f1", "\x1e1",
	}
)

// wrappings put a value where it may stand in a document.
var wrappings = []string{
	`%s`,
	" \t\r\n%s \t\r\n",
	`{"id":%s}`,
	`{"x":%s}`,
	`{"params":%s}`,
	`{"result":{"content":%s,"y":0}}`,
	`{"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":%s}}}`,
	`{"params":{"arguments":{"a":[{"b":%s}]}}}`,
	`{"params":{"arguments":[0,%s ,0]}}`,
	`[%s]`,
	`[{"a":0},%s]`,
}

func TestValidTextIsAccepted(t *testing.T) {
	for _, value := range validValues {
		for _, wrapping := range wrappings {
			text := fmt.Sprintf(wrapping, value)
			require.True(t, json.Valid([]byte(text)), "the table is wrong: %q", text)
			got := read(t, text, JSON)
			assert.Equal(t, Complete, got.Summary.State, "%q stopped at %d", text, got.Summary.Offset)
			for _, m := range got.Messages {
				assert.Equal(t, Complete, m.State, "%q stopped at %d", text, m.Offset)
				assert.False(t, m.InvalidUTF8, "%q", text)
			}
		}
	}
}

func TestInvalidTextIsRefused(t *testing.T) {
	for _, value := range invalidValues {
		for _, wrapping := range wrappings {
			text := fmt.Sprintf(wrapping, value)
			if json.Valid([]byte(text)) {
				continue // such as 1,2 in an array
			}
			got := read(t, text, JSON)
			assert.Equal(t, Malformed, got.Summary.State, "%q", text)
			assert.NotEqual(t, NoCause, got.Summary.Cause, "%q", text)
		}
	}
}

func TestBytesThatAreNotUTF8AreNotedAndReadOver(t *testing.T) {
	for _, bytes := range []string{
		"\xff", "\x80", "\xc0\x80", "\xc1\xbf", "\xc3(", "\xe0\x80\x80", "\xe2\x28\xa1", "\xed\xa0\x80", "\xed\xbf\xbf",
		"\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x98", "工\xe5\xb7", "工具\xed\xa0\x80", "\xe0\x9f\xbf工", "é\xc3é", "f\xfcr",
	} {
		for _, wrapping := range []string{`{"id":"%s"}`, `{"x":"abcdefghijklmnopqrstuvwxyz %s"}`, `{"x":{"y":["%s"]}}`, `{"%s":1}`, `{"x":{"%s":1}}`, `"%s"`} {
			text := fmt.Sprintf(wrapping, bytes)
			m := readComplete(t, text)
			assert.True(t, m.InvalidUTF8, "%q", text)
			assert.True(t, read(t, text, JSON).Summary.InvalidUTF8, "%q", text)
		}
	}
	m := readComplete(t, "{\"id\":\"f\xfcr\",\"method\":\"f\\u00fcr\xfc\"}")
	assert.Equal(t, "f\ufffdr", m.Text(m.ID))
	assert.Equal(t, "für\ufffd", m.Text(m.Method))
	assert.True(t, m.Is(m.ID, "f\ufffdr"))
	assert.True(t, m.RequestID().Equal(StringID("f\xfcr")))
}

// Every sequence of up to three bytes that is not ASCII, against the standard
// library.
func TestUTF8OfUpToThreeBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var r Reader
	check := func(bytes string) {
		text := `"` + bytes + `"`
		r.Reset(text, JSON)
		for r.Next() {
			if m := r.Message(); m.State != Complete || m.InvalidUTF8 == (strings.ToValidUTF8(bytes, "") == bytes) {
				t.Fatalf("%q: state %d, invalid %t", bytes, m.State, m.InvalidUTF8)
			}
		}
	}
	for a := 0x80; a < 0x100; a++ {
		check(string([]byte{byte(a)}))
		for b := 0x80; b < 0x100; b++ {
			check(string([]byte{byte(a), byte(b)}))
			check(string([]byte{byte(a), byte(b), 'x'}))
			for c := 0x80; c < 0x100; c++ {
				check(string([]byte{byte(a), byte(b), byte(c)}))
				check("工" + string([]byte{byte(a), byte(b), byte(c)}) + "具  ")
			}
		}
	}
}

func TestDepth(t *testing.T) {
	nest := func(open, inner, close string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(close, n)
	}
	for name, c := range map[string]struct {
		text string
		want State
	}{
		"arrays, most":               {nest(`[`, ``, `]`, MaxDepth), Complete},
		"arrays, one more":           {nest(`[`, ``, `]`, MaxDepth+1), TooDeep},
		"objects, most":              {nest(`{"a":`, `0`, `}`, MaxDepth), Complete},
		"objects, one more":          {nest(`{"a":`, `0`, `}`, MaxDepth+1), TooDeep},
		"params, most":               {`{"params":` + nest(`[`, `{}`, `]`, MaxDepth-2) + `}`, Complete},
		"params, one more":           {`{"params":` + nest(`[`, `{}`, `]`, MaxDepth-1) + `}`, TooDeep},
		"meta, most":                 {`{"params":{"_meta":{"x":` + nest(`{"a":`, `[]`, `}`, MaxDepth-4) + `}}}`, Complete},
		"meta, one more":             {`{"params":{"_meta":{"x":` + nest(`{"a":`, `[]`, `}`, MaxDepth-3) + `}}}`, TooDeep},
		"batch, most":                {`[0,{"id":` + nest(`[`, ``, `]`, MaxDepth-2) + `}]`, Complete},
		"batch, one more":            {`[0,{"id":` + nest(`[`, ``, `]`, MaxDepth-1) + `}]`, TooDeep},
		"only opened":                {strings.Repeat(`[`, MaxDepth), Cut},
		"only opened, one more":      {strings.Repeat(`[`, 4*MaxDepth), TooDeep},
		"closed by the wrong one":    {strings.Repeat(`[`, 65) + `}`, Malformed},
		"closed by the wrong one, 2": {strings.Repeat(`{"a":`, 129) + `0]`, Malformed},
		"wrong one after a word":     {strings.Repeat(`[`, 64) + `{"a":` + nest(`[`, `0`, `]`, 64) + `]`, Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want == Complete, json.Valid([]byte(c.text)))
			assert.Equal(t, c.want, read(t, c.text, JSON).Summary.State)
		})
	}
}

// Documents that nest in every mixture around the widths of a machine word.
func TestDepthAroundWords(t *testing.T) {
	for n := range 200 {
		for kind := range 4 {
			var open, closing string
			for i := range n {
				if (i*7+kind)%4 < kind {
					open, closing = open+`{"a":`, `}`+closing
				} else {
					open, closing = open+`[`, `]`+closing
				}
			}
			text := `{"x":` + open + `0` + closing + `,"id":5}`
			m := readComplete(t, text)
			require.True(t, m.RequestID().Equal(NumberID("5")), text)
			if n > 0 {
				require.Equal(t, Malformed, readOne(t, `{"x":`+open+`0`+closing[:n-1]+`;`).State)
			}
		}
	}
}
