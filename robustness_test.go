package mcpprocessor

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// hostileBody is a body that is made to be trouble.
type hostileBody struct {
	name, text string
}

func hostileBodies() []hostileBody {
	random := make([]byte, 4096)
	_, _ = rand.NewChaCha8([32]byte{'m', 'c', 'p'}).Read(random)
	result := func(value string) string { return `{"jsonrpc":"2.0","id":1,"result":` + value + `}` }
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	const big = 64 << 20
	return []hostileBody{
		{"empty", ""},
		{"blank", " \r\n\t"},
		{"zero byte", "\x00"},
		{"random", string(random)},
		{"random after a message", successBody + string(random)},
		{"all bytes", allBytes()},
		{"byte order marks", "\uFEFF\uFEFF" + successBody},
		{"UTF-16", "\xff\xfe{\x00\"\x00j\x00s\x00o\x00n\x00r\x00p\x00c\x00\"\x00"},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\xfe\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xc3\x28\xed\xa0\x80\"}]}}"},
		{"invalid UTF-8 in what is copied", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}"},
		{"lone surrogates", `{"jsonrpc":"2.0","id":"\ud800","error":{"code":1,"message":"\udc00\ud800"}}`},
		{"quote only", `"jsonrpc`},
		{"quoted quotes", `"\"\\\"jsonrpc\\\"\""`},
		{"backslashes", `{"jsonrpc":"` + strings.Repeat(`\\`, 1<<15)},
		{"escapes", `{"jsonrpc":"` + strings.Repeat(`\u006a`, 1<<16) + `"}`},
		{"huge number", `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 1<<18) + `,"error":{"code":1e999999999,"message":""}}`},
		{"huge exponent", `{"jsonrpc":"2.0","id":1e-999999999999999999999,"error":{"code":-1E+999999999999999999999,"message":""}}`},
		{"long id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1<<18) + `","result":{"content":[]}}`},
		{"same member often", `{"jsonrpc":"2.0",` + strings.Repeat(`"id":1,"result":{},`, 1<<14) + `"id":1}`},
		{"many members", `{` + strings.Repeat(`"m":0,`, 1<<15) + `"jsonrpc":"2.0","id":1,"result":{"content":[]}}`},
		{"array of depth 10000", nested(10_000)},
		{"array of depth 10001", nested(10_001)},
		{"array of depth 1000000", nested(1_000_000)},
		{"open arrays", strings.Repeat("[", 1_000_000)},
		{"object of depth 10001", objects(10_001)},
		{"object of depth 1000000", objects(1_000_000)},
		{"deep result", result(`{"content":[],"structuredContent":` + nested(9_998) + `}`)},
		{"too deep a result", result(`{"content":[],"structuredContent":` + nested(10_001) + `}`)},
		{"deep params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":` + objects(10_001) + `}}`},
		{"batch of 100000", "[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 99_999) + `{"jsonrpc":"2.0","id":2,"method":"ping"}]`},
		{"100000 answers", "[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"result":{}},`, 99_999) + `{"jsonrpc":"2.0","id":2,"result":{}}]`},
		{"100000 values", strings.Repeat(`{"jsonrpc":"2.0","id":1,"error":{"code":0}}`+"\n", 100_000)},
		{"batch of nothing", "[" + strings.Repeat("0,", 1<<18) + "0]"},
		{"100000 events", strings.Repeat("data: "+`{"jsonrpc":"2.0","method":"x"}`+"\n\n", 100_000) + "data: " + successBody + "\n\n"},
		{"100000 lines of data", "data: " + `{"jsonrpc":"2.0","id":1,` + "\n" + strings.Repeat("data: \n", 100_000) + "data: " + `"result":{}}` + "\n\n"},
		{"100000 empty events", strings.Repeat("data:\r\r", 100_000)},
		{"one endless line", "data: " + strings.Repeat("x", 4<<20) + "jsonrpc"},
		{"8 MiB of space", strings.Repeat(" ", big/8) + `{"jsonrpc":"2.0"}`},
		{"64 MiB of text in a result", result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", big) + `"}]}`)},
		{"4 MiB of brackets", `{"jsonrpc":` + strings.Repeat("[", big/16)},
		{"gzip bomb", compressed(strings.Repeat("\x00jsonrpc", 5<<17))},
		{"gzip of gzip", compressed(compressed(successBody))},
		{"gzip cut", compressed(string(random))[:2000]},
		{"gzip header", "\x1f\x8b\x08"},
		{"zstd header", "\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
		{"zlib header", "\x78\x9cjsonrpc"},
		{"base64 of base64", base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(successBody))))},
		{"base64 of random", base64.StdEncoding.EncodeToString(random)},
		{"truncation marks", `{"jsonrpc":"2.0"...[truncated]...` + strings.Repeat("...", 1000)},
	}
}

func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

func compressed(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

// TestHostileBodies puts bodies that are trouble on each side of spans and into
// log records.
func TestHostileBodies(t *testing.T) {
	in := start(t, "")
	for _, body := range hostileBodies() {
		t.Run(body.name, func(t *testing.T) {
			td := ptrace.NewTraces()
			service := newService(td, "hostile")
			add := func(contentType, encoding string) pcommon.Map {
				span := service.AppendEmpty()
				post(span, callBody, successBody, 200)
				a := span.Attributes()
				a.PutStr("http.request.header.mcp-session-id", "s")
				putIfSet(a, "http.response.header.content-type", contentType)
				putIfSet(a, "http.response.header.content-encoding", encoding)
				return a
			}
			ld := plog.NewLogs()
			all := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()

			both := add("", "")
			both.PutStr(requestBodyAttribute, body.text)
			both.PutStr(responseBodyAttribute, body.text)
			all.AppendEmpty().Body().SetStr(body.text)
			if len(body.text) < 256<<10 { // the race detector takes its time
				add("application/json", "").PutStr(requestBodyAttribute, body.text)
				add("application/json", "").PutStr(responseBodyAttribute, body.text)
				add("text/event-stream", "").PutStr(responseBodyAttribute, body.text)
				add("", "br").PutEmptyBytes(responseBodyAttribute).FromRaw([]byte(body.text))
				add("", "gzip").PutStr(responseBodyAttribute, compressed(body.text))
				add("", "deflate").PutStr(requestBodyAttribute, body.text)
				all.AppendEmpty().Body().SetEmptyBytes().FromRaw([]byte(body.text))
				all.AppendEmpty().Attributes().PutStr(responseBodyAttribute, body.text)
			}
			requireSpansUnchanged(t, in, td)
			requireRecordsUnchanged(t, in, ld)
		})
	}
	in.requireQuiet(warnsOfAbsentBodies)
}

// TestLargeBodiesRead reads 64 MiB, as the settings allow.
func TestLargeBodiesRead(t *testing.T) {
	in := start(t, "bodies: {max_bytes: 268435456}")
	span := in.span(posted(callBody, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`+strings.Repeat("x", 64<<20)+`"}]}}`))
	require.Equal(t, "TOOL_SUCCESS", outcomeOf(span.Attributes()))
	in.requireQuiet()
}

