package carrier

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

const (
	maxBytes  = 1 << 20
	bodyName  = "http.response.body.content"
	session   = "http.request.header.mcp-session-id"
	answer    = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fine"}]}}`
	streamOne = "event: message\ndata: " + answer + "\n\n"
)

func newItem() *Item { return NewItems(1)[0] }

// defaults looks where the processor looks by default.
func defaults() Config {
	return Config{
		RequestAttributes:  DefaultRequestAttributes,
		ResponseAttributes: DefaultResponseAttributes,
		MessageAttributes:  DefaultMessageAttributes,
		LogPaths:           DefaultLogPaths,
		MaxBytes:           maxBytes,
	}
}

// read reads a span with these attributes. It has the sign of a session, unless
// it is given.
func read(t testing.TB, c Config, attributes map[string]any) *Item {
	t.Helper()
	span := ptrace.NewSpan()
	require.NoError(t, span.Attributes().FromRaw(attributes))
	if _, ok := attributes[session]; !ok {
		span.Attributes().PutStr(session, "s")
	}
	it := newItem()
	require.True(t, New(c).Span(span, it))
	return it
}

// body reads a span with this response body, recorded as v, and other attributes.
func body(t testing.TB, v any, more map[string]any) verdict.Body {
	t.Helper()
	attributes := map[string]any{bodyName: v}
	for name, value := range more {
		attributes[name] = value
	}
	return read(t, defaults(), attributes).Exchange.Response
}

// requireBody requires what was captured of a body and its text.
func requireBody(t testing.TB, capture verdict.Capture, text string, got verdict.Body) {
	t.Helper()
	require.Equal(t, capture, got.Capture)
	require.Equal(t, text, got.Text)
}

// sign reports whether there is a sign of MCP in a span with these attributes.
func sign(t testing.TB, c Config, attributes map[string]any) bool {
	t.Helper()
	span := ptrace.NewSpan()
	require.NoError(t, span.Attributes().FromRaw(attributes))
	return New(c).Span(span, newItem())
}

func TestSigns(t *testing.T) {
	c := defaults()
	require.False(t, sign(t, c, nil))
	require.False(t, sign(t, c, map[string]any{"http.request.method": "POST", "url.full": "https://a.test/mcp", "mcp.method.name": "tools/call"}))
	for _, header := range []string{"mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"} {
		for _, side := range []string{"request", "response"} {
			require.True(t, sign(t, c, map[string]any{"http." + side + ".header." + header: "x"}), header)
		}
	}
	require.True(t, sign(t, c, map[string]any{bodyName: answer}))
	require.True(t, sign(t, c, map[string]any{bodyName: []byte(answer)}))
	require.True(t, sign(t, c, map[string]any{bodyName: map[string]any{"jsonrpc": "2.0"}}))
	require.True(t, sign(t, c, map[string]any{bodyName: []any{1, map[string]any{"jsonrpc": "2.0"}}}))
	require.False(t, sign(t, c, map[string]any{bodyName: "{}"}))
	require.False(t, sign(t, c, map[string]any{bodyName: []any{map[string]any{"a": 1}, "jsonrpc"}}))
	require.True(t, sign(t, c, map[string]any{"mcp.outcome": 1}))

	c.InstrumentedSpans = true
	require.True(t, sign(t, c, map[string]any{"mcp.method.name": "tools/call"}))
	c.URLPaths = []string{"/mcp", "/api/*"}
	require.True(t, sign(t, c, map[string]any{"url.path": "/mcp"}))
	require.True(t, sign(t, c, map[string]any{"url.path": "/api/x"}))
	require.False(t, sign(t, c, map[string]any{"url.path": "/mcp/x"}))
	require.False(t, sign(t, c, map[string]any{"url.path": "/api"}))
}

