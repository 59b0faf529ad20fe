package carrier

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// decoder turns the value of an attribute into the text of a body. It keeps
// its decompressors.
type decoder struct {
	gzip gzip.Reader
	zstd *zstd.Decoder
	json []byte
}

func (d *decoder) forget() {
	const keep = 64 << 10
	if cap(d.json) > keep {
		d.json = nil
	}
}

// body sets b to the body that value holds and returns the size in which it
// was recorded, -1 if that cannot be compared with a size on the wire.
func (d *decoder) body(b *verdict.Body, value pcommon.Value, encoding string, limit int) (recorded int) {
	raw := ""
	switch value.Type() {
	case pcommon.ValueTypeStr:
		raw = value.Str()
		recorded = len(raw)
	case pcommon.ValueTypeBytes:
		raw = string(value.Bytes().AsRaw())
		recorded = len(raw)
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		// The recorder parsed it; all that is left of the text is its meaning.
		d.json = appendJSON(d.json[:0], value, limit)
		raw = string(d.json)
		recorded = -1
	default:
		raw = value.AsString()
		recorded = -1
	}
	b.Capture, b.Text, b.Detached = verdict.Whole, raw, value.Type() != pcommon.ValueTypeStr
	if unwrapped := d.unwrap(b, encoding, limit); unwrapped >= 0 {
		recorded = unwrapped
	}
	if len(b.Text) > limit {
		b.Text = b.Text[:limit]
		b.Capture = verdict.TooLarge
	}
	return recorded
}

// unwrap undoes the content coding of b and, once, what a recorder wrapped: a
// JSON string that holds JSON, or base64. It returns the size before a
// recorder's wrapping, -1 if there was none.
func (d *decoder) unwrap(b *verdict.Body, encoding string, limit int) (size int) {
	size = -1
	text := b.Text
	if strings.HasPrefix(text, `{"`) && !binary(text) {
		return size // nearly all bodies
	}
	if readable(text) && !isMapText(text) {
		if strings.HasPrefix(text, `"`) {
			unquote(b)
		}
		return size
	}
	if d.decompress(b, encoding, limit) {
		return size
	}
	if raw, ok := fromBase64(text, limit); ok {
		b.Text = raw
		if !readable(raw) && !d.decompress(b, encoding, limit) {
			b.Text = text
			return -1
		}
		b.Detached = true
		return len(raw)
	}
	if binary(text) || isMapText(text) || encoding != "" && encoding != "identity" && text != "" && !plain(text) {
		b.Capture, b.Text = verdict.Opaque, ""
	}
	return size
}

// readable reports whether text is JSON or an event stream by its beginning. A
// compressed body may begin with any byte, so the bytes behind count too.
func readable(text string) bool {
	_, ok := jsonrpc.Sniff(text)
	return (ok || strings.HasPrefix(text, `"`)) && !binary(text)
}

// isContentCoding reports whether coding is one of HTTP's, and not the name of
// a character set or of the form in which a recorder keeps a body.
func isContentCoding(coding string) bool {
	switch coding {
	case "gzip", "deflate", "zstd", "br", "compress", "x-gzip":
		return true
	default:
		return false
	}
}

// binary reports whether text begins with bytes that no text has.
func binary(text string) bool {
	const beginning = 16
	if len(text) > beginning && !controls(text[:8]) && !controls(text[8:beginning]) {
		return false
	}
	for i := range min(len(text), beginning) {
		if c := text[i]; c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return true
		}
	}
	return false
}

// controls reports whether there are control characters in eight bytes.
func controls(text string) bool {
	const each01, each80 = 0x0101010101010101, 0x8080808080808080
	w := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
	return (w-' '*each01)&^w&each80 != 0
}

// isMapText reports whether text is the printed form of a map of some language,
// {id=1, method=tools/call}, which is a recorder's form and not the peer's.
func isMapText(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "{")
	if !ok {
		return false
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	return end > 0 && rest[end] == '='
}

// plain reports whether text is ASCII at its beginning, and so hardly the
// output of a compressor.
func plain(text string) bool {
	for i := range min(len(text), 64) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// unquote takes the text out of a JSON string that a recorder put it into, if
// what is in it is a body. Quotes around text that is not escaped are taken off.
func unquote(b *verdict.Body) {
	trimmed := strings.Trim(b.Text, " \t\r\n")
	end, closed := jsonrpc.EndOfString(trimmed)
	isString := !closed || end == len(trimmed)
	inner := strings.TrimSuffix(trimmed[1:], `"`)
	if isString {
		inner = jsonrpc.DecodeString(trimmed)
	}
	if _, ok := jsonrpc.Sniff(inner); !ok {
		return
	}
	if !closed || !isString && !strings.HasSuffix(trimmed, `"`) {
		cut(b)
	}
	b.Text, b.Detached = inner, true
}

// fromBase64 decodes text, if it is base64 with or without padding, standard
// or URL alphabet.
func fromBase64(text string, limit int) (string, bool) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	if len(text) < 8 || len(text) > limit/3*4+4 {
		return "", false
	}
	encoding := base64.RawStdEncoding
	for i := range len(text) {
		switch c := text[i]; {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '+', c == '/':
		case c == '-' || c == '_':
			encoding = base64.RawURLEncoding
		default:
			return "", false
		}
	}
	// A recorder that cuts leaves a group unfinished.
	if len(text)%4 == 1 {
		text = text[:len(text)-1]
	}
	raw, err := encoding.DecodeString(text)
	if err != nil {
		return "", false
	}
	return string(raw), true
}

// The first bytes of what compressors write: RFC 1952 2.3.1, RFC 8878 3.1.1.
const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// decompress undoes the content coding of b, declared or recognised by its
// first bytes, and reports whether it could.
func (d *decoder) decompress(b *verdict.Body, encoding string, limit int) bool {
	text := b.Text
	switch {
	case strings.HasPrefix(text, gzipMagic):
		if err := d.gzip.Reset(strings.NewReader(text)); err != nil {
			return false
		}
		return inflate(b, &d.gzip, limit)
	case strings.HasPrefix(text, zstdMagic):
		if d.zstd == nil {
			zd, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(64<<20))
			if err != nil {
				return false
			}
			d.zstd = zd
		}
		if err := d.zstd.Reset(strings.NewReader(text)); err != nil {
			return false
		}
		ok := inflate(b, d.zstd, limit)
		_ = d.zstd.Reset(nil)
		return ok
	case isZlib(text):
		if z, err := zlib.NewReader(strings.NewReader(text)); err == nil && inflate(b, z, limit) {
			return true
		}
	}
	if encoding == "deflate" {
		// RFC 9110 section 8.4.1.2: some send it without the zlib wrapper.
		return inflate(b, flate.NewReader(strings.NewReader(text)), limit)
	}
	return false
}

// isZlib reports whether text begins with a zlib header (RFC 1950 section 2.2).
func isZlib(text string) bool {
	return len(text) > 2 && text[0]&0x0f == 8 && text[0]>>4 <= 7 && (int(text[0])<<8|int(text[1]))%31 == 0
}

// inflate reads r into b, as far as the limit and one byte more.
func inflate(b *verdict.Body, r io.Reader, limit int) bool {
	var out strings.Builder
	_, err := io.Copy(&out, io.LimitReader(r, int64(limit)+1))
	switch {
	case err == nil:
	case out.Len() > 0 && errors.Is(err, io.ErrUnexpectedEOF):
		// The recorder cut the compressed bytes.
		cut(b)
	default:
		return false
	}
	b.Text, b.Detached = out.String(), true
	return true
}