// readAttributes returns the names of the attributes that the carrier reads. They
// are taken from its source, so that none is forgotten.
func readAttributes(t *testing.T) (names []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("processor", "carrier", "names.go"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`"([a-z0-9_-]+(?:\.[a-z0-9_-]+)+)"`).FindAllSubmatch(source, -1) {
		names = append(names, string(m[1]))
	}
	require.Greater(t, len(names), 40)
	require.Contains(t, names, "http.response.status_code")
	require.Contains(t, names, responseBodyAttribute)
	return names
}

// wrongValues are values of each type that pdata has, none of which fits.
var wrongValues = map[string]func(pcommon.Value){
	"empty":        func(pcommon.Value) {},
	"string":       func(v pcommon.Value) { v.SetStr("\xff\x00 jsonrpc") },
	"empty string": func(v pcommon.Value) { v.SetStr("") },
	"bool":         func(v pcommon.Value) { v.SetBool(true) },
	"int":          func(v pcommon.Value) { v.SetInt(-1 << 63) },
	"double":       func(v pcommon.Value) { v.SetDouble(1e308) },
	"NaN":          func(v pcommon.Value) { v.SetDouble(nan()) },
	"bytes":        func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte("\xff\x00 jsonrpc")) },
	"empty bytes":  func(v pcommon.Value) { v.SetEmptyBytes() },
	"map": func(v pcommon.Value) {
		m := v.SetEmptyMap()
		m.PutEmpty("jsonrpc")
		m.PutDouble("id", nan())
		m.PutEmptyMap("result").PutEmptySlice("content").AppendEmpty().SetEmptyBytes()
		m.PutEmptyMap("error").PutEmptyMap("code")
	},
	"empty map":   func(v pcommon.Value) { v.SetEmptyMap() },
	"slice":       func(v pcommon.Value) { v.SetEmptySlice().AppendEmpty().SetEmptyMap().PutStr("jsonrpc", "") },
	"empty slice": func(v pcommon.Value) { v.SetEmptySlice() },
	"slice of slices": func(v pcommon.Value) {
		v.SetEmptySlice().AppendEmpty().SetEmptySlice().AppendEmpty().SetEmptySlice()
	},
	"deep map": func(v pcommon.Value) {
		m := v.SetEmptyMap()
		m.PutStr("jsonrpc", "2.0")
		for range 500 { // pdata takes time that grows with the square of it
			m = m.PutEmptyMap("result")
		}
	},
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// TestWrongTypes sets each attribute that is read to a value of each type, alone
// and all together, and the body of log records too.
func TestWrongTypes(t *testing.T) {
	names := readAttributes(t)
	for _, settings := range []string{"", "classification: {instrumented_spans: true}\nspan_status: failures\n" + allAttributes()} {
		in := start(t, settings)
		for kind, set := range wrongValues {
			td, ld := ptrace.NewTraces(), plog.NewLogs()
			service := newService(td, kind)
			all := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
			add := func(names ...string) {
				_, base := newSpan()
				post(base, callBody, failureBody, 200)
				base.Attributes().PutStr("http.request.header.mcp-method", "tools/call")
				for _, name := range names {
					v, _ := base.Attributes().GetOrPutEmpty(name)
					pcommon.NewValueEmpty().CopyTo(v)
					set(v)
				}
				for _, spanKind := range []ptrace.SpanKind{ptrace.SpanKindClient, ptrace.SpanKindServer, 99, -1} {
					span := service.AppendEmpty()
					base.CopyTo(span)
					span.SetKind(spanKind)
				}
				base.Attributes().CopyTo(all.AppendEmpty().Attributes())
			}
			for _, name := range names {
				add(name)
			}
			add(names...)
			set(all.AppendEmpty().Body())
			set(all.AppendEmpty().Attributes().PutEmpty("other"))
			t.Run(kind, func(t *testing.T) {
				if settings == "" {
					requireSpansUnchanged(t, in, td)
				} else {
					in.processTraces(td)
				}
				requireRecordsUnchanged(t, in, ld)
			})
		}
		in.requireQuiet(warnsOfAbsentBodies)
	}
}

