package jsonrpc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDigest(t *testing.T) {
	key := NewDigestKey()
	for _, equal := range [][]string{
		{`{"a":1,"b":[1,2,{"c":null}]}`, ` { "b" : [ 1 , 2 , { "c" : null } ] , "a" : 1 } `, `{"\u0062":[1,2,{"c":null}],"a":1}`},
		{`"a\u0062\n\ud83d\ude00"`, `"\u0061b\u000a😀"`},
		{`{}`, ` { } `},
		{`[]`, `[ ]`},
		{`true`, ` true `},
		{`{"a":{"b":{"c":[]}},"d":""}`, `{"d":"","a":{"b":{"c":[]}}}`},
	} {
		for _, raw := range equal {
			assert.NotZero(t, Digest(raw, key), raw)
			assert.Equal(t, Digest(equal[0], key), Digest(raw, key), raw)
		}
	}
	different := []string{
		`{}`, `[]`, `""`, `null`, `0`, `1`, `1.0`, `"1"`, `true`, `"true"`, `[1]`, `[1,2]`, `[2,1]`, `[[1],2]`, `[[1,2]]`, `[[],[]]`, `[[[]]]`,
		`{"a":1}`, `{"a":2}`, `{"b":1}`, `{"a":"1"}`, `{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":{"b":2}}`, `{"a":{},"b":2}`, `[{"a":1},{"b":2}]`,
		`[{"b":2},{"a":1}]`, `{"a":[]}`, `{"a":{}}`, `{"a":null}`, `["a",1]`, `{"":""}`, `{"a":1,"c":{"b":2}}`, `{"a":1,"a":1}`,
	}
	seen := map[uint64]string{}
	for _, raw := range different {
		d := Digest(raw, key)
		assert.Empty(t, seen[d], raw)
		seen[d] = raw
	}
	assert.NotEqual(t, Digest(`{"a":1}`, key), Digest(`{"a":1}`, NewDigestKey()))
	for _, broken := range []string{``, `{`, `[`, `{"a`, `{"a":`, `[1,`, `}`, `]`, `,`, `{"a"}`, "\x00"} {
		assert.NotPanics(t, func() { Digest(broken, key) }, broken)
	}
	for n := chunk - 4; n < 3*chunk; n++ {
		plain := strings.Repeat("x", n) + "é"
		assert.Equal(t, Digest(`"`+plain+`"`, key), Digest(`"\u0078`+plain[1:]+`"`, key), n)
	}
	deep := strings.Repeat(`[`, 5_000) + strings.Repeat(`]`, 5_000)
	assert.NotZero(t, Digest(deep, key))

	arguments := `{"query":"caf\u00e9","limit":10,"filter":{"tags":["a","b"],"since":"2026-01-01"}}`
	assert.Zero(t, testing.AllocsPerRun(50, func() { Digest(arguments, key) }))
}
