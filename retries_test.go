package mcpprocessor

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const second = int64(time.Second)

// try is one attempt of a call as a CLIENT span under the parent 9 of trace 1.
type try struct {
	id       int   // JSON-RPC id, and span id unless span is set
	start    int64 // seconds
	status   int
	response string // "" for none
	trace    byte
	span     byte
	parent   byte
	service  string
	with     func(ptrace.Span)
}

func requestOf(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"pay","arguments":{"amount":1}}}`, id)
}

func responseOf(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, id)
}

// batchOf makes one batch of tries.
func batchOf(tries ...try) ptrace.Traces {
	td := ptrace.NewTraces()
	for _, a := range tries {
		rs := td.ResourceSpans().AppendEmpty()
		if a.service == "" {
			a.service = "agent"
		}
		rs.Resource().Attributes().PutStr("service.name", a.service)
		span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		post(span, requestOf(a.id), a.response, a.status)
		if a.response == "" {
			span.Attributes().Remove(responseBodyAttribute)
		}
		span.SetTraceID(pcommon.TraceID{1 + a.trace})
		span.SetSpanID(pcommon.SpanID{byte(a.id) + 1, a.span})
		span.SetParentSpanID(pcommon.SpanID{9 + a.parent})
		span.SetKind(ptrace.SpanKindClient)
		span.SetStartTimestamp(pcommon.Timestamp(a.start * second))
		span.SetEndTimestamp(pcommon.Timestamp(a.start*second + second/2))
		if a.with != nil {
			a.with(span)
		}
	}
	return td
}

// said is the retry group of a span, in one line.
func said(span ptrace.Span) string {
	s := ""
	for _, name := range []string{"mcp.retry_origin", "mcp.retry_evidence", "mcp.retry_confidence", "mcp.retry_attempt", "mcp.replay_safety", "mcp.continuation"} {
		if v := attr(span.Attributes(), name); v != nil {
			s += fmt.Sprint(v, " ")
		}
	}
	for _, link := range span.Links().All() {
		s += fmt.Sprint(attr(link.Attributes(), "mcp.link.type"), " ", link.SpanID(), " ")
	}
	return s
}

// TestRetriesOfItemsThatLoseTheirBodies: what is behind the bodies moves when they
// are taken out, and is read before.
func TestRetriesOfItemsThatLoseTheirBodies(t *testing.T) {
	for _, keep := range []string{"always", "failures", "never"} {
		decided := func(span ptrace.Span) { span.Attributes().PutStr("gen_ai.tool.call.id", "call_1") }
		found := spans(start(t, "bodies: {keep: "+keep+"}").processTraces(batchOf(
			try{id: 1, start: 1, status: 200, response: failureBody, with: decided},
			try{id: 2, start: 3, status: 200, response: responseOf(2), with: decided},
		)))
		assert.Contains(t, said(found[1]), "sdk same_tool_call", keep)
	}

	records := func(ld plog.Logs) plog.LogRecordSlice { return ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords() }
	for _, keep := range []string{"always", "never"} {
		ld := plog.NewLogs()
		all := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for i, response := range []string{failureBody, responseOf(2)} {
			record := all.AppendEmpty()
			record.SetTimestamp(pcommon.Timestamp(int64(1+2*i) * second))
			record.SetTraceID(pcommon.TraceID{1})
			record.SetSpanID(pcommon.SpanID{byte(i + 1)})
			a := record.Attributes()
			a.PutStr(requestBodyAttribute, requestOf(i+1))
			a.PutStr(responseBodyAttribute, response)
			a.PutInt("http.response.status_code", 200)
			a.PutStr("gen_ai.tool.call.id", "call_1")
		}
		got := records(start(t, "bodies: {keep: "+keep+"}").processLogs(ld))
		assert.Equal(t, "same_tool_call", attr(got.At(1).Attributes(), "mcp.retry_evidence"), keep)
	}
}

func TestRetriesOfSpans(t *testing.T) {
	failed := try{id: 1, status: 503}
	for name, tc := range map[string]struct {
		settings string
		again    try
		want     string
	}{
		"same message under one parent":  {"", try{id: 1, span: 1, start: 1, status: 200, response: responseOf(1)}, "sdk same_message_parent observed 1 unknown retry_of 0200000000000000 "},
		"new id under one parent":        {"", try{id: 2, start: 1, status: 200, response: responseOf(2)}, "unknown new_id_after_failure inferred 1 unknown retry_of 0200000000000000 "},
		"another trace":                  {"", try{id: 2, trace: 1, start: 1, status: 200, response: responseOf(2)}, "none "},
		"another service":                {"", try{id: 1, span: 1, start: 1, service: "other", status: 200, response: responseOf(1)}, "none "},
		"beyond the window":              {"retry: {window: 5s}", try{id: 2, start: 60, status: 200, response: responseOf(2)}, "none "},
		"a tool that writes":             {"retry: {write_tools: [p*]}", try{id: 2, start: 1, status: 200, response: responseOf(2)}, "unknown new_id_after_failure inferred 1 unsafe_suspected retry_of 0200000000000000 "},
		"a tool that reads":              {"retry: {read_only_tools: [pay]}", try{id: 2, start: 1, status: 200, response: responseOf(2)}, "unknown new_id_after_failure inferred 1 read_only retry_of 0200000000000000 "},
		"a gateway":                      {"retry: {intermediaries: [agent]}", try{id: 1, span: 1, start: 1, status: 200, response: responseOf(1)}, "gateway same_message_parent observed 1 unknown retry_of 0200000000000000 "},
		"switched off":                   {"retry: {enabled: false}", try{id: 1, span: 1, start: 1, status: 200, response: responseOf(1)}, ""},
		"the sender says so":             {"", try{id: 2, trace: 1, start: 1, status: 200, response: responseOf(2), with: func(s ptrace.Span) { s.Attributes().PutStr("mcp.retry_origin", "manual") }}, "manual explicit asserted 1 unknown "},
		"none from upstream is replaced": {"", try{id: 2, start: 1, status: 200, response: responseOf(2), with: func(s ptrace.Span) { s.Attributes().PutStr("mcp.retry_origin", "none") }}, "unknown new_id_after_failure inferred 1 unknown retry_of 0200000000000000 "},
		"Envoy's first attempt":          {"", try{id: 2, trace: 1, start: 1, status: 200, response: responseOf(2), with: func(s ptrace.Span) { s.Attributes().PutStr("http.request.header.x-envoy-attempt-count", "1") }}, "none "},
		"Envoy's second attempt": {"", try{id: 2, trace: 1, start: 1, status: 200, response: responseOf(2), with: func(s ptrace.Span) {
			s.Attributes().PutEmptySlice("http.request.header.x-envoy-attempt-count").AppendEmpty().SetStr("2")
		}}, "gateway attempt_header asserted 1 unknown "},
		"judged upstream": {"", try{id: 2, start: 1, status: 200, response: responseOf(2), with: func(s ptrace.Span) { s.Attributes().PutStr("mcp.outcome", "TOOL_SUCCESS") }}, "unknown new_id_after_failure inferred 1 unknown retry_of 0200000000000000 "},
	} {
		t.Run(name, func(t *testing.T) {
			// In one batch in whatever order, and in two.
			for _, batches := range [][]ptrace.Traces{
				{batchOf(failed, tc.again)}, {batchOf(tc.again, failed)}, {batchOf(failed), batchOf(tc.again)},
			} {
				in := start(t, tc.settings)
				got := map[int64]string{}
				for _, td := range batches {
					for _, span := range spans(in.processTraces(td)) {
						got[int64(span.StartTimestamp())/second] = said(span)
					}
				}
				want := "none "
				if tc.want == "" {
					want = ""
				}
				assert.Equal(t, want, got[0])
				assert.Equal(t, tc.want, got[tc.again.start])
			}
		})
	}
}

// The id of the decision to call stands on a span above the HTTP requests.
func TestToolCallOfTheParent(t *testing.T) {
	for id, want := range map[string]string{
		"call_1": "sdk same_tool_call inferred 1 unknown retry_of 0200000000000000 ",
		"call_2": "application new_tool_call inferred 1 unknown retry_of 0200000000000000 ",
	} {
		td := batchOf(try{id: 1, status: 503}, try{id: 2, start: 1, parent: 1, status: 200, response: responseOf(2)})
		for i, call := range []string{"call_1", id} {
			ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
			between, above := ss.Spans().AppendEmpty(), ss.Spans().AppendEmpty()
			between.SetTraceID(pcommon.TraceID{1})
			between.SetSpanID(pcommon.SpanID{9 + byte(i)})
			between.SetParentSpanID(pcommon.SpanID{100 + byte(i)})
			above.SetTraceID(pcommon.TraceID{1})
			above.SetSpanID(pcommon.SpanID{100 + byte(i)})
			above.Attributes().PutStr("gen_ai.tool.call.id", call)
		}
		got := spans(start(t, "").processTraces(td))
		assert.Equal(t, want, said(got[1]), id)
	}
}

// Span ids are unique within their trace only.
func TestToolCallOfAnotherTrace(t *testing.T) {
	td := batchOf(try{id: 1, status: 503}, try{id: 2, start: 1, parent: 1, status: 200, response: responseOf(2)})
	plain := ptrace.NewTraces()
	td.CopyTo(plain)
	for i, call := range []string{"call_1", "call_2"} {
		span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{7})
		span.SetSpanID(pcommon.SpanID{9 + byte(i)})
		span.Attributes().PutStr("gen_ai.tool.call.id", call)
	}
	want := said(spans(start(t, "").processTraces(plain))[1])
	assert.Equal(t, want, said(spans(start(t, "").processTraces(td))[1]))
}

func TestRetriesOfLogRecords(t *testing.T) {
	in := start(t, "")
	line := func(ld plog.Logs, at int64, body string) {
		r := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		r.SetTimestamp(pcommon.Timestamp(at * second))
		r.SetTraceID(pcommon.TraceID{1})
		r.SetSpanID(pcommon.SpanID{byte(at)})
		r.Body().SetStr(body)
	}
	ld := plog.NewLogs()
	line(ld, 1, requestOf(1))
	line(ld, 2, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}`)
	line(ld, 3, requestOf(2))
	line(ld, 4, responseOf(2))
	got := records(in.processLogs(ld))
	assert.Equal(t, "none", attr(got[0].Attributes(), "mcp.retry_origin"))
	assert.Equal(t, "JSONRPC_ERROR", attr(got[1].Attributes(), "mcp.outcome"))
	assert.Equal(t, "TOOL_SUCCESS", attr(got[3].Attributes(), "mcp.outcome"))
	assert.Nil(t, attr(got[3].Attributes(), "mcp.retry_origin"), "the request has it")
	assert.Equal(t, "unknown", attr(got[2].Attributes(), "mcp.retry_origin"), "the answer before it was a failure")

	// With the first answer seen in time, the second request is a repeat.
	in = start(t, "")
	for at, body := range []string{requestOf(1), `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}`} {
		ld := plog.NewLogs()
		line(ld, int64(at+1), body)
		in.processLogs(ld)
	}
	ld = plog.NewLogs()
	line(ld, 3, requestOf(2))
	again := records(in.processLogs(ld))[0]
	assert.Equal(t, "unknown", attr(again.Attributes(), "mcp.retry_origin"))
	assert.Equal(t, "01000000000000000000000000000000", attr(again.Attributes(), "mcp.retry_previous_trace_id"))
	assert.Equal(t, "0100000000000000", attr(again.Attributes(), "mcp.retry_previous_span_id"))
	ld = plog.NewLogs()
	line(ld, 4, responseOf(2))
	in.processLogs(ld)
	assert.EqualValues(t, 1, in.counted("otelcol_processor_mcp_retry_results"), "the answer recovered the call")
}