func TestURL(t *testing.T) {
	for url, want := range map[string][2]string{
		"":                                     {"", ""},
		"https://a.test":                       {"/", ""},
		"https://a.test/":                      {"/", ""},
		"https://a.test/mcp":                   {"/mcp", ""},
		"https://a.test/mcp?x=1&y=/z?":         {"/mcp", "x=1&y=/z?"},
		"https://a.test/mcp#x?y":               {"/mcp", ""},
		"https://a.test/mcp?x#y":               {"/mcp", "x"},
		"https://a.test?x=1":                   {"", "x=1"},
		"https://a.test#x":                     {"", ""},
		"https://user:p@ss@a.test:8080/mcp":    {"/mcp", ""},
		"https://[::1]:80/mcp":                 {"/mcp", ""},
		"/mcp?x=1":                             {"/mcp", "x=1"},
		"https://a.test/mcp?to=https://b.test": {"/mcp", "to=https://b.test"},
	} {
		path, query := splitURL(url)
		require.Equal(t, want, [2]string{path, query}, url)
	}
}

func TestURLAttributes(t *testing.T) {
	for _, c := range []struct {
		attributes       map[string]any
		known, inSession bool
	}{
		{map[string]any{"url.full": "https://a.test/.well-known/oauth-authorization-server/mcp"}, true, false},
		{map[string]any{"url.path": "/.well-known/x"}, true, false},
		{map[string]any{"http.target": "/.well-known/x?y"}, true, false},
		{map[string]any{"url.full": "https://a.test/mcp?q=/.well-known/"}, false, false},
		{map[string]any{"url.full": "https://a.test/messages?x=1&sessionId=7"}, false, true},
		{map[string]any{"http.url": "https://a.test/messages?session_id=7#x"}, false, true},
		{map[string]any{"url.path": "/messages", "url.query": "sessionid=7"}, false, true},
		{map[string]any{"http.target": "/messages?sessionId"}, false, true},
		{map[string]any{"url.full": "https://a.test/messages?mysessionId=7"}, false, false},
		{map[string]any{"url.full": "https://a.test/sessionId=7"}, false, false},
		{map[string]any{"url.full": 7, "url.path": []any{"/.well-known/x"}}, true, false},
	} {
		ex := read(t, defaults(), c.attributes).Exchange
		require.Equal(t, c.known, ex.WellKnown, c.attributes)
		require.Equal(t, c.inSession, ex.SessionQuery, c.attributes)
		require.True(t, ex.HTTP, c.attributes)
	}
	require.False(t, read(t, defaults(), nil).Exchange.HTTP)
}

// TestNameTable finds each name in all spellings, and nothing that is close.
func TestNameTable(t *testing.T) {
	table := newTable(names)
	for _, n := range names {
		for _, spelling := range []string{n.name, spell(n.name, upper), spell(n.name, func(b byte) byte { return swap(b, '-', '_') }), spell(n.name, func(b byte) byte { return swap(b, '_', '-') })} {
			found := table.find(spelling)
			require.NotNil(t, found, spelling)
			require.Equal(t, n.field, found.field, spelling)
			require.Equal(t, n.rank, found.rank, spelling)
		}
		for _, other := range []string{n.name + "x", n.name[1:], n.name[:len(n.name)-1], "x" + n.name, spell(n.name, func(b byte) byte { return swap(b, '.', '_') })} {
			if table.find(other) != nil {
				require.Equal(t, n.name, other)
			}
		}
	}
	for _, other := range []string{"", ".", "http.request.header.MCP\xffSession-Id", "ＨＴＴＰ.method"} {
		require.Nil(t, table.find(other), other)
	}
}

