package mcpprocessor

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Bodies are cut at every byte up to this length, and further on at some.
const everyByte = 400

// cutForm is one way in which a recorder, or a connection, leaves a body cut.
type cutForm struct {
	name string
	// note adds to span what is known of the cut. The body was full bytes long,
	// of which kept are left.
	note func(span ptrace.Span, kept, full int)
	// check checks an outcome that was given before the answer had closed.
	check func(t *testing.T, outcome, text string)
}

var cutForms = []cutForm{
	{
		name:  "whole, for all that is known",
		note:  func(ptrace.Span, int, int) {},
		check: requireNotMalformed,
	},
	{
		name: "of known size",
		note: func(span ptrace.Span, _, full int) {
			span.Attributes().PutInt("http.response.body.size", int64(full))
		},
		check: requireNotMalformed,
	},
	{
		name: "by a broken connection",
		note: func(span ptrace.Span, _, _ int) {
			span.Status().SetCode(ptrace.StatusCodeError)
			span.Attributes().PutStr("error.type", "ECONNRESET")
		},
		check: func(t *testing.T, outcome, text string) {
			t.Helper()
			require.Equal(t, "STREAM_INCOMPLETE", outcome, "%q", text)
		},
	},
	{
		name: "by the sender",
		note: func(span ptrace.Span, kept, _ int) {
			span.Attributes().PutInt("http.response.body.size", int64(kept))
		},
		check: func(t *testing.T, outcome, text string) {
			t.Helper()
			require.Equal(t, "MALFORMED_JSON", outcome, "%q", text)
		},
	},
}

func requireNotMalformed(t *testing.T, outcome, text string) {
	t.Helper()
	if text != "" {
		require.NotEqual(t, "MALFORMED_JSON", outcome, "%q", text)
	}
}

// TestCuts cuts the response of each case, as it is and as an event stream, at
// each byte. Nothing may succeed before the value that is the answer has closed,
// and what a recorder did is no fault of the peer.
func TestCuts(t *testing.T) {
	in := start(t, "")
	seen := map[string]bool{}
	for _, c := range loadCases(t) {
		for i, ex := range c.exchanges() {
			if ex.Response == nil || ex.Response.Body == nil || *ex.Response.Body == "" {
				continue
			}
			key := fmt.Sprint(ex.Response.Status, marshal(ex.Request), *ex.Response.Body)
			if seen[key] {
				continue
			}
			seen[key] = true
			t.Run(fmt.Sprintf("%s/%d", c.ID, i), func(t *testing.T) {
				_, span := newSpan()
				ex.fill(t, span, c.ID, i)
				span.Status().SetCode(ptrace.StatusCodeUnset)
				span.Attributes().Remove("error.type")
				cutSpan(t, in, span, requestIDs(t, ex.Request))
			})
		}
	}
	in.requireQuiet(warnsOfAbsentBodies)
}

// cutSpan cuts the response body of an exchange in all ways.
func cutSpan(t *testing.T, in *instance, span ptrace.Span, ids []string) {
	t.Helper()
	full := attr(span.Attributes(), responseBodyAttribute).(string)
	ends := map[string]string{"LF": "\n", "CR": "\r", "CRLF": "\r\n"}
	if isStream(full) {
		for name, end := range ends {
			body := strings.ReplaceAll(strings.ReplaceAll(full, "\r\n", "\n"), "\r", "\n")
			cutBody(t, in, span, strings.ReplaceAll(body, "\n", end), ids, name)
		}
		return
	}
	cutBody(t, in, span, full, ids, "")
	span.Attributes().PutEmptySlice("http.response.header.content-type").AppendEmpty().SetStr("text/event-stream")
	for name, end := range ends {
		lines := strings.ReplaceAll(full, "\n", end+"data: ")
		cutBody(t, in, span, "event: message"+end+"data: "+lines+end+end, ids, name)
	}
}

func isStream(body string) bool {
	return slices.ContainsFunc([]string{"data:", "event:", "id:", "retry:", ":"}, func(field string) bool { return strings.HasPrefix(body, field) })
}

