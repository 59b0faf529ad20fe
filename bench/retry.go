package main

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor"
)

// measureRetry compares the processor as it is by default with one that does not
// look for retries. Each span is a new call, a moment after the one before, with
// an id and arguments of its own.
func measureRetry(t *table, e effort) {
	if !hasRetry() {
		return
	}
	const calls = 10_000
	requests, responses := make([]string, calls), make([]string, calls)
	for i := range calls {
		id := fmt.Sprintf("req-%06d", i)
		requests[i] = strings.Replace(strings.Replace(result500.request, "req-000017", id, 1), "Lisbon", id[4:], 1)
		responses[i] = strings.Replace(result500.text, "req-000017", id, 1)
	}
	sending := func(settings map[string]any) candidate {
		batch := spanBatch("/mcp", result500.request, result500.text)
		hold := must(consumer.NewTraces(func(context.Context, ptrace.Traces) error { return nil }))
		p := traces(mcpprocessor.NewFactory(), settings, hold)
		number := 0
		return candidate{units: spansPerBatch, times: 60, collect: true, run: func(n int) {
			for range n {
				td := ptrace.NewTraces()
				batch.CopyTo(td)
				eachSpan(td, func(span ptrace.Span) {
					number++
					span.SetTraceID(pcommon.TraceID{1, byte(number >> 24), byte(number >> 16), byte(number >> 8), byte(number)})
					span.SetStartTimestamp(span.StartTimestamp() + pcommon.Timestamp(number)*1_000_000)
					span.SetEndTimestamp(span.StartTimestamp() + 500_000)
					span.Attributes().PutStr("http.request.body.content", requests[number%calls])
					span.Attributes().PutStr("http.response.body.content", responses[number%calls])
				})
				must(0, p.ConsumeTraces(context.Background(), td))
			}
		}}
	}
	on, off := sending(nil), sending(retryOff)
	m := measure(e, on, off)
	t.add(row{work: "MCP, " + result500.name + ", copying included", of: "of the cost without", value: ratio(m[0], m[1]).spread(), ns: m[0]})
	t.add(row{work: "MCP, " + result500.name, of: "CPU time more than without", value: minus(m[0], m[1]).spread(), unit: "ns"})
	with, withBytes := allocations(on, 100)
	without, withoutBytes := allocations(off, 100)
	t.add(row{work: "MCP, " + result500.name, of: "objects allocated per span more than without", value: fixed(hundredths(with - without))})
	t.add(row{work: "MCP, " + result500.name, of: "bytes allocated per span more than without", value: fixed(float64(int(withBytes - withoutBytes)))})
}