func spell(s string, f func(byte) byte) string {
	b := []byte(s)
	for i := range b {
		b[i] = f(b[i])
	}
	return string(b)
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

func swap(b, from, to byte) byte {
	if b == from {
		return to
	}
	return b
}

func TestFirstNameInTheTableCounts(t *testing.T) {
	// In whatever order they stand on the item.
	for _, attributes := range [][2]string{{"http.response.status_code", "http.status_code"}, {"http.status_code", "http.response.status_code"}} {
		span := ptrace.NewSpan()
		span.Attributes().PutStr(session, "s")
		for _, name := range attributes {
			span.Attributes().PutInt(name, map[string]int64{"http.response.status_code": 200, "http.status_code": 500}[name])
		}
		it := newItem()
		require.True(t, New(defaults()).Span(span, it))
		require.Equal(t, 200, it.Exchange.Status)
	}
}

func TestBodyNamesOfTheSettings(t *testing.T) {
	c := Config{RequestAttributes: []string{"my-request", "other.request"}, ResponseAttributes: []string{"my.response"}, MaxBytes: maxBytes}
	carrier := New(c)
	for name, want := range map[string]bool{
		"my-request": true, "My_Request": true, "other.request": true, "my.response": true,
		"my.response.truncated": false, bodyName: false, "url.full": false, "": false,
	} {
		require.Equal(t, want, carrier.IsBody(name), name)
	}
	ex := read(t, c, map[string]any{"other.request": "second", "my_request": "first", "my.response": answer, "my.response.truncated": true}).Exchange
	require.Equal(t, "first", ex.Request.Text)
	require.Equal(t, verdict.Cut, ex.Response.Capture)
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		value any
		want  int
	}{{200, 200}, {"404", 404}, {" 404 ", 404}, {503.0, 503}, {"OK", 0}, {true, 0}, {[]any{"500"}, 500}, {nil, 0}, {map[string]any{}, 0}} {
		require.Equal(t, c.want, read(t, defaults(), map[string]any{"http.response.status_code": c.value}).Exchange.Status, "%v", c.value)
	}
}

func TestHeaders(t *testing.T) {
	for _, value := range []any{"tools/call", []any{"tools/call"}, []any{"tools/call", "other"}} {
		ex := read(t, defaults(), map[string]any{"http.request.header.mcp-method": value}).Exchange
		require.Equal(t, "tools/call", ex.MethodHeader)
		require.True(t, ex.Header)
	}
	for _, value := range []any{7, []any{}, []any{7}, nil, map[string]any{}} {
		ex := read(t, defaults(), map[string]any{"http.request.header.mcp-method": value}).Exchange
		require.Empty(t, ex.MethodHeader, "%v", value)
	}
	ex := read(t, defaults(), map[string]any{
		"http.response.header.mcp-session-id": "of the response", session: "of the request",
		"http.response.header.www-authenticate": "Bearer", "http.request.header.last-event-id": "7",
	}).Exchange
	require.Equal(t, "of the request", ex.SessionID)
	require.True(t, ex.Challenge)
	require.True(t, ex.LastEventID)
}

// TestMcpName undoes the form in which names that are not ASCII travel.
func TestMcpName(t *testing.T) {
	for value, want := range map[string]string{
		"lookup":                    "lookup",
		"":                          "",
		"=?base64?d8O8cmZlbA==?=":   "würfel",
		"=?BASE64?d8O8cmZlbA==?=":   "würfel",
		"=?base64??=":               "",
		"=?base64?d8O8cmZlbA==?":    "=?base64?d8O8cmZlbA==?",
		"=?base64?***?=":            "=?base64?***?=",
		"=?base64?":                 "=?base64?",
		"x=?base64?d8O8cmZlbA==?=":  "x=?base64?d8O8cmZlbA==?=",
		"=?utf-8?d8O8cmZlbA==?=":    "=?utf-8?d8O8cmZlbA==?=",
		"=?base64?d8O8cmZlbA==?==?": "=?base64?d8O8cmZlbA==?==?",
	} {
		require.Equal(t, want, read(t, defaults(), map[string]any{"http.request.header.mcp-name": value}).Exchange.NameHeader, value)
	}
}

func TestMediaType(t *testing.T) {
	for value, want := range map[string]verdict.MediaType{
		"":                                  verdict.NoMediaType,
		" ; charset=utf-8":                  verdict.NoMediaType,
		"application/json":                  verdict.MediaJSON,
		"Application/JSON; charset=utf-8":   verdict.MediaJSON,
		" application/json ":                verdict.MediaJSON,
		"application/problem+json":          verdict.MediaJSON,
		"text/event-stream":                 verdict.MediaEventStream,
		"TEXT/EVENT-STREAM;charset=utf-8":   verdict.MediaEventStream,
		"application/x-www-form-urlencoded": verdict.MediaForm,
		"text/html":                         verdict.MediaOther,
		"application/jsonp":                 verdict.MediaOther,
		"json":                              verdict.MediaOther,
	} {
		require.Equal(t, want, body(t, answer, map[string]any{"http.response.header.content-type": value}).Media, value)
	}
}

