package mcpprocessor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	otelattr "go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap/zapcore"

	"github.com/otel-mcp/mcpprocessor/internal/metadatatest"
)

// point is a data point of value with attributes given as name and value in
// turn.
func point(value int64, attributes ...string) metricdata.DataPoint[int64] {
	var kvs []otelattr.KeyValue
	for i := 0; i < len(attributes); i += 2 {
		kvs = append(kvs, otelattr.String(attributes[i], attributes[i+1]))
	}
	return metricdata.DataPoint[int64]{Value: value, Attributes: otelattr.NewSet(kvs...)}
}

// exchangePoint is a data point of the exchanges metric. Layer and kind may be
// absent.
func exchangePoint(value int64, signal, kind, layer, class, outcome, method string) metricdata.DataPoint[int64] {
	attributes := []string{"signal", signal, "mcp.outcome_class", class, "mcp.outcome", outcome, "mcp.method.name", method}
	if kind != "" {
		attributes = append(attributes, "span.kind", kind)
	}
	if layer != "" {
		attributes = append(attributes, "mcp.layer", layer)
	}
	return point(value, attributes...)
}

// mixedTraces are spans of each disposition.
func mixedTraces() ptrace.Traces {
	td := ptrace.NewTraces()
	service := newService(td, "mixed")
	add := func(kind ptrace.SpanKind, request, response string, status int) ptrace.Span {
		span := service.AppendEmpty()
		post(span, request, response, status)
		span.SetKind(kind)
		return span
	}
	add(ptrace.SpanKindClient, callBody, successBody, 200)
	add(ptrace.SpanKindClient, callBody, successBody, 200)
	add(ptrace.SpanKindServer, callBody, failureBody, 200)
	add(ptrace.SpanKindInternal, callBody, failureBody, 200)
	add(ptrace.SpanKindProducer, callBody, failureBody, 200)
	add(ptrace.SpanKindConsumer, callBody, failureBody, 200)
	add(99, callBody, failureBody, 200)
	add(ptrace.SpanKindUnspecified, `{"jsonrpc":"2.0","id":1,"method":"vendor/secret"}`, errorBody, 200).
		Attributes().PutStr("http.request.header.mcp-session-id", "s")
	add(ptrace.SpanKindClient, callBody, "", 503)
	add(ptrace.SpanKindClient, callBody, "", 401).Attributes().PutStr("http.response.header.www-authenticate", "Bearer")
	add(ptrace.SpanKindClient, callBody, successBody[:30], 200)
	// Judged upstream, by whom else, and not MCP.
	add(ptrace.SpanKindClient, callBody, successBody, 200).Attributes().PutStr("mcp.outcome", "TOOL_SUCCESS")
	add(ptrace.SpanKindClient, callBody, successBody, 200).Attributes().PutStr("mcp.outcome", "great")
	add(ptrace.SpanKindClient, "{}", "{}", 200)
	service.AppendEmpty()
	return td
}