// cutBody cuts the body full, an event stream with the line ends called ends or
// JSON if that is "".
func cutBody(t *testing.T, in *instance, whole ptrace.Span, full string, ids []string, ends string) {
	t.Helper()
	answer := endOfAnswer(full, ids)
	judge := func(texts []string, form *cutForm) (outcomes []string) {
		td := ptrace.NewTraces()
		service := newService(td, "cut")
		service.EnsureCapacity(len(texts))
		for _, text := range texts {
			span := service.AppendEmpty()
			whole.CopyTo(span)
			span.Attributes().PutStr(responseBodyAttribute, text)
			form.note(span, len(text), len(full))
		}
		for _, span := range spans(in.processTraces(td)) {
			outcomes = append(outcomes, outcomeOf(span.Attributes()))
		}
		return outcomes
	}
	uncut := judge([]string{full}, &cutForms[0])[0]
	// What a cut makes of it is only certain where an answer was due and came.
	answered := slices.Contains([]string{"TOOL_SUCCESS", "RPC_SUCCESS", "TOOL_ERROR", "JSONRPC_ERROR", "INVALID_TOOL_RESULT", "INVALID_RESULT"}, uncut) &&
		attr(whole.Attributes(), "http.response.status_code") == int64(200) && len(ids) == 1

	labelledStream := strings.Contains(fmt.Sprint(attr(whole.Attributes(), "http.response.header.content-type")), "text/event-stream")
	request, _ := attr(whole.Attributes(), requestBodyAttribute).(string)
	listens := strings.Contains(request, `"subscriptions/listen"`)
	wrapped := !strings.Contains(full, `"jsonrpc"`) // in Base64
	shortest := 0
	if wrapped {
		shortest = 8 // what is shorter is not known for Base64
	}

	var texts []string
	for n := shortest; n < len(full); n++ {
		if n <= everyByte || len(full)-n < everyByte/4 || n%7 == 0 {
			texts = append(texts, full[:n])
		}
	}
	for f := range cutForms {
		form := &cutForms[f]
		if (ends == "CR" || ends == "CRLF") && f > 0 {
			break // line ends are one thing and forms another
		}
		for i, outcome := range judge(texts, form) {
			text := texts[i]
			if len(text) >= answer {
				continue
			}
			switch outcome {
			case "TOOL_SUCCESS", "RPC_SUCCESS":
				require.Fail(t, "success before the end of the answer", "%s %s: %s of %q", form.name, ends, outcome, text)
			case "ACCEPTED", "STREAM_OPEN", "NOT_OFFERED", "SESSION_CLOSED":
				require.True(t, len(ids) == 0 || listens, "%s %s: an answer is due: %q", form.name, ends, text)
			}
			if answered && (form.name != "by the sender" || !labelledStream && !wrapped) {
				form.check(t, outcome, text)
			}
		}
	}
}

// requestIDs returns the ids of the requests in a request body, as JSON text.
func requestIDs(t *testing.T, request *side) (ids []string) {
	t.Helper()
	if request == nil || request.Body == nil {
		return nil
	}
	type message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	var one message
	var all []message
	if json.Unmarshal([]byte(*request.Body), &all) != nil && json.Unmarshal([]byte(*request.Body), &one) == nil {
		all = []message{one}
	}
	for _, m := range all {
		if m.Method != "" && m.ID != nil {
			ids = append(ids, string(m.ID))
		}
	}
	return ids
}

// endOfAnswer returns where in text the JSON value ends that answers the request
// with one of ids, or the last of them if there are several. Any response answers
// where ids are not known. This is another way to find it than the processor's.
func endOfAnswer(text string, ids []string) int {
	ends := map[string]int{}
	for i := range text {
		if text[i] != '{' {
			continue
		}
		var m map[string]json.RawMessage
		d := json.NewDecoder(strings.NewReader(text[i:]))
		if d.Decode(&m) != nil || m["jsonrpc"] == nil || m["method"] != nil || m["result"] == nil && m["error"] == nil {
			continue
		}
		id := string(m["id"])
		if _, seen := ends[id]; !seen {
			ends[id] = i + int(d.InputOffset())
		}
	}
	last := 0
	if len(ids) == 0 && len(ends) > 0 {
		last = slices.Min(slices.Collect(maps.Values(ends)))
	}
	for _, id := range ids {
		last = max(last, ends[id])
	}
	if last == 0 {
		// Wrapped in something, or no answer at all.
		return len(strings.TrimRight(text, " \t\r\n="))
	}
	return last
}

