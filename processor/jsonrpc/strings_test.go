package jsonrpc

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTextDecodes(t *testing.T) {
	for _, raw := range validValues {
		if raw[0] != '"' {
			continue
		}
		var want string
		require.NoError(t, json.Unmarshal([]byte(raw), &want))
		m := readComplete(t, `{"id":`+raw+`}`)
		assert.Equal(t, want, m.Text(m.ID), raw)
		assert.Equal(t, want, DecodeString(raw), raw)
		assert.True(t, m.Is(m.ID, want), raw)
		assert.False(t, m.Is(m.ID, want+"x"), raw)
		assert.False(t, m.Is(m.ID, "x"+want), raw)
		if want != "" {
			assert.False(t, m.Is(m.ID, want[:len(want)-1]), raw)
			assert.False(t, m.Is(m.ID, ""), raw)
		}
	}
}

func TestTextOfWhatIsNoString(t *testing.T) {
	m := readComplete(t, `{"id":7,"method":null,"params":{},"result":["a"]}`)
	for _, v := range []Value{m.ID, m.Method, m.ParamsValue, m.ResultValue, m.ErrorValue} {
		assert.Empty(t, m.Text(v))
		assert.False(t, m.Is(v, ""))
	}
	m = readOne(t, `{"method":"tools/ca`)
	assert.Empty(t, m.Text(m.Method))
	assert.False(t, m.Is(m.Method, "tools/ca"))
	assert.Equal(t, `"tools/ca`, m.Raw(m.Method))
	assert.Equal(t, "tools/ca", DecodeString(m.Raw(m.Method)))
}

func TestDecodeStringThatIsCut(t *testing.T) {
	for raw, want := range map[string]string{
		``: "", `"`: "", `a`: "a", `"a`: "a", `"a\`: "a", `"a\u`: "a", `"a\u12`: "a", `"a\"`: "a", `"a\\`: `a\`, `"\ud83d`: "", `"\ud83d\`: "", `"\ud83d\u`: "", `"\ud83da`: "\ufffda",
		"\"a\xe5\xb7": "a", "\"a\xe5\xb7\"": "a\ufffd\ufffd", "\"a\xff": "a\ufffd",
	} {
		assert.Equal(t, want, DecodeString(raw), "%q", raw)
	}
	const raw = `"a\n\u00e9é工\ud83d\ude00😀\\\"\/z"`
	whole := DecodeString(raw)
	for n := range len(raw) {
		assert.True(t, strings.HasPrefix(whole, DecodeString(raw[:n])), "%q", raw[:n])
	}
}

// Special characters at every distance from the quotes, so that every step of
// the search for them is taken.
func TestSpecialCharactersEverywhere(t *testing.T) {
	for _, special := range []string{`\n`, `\u00e9`, "é", "工", "😀", "\x7f", "工具工具工具", "\xff", "\u0080", "!", "#", "[", "]", "^"} {
		for before := range 70 {
			for _, after := range []int{0, 1, 7, 8, 31, 32, 40} {
				raw := `"` + strings.Repeat("x", before) + special + strings.Repeat("y", after) + `"`
				var want string
				require.NoError(t, json.Unmarshal([]byte(raw), &want))
				m := readComplete(t, `{"id":`+raw+`,"x":[`+raw+`]}`)
				require.Equal(t, want, m.Text(m.ID), raw)
				require.Equal(t, special == "\xff", m.InvalidUTF8, raw)
			}
		}
	}
	for _, special := range []string{"\x00", "\x1f", "\n", `\x`, `\u00zz`} {
		for before := range 70 {
			raw := `"` + strings.Repeat("x", before) + special + `yyyyyyyyyyyyyyyy"`
			require.Equal(t, Malformed, readOne(t, `{"id":`+raw+`}`).State, raw)
			require.Equal(t, Malformed, readOne(t, `{"x":[`+raw+`]}`).State, raw)
		}
	}
}

func TestUTF8AgainstStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	pieces := []string{"a", "abcdefgh", "é", "ж", "工", "具", "\ud7ff", "\ue000", "\uffff", "😀", "\xff", "\x80", "\xe0", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x9f", "\xf4\x90\x80\x80", "\xc0\x80"}
	for range 20_000 {
		var sb strings.Builder
		for range r.IntN(20) {
			sb.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := sb.String()
		m := readComplete(t, `{"id":"`+text+`"}`)
		require.Equal(t, strings.ToValidUTF8(text, "") != text, m.InvalidUTF8, "%q", text)
		var want string
		require.NoError(t, json.Unmarshal([]byte(`"`+text+`"`), &want))
		require.Equal(t, want, m.Text(m.ID), "%q", text)
	}
}