func mixedLogs() plog.Logs {
	ld := plog.NewLogs()
	all := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	all.AppendEmpty().Body().SetStr(failureBody)
	all.AppendEmpty().Body().SetStr(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lookup"}}`)
	all.AppendEmpty().Body().SetStr("text")
	foreign := all.AppendEmpty()
	foreign.Body().SetStr(successBody)
	foreign.Attributes().PutInt("mcp.outcome", 1)
	return ld
}

func TestCounts(t *testing.T) {
	in := start(t, "")
	const rounds = 3 // the sets of attributes are made once
	for range rounds {
		in.processTraces(mixedTraces())
		in.processLogs(mixedLogs())
	}
	ignore := metricdatatest.IgnoreTimestamp()
	metadatatest.AssertEqualProcessorMcpExchanges(t, in.telemetry, []metricdata.DataPoint[int64]{
		exchangePoint(2*rounds, "traces", "client", "application", "success", "TOOL_SUCCESS", "tools/call"),
		exchangePoint(1*rounds, "traces", "server", "application", "failure", "TOOL_ERROR", "tools/call"),
		exchangePoint(1*rounds, "traces", "internal", "application", "failure", "TOOL_ERROR", "tools/call"),
		exchangePoint(1*rounds, "traces", "producer", "application", "failure", "TOOL_ERROR", "tools/call"),
		exchangePoint(1*rounds, "traces", "consumer", "application", "failure", "TOOL_ERROR", "tools/call"),
		exchangePoint(1*rounds, "traces", "unspecified", "application", "failure", "TOOL_ERROR", "tools/call"),
		exchangePoint(1*rounds, "traces", "unspecified", "protocol", "failure", "JSONRPC_ERROR", "_OTHER"),
		exchangePoint(1*rounds, "traces", "client", "transport", "failure", "HTTP_ERROR", "tools/call"),
		exchangePoint(1*rounds, "traces", "client", "transport", "pending", "HTTP_ERROR", "tools/call"),
		exchangePoint(1*rounds, "traces", "client", "", "unknown", "UNDETERMINED", "tools/call"),
		exchangePoint(1*rounds, "logs", "", "application", "failure", "TOOL_ERROR", "_OTHER"),
	}, ignore)
	metadatatest.AssertEqualProcessorMcpItems(t, in.telemetry, []metricdata.DataPoint[int64]{
		point(11*rounds, "signal", "traces", "disposition", "judged"),
		point(2*rounds, "signal", "traces", "disposition", "left_alone"),
		point(2*rounds, "signal", "traces", "disposition", "passed_over"),
		point(1*rounds, "signal", "logs", "disposition", "judged"),
		point(1*rounds, "signal", "logs", "disposition", "annotated"),
		point(1*rounds, "signal", "logs", "disposition", "left_alone"),
		point(1*rounds, "signal", "logs", "disposition", "passed_over"),
	}, ignore)
	metadatatest.AssertEqualProcessorMcpConflicts(t, in.telemetry, []metricdata.DataPoint[int64]{
		point(1*rounds, "signal", "traces"),
		point(1*rounds, "signal", "logs"),
	}, ignore)
	in.requireQuiet()
}

func TestBodyCounts(t *testing.T) {
	in := start(t, "bodies: {max_bytes: 1024}")
	long := strings.Repeat(" ", 2000)
	deep := strings.Repeat("[", 500) // within the limit, and cut
	for _, side := range []string{"request", "response"} {
		for _, body := range []func(ptrace.Span){
			func(span ptrace.Span) { span.Attributes().Remove("http." + side + ".body.content") },
			func(span ptrace.Span) {
				span.Attributes().PutStr("http."+side+".body.content", `{"jsonrpc":`+deep)
			},
			func(span ptrace.Span) {
				span.Attributes().PutEmptyBytes("http." + side + ".body.content").FromRaw([]byte{0, 1, 2})
			},
			func(span ptrace.Span) {
				span.Attributes().PutStr("http."+side+".body.content", `{"jsonrpc":"2.0",`+long+`"x":1}`)
			},
		} {
			in.span(func(span ptrace.Span) {
				post(span, callBody, successBody, 200)
				span.Attributes().PutStr("http.request.header.mcp-session-id", "s")
				body(span)
			})
		}
	}
	cut, large := int64(len(`{"jsonrpc":`)+len(deep)), int64(1024)
	ignore := metricdatatest.IgnoreTimestamp()
	metadatatest.AssertEqualProcessorMcpBodiesUnreadable(t, in.telemetry, []metricdata.DataPoint[int64]{
		// A request that is not recorded is no request that could not be read.
		point(1, "signal", "traces", "side", "response", "reason", "body_absent"),
		point(1, "signal", "traces", "side", "response", "reason", "body_cut"),
		point(1, "signal", "traces", "side", "response", "reason", "body_opaque"),
		point(1, "signal", "traces", "side", "response", "reason", "body_too_large"),
		point(1, "signal", "traces", "side", "request", "reason", "body_cut"),
		point(1, "signal", "traces", "side", "request", "reason", "body_opaque"),
		point(1, "signal", "traces", "side", "request", "reason", "body_too_large"),
	}, ignore)
	metadatatest.AssertEqualProcessorMcpBodyBytes(t, in.telemetry, []metricdata.DataPoint[int64]{
		point(4*int64(len(callBody))+cut+large, "signal", "traces", "side", "request"),
		point(4*int64(len(successBody))+cut+large, "signal", "traces", "side", "response"),
	}, ignore)
}

func TestTooDeepIsCounted(t *testing.T) {
	in := start(t, "")
	in.span(posted(callBody, `{"jsonrpc":"2.0","id":1,"result":`+strings.Repeat("[", 10_001)))
	metadatatest.AssertEqualProcessorMcpBodiesUnreadable(t, in.telemetry, []metricdata.DataPoint[int64]{
		point(1, "signal", "traces", "side", "response", "reason", "too_deep"),
	}, metricdatatest.IgnoreTimestamp())
}

// TestCompressedBytes counts bytes after the content coding was undone.
func TestCompressedBytes(t *testing.T) {
	in := start(t, "")
	in.span(posted(callBody, compressed(successBody)))
	metadatatest.AssertEqualProcessorMcpBodyBytes(t, in.telemetry, []metricdata.DataPoint[int64]{
		point(int64(len(callBody)), "signal", "traces", "side", "request"),
		point(int64(len(successBody)), "signal", "traces", "side", "response"),
	}, metricdatatest.IgnoreTimestamp())
}

// TestNothingIsCountedBeforeThereIsAnything: a metric without a value has no data
// point.
func TestNothingIsCountedBeforeThereIsAnything(t *testing.T) {
	in := start(t, "")
	in.span(func(ptrace.Span) {})
	metadatatest.AssertEqualProcessorMcpItems(t, in.telemetry, []metricdata.DataPoint[int64]{
		point(1, "signal", "traces", "disposition", "passed_over"),
	}, metricdatatest.IgnoreTimestamp())
	for _, name := range []string{"exchanges", "conflicts", "panics", "body_bytes", "bodies_unreadable"} {
		_, err := in.telemetry.GetMetric("otelcol_processor_mcp_" + name)
		require.Error(t, err, name)
	}
}

// TestCountsAreGathered: outside of these tests counts are recorded a little later,
// those of several batches together, and when the processor ends.
func TestCountsAreGathered(t *testing.T) {
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.Background())) })
	const never = time.Hour
	for _, delay := range []time.Duration{time.Millisecond, never} {
		p, err := newProcessor(loadConfig(t, ""), metadatatest.NewSettings(tel), signalTraces)
		require.NoError(t, err)
		p.telemetry.delay = delay
		for range 3 {
			_, err := p.processTraces(context.Background(), mixedTraces())
			require.NoError(t, err)
		}
		if delay != never {
			require.Eventually(t, func() bool { return p.telemetry.settled() }, time.Minute, time.Millisecond)
		}
		require.NoError(t, p.shutdown(context.Background()))
	}
	const rounds = 6
	metadatatest.AssertEqualProcessorMcpItems(t, tel, []metricdata.DataPoint[int64]{
		point(11*rounds, "signal", "traces", "disposition", "judged"),
		point(2*rounds, "signal", "traces", "disposition", "left_alone"),
		point(2*rounds, "signal", "traces", "disposition", "passed_over"),
	}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualProcessorMcpConflicts(t, tel, []metricdata.DataPoint[int64]{
		point(1*rounds, "signal", "traces"),
	}, metricdatatest.IgnoreTimestamp())
}

