package carrier

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

const encodingName = "http.response.header.content-encoding"

// coders undo what the decoder has to.
var coders = map[string]func(io.Writer) io.WriteCloser{
	"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"zlib": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		return z
	},
	"raw deflate": func(w io.Writer) io.WriteCloser {
		f, err := flate.NewWriter(w, flate.DefaultCompression)
		if err != nil {
			panic(err)
		}
		return f
	},
}

// encode returns text in the content coding called name.
func encode(t testing.TB, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := coders[name](&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// declared is a content-encoding header.
func declared(coding string) map[string]any { return map[string]any{encodingName: []any{coding}} }

// varied is a text that compresses badly, so that a part of it holds something.
func varied() string {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"content":[`)
	seed := uint32(1)
	for range 4000 {
		seed = seed*1664525 + 1013904223
		b.WriteString(`"` + string(rune('a'+seed>>27)) + string(rune('a'+seed<<5>>27)) + `",`)
	}
	b.WriteString(`"z"]}}`)
	return b.String()
}

func TestContentCodings(t *testing.T) {
	for _, text := range []string{answer, streamOne, "", "not JSON at all", varied()} {
		for name, header := range map[string]string{"gzip": "gzip", "zlib": "deflate", "zstd": "zstd", "raw deflate": "deflate"} {
			coded := encode(t, name, text)
			requireBody(t, verdict.Whole, text, body(t, coded, declared(header)))
			requireBody(t, verdict.Whole, text, body(t, coded, declared(" "+strings.ToUpper(header))))
			requireBody(t, verdict.Whole, text, body(t, string(coded), declared(header)))
			if len(coded) > 8 { // what is shorter may be a word
				requireBody(t, verdict.Whole, text, body(t, base64.StdEncoding.EncodeToString(coded), declared(header)))
			}
			if name != "raw deflate" { // which nothing tells
				requireBody(t, verdict.Whole, text, body(t, coded, nil))
			}
		}
	}
}

func TestCodingUndoneByTheRecorder(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "zstd", "br", "compress", "gzip, br"} {
		requireBody(t, verdict.Whole, answer, body(t, answer, declared(coding)))
		requireBody(t, verdict.Whole, streamOne, body(t, streamOne, declared(coding)))
		requireBody(t, verdict.Whole, "<html></html>", body(t, "<html></html>", declared(coding)))
	}
}

func TestOpaque(t *testing.T) {
	for name, raw := range map[string][]byte{
		"brotli":        {0x5b, 0x19, 0x1e, 0xc1, 0x8c, 0xd4, 0xff, 0x80},
		"binary":        {0, 1, 2, 3},
		"gzip header":   {0x1f, 0x8b, 8, 0},
		"broken gzip":   append(encode(t, "gzip", answer)[:12], 0xff, 0xff, 0xff, 0xff),
		"broken zstd":   {0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff, 0xff},
		"pack200 or so": []byte("\xca\xfe\xd0\x0d\x00\x00"),
	} {
		b := body(t, raw, declared("br"))
		require.Equal(t, verdict.Opaque, b.Capture, name)
		require.Empty(t, b.Text, name)
	}
}

// TestCutCompressed: what the recorder cut is read as far as it goes.
func TestCutCompressed(t *testing.T) {
	text := varied()
	for name, header := range map[string]string{"gzip": "gzip", "zlib": "deflate", "raw deflate": "deflate"} {
		coded := encode(t, name, text)
		b := body(t, coded[:len(coded)*3/4], declared(header))
		require.Equal(t, verdict.Cut, b.Capture, name)
		require.Greater(t, len(b.Text), 1000, name)
		require.True(t, strings.HasPrefix(text, b.Text), name)

		b = body(t, coded[:len(coded)-1], declared(header))
		require.Equal(t, verdict.Cut, b.Capture, name)
	}
}

func TestSizeOfCompressed(t *testing.T) {
	coded := encode(t, "gzip", answer)
	// Sizes are those on the wire. Of a coding that was found out only, they are
	// still those of the bytes.
	b := body(t, coded, map[string]any{"http.response.body.size": len(coded)})
	requireBody(t, verdict.Whole, answer, b)
	require.True(t, b.Entire)
	b = body(t, coded, map[string]any{"http.response.body.size": len(coded), encodingName: "gzip"})
	requireBody(t, verdict.Whole, answer, b)
}

// TestBombs: of what is small and becomes large no more is made than the limit
// allows.
func TestBombs(t *testing.T) {
	const large = 256 * maxBytes
	for _, name := range []string{"gzip", "zstd"} {
		// Both formats allow to write one after the other.
		bomb := bytes.Repeat(encode(t, name, strings.Repeat(" ", maxBytes)), large/maxBytes)

		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := body(t, bomb, nil)
		runtime.ReadMemStats(&after)
		require.Equal(t, verdict.TooLarge, got.Capture, name)
		require.Len(t, got.Text, maxBytes, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(large/4), name)
	}
}

func TestLimit(t *testing.T) {
	for _, v := range []any{
		strings.Repeat(" ", maxBytes+1), []byte(strings.Repeat(" ", maxBytes+1)),
		[]any{strings.Repeat("x", maxBytes+1)},
		encode(t, "gzip", strings.Repeat(" ", maxBytes+1)),
	} {
		b := body(t, v, nil)
		require.Equal(t, verdict.TooLarge, b.Capture)
		require.Len(t, b.Text, maxBytes)
	}
	for _, v := range []any{strings.Repeat(" ", maxBytes), encode(t, "gzip", strings.Repeat(" ", maxBytes))} {
		require.Equal(t, verdict.Whole, body(t, v, nil).Capture)
	}
}

func TestBase64(t *testing.T) {
	for name, encoding := range map[string]*base64.Encoding{
		"standard": base64.StdEncoding, "without padding": base64.RawStdEncoding, "of URLs": base64.URLEncoding, "of URLs, without padding": base64.RawURLEncoding,
	} {
		for _, text := range []string{answer, streamOne, `{"jsonrpc":"2.0","id":"` + strings.Repeat("\u00ff\u00fe", 40) + `"}`} {
			coded := encoding.EncodeToString([]byte(text))
			requireBody(t, verdict.Whole, text, body(t, coded, nil))
			requireBody(t, verdict.Whole, text, body(t, coded+"\n", nil))
			b := body(t, coded, map[string]any{"http.response.body.size": len(text)})
			require.True(t, b.Entire, "%s: the size is that of the body", name)
			require.Equal(t, verdict.Cut, body(t, coded, map[string]any{"http.response.body.size": len(text) + 1}).Capture, name)
		}
	}
	for n := 8; n < 60; n++ {
		coded := base64.StdEncoding.EncodeToString([]byte(answer))[:n]
		b := body(t, coded, nil)
		require.True(t, strings.HasPrefix(answer, b.Text), "%d: %q", n, b.Text)
	}
	// Words that happen to be of its alphabet.
	for _, text := range []string{"Accepted", "NotFound", "Unauthorized", "eyJhbGciOiJIUzI1NiJ9.e30.x", "a b c d e f g h"} {
		requireBody(t, verdict.Whole, text, body(t, text, nil))
	}
}

func TestJSONStringInJSON(t *testing.T) {
	quoted, err := json.Marshal(answer)
	require.NoError(t, err)
	requireBody(t, verdict.Whole, answer, body(t, string(quoted), nil))
	stream, err := json.Marshal(streamOne)
	require.NoError(t, err)
	requireBody(t, verdict.Whole, streamOne, body(t, string(stream), nil))

	b := body(t, string(quoted[:strings.Index(string(quoted), "sult")]), nil)
	requireBody(t, verdict.Cut, `{"jsonrpc":"2.0","id":1,"re`, b)

	// Quotes around text that is not escaped: what looks like escapes is none.
	requireBody(t, verdict.Whole, answer, body(t, `"`+answer+`"`, nil))
	requireBody(t, verdict.Cut, answer[:20], body(t, `"`+answer[:20], nil))
	const broken = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"\"}]}}`
	requireBody(t, verdict.Whole, broken, body(t, `"`+broken+`"`, nil))

	// Only once, and only if there is a body in it.
	twice, err := json.Marshal(string(quoted))
	require.NoError(t, err)
	requireBody(t, verdict.Whole, string(twice), body(t, string(twice), nil))
	for _, text := range []string{`"text"`, `""`, `"`, `"{`} {
		require.Contains(t, []string{text, "{"}, body(t, text, nil).Text)
	}
}

// TestAppendJSON holds what is made of structured values against encoding/json.
func TestAppendJSON(t *testing.T) {
	for _, raw := range []any{
		nil, true, false, int64(0), int64(math.MaxInt64), int64(math.MinInt64), 1.5, -0.25, 1e300, 5e-324, 1e21,
		"", "text", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "ü漢\U0001F600\u2028\u2029<>&",
		[]any{},
		[]any{int64(1), "two", nil, []any{[]any{}}},
		map[string]any{},
		map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": nil}}}, "\"\n": "x", "": int64(1)},
	} {
		v := pcommon.NewValueEmpty()
		require.NoError(t, v.FromRaw(raw))
		text := appendJSON(nil, v, math.MaxInt32)
		require.True(t, json.Valid(text), "%s", text)
		want, err := json.Marshal(raw)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(text))
	}
}

