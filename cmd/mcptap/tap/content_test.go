package tap

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"
)

func pack(t *testing.T, plain string, make func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	w := make(&b)
	if _, err := io.WriteString(w, plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func packGzip(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
func packZlib(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }
func packRaw(w io.Writer) io.WriteCloser {
	f, _ := flate.NewWriter(w, flate.DefaultCompression)
	return f
}

func TestRender(t *testing.T) {
	const json, limit = `{"jsonrpc":"2.0","id":1,"result":{}}`, 1000
	gz := pack(t, json, packGzip)
	long := strings.Repeat("0123456789", 1000)
	incompressible := func() string {
		b := make([]byte, 3000)
		x := uint32(1)
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = 'a' + byte(x>>24)%26
		}
		return string(b)
	}()
	packed := pack(t, incompressible, packGzip)

	for name, c := range map[string]struct {
		data      []byte
		size      int64
		encoding  string
		mediaType string
		want      string
		text, cut bool
	}{
		"json":                      {[]byte(json), 0, "", "application/json", json, true, false},
		"identity":                  {[]byte(json), 0, "identity", "application/json", json, true, false},
		"no type":                   {[]byte(json), 0, "", "", json, true, false},
		"empty":                     {nil, 0, "", "image/png", "", true, false},
		"gzip":                      {gz, 0, "gzip", "application/json", json, true, false},
		"x-gzip, upper case":        {gz, 0, "X-GZIP", "application/json", json, true, false},
		"zlib":                      {pack(t, json, packZlib), 0, "deflate", "application/json", json, true, false},
		"bare deflate":              {pack(t, json, packRaw), 0, "deflate", "application/json", json, true, false},
		"twice":                     {pack(t, string(gz), packZlib), 0, "gzip, deflate", "application/json", json, true, false},
		"gzip that is not":          {[]byte(json), 0, "gzip", "application/json", json, true, false},
		"gzip broken off":           {gz[:len(gz)-9], 0, "gzip", "application/json", json, true, false},
		"unknown coding":            {[]byte("\x8b\x80"), 0, "br", "application/json", "\x8b\x80", false, false},
		"gzip under an unknown one": {gz, 0, "br, gzip", "application/json", string(gz), false, false},
		"bomb":                      {pack(t, long, packGzip), 0, "gzip", "text/plain", long[:limit], true, true},
		"cut gzip":                  {packed[:1000], int64(len(packed)), "gzip", "text/plain", incompressible[:limit], true, true},
		"cut in a character":        {[]byte("ab\xe2\x82"), 5, "", "text/plain", "ab", true, true},
		"latin-1":                   {[]byte("caf\xe9"), 0, "", "text/plain; charset=iso-8859-1", "caf\xe9", false, false},
		"binary by its type":        {[]byte("abc"), 0, "", "application/octet-stream", "abc", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			if c.encoding != "" {
				h.Set("Content-Encoding", c.encoding)
			}
			if c.mediaType != "" {
				h.Set("Content-Type", c.mediaType)
			}
			size := max(c.size, int64(len(c.data)))
			got := render(captured{data: c.data, size: size, eof: true}, h, limit)
			if string(got.data) != c.want && !(name == "cut gzip" && strings.HasPrefix(c.want, string(got.data)) && len(got.data) > 500) {
				t.Errorf("data %q, want %q", got.data, c.want)
			}
			if got.text != c.text || got.cut != c.cut {
				t.Errorf("text %v cut %v, want %v %v", got.text, got.cut, c.text, c.cut)
			}
		})
	}
}

func TestTextual(t *testing.T) {
	for contentType, want := range map[string]bool{
		"application/json": true, "Application/JSON; charset=utf-8": true, "application/problem+json": true,
		"text/event-stream": true, "application/xml": true, "application/yaml": true, "application/x-www-form-urlencoded": true,
		"application/foo; charset=utf-8": true, "application/octet-stream": false, "image/png": false, "application/jsonp": false,
		"text/html;": true, "json": false,
	} {
		if got := textual(contentType); got != want {
			t.Errorf("textual(%q) = %v", contentType, got)
		}
	}
}

func TestCaptureNeverHoldsMoreThanItsLimit(t *testing.T) {
	for _, limit := range []int{1, 100, 600, 4096, 65536} {
		c := capture{limit: limit}
		for range 500 {
			c.saw(bytes.Repeat([]byte("x"), 333), nil)
			if cap(c.buf) > limit {
				t.Fatalf("limit %d: %d bytes reserved", limit, cap(c.buf))
			}
		}
		got := c.seal()
		if got.size != 500*333 || len(got.data) != limit || !got.cut() {
			t.Errorf("limit %d: size %d, kept %d", limit, got.size, len(got.data))
		}
		c.saw([]byte("late"), io.EOF)
		if c.buf != nil {
			t.Error("recorded after the seal")
		}
	}
}