// settled reports whether all that was counted has been recorded.
func (t *telemetry) settled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.timer == nil && t.sum.items == [dispositionCount]int64{} && len(t.sum.touched) == 0
}

// TestWarnsOnceOfAbsentBodies: one warning an instance that says where to read
// on, and no line for an item.
func TestWarnsOnceOfAbsentBodies(t *testing.T) {
	in := start(t, "")
	for range 100 {
		td := ptrace.NewTraces()
		service := newService(td, "s")
		for range 3 {
			span := service.AppendEmpty()
			post(span, "", "", 200)
			span.Attributes().Remove(requestBodyAttribute)
			span.Attributes().Remove(responseBodyAttribute)
			span.Attributes().PutStr("http.request.header.mcp-session-id", "s")
		}
		for _, span := range spans(in.processTraces(td)) {
			require.Equal(t, "UNDETERMINED", outcomeOf(span.Attributes()))
		}
	}
	lines := in.logged.All()
	require.Len(t, lines, 1)
	require.Equal(t, zapcore.WarnLevel, lines[0].Level)
	require.Contains(t, lines[0].Message, warnsOfAbsentBodies)
	require.Contains(t, lines[0].Message, "README")
	require.Empty(t, lines[0].Context, "nothing of the item")
}

// TestDoesNotWarn: what has a body on one side, or needs none, is no reason to.
func TestDoesNotWarn(t *testing.T) {
	in := start(t, "")
	in.processTraces(mixedTraces())
	in.processLogs(mixedLogs())
	in.span(func(span ptrace.Span) {
		post(span, callBody, "", 200)
		span.Attributes().Remove(responseBodyAttribute)
	})
	in.span(func(span ptrace.Span) {
		span.Attributes().PutStr("http.request.method", "DELETE")
		span.Attributes().PutStr("http.request.header.mcp-session-id", "s")
		span.Attributes().PutInt("http.response.status_code", 200)
	})
	in.requireQuiet()
}
