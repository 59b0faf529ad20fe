package main

import (
	"context"
	_ "embed"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/otel-mcp/mcpprocessor"
)

//go:embed ottl.yaml
var ottlYAML []byte

// retryOff is the setting that switches the retry origin off, which is measured
// by itself.
var retryOff = map[string]any{"retry": map[string]any{"enabled": false}}

// hasRetry reports whether the processor has that setting.
func hasRetry() bool {
	return confmap.NewFromStringMap(retryOff).Unmarshal(mcpprocessor.NewFactory().CreateDefaultConfig()) == nil
}

// settings returns the settings of the mcp processor for everything but its own
// section: the defaults without retry.
func settings() map[string]any {
	if hasRetry() {
		return retryOff
	}
	return nil
}

// ottlSettings returns the settings of the transform processor in ottl.yaml, less
// so many statements at the end.
func ottlSettings(less int) map[string]any {
	retrieved := must(confmap.NewRetrievedFromYAML(ottlYAML))
	conf := must(must(retrieved.AsConf()).Sub("processors::transform/mcp"))
	set := conf.ToStringMap()
	group := set["trace_statements"].([]any)[0].(map[string]any)
	statements := group["statements"].([]any)
	group["statements"] = statements[:len(statements)-less]
	return set
}

// ottlFailing is the least that the transform processor can do: one statement
// whose condition fails.
var ottlFailing = map[string]any{
	"error_mode":       "silent",
	"trace_statements": []any{`set(span.attributes["mcp.outcome"], "none") where span.attributes["mcp.method.name"] != nil`},
}

// traces makes a processor of traces as the collector does, and starts it.
func traces(f processor.Factory, settings map[string]any, next consumer.Traces) consumer.Traces {
	set := processortest.NewNopSettings(f.Type())
	p := must(f.CreateTraces(context.Background(), set, config(f, settings), next))
	must(0, p.Start(context.Background(), componenttest.NewNopHost()))
	return p
}

// logs makes a processor of logs as the collector does, and starts it.
func logs(f processor.Factory, settings map[string]any, next consumer.Logs) consumer.Logs {
	set := processortest.NewNopSettings(f.Type())
	p := must(f.CreateLogs(context.Background(), set, config(f, settings), next))
	must(0, p.Start(context.Background(), componenttest.NewNopHost()))
	return p
}

func config(f processor.Factory, settings map[string]any) component.Config {
	cfg := f.CreateDefaultConfig()
	must(0, confmap.NewFromStringMap(settings).Unmarshal(cfg))
	must(0, confmap.Validate(cfg))
	return cfg
}

func mcpTraces(next consumer.Traces) consumer.Traces {
	return traces(mcpprocessor.NewFactory(), settings(), next)
}

func ottlTraces(settings map[string]any, next consumer.Traces) consumer.Traces {
	return traces(transformprocessor.NewFactory(), settings, next)
}

var plainType = component.MustNewType("plain")

// plainTraces makes a processor with the collector's own helper that does no more
// than f with each span.
func plainTraces(next consumer.Traces, f func(ptrace.Span)) consumer.Traces {
	return must(processorhelper.NewTraces(context.Background(), processortest.NewNopSettings(plainType), struct{}{}, next,
		func(_ context.Context, td ptrace.Traces) (ptrace.Traces, error) {
			if f != nil {
				eachSpan(td, f)
			}
			return td, nil
		}))
}

// plainLogs is the same for log records.
func plainLogs(next consumer.Logs, f func(plog.LogRecord)) consumer.Logs {
	return must(processorhelper.NewLogs(context.Background(), processortest.NewNopSettings(plainType), struct{}{}, next,
		func(_ context.Context, ld plog.Logs) (plog.Logs, error) {
			for _, rl := range ld.ResourceLogs().All() {
				for _, sl := range rl.ScopeLogs().All() {
					for _, record := range sl.LogRecords().All() {
						f(record)
					}
				}
			}
			return ld, nil
		}))
}

func eachSpan(td ptrace.Traces, f func(ptrace.Span)) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				f(span)
			}
		}
	}
}

// must returns v. What fails here is a defect of the program.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
