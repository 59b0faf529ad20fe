package mcpprocessor

import (
	"cmp"
	"context"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"
)

// processLogs gives each MCP log record of ld its verdict.
func (p *mcpProcessor) processLogs(_ context.Context, ld plog.Logs) (plog.Logs, error) {
	w := p.worker()
	defer p.release(w)
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			seenBy := w.see(rl.Resource(), sl.Scope())
			for _, record := range sl.LogRecords().All() {
				p.record(w, record, seenBy, false)
			}
		}
	}
	// Attempts and answers in the order of their times: a call that follows an
	// answer is to be compared with it.
	w.sortAttempts()
	slices.SortStableFunc(w.logs, func(a, b later[plog.LogRecord]) int { return cmp.Compare(a.time, b.time) })
	for _, l := range w.logs {
		p.observe(w, l.time)
		p.record(w, l.item, l.seenBy, true)
	}
	p.observe(w, math.MaxInt64)
	return ld, nil
}

// record finds, judges and writes one log record. Unless it is the last look, a
// record with answers to requests of other records is put off.
func (p *mcpProcessor) record(w *worker, record plog.LogRecord, seenBy int, last bool) {
	defer func() {
		if cause := recover(); cause != nil {
			p.panicked(w, cause)
			w.tally.items[failed]++
			if p.keep != KeepAlways {
				p.carrier.RemoveUnread(record)
			}
		}
	}()
	if !last && p.carrier.PassesOverRecord(record) {
		w.tally.items[passedOver]++
		return
	}
	w.used = true
	if !p.carrier.Log(record, w.item) {
		w.tally.items[passedOver]++
		return
	}
	it := w.item
	pairs := p.pairing != nil && !it.HasOutcome
	time := recordTime(record)
	if pairs {
		p.onStream(w, seenBy, noKind, time)
		if last {
			w.asker.Reset(p.pairing, &w.stream)
			it.Exchange.Asked = &w.asker
		}
	}
	done := p.assess(w)
	if pairs && !last && w.judge.Unasked() {
		w.logs = append(w.logs, later[plog.LogRecord]{record, seenBy, time})
		return
	}
	p.count(w, noKind, done)
	if done == passedOver {
		return
	}
	v := w.verdict
	var waits *note
	if p.retries != nil && w.judged {
		waits = p.attemptOfRecord(w, record, seenBy, time)
	}
	if p.removesBodies(v) {
		p.carrier.RemoveFromRecord(record, it) // nothing more can be read of the item
		it.Exchange.Request.Detached = true
	}
	if pairs && done == annotated {
		p.remember(w, waits)
	}
	if last && p.retries != nil {
		p.settle(w, time)
	}
	if done != judged && done != annotated {
		return
	}
	p.writer.write(record.Attributes(), &it.Exchange, v)
}

// recordTime is when what the record tells of happened.
func recordTime(record plog.LogRecord) int64 {
	if t := record.Timestamp(); t != 0 {
		return int64(t)
	}
	return int64(record.ObservedTimestamp())
}