func TestRetriesAreCounted(t *testing.T) {
	in := start(t, "retry: {write_tools: [pay], max_tracked: 1000}")
	first, again := try{id: 1, status: 503}, try{id: 2, start: 1, status: 200, response: responseOf(2)}
	in.processTraces(batchOf(first, again))
	in.processTraces(batchOf(again)) // delivered twice
	assert.EqualValues(t, 1, in.counted("otelcol_processor_mcp_retries"))
	assert.EqualValues(t, 1, in.counted("otelcol_processor_mcp_retry_results"))
	assert.EqualValues(t, 1, in.counted("otelcol_processor_mcp_replays_unsafe"))
	assert.EqualValues(t, 1000, in.counted("otelcol_processor_mcp_retry_entries_limit"))
	assert.EqualValues(t, 2, in.counted("otelcol_processor_mcp_retry_entries"))

	cut := batchOf(try{id: 3, start: 2, status: 200, response: responseOf(3)})
	spans(cut)[0].Attributes().PutStr(requestBodyAttribute, requestOf(3)[:80])
	in.processTraces(cut)
	assert.EqualValues(t, 1, in.counted("otelcol_processor_mcp_retry_not_evaluated"))
}

func TestRetriesConcurrently(t *testing.T) {
	in := start(t, "retry: {max_tracked: 100}")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 50 {
				td := batchOf(try{id: n, trace: byte(i), status: 503}, try{id: n + 1, trace: byte(i), start: 1, status: 200, response: responseOf(n + 1)})
				if err := in.traces.ConsumeTraces(t.Context(), td); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, in.counted("otelcol_processor_mcp_retry_entries"), int64(100))
}