func TestSizes(t *testing.T) {
	const size, length = "http.response.body.size", "http.response.header.content-length"
	n := len(answer)
	for _, c := range []struct {
		name    string
		more    map[string]any
		capture verdict.Capture
		entire  bool
	}{
		{"unknown", nil, verdict.Whole, false},
		{"the same", map[string]any{size: n}, verdict.Whole, true},
		{"more", map[string]any{size: n + 1}, verdict.Cut, false},
		{"less, which cannot be", map[string]any{size: n - 1}, verdict.Whole, false},
		{"of the header", map[string]any{length: n + 1}, verdict.Cut, false},
		{"of the header as text in a list", map[string]any{length: []any{"9999"}}, verdict.Cut, false},
		{"the attribute counts before the header", map[string]any{size: n, length: n + 1}, verdict.Whole, true},
		{"by its old name", map[string]any{"http.response_content_length": n + 1}, verdict.Cut, false},
		{"of another side", map[string]any{"http.request.body.size": n + 1}, verdict.Whole, false},
		{"nonsense", map[string]any{size: "large"}, verdict.Whole, false},
		{"negative", map[string]any{size: -1}, verdict.Whole, false},
		{"before the content coding was undone", map[string]any{size: n + 1, "http.response.header.content-encoding": "gzip"}, verdict.Whole, false},
		{"without a coding", map[string]any{size: n + 1, "http.response.header.content-encoding": "identity"}, verdict.Cut, false},
		{"said to be cut", map[string]any{bodyName + ".truncated": true, size: n}, verdict.Cut, false},
		{"said not to be cut", map[string]any{bodyName + ".truncated": false, size: n}, verdict.Whole, true},
	} {
		b := body(t, answer, c.more)
		requireBody(t, c.capture, answer, b)
		require.Equal(t, c.entire, b.Entire, c.name)
	}
}

func TestAbsentAndEmpty(t *testing.T) {
	require.Equal(t, verdict.Absent, read(t, defaults(), nil).Exchange.Response.Capture)
	require.Equal(t, verdict.Absent, body(t, nil, nil).Capture)
	requireBody(t, verdict.Whole, "", body(t, "", nil))
	requireBody(t, verdict.Whole, "", body(t, []byte{}, nil))
	b := read(t, defaults(), map[string]any{"http.response.body.size": 0}).Exchange.Response
	require.Equal(t, verdict.Whole, b.Capture, "a body of no bytes needs no attribute")
	require.True(t, b.Entire)
	b = read(t, defaults(), map[string]any{"http.response.header.content-length": "0", "http.response.header.content-type": "text/event-stream"}).Exchange.Response
	require.Equal(t, verdict.Absent, b.Capture)
}

func TestSpanFailure(t *testing.T) {
	read := func(fill func(ptrace.Span)) verdict.SpanFailure {
		span := ptrace.NewSpan()
		span.Attributes().PutStr(session, "s")
		fill(span)
		it := newItem()
		require.True(t, New(defaults()).Span(span, it))
		return it.Exchange.Failure
	}
	require.Equal(t, verdict.NotFailed, read(func(ptrace.Span) {}))
	require.Equal(t, verdict.FailedOther, read(func(s ptrace.Span) { s.Status().SetCode(ptrace.StatusCodeError) }))
	require.Equal(t, verdict.FailedTimeout, read(func(s ptrace.Span) { s.Attributes().PutStr("error.type", "TimeoutError") }))
	require.Equal(t, verdict.FailedReset, read(func(s ptrace.Span) { s.Status().SetMessage("read: connection reset by peer") }))
	require.Equal(t, verdict.FailedAbort, read(func(s ptrace.Span) {
		event := s.Events().AppendEmpty()
		event.SetName("exception")
		event.Attributes().PutStr("exception.message", "This operation was aborted")
	}))
	require.Equal(t, verdict.NotFailed, read(func(s ptrace.Span) {
		event := s.Events().AppendEmpty()
		event.SetName("retry")
		event.Attributes().PutStr("exception.message", "This operation was aborted")
	}))
}

