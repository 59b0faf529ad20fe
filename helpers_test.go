package mcpprocessor

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otel-mcp/mcpprocessor/internal/metadatatest"
)

// Bodies that many tests need.
const (
	callBody    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup","arguments":{}}}`
	successBody = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fine"}]}}`
	failureBody = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no"}],"isError":true}}`
	errorBody   = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: lookup"}}`
)

// The names of attributes that many tests need.
const (
	requestBodyAttribute  = "http.request.body.content"
	responseBodyAttribute = "http.response.body.content"
)

// Tests read metrics as soon as a batch has passed.
func init() { recordDelay = 0 }

// loadConfig returns the default configuration with what stands under
// `processors: mcp:` in settings (YAML), unvalidated.
func loadConfig(t testing.TB, settings string) *Config {
	t.Helper()
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(settings))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, conf.Unmarshal(cfg))
	return cfg
}

// instance is the processor for both signals, made by its factory, with what it
// writes to.
type instance struct {
	t         testing.TB
	traces    processor.Traces
	logs      processor.Logs
	tracesOut *consumertest.TracesSink
	logsOut   *consumertest.LogsSink
	telemetry *componenttest.Telemetry
	logged    *observer.ObservedLogs
}

// start starts an instance with settings (YAML) and ends it with the test.
func start(t testing.TB, settings string) *instance {
	t.Helper()
	core, logged := observer.New(zapcore.DebugLevel)
	return startWithLogger(t, settings, zap.New(core), logged)
}

func startWithLogger(t testing.TB, settings string, logger *zap.Logger, logged *observer.ObservedLogs) *instance {
	t.Helper()
	cfg := loadConfig(t, settings)
	require.NoError(t, confmap.Validate(cfg))
	in := &instance{
		t:         t,
		tracesOut: new(consumertest.TracesSink),
		logsOut:   new(consumertest.LogsSink),
		telemetry: componenttest.NewTelemetry(),
		logged:    logged,
	}
	set := metadatatest.NewSettings(in.telemetry)
	set.Logger = logger
	factory := NewFactory()
	var err error
	in.traces, err = factory.CreateTraces(context.Background(), set, cfg, in.tracesOut)
	require.NoError(t, err)
	in.logs, err = factory.CreateLogs(context.Background(), set, cfg, in.logsOut)
	require.NoError(t, err)
	for _, c := range []component.Component{in.traces, in.logs} {
		require.NoError(t, c.Start(context.Background(), componenttest.NewNopHost()))
	}
	t.Cleanup(func() {
		require.NoError(t, in.traces.Shutdown(context.Background()))
		require.NoError(t, in.logs.Shutdown(context.Background()))
		require.NoError(t, in.telemetry.Shutdown(context.Background()))
	})
	return in
}

// processTraces sends td through the processor.
func (in *instance) processTraces(td ptrace.Traces) ptrace.Traces {
	in.t.Helper()
	in.tracesOut.Reset()
	require.NoError(in.t, in.traces.ConsumeTraces(context.Background(), td))
	require.Len(in.t, in.tracesOut.AllTraces(), 1)
	return in.tracesOut.AllTraces()[0]
}

// processLogs sends ld through the processor.
func (in *instance) processLogs(ld plog.Logs) plog.Logs {
	in.t.Helper()
	in.logsOut.Reset()
	require.NoError(in.t, in.logs.ConsumeLogs(context.Background(), ld))
	require.Len(in.t, in.logsOut.AllLogs(), 1)
	return in.logsOut.AllLogs()[0]
}

// span sends one span through the processor.
func (in *instance) span(fill func(ptrace.Span)) ptrace.Span {
	in.t.Helper()
	td, span := newSpan()
	fill(span)
	return spans(in.processTraces(td))[0]
}

// counted returns the sum of the data points of one of the processor's own
// metrics.
func (in *instance) counted(metric string) (sum int64) {
	in.t.Helper()
	m, err := in.telemetry.GetMetric(metric)
	if err != nil {
		return 0 // nothing was ever added
	}
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		sum += p.Value
	}
	return sum
}

// warnsOfAbsentBodies is how the warning begins that is given once.
const warnsOfAbsentBodies = "MCP exchanges arrive without their bodies"

// requireQuiet fails the test if the processor caught a panic, or logged
// anything but lines that begin as allowed, each once.
func (in *instance) requireQuiet(allowed ...string) {
	in.t.Helper()
	lines := in.logged.All()
	for _, prefix := range allowed {
		if i := slices.IndexFunc(lines, func(e observer.LoggedEntry) bool { return strings.HasPrefix(e.Message, prefix) }); i >= 0 {
			lines = slices.Delete(lines, i, i+1)
		}
	}
	require.Empty(in.t, lines, "log lines")
	require.Zero(in.t, in.counted("otelcol_processor_mcp_panics"), "panics")
}

func newSpan() (ptrace.Traces, ptrace.Span) {
	td := ptrace.NewTraces()
	return td, td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
}

func newRecord() (plog.Logs, plog.LogRecord) {
	ld := plog.NewLogs()
	return ld, ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
}

func spans(td ptrace.Traces) (all []ptrace.Span) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				all = append(all, span)
			}
		}
	}
	return all
}

func records(ld plog.Logs) (all []plog.LogRecord) {
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				all = append(all, record)
			}
		}
	}
	return all
}

// post makes span one of an HTTP POST with these bodies. A status of 0 is none.
func post(span ptrace.Span, request, response string, status int) {
	a := span.Attributes()
	a.PutStr("http.request.method", "POST")
	a.PutStr("url.full", "https://mcp.example.test/mcp")
	a.PutStr(requestBodyAttribute, request)
	a.PutStr(responseBodyAttribute, response)
	if status != 0 {
		a.PutInt("http.response.status_code", int64(status))
	}
	span.SetKind(ptrace.SpanKindClient)
}

// posted is post for instance.span, with the status 200.
func posted(request, response string) func(ptrace.Span) {
	return func(span ptrace.Span) { post(span, request, response, 200) }
}

// attr returns the attribute called name, nil if there is none.
func attr(m pcommon.Map, name string) any {
	if v, ok := m.Get(name); ok {
		return v.AsRaw()
	}
	return nil
}

// outcome returns what is written as mcp.outcome, "" if nothing.
func outcomeOf(m pcommon.Map) string {
	s, _ := attr(m, "mcp.outcome").(string)
	return s
}

// ours returns the attributes of m that this processor may have written.
func ours(m pcommon.Map) map[string]any {
	found := map[string]any{}
	for _, name := range attributeNames() {
		if v := attr(m, name); v != nil {
			found[name] = v
		}
	}
	return found
}