func TestAppendJSONBytesAndOddNumbers(t *testing.T) {
	v := pcommon.NewValueSlice()
	v.Slice().AppendEmpty().SetEmptyBytes().FromRaw([]byte{0, 255, 7})
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		v.Slice().AppendEmpty().SetDouble(f)
	}
	v.Slice().AppendEmpty().SetDouble(1)
	require.Equal(t, `["AP8H",null,null,null,1]`, string(appendJSON(nil, v, 1000)))
}

// TestAppendJSONNumbers: ids keep their value.
func TestAppendJSONNumbers(t *testing.T) {
	for _, f := range []float64{1, -1, 0.1, 9007199254740991, 1e-7, 123456789012345680, math.MaxFloat64} {
		var back float64
		require.NoError(t, json.Unmarshal(appendJSON(nil, pcommon.NewValueDouble(f), 1000), &back))
		require.Equal(t, f, back) //nolint:testifylint // the very same
	}
	require.Equal(t, "9007199254740993", string(appendJSON(nil, pcommon.NewValueInt(9007199254740993), 1000)))
}

func TestAppendJSONStopsSoon(t *testing.T) {
	v := pcommon.NewValueSlice()
	for range 10_000 {
		v.Slice().AppendEmpty().SetStr("0123456789")
	}
	text := appendJSON(nil, v, 1000)
	require.Greater(t, len(text), 1000)
	require.Less(t, len(text), 1100)
}

// TestDeepStructures: nested deeper than is read, a structure reads as too deep
// and not as broken.
func TestDeepStructures(t *testing.T) {
	for _, depth := range []int{jsonrpc.MaxDepth, jsonrpc.MaxDepth + 1, 2 * jsonrpc.MaxDepth} {
		v := pcommon.NewValueSlice()
		inner := v
		for range depth - 1 {
			inner = inner.Slice().AppendEmpty()
			inner.SetEmptySlice()
		}
		var r jsonrpc.Reader
		r.Reset(string(appendJSON(nil, v, math.MaxInt32)), jsonrpc.JSON)
		for r.Next() {
		}
		want := jsonrpc.Complete
		if depth > jsonrpc.MaxDepth {
			want = jsonrpc.TooDeep
		}
		require.Equal(t, want, r.Summary().State, depth)
	}
}