func TestSide(t *testing.T) {
	for kind, want := range map[ptrace.SpanKind]verdict.Side{
		ptrace.SpanKindServer: verdict.Server, ptrace.SpanKindClient: verdict.Client, ptrace.SpanKindUnspecified: verdict.Client, 99: verdict.Client,
	} {
		span := ptrace.NewSpan()
		span.SetKind(kind)
		span.Attributes().PutStr(session, "s")
		it := newItem()
		require.True(t, New(defaults()).Span(span, it))
		require.Equal(t, want, it.Exchange.Side)
	}
}

// TestItemsAreUsedAgain: nothing of one item is left in the next.
func TestItemsAreUsedAgain(t *testing.T) {
	c := New(defaults())
	it := newItem()
	full, bare := ptrace.NewSpan(), ptrace.NewSpan()
	for _, n := range names {
		full.Attributes().PutStr(n.name, "7")
	}
	full.Attributes().PutStr(bodyName, answer)
	full.SetKind(ptrace.SpanKindServer)
	full.Status().SetCode(ptrace.StatusCodeError)
	bare.Attributes().PutStr(session, "s")

	fresh := newItem()
	require.True(t, c.Span(bare, fresh))
	require.True(t, c.Span(full, it))
	require.True(t, c.Span(bare, it))
	require.Equal(t, fresh.Exchange, it.Exchange)
	require.Equal(t, fresh.HasOutcome, it.HasOutcome)
	it.Forget()
	require.Zero(t, it.Exchange)
}

// record reads a log record with this body.
func record(t testing.TB, set func(plog.LogRecord)) (*Item, bool) {
	t.Helper()
	r := plog.NewLogRecord()
	set(r)
	it := newItem()
	ok := New(defaults()).Log(r, it)
	return it, ok
}

func TestLogBodies(t *testing.T) {
	structured := pcommon.NewValueMap()
	require.NoError(t, structured.FromRaw(map[string]any{"jsonrpc": "2.0"}))
	for name, set := range map[string]func(plog.LogRecord){
		"text":   func(r plog.LogRecord) { r.Body().SetStr(answer) },
		"stream": func(r plog.LogRecord) { r.Body().SetStr(streamOne) },
		"bytes":  func(r plog.LogRecord) { r.Body().SetEmptyBytes().FromRaw([]byte(answer)) },
		"map":    func(r plog.LogRecord) { structured.CopyTo(r.Body()) },
		"slice":  func(r plog.LogRecord) { structured.CopyTo(r.Body().SetEmptySlice().AppendEmpty()) },
	} {
		it, ok := record(t, set)
		require.True(t, ok, name)
		require.True(t, it.Exchange.Log, name)
		require.True(t, it.Exchange.Messages, name)
		require.Equal(t, it.Exchange.Request, it.Exchange.Response, name)
		require.NotEmpty(t, it.Exchange.Request.Text, name)
	}
	it, ok := record(t, func(r plog.LogRecord) {
		r.Attributes().PutStr(bodyName, answer)
		r.Body().SetStr(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	})
	require.True(t, ok)
	require.False(t, it.Exchange.Messages, "bodies in attributes count first")
	require.Equal(t, answer, it.Exchange.Response.Text)
	for name, set := range map[string]func(plog.LogRecord){
		"nothing":       func(plog.LogRecord) {},
		"other text":    func(r plog.LogRecord) { r.Body().SetStr("started") },
		"text about it": func(r plog.LogRecord) { r.Body().SetStr("now with jsonrpc") },
		"other map":     func(r plog.LogRecord) { r.Body().SetEmptyMap().PutStr("message", "started") },
		"number":        func(r plog.LogRecord) { r.Body().SetInt(7) },
	} {
		_, ok := record(t, set)
		require.False(t, ok, name)
	}
}
