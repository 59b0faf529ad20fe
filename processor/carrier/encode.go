package carrier

import (
	"encoding/base64"
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// appendJSON appends v as JSON. It stops soon after limit bytes: what is cut
// off then reads as cut. Numbers keep their value and bytes become base64.
func appendJSON(dst []byte, v pcommon.Value, limit int) []byte {
	return appendValue(dst, v, limit, 0)
}

func appendValue(dst []byte, v pcommon.Value, limit, depth int) []byte {
	if len(dst) > limit || depth > jsonrpc.MaxDepth {
		return dst
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return appendString(dst, v.Str())
	case pcommon.ValueTypeBool:
		return strconv.AppendBool(dst, v.Bool())
	case pcommon.ValueTypeInt:
		return strconv.AppendInt(dst, v.Int(), 10)
	case pcommon.ValueTypeDouble:
		f := v.Double()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return append(dst, "null"...)
		}
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	case pcommon.ValueTypeBytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Bytes().AsRaw())
		return append(dst, '"')
	case pcommon.ValueTypeMap:
		dst = append(dst, '{')
		sep := false
		for key, value := range v.Map().All() {
			if sep {
				dst = append(dst, ',')
			}
			sep = true
			dst = appendString(dst, key)
			dst = append(dst, ':')
			dst = appendValue(dst, value, limit, depth+1)
			if len(dst) > limit {
				return dst
			}
		}
		return append(dst, '}')
	case pcommon.ValueTypeSlice:
		dst = append(dst, '[')
		for i, value := range v.Slice().All() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, value, limit, depth+1)
			if len(dst) > limit {
				return dst
			}
		}
		return append(dst, ']')
	default:
		return append(dst, "null"...)
	}
}

// appendString appends s as a JSON string (RFC 8259 section 7). Bytes that are
// not UTF-8 are kept; the reader notes them.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		if c == '"' || c == '\\' {
			dst = append(dst, '\\', c)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		start = i + 1
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
