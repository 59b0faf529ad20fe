package mcpprocessor

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otel-mcp/mcpprocessor/internal/metadatatest"
	"github.com/otel-mcp/mcpprocessor/processor/carrier"
)

// broken returns a processor that panics when it gets to an MCP item with a
// session, or to any MCP log record: what remembers requests is not made.
func broken(t *testing.T, settings string, sig signal) (*mcpProcessor, *instance) {
	t.Helper()
	core, logged := observer.New(zapcore.DebugLevel)
	in := &instance{t: t, telemetry: componenttest.NewTelemetry(), logged: logged}
	set := metadatatest.NewSettings(in.telemetry)
	set.Logger = zap.New(core)
	p, err := newProcessor(loadConfig(t, settings), set, sig)
	require.NoError(t, err)
	p.pairing = new(carrier.Pairing)
	t.Cleanup(func() {
		require.NoError(t, p.shutdown(context.Background()))
		require.NoError(t, in.telemetry.Shutdown(context.Background()))
	})
	return p, in
}

// requireTold requires n panics counted and one told, of which nothing but where
// it was is said.
func (in *instance) requireTold(n int) {
	in.t.Helper()
	require.EqualValues(in.t, n, in.counted("otelcol_processor_mcp_panics"))
	lines := in.logged.All()
	require.Len(in.t, lines, 1)
	require.Equal(in.t, zapcore.ErrorLevel, lines[0].Level)
	require.Contains(in.t, lines[0].ContextMap(), "stack")
	for name, field := range lines[0].ContextMap() {
		require.NotContains(in.t, fmt.Sprint(field), "lookup", name)
	}
}

func TestPanicOnSpan(t *testing.T) {
	for keep, kept := range map[Keep]bool{KeepAlways: true, KeepFailures: false, KeepNever: false} {
		t.Run(string(keep), func(t *testing.T) {
			p, in := broken(t, "bodies: {keep: "+string(keep)+"}", signalTraces)
			const batches = 3
			for range batches {
				td := ptrace.NewTraces()
				service := newService(td, "s")
				bad, good := service.AppendEmpty(), service.AppendEmpty()
				post(bad, callBody, failureBody, 200)
				bad.Attributes().PutStr("http.request.header.mcp-session-id", "s")
				post(good, callBody, failureBody, 200)

				out, err := p.processTraces(context.Background(), td)
				require.NoError(t, err)
				require.Equal(t, 2, out.SpanCount())
				require.Empty(t, ours(bad.Attributes()))
				require.Equal(t, "TOOL_ERROR", outcomeOf(good.Attributes()))
				require.Equal(t, kept, attr(bad.Attributes(), requestBodyAttribute) != nil)
				require.Equal(t, kept, attr(bad.Attributes(), responseBodyAttribute) != nil)
				require.Equal(t, "s", attr(bad.Attributes(), "http.request.header.mcp-session-id"))
			}
			in.requireTold(batches)
			require.EqualValues(t, batches, in.counted("otelcol_processor_mcp_exchanges"))
		})
	}
}

func TestPanicOnLogRecord(t *testing.T) {
	for keep, kept := range map[Keep]bool{KeepAlways: true, KeepFailures: false, KeepNever: false} {
		t.Run(string(keep), func(t *testing.T) {
			p, in := broken(t, "bodies: {keep: "+string(keep)+"}", signalLogs)
			ld := plog.NewLogs()
			all := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
			text, structure, attribute, other := all.AppendEmpty(), all.AppendEmpty(), all.AppendEmpty(), all.AppendEmpty()
			text.Body().SetStr(failureBody)
			setJSON(t, structure.Body(), []byte(failureBody))
			attribute.Body().SetStr("done")
			attribute.Attributes().PutStr(responseBodyAttribute, failureBody)
			other.Body().SetStr("something else")

			out, err := p.processLogs(context.Background(), ld)
			require.NoError(t, err)
			require.Equal(t, 4, out.LogRecordCount())
			for _, record := range records(out) {
				require.Empty(t, ours(record.Attributes()))
			}
			require.Equal(t, kept, text.Body().AsString() == failureBody)
			require.Equal(t, kept, structure.Body().Type() != text.Body().Type())
			require.Equal(t, kept, attr(attribute.Attributes(), responseBodyAttribute) != nil)
			require.Equal(t, "done", attribute.Body().Str())
			require.Equal(t, "something else", other.Body().Str())
			in.requireTold(3)
		})
	}
}
