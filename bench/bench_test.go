package main

import (
	"context"
	"testing"

	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor"
	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// TestCheck keeps the program working: what it compares must agree.
func TestCheck(t *testing.T) {
	if _, err := check(); err != nil {
		t.Error(err)
	}
}

// The benchmarks are for `make bench-compare`, which runs them for two commits.

func BenchmarkReader(b *testing.B) {
	for _, x := range allTexts() {
		b.Run(x.name, func(b *testing.B) {
			r := new(jsonrpc.Reader)
			b.SetBytes(int64(len(x.text)))
			b.ReportAllocs()
			for b.Loop() {
				readAll(r, x.text, x.format)
			}
		})
	}
}

// BenchmarkPassedOver sends the same spans again and again, which are not of MCP.
func BenchmarkPassedOver(b *testing.B) {
	for name, text := range map[string]string{"no body": "", foreign2k.name: foreign2k.text} {
		b.Run(name, func(b *testing.B) {
			p := mcpTraces(consumertest.NewNop())
			batches := copies(spanBatch("/api/orders", "", text), 10)
			b.ReportAllocs()
			for b.Loop() {
				for _, td := range batches {
					must(0, p.ConsumeTraces(context.Background(), td))
				}
			}
			perUnit(b, len(batches)*spansPerBatch)
		})
	}
}

// BenchmarkJudged sends copies of a batch. What the copy costs is in it; the
// first one only copies.
func BenchmarkJudged(b *testing.B) {
	for _, x := range mcpExchanges {
		batch := spanBatch("/mcp", x.request, x.text)
		nop := consumertest.NewNop()
		b.Run(x.name+"/copy", func(b *testing.B) { judged(b, plainTraces(nop, nil), batch) })
		b.Run(x.name+"/mcp", func(b *testing.B) { judged(b, mcpTraces(nop), batch) })
	}
}

func judged(b *testing.B, p interface {
	ConsumeTraces(context.Context, ptrace.Traces) error
}, batch ptrace.Traces,
) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		td := ptrace.NewTraces()
		batch.CopyTo(td)
		must(0, p.ConsumeTraces(context.Background(), td))
	}
	perUnit(b, spansPerBatch)
}

func BenchmarkLogs(b *testing.B) {
	for _, l := range lines {
		b.Run(l.name, func(b *testing.B) {
			p := logs(mcpprocessor.NewFactory(), settings(), consumertest.NewNop())
			ld := logBatch(l.text)
			b.ReportAllocs()
			for b.Loop() {
				must(0, p.ConsumeLogs(context.Background(), ld))
			}
			perUnit(b, recordsPerBatch)
		})
	}
	b.Run("MCP, "+result500.name, func(b *testing.B) {
		p := logs(mcpprocessor.NewFactory(), settings(), consumertest.NewNop())
		record := logBatch(result500.text)
		b.ReportAllocs()
		for b.Loop() {
			ld := plog.NewLogs()
			record.CopyTo(ld)
			must(0, p.ConsumeLogs(context.Background(), ld))
		}
		perUnit(b, recordsPerBatch)
	})
}

// perUnit reports the time of one span or record.
func perUnit(b *testing.B, units int) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*units), "ns/unit")
}
