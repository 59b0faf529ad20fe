package mcpprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// processLogs gives each MCP log record of ld its verdict.
func (p *mcpProcessor) processLogs(ctx context.Context, ld plog.Logs) (plog.Logs, error) {
	w := p.worker()
	defer p.release(ctx, w)
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				w.tally.items[p.record(w, record)]++
			}
		}
	}
	return ld, nil
}

// record finds, judges and writes one log record.
func (p *mcpProcessor) record(w *worker, record plog.LogRecord) (done disposition) {
	defer func() {
		if cause := recover(); cause != nil {
			p.panicked(w, cause)
			if p.keep != KeepAlways {
				p.removeRecordBodies(w, record)
			}
			done = passedOver
		}
	}()
	if !p.carrier.Log(record, &w.item) {
		return passedOver
	}
	done = p.assess(w, noKind)
	if done == passedOver {
		return done
	}
	v := &w.verdict
	if p.removesBodies(v) {
		p.removeRecordBodies(w, record)
	}
	if done != leftAlone {
		p.writer.write(record.Attributes(), &w.item.Exchange, v)
	}
	return done
}

// bodyRemoved stands in place of the messages that were taken out of the body
// of a log record.
const bodyRemoved = "[MCP body removed]"

func (p *mcpProcessor) removeRecordBodies(w *worker, record plog.LogRecord) {
	p.removeAttributes(record.Attributes())
	if w.item.OnBody {
		record.Body().SetStr(bodyRemoved)
	}
}

// removeAttributes removes the attributes that hold bodies.
func (p *mcpProcessor) removeAttributes(attributes pcommon.Map) {
	attributes.RemoveIf(func(key string, _ pcommon.Value) bool { return p.carrier.IsBody(key) })
}
