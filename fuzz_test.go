package mcpprocessor

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// FuzzSpan sends a span with arbitrary bodies, status and content type through
// the processor. It may not fail, panic or log, and nothing succeeds unless there
// is a complete answer in the response.
func FuzzSpan(f *testing.F) {
	for _, c := range loadCases(f) {
		for _, ex := range c.exchanges() {
			request, response := "", ""
			if ex.Request.Body != nil {
				request = *ex.Request.Body
			}
			if ex.Response.Body != nil {
				response = *ex.Response.Body
			}
			contentType := ""
			if values := ex.Response.Headers["content-type"]; len(values) > 0 {
				contentType = values[0]
			}
			f.Add(request, response, ex.Response.Status, contentType)
		}
	}
	f.Add(callBody, `"`+strings.ReplaceAll(successBody, `"`, `\"`)+`"`, 200, "application/json")
	f.Add(callBody, base64.StdEncoding.EncodeToString([]byte(successBody)), 200, "")
	f.Add(callBody, compressed(successBody), 200, "application/json")

	in := start(f, "attributes: {jsonrpc.error.data: {enabled: true}, jsonrpc.error.message: {enabled: true}}")
	f.Fuzz(func(t *testing.T, request, response string, status int, contentType string) {
		in.t = t
		td := ptrace.NewTraces()
		span := newService(td, "fuzz").AppendEmpty()
		post(span, request, response, status)
		putIfSet(span.Attributes(), "http.response.header.content-type", contentType)
		requireSpansUnchanged(t, in, td)
		in.requireQuiet(warnsOfAbsentBodies)

		td, span = newSpan()
		post(span, request, response, status)
		putIfSet(span.Attributes(), "http.response.header.content-type", contentType)
		span = spans(in.processTraces(td))[0]
		if got := outcomeOf(span.Attributes()); got == "TOOL_SUCCESS" || got == "RPC_SUCCESS" {
			require.True(t, holdsAnswer(response), "%s of %q", got, response)
		}
	})
}

// FuzzLogRecord sends a log record with an arbitrary body through the processor.
func FuzzLogRecord(f *testing.F) {
	for _, c := range loadCases(f) {
		for _, ex := range c.exchanges() {
			for _, s := range []*side{ex.Request, ex.Response} {
				if s.Body != nil {
					f.Add(*s.Body)
				}
			}
		}
		if c.isLog() {
			for _, record := range records(c.makeLogs(f)) {
				f.Add(record.Body().AsString())
			}
		}
	}
	in := start(f, "")
	f.Fuzz(func(t *testing.T, body string) {
		in.t = t
		ld := plog.NewLogs()
		all := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		all.AppendEmpty().Body().SetStr(body)
		all.AppendEmpty().Body().SetEmptyBytes().FromRaw([]byte(body))
		if json.Valid([]byte(body)) && len(body) < 1<<10 {
			structured := all.AppendEmpty().Body()
			if err := structured.FromRaw(anyOf(body)); err != nil {
				structured.SetStr(body)
			}
		}
		for _, record := range records(ld) {
			record.Attributes().PutStr("mcp.method.name", "tools/call")
		}
		requireRecordsUnchanged(t, in, ld)
		in.requireQuiet()
		for _, record := range records(in.processLogs(ld)) {
			got := outcomeOf(record.Attributes())
			require.NotEqual(t, "MALFORMED_JSON", got, "a log is not to blame")
			if got == "TOOL_SUCCESS" || got == "RPC_SUCCESS" {
				require.True(t, holdsAnswer(body), "%s of %q", got, body)
			}
		}
	})
}

func anyOf(text string) (v any) {
	_ = json.Unmarshal([]byte(text), &v)
	return v
}

// holdsAnswer reports whether there is a complete JSON value with a result in
// text, in the data of an event stream or in what a recorder wrapped.
func holdsAnswer(text string) bool {
	forms := []string{text}
	var quoted string
	d := json.NewDecoder(strings.NewReader(text))
	if d.Decode(&quoted) == nil {
		forms = append(forms, quoted)
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if decoded, err := encoding.DecodeString(strings.TrimSpace(text)); err == nil {
			forms = append(forms, string(decoded))
		}
	}
	for _, form := range slices.Clone(forms) {
		if r, err := gzip.NewReader(strings.NewReader(form)); err == nil {
			decoded, _ := io.ReadAll(r) // as far as it goes
			forms = append(forms, string(decoded))
		}
	}
	return slices.ContainsFunc(forms, func(form string) bool {
		lines := strings.FieldsFunc(form, func(r rune) bool { return r == '\r' || r == '\n' })
		var data []string
		for _, line := range lines {
			if value, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(value, " "))
			}
		}
		return holdsResult(form) || holdsResult(strings.Join(data, "\n"))
	})
}

func holdsResult(text string) bool {
	for i := range text {
		if text[i] != '{' {
			continue
		}
		var m map[string]json.RawMessage
		if json.NewDecoder(strings.NewReader(text[i:])).Decode(&m) == nil && m["jsonrpc"] != nil && m["result"] != nil {
			return true
		}
	}
	return false
}
