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
// arguments of its own, and as many are remembered as can be.
func measureRetry(t *table, e effort) {
	if !hasRetry() {
		return
	}
	const (
		tracked = 100_000 // what it remembers at most by default
		calls   = tracked * 6 / 5
	)
	requests := make([]string, calls)
	for i := range requests {
		requests[i] = strings.Replace(result500.request, "Lisbon", fmt.Sprintf("%06d", i), 1)
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
				})
				must(0, p.ConsumeTraces(context.Background(), td))
			}
		}}
	}
	on, off := sending(nil), sending(retryOff)
	on.run(tracked / spansPerBatch)
	m := measure(e, on, off)
	t.add(row{work: "MCP, " + result500.name + ", copying included", of: "of the cost without", value: ratio(m[0], m[1]).spread(), ns: m[0]})
	t.add(row{work: "MCP, " + result500.name, of: "CPU time more than without", value: minus(m[0], m[1]).spread(), unit: "ns", target: atMost(1500)})
	with, withBytes := allocations(on, 100)
	without, withoutBytes := allocations(off, 100)
	t.add(row{work: "MCP, " + result500.name, of: "objects allocated per span more than without", value: fixed(hundredths(with - without)), target: atMost(2)})
	t.add(row{work: "MCP, " + result500.name, of: "bytes allocated per span more than without", value: fixed(float64(int(withBytes - withoutBytes)))})
}
