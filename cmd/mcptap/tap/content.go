package tap

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
)

// content is a captured body in the form in which it is recorded.
type content struct {
	data []byte
	text bool
	cut  bool // the recorder kept less than there was
	// decoded says that a content coding was removed. The length of data can
	// then not be compared with the size on the wire.
	decoded bool
}

// attributes gives the body as a string if it is text and as bytes if it is
// not, as the semantic conventions ask; neither is base64.
func (c content) attributes(body, truncated attribute.Key) []attribute.KeyValue {
	value := attribute.ByteSliceValue(c.data)
	if c.text {
		value = attribute.StringValue(string(c.data))
	}
	attrs := []attribute.KeyValue{{Key: body, Value: value}}
	if c.cut || c.decoded {
		attrs = append(attrs, truncated.Bool(c.cut))
	}
	return attrs
}

// render removes the content coding, bounds the result and decides whether it
// is text.
func render(c captured, h http.Header, limit int) content {
	out := content{data: c.data, cut: c.cut()}
	if plain, more, ok := decode(c.data, codings(h), limit); ok {
		out.data, out.cut, out.decoded = plain, out.cut || more, true
	}
	if out.cut {
		out.data = trimPartialRune(out.data)
	}
	contentType := h.Get("Content-Type")
	out.text = len(out.data) == 0 || utf8.Valid(out.data) && (contentType == "" || textual(contentType))
	return out
}

// codings lists the content codings of a body in the order in which they were
// applied.
func codings(h http.Header) []string {
	var list []string
	for _, line := range h.Values("Content-Encoding") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
				list = append(list, name)
			}
		}
	}
	return list
}

// decode undoes the codings, the last applied first. A body that was cut or
// broken off gives as much as can be read of it; more says that the limit kept
// something out. ok is false if there is nothing to undo, if a coding is not
// known here, or if the body does not have the coding that its header names:
// such a body is recorded as it came.
func decode(data []byte, codings []string, limit int) (plain []byte, more, ok bool) {
	if len(codings) == 0 || len(data) == 0 {
		return nil, false, false
	}
	for i := len(codings) - 1; i >= 0; i-- {
		r, err := decoder(codings[i], data)
		if err != nil {
			return nil, false, false
		}
		data, err = io.ReadAll(io.LimitReader(r, int64(limit)+1))
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, false, false
		}
		if len(data) > limit {
			data, more = data[:limit], true
		}
	}
	return data, more, true
}

func decoder(coding string, data []byte) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return gzip.NewReader(bytes.NewReader(data))
	case "deflate":
		// The name means zlib, but there have always been servers that send
		// the bare stream.
		r := bufio.NewReader(bytes.NewReader(data))
		if head, err := r.Peek(2); err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			return zlib.NewReader(r)
		}
		return flate.NewReader(r), nil
	default:
		return nil, errors.New("unknown content coding")
	}
}

// trimPartialRune drops the beginning of a character whose end was cut off.
func trimPartialRune(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// textual tells text from binary by the rule of the HTTP semantic conventions.
func textual(contentType string) bool {
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil && mediaType == "" {
		mediaType, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		mediaType = strings.TrimSpace(mediaType)
	}
	if _, ok := params["charset"]; ok || strings.HasPrefix(mediaType, "text/") || mediaType == "application/x-www-form-urlencoded" {
		return true
	}
	for _, format := range []string{"json", "xml", "yaml"} {
		if strings.HasSuffix(mediaType, "/"+format) || strings.HasSuffix(mediaType, "+"+format) {
			return true
		}
	}
	return false
}

// secret reports whether an exchange belongs to the login rather than to MCP:
// OAuth sends its credentials in forms and answers with tokens and client
// secrets in JSON. MCP never sends forms. Neither body of such an exchange is
// recorded.
func secret(requestHeader http.Header, request, response content) bool {
	mediaType, _, _ := mime.ParseMediaType(requestHeader.Get("Content-Type"))
	if mediaType == "application/x-www-form-urlencoded" {
		return true
	}
	for _, body := range [][]byte{request.data, response.data} {
		if bytes.Contains(body, []byte(`"jsonrpc"`)) {
			continue
		}
		for _, member := range []string{`"access_token"`, `"refresh_token"`, `"id_token"`, `"client_secret"`} {
			if bytes.Contains(body, []byte(member)) {
				return true
			}
		}
	}
	return false
}