// allAttributes is the setting that enables all attributes.
func allAttributes() string {
	var b strings.Builder
	b.WriteString("attributes:\n")
	for _, name := range attributeNames() {
		fmt.Fprintf(&b, "  %s: {enabled: true}\n", name)
	}
	return b.String()
}

// requireSpansUnchanged sends td through the processor and requires that nothing
// comes of it but attributes, events and links behind those that were there.
func requireSpansUnchanged(t *testing.T, in *instance, td ptrace.Traces) {
	t.Helper()
	before := ptrace.NewTraces()
	td.CopyTo(before)
	after := in.processTraces(td)
	was, is := spans(before), spans(after)
	require.Len(t, is, len(was))
	for i := range is {
		withoutAdded(t, is[i].Attributes(), was[i].Attributes().Len())
		blankLarge(was[i].Attributes(), is[i].Attributes())
		n := 0
		is[i].Events().RemoveIf(func(e ptrace.SpanEvent) bool {
			n++
			return n > was[i].Events().Len() && e.Name() == eventName
		})
		is[i].SetDroppedEventsCount(was[i].DroppedEventsCount())
		n = 0
		is[i].Links().RemoveIf(func(l ptrace.SpanLink) bool {
			n++
			return n > was[i].Links().Len() && attr(l.Attributes(), "mcp.link.type") != nil
		})
	}
	require.True(t, bytes.Equal(marshalTraces(t, before), marshalTraces(t, after)), "something else than the verdict has changed")
}

// requireRecordsUnchanged is requireSpansUnchanged for log records.
func requireRecordsUnchanged(t *testing.T, in *instance, ld plog.Logs) {
	t.Helper()
	before := plog.NewLogs()
	ld.CopyTo(before)
	after := in.processLogs(ld)
	was, is := records(before), records(after)
	require.Len(t, is, len(was))
	for i := range is {
		withoutAdded(t, is[i].Attributes(), was[i].Attributes().Len())
		blankLarge(was[i].Attributes(), is[i].Attributes())
		if is[i].Body().Type() == pcommon.ValueTypeStr && is[i].Body().Str() == was[i].Body().Str() {
			was[i].Body().SetStr("")
			is[i].Body().SetStr("")
		}
	}
	require.True(t, bytes.Equal(marshalLogs(t, before), marshalLogs(t, after)), "something else than the verdict has changed")
}

// blankLarge empties long strings that are the same in both maps: to write them to
// the wire takes long.
func blankLarge(was, is pcommon.Map) {
	for name, value := range is.All() {
		other, ok := was.Get(name)
		if ok && value.Type() == pcommon.ValueTypeStr && len(value.Str()) > 1<<20 && value.Equal(other) {
			value.SetStr("")
			other.SetStr("")
		}
	}
}

// withoutAdded removes from m what stands behind the first n attributes, which
// has to be what this processor writes.
func withoutAdded(t *testing.T, m pcommon.Map, n int) {
	t.Helper()
	i := 0
	m.RemoveIf(func(name string, v pcommon.Value) bool {
		if i++; i <= n {
			return false
		}
		known := isAttribute(name)
		require.True(t, known, "%s was added", name)
		require.LessOrEqual(t, len(v.AsString()), maxValueBytes, name)
		return true
	})
}
