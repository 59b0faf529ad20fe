package mcpprocessor

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/internal/metadatatest"
)

func TestMutatesData(t *testing.T) {
	in := start(t, "")
	require.True(t, in.traces.Capabilities().MutatesData)
	require.True(t, in.logs.Capabilities().MutatesData)
}

func TestContextReachesTheNextConsumer(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(context.Background(), key{}, "mine")
	in := start(t, "")

	td, span := newSpan()
	post(span, callBody, successBody, 200)
	require.NoError(t, in.traces.ConsumeTraces(ctx, td))
	require.Len(t, in.tracesOut.Contexts(), 1)
	require.Equal(t, "mine", in.tracesOut.Contexts()[0].Value(key{}))

	ld, record := newRecord()
	record.Body().SetStr(successBody)
	require.NoError(t, in.logs.ConsumeLogs(ctx, ld))
	require.Len(t, in.logsOut.Contexts(), 1)
	require.Equal(t, "mine", in.logsOut.Contexts()[0].Value(key{}))
}

func TestErrorOfTheNextConsumerIsReturned(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	set := metadatatest.NewSettings(telemetry)
	wrong := errors.New("next is full")

	traces, err := NewFactory().CreateTraces(context.Background(), set, createDefaultConfig(), consumertest.NewErr(wrong))
	require.NoError(t, err)
	td, span := newSpan()
	post(span, callBody, successBody, 200)
	require.ErrorIs(t, traces.ConsumeTraces(context.Background(), td), wrong)
	require.NoError(t, traces.Shutdown(context.Background()))

	logs, err := NewFactory().CreateLogs(context.Background(), set, createDefaultConfig(), consumertest.NewErr(wrong))
	require.NoError(t, err)
	ld, record := newRecord()
	record.Body().SetStr(successBody)
	require.ErrorIs(t, logs.ConsumeLogs(context.Background(), ld), wrong)
	require.NoError(t, logs.Shutdown(context.Background()))
}

// TestCanceledContext: whether to go on is for the next consumer to say.
func TestCanceledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in := start(t, "")
	td, span := newSpan()
	post(span, callBody, successBody, 200)
	require.NoError(t, in.traces.ConsumeTraces(ctx, td))
	require.Equal(t, "TOOL_SUCCESS", outcomeOf(spans(in.tracesOut.AllTraces()[0])[0].Attributes()))
}

func TestEmptyBatches(t *testing.T) {
	in := start(t, "")
	require.Zero(t, in.processTraces(ptrace.NewTraces()).SpanCount())
	require.Zero(t, in.processLogs(plog.NewLogs()).LogRecordCount())
	td := ptrace.NewTraces()
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	require.Zero(t, in.processTraces(td).SpanCount())
	in.requireQuiet()
	require.Zero(t, in.counted("otelcol_processor_mcp_items"))
}

// TestInstancesInParallel: batches come from several goroutines at a time.
func TestInstancesInParallel(t *testing.T) {
	in := start(t, "attributes: {jsonrpc.error.message: {enabled: true}}")
	const workers, batches = 8, 50
	done := make(chan error)
	for range workers {
		go func() {
			for range batches {
				td, span := newSpan()
				post(span, callBody, errorBody, 200)
				if err := in.traces.ConsumeTraces(context.Background(), td); err != nil {
					done <- err
					return
				}
				if got := attr(span.Attributes(), "jsonrpc.error.message"); got != "Unknown tool: lookup" {
					done <- errors.New("another's verdict")
					return
				}
			}
			done <- nil
		}()
	}
	for range workers {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, workers*batches, in.counted("otelcol_processor_mcp_exchanges"))
}