// TestCutLogs cuts the messages of log records at each byte.
func TestCutLogs(t *testing.T) {
	in := start(t, "")
	for _, c := range loadCases(t) {
		for i, ex := range c.exchanges() {
			if ex.Response == nil || ex.Response.Body == nil || c.Input.Exchanges != nil {
				continue
			}
			full := *ex.Response.Body
			answer := endOfAnswer(full, nil)
			ld := plog.NewLogs()
			all := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
			for n := range min(answer, everyByte) {
				all.AppendEmpty().Body().SetStr(full[:n])
			}
			for n, record := range records(in.processLogs(ld)) {
				got := outcomeOf(record.Attributes())
				require.NotContains(t, []string{"TOOL_SUCCESS", "RPC_SUCCESS"}, got, "%s/%d: %q", c.ID, i, full[:n])
				require.NotEqual(t, "MALFORMED_JSON", got, "%s/%d: %q", c.ID, i, full[:n])
			}
		}
	}
	in.requireQuiet()
}

// TestCutQuoted cuts a body that the recorder has put into a JSON string, also in
// the middle of an escape.
func TestCutQuoted(t *testing.T) {
	in := start(t, "")
	for _, answer := range []string{successBody, "data: " + successBody + "\n\n"} {
		quoted, err := json.Marshal(answer)
		require.NoError(t, err)
		// Where the inner value closes: the quote behind it may be cut off.
		end := len(quoted) - len(`"`) - strings.Count(answer, "\n")*len(`\n`)
		for n := 1; n < end; n++ {
			span := in.span(posted(callBody, string(quoted[:n])))
			require.Equal(t, "UNDETERMINED", outcomeOf(span.Attributes()), "%s", quoted[:n])
		}
		span := in.span(posted(callBody, string(quoted)))
		require.Equal(t, "TOOL_SUCCESS", outcomeOf(span.Attributes()))
	}
	in.requireQuiet()
}

// TestCutCompressed cuts compressed bodies at each byte.
func TestCutCompressed(t *testing.T) {
	in := start(t, "")
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "line %d of %x ", i, digest(fmt.Sprint(i))[:4])
	}
	answer := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + text.String() + `"}]}}`
	for coding, encode := range codings {
		coded := encode(t, answer)
		td := ptrace.NewTraces()
		service := newService(td, "cut")
		for n := range len(coded) + 1 {
			span := service.AppendEmpty()
			post(span, callBody, "", 200)
			span.Attributes().PutEmptyBytes(responseBodyAttribute).FromRaw(coded[:n])
			span.Attributes().PutStr("http.response.header.content-encoding", coding)
		}
		for n, span := range spans(in.processTraces(td)) {
			got := outcomeOf(span.Attributes())
			const (
				header  = 4  // by which a coding can be told
				trailer = 16 // what may stand behind the last byte of the text
			)
			switch {
			case n == len(coded):
				require.Equal(t, "TOOL_SUCCESS", got, coding)
			case n > header && n < len(coded)-trailer:
				require.Equal(t, "UNDETERMINED", got, "%s %d of %d", coding, n, len(coded))
			case n > header:
				require.NotEqual(t, "MALFORMED_JSON", got, "%s %d of %d", coding, n, len(coded))
			}
		}
	}
	in.requireQuiet()
}

// codings are the content codings that are undone.
var codings = map[string]func(testing.TB, string) []byte{
	"gzip": func(_ testing.TB, text string) []byte { return []byte(compressed(text)) },
	"deflate": func(t testing.TB, text string) []byte {
		t.Helper()
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		_, err := io.WriteString(w, text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.Bytes()
	},
	"zstd": func(t testing.TB, text string) []byte {
		t.Helper()
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		require.NoError(t, err)
		return w.EncodeAll([]byte(text), nil)
	},
}
