package main

import (
	"context"
	"strings"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otel-mcp/mcpprocessor"
)

const recordsPerBatch = 100

// logBatch returns log records as a file log receiver makes them of lines.
func logBatch(text string) plog.Logs {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "agent")
	sl := rl.ScopeLogs().AppendEmpty()
	for i := range recordsPerBatch {
		record := sl.LogRecords().AppendEmpty()
		record.SetTimestamp(pcommon.Timestamp(1_764_411_300_000_000_000 + 1_000_000*i))
		record.SetSeverityNumber(plog.SeverityNumberInfo)
		record.SetSeverityText("INFO")
		a := record.Attributes()
		a.PutStr("log.file.name", "agent.log")
		a.PutStr("log.file.path", "/var/log/agent/agent.log")
		a.PutStr("log.iostream", "stdout")
		a.PutStr("k8s.container.name", "agent")
		record.Body().SetStr(text)
	}
	return ld
}

func repeatingLogs(p consumer.Logs, ld plog.Logs) candidate {
	return candidate{units: ld.LogRecordCount(), run: func(n int) {
		for range n {
			must(0, p.ConsumeLogs(context.Background(), ld))
		}
	}}
}

// The lines that are measured. None of them is MCP.
var lines = []struct {
	name, text string
}{
	{"text line of 80 B", text1m.text[:77]},
	{"JSON line of 250 B", `{"timestamp":"2026-11-29T10:15:00.123Z","level":"info","logger":"orders.worker","thread":"worker-12","message":"took order from the queue","order":4711,"customer":"c-0017","elapsed_ms":17,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","retries":0}`},
	{"text of 1 MiB without JSON", text1m.text},
}

func measureLogs(t *table, e effort) {
	nop := consumertest.NewNop()
	mcp := logs(mcpprocessor.NewFactory(), settings(), nop)
	nothing := plainLogs(nop, func(plog.LogRecord) {})
	sweep := plainLogs(nop, func(record plog.LogRecord) {
		if strings.Contains(record.Body().Str(), sweepWord) {
			sink++
		}
	})
	for _, l := range lines {
		ld := logBatch(l.text)
		m := measure(e, repeatingLogs(mcp, ld), repeatingLogs(sweep, ld), repeatingLogs(nothing, ld))
		work := "not MCP, " + l.name
		t.add(row{work: work, of: "CPU time beyond one sweep of the text", value: minus(m[0], m[1]).spread(), unit: "ns", ns: m[0], target: atMost(200)})
		t.add(row{work: work, of: "of the cost of one sweep of the text", value: ratio(m[0], m[1]).spread(), ns: m[1]})
		mine, _ := allocations(repeatingLogs(mcp, ld), 200)
		theirs, _ := allocations(repeatingLogs(nothing, ld), 200)
		t.add(row{work: work, of: "objects allocated per record beyond those of the helper", value: fixed(hundredths(mine - theirs)), target: atMost(0)})
	}
}