// notMCP are spans that look a little like MCP and are not.
var notMCP = map[string]func(ptrace.Span){
	"no attributes": func(ptrace.Span) {},
	"an HTTP span":  posted(`{"query":"{ jsonrpc }"}`, `{"data":null}`),
	"Ethereum": posted(`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}`,
		`{"jsonrpc":"2.0","id":1,"result":"0x0"}`),
	"Language Server Protocol": posted(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"rootUri":null,"capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":0,"result":{"capabilities":{}}}`),
	"Agent2Agent": posted(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"working"}}}`),
	"a method without jsonrpc": posted(`{"id":1,"method":"tools/call","params":{}}`, `{"id":1,"result":{"content":[]}}`),
	"OPTIONS": func(span ptrace.Span) {
		post(span, callBody, successBody, 204)
		span.Attributes().PutStr("http.request.method", "OPTIONS")
	},
	"a copied attribute": func(span ptrace.Span) {
		span.Attributes().PutStr("mcp.method.name", "tools/call")
		span.Attributes().PutStr("http.request.method", "GET")
		span.Attributes().PutInt("http.response.status_code", 200)
	},
	"everything else": func(span ptrace.Span) {
		a := span.Attributes()
		a.PutEmptyBytes("bytes").FromRaw([]byte{0, 255})
		a.PutEmptyMap("map").PutEmptySlice("slice").AppendEmpty().SetDouble(1.5)
		a.PutBool("bool", true)
		a.PutEmpty("empty")
		a.PutStr("invalid", "\xff")
		a.PutStr("invalid", "twice")
		span.SetName("other")
		span.SetKind(ptrace.SpanKindConsumer)
		span.SetFlags(7)
		span.TraceState().FromRaw("a=b")
		span.SetDroppedAttributesCount(1)
		span.SetDroppedEventsCount(2)
		span.SetDroppedLinksCount(3)
		span.Status().SetMessage("x")
		span.Events().AppendEmpty().SetName("mcp.message")
		span.Links().AppendEmpty().SetSpanID(pcommon.SpanID{1})
	},
}

// TestOtherItemsStayByteForByte: with the settings that change most, items that
// are not MCP leave as they came, also next to items that are.
func TestOtherItemsStayByteForByte(t *testing.T) {
	in := start(t, "span_status: failures\nbodies: {keep: never}\n"+allAttributes())
	td := ptrace.NewTraces()
	service := newService(td, "mixed")
	td.ResourceSpans().At(0).SetSchemaUrl("https://schema.test")
	for _, fill := range notMCP {
		post(service.AppendEmpty(), callBody, failureBody, 200)
		fill(service.AppendEmpty())
	}
	before := ptrace.NewTraces()
	td.CopyTo(before)
	after := in.processTraces(td)
	was, is := spans(before), spans(after)
	for i := range is {
		if i%2 == 0 {
			require.Equal(t, "TOOL_ERROR", outcomeOf(is[i].Attributes()))
			was[i].CopyTo(is[i]) // one that is
		}
	}
	require.True(t, bytes.Equal(marshalTraces(t, before), marshalTraces(t, after)))
}

func marshalTraces(t testing.TB, td ptrace.Traces) []byte {
	t.Helper()
	data, err := new(ptrace.ProtoMarshaler).MarshalTraces(td)
	require.NoError(t, err)
	return data
}

func marshalLogs(t testing.TB, ld plog.Logs) []byte {
	t.Helper()
	data, err := new(plog.ProtoMarshaler).MarshalLogs(ld)
	require.NoError(t, err)
	return data
}

// TestOtherRecordsStayByteForByte is the same for log records.
func TestOtherRecordsStayByteForByte(t *testing.T) {
	in := start(t, "bodies: {keep: never}\n"+allAttributes())
	ld := plog.NewLogs()
	all := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, fill := range notMCP {
		span := ptrace.NewSpan()
		fill(span)
		record := all.AppendEmpty()
		span.Attributes().CopyTo(record.Attributes())
		record.SetSeverityText("WARN")
		record.SetFlags(1)
		record.SetEventName("event")
	}
	for _, body := range []string{"", "text with jsonrpc in it", `{"jsonrpc":"2.0","id":1,"method":"eth_call"}`, `{"message":"jsonrpc"}`, `[1,2]`, "data: [DONE]\n\n", "\xff"} {
		all.AppendEmpty().Body().SetStr(body)
	}
	for _, set := range wrongValues {
		set(all.AppendEmpty().Body())
	}
	before := marshalLogs(t, ld)
	require.True(t, bytes.Equal(before, marshalLogs(t, in.processLogs(ld))))
}
