package mcpprocessor

import (
	"cmp"
	"context"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// processTraces gives each MCP span of td its verdict.
func (p *mcpProcessor) processTraces(_ context.Context, td ptrace.Traces) (ptrace.Traces, error) {
	w := p.worker()
	defer p.release(w)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			seenBy := w.see(rs.Resource(), ss.Scope())
			for i, spans := 0, ss.Spans(); i < spans.Len(); {
				i = p.spans(w, spans, i, seenBy)
			}
		}
	}
	slices.SortStableFunc(w.spans, func(a, b later[ptrace.Span]) int { return cmp.Compare(a.time, b.time) })
	for _, l := range w.spans {
		p.span(w, l.item, l.seenBy, true)
	}
	if len(w.attempts) > 0 {
		p.inheritToolCalls(w, td)
		w.sortAttempts()
		p.observe(w, math.MaxInt64)
	}
	return td, nil
}

// spans handles the spans from i on, and returns where to go on: behind the last
// one, or behind one at which something panicked.
func (p *mcpProcessor) spans(w *worker, spans ptrace.SpanSlice, i, seenBy int) (next int) {
	next = i
	defer func() {
		if cause := recover(); cause != nil {
			p.panicked(w, cause)
			w.tally.items[failed]++
			next++
		}
	}()
	for ; next < spans.Len(); next++ {
		span := spans.At(next)
		if p.carrier.PassesOver(span) {
			w.tally.items[passedOver]++
			continue
		}
		p.span(w, span, seenBy, false)
	}
	return next
}

// span finds, judges and writes one span. Unless it is the last look, a stream
// with answers to requests of other spans is put off.
func (p *mcpProcessor) span(w *worker, span ptrace.Span, seenBy int, last bool) {
	defer func() {
		if cause := recover(); cause != nil {
			p.panicked(w, cause)
			w.tally.items[failed]++
			if p.keep != KeepAlways {
				p.carrier.RemoveFromSpan(span)
			}
		}
	}()
	w.used = true
	found := p.carrier.Span(span, &w.item)
	if p.retries != nil && !last {
		if id := w.item.ToolCall(); id != "" {
			w.toolCalls[spanKey{span.TraceID(), span.SpanID()}] = p.retries.Digest(id)
		}
	}
	if !found {
		w.tally.items[passedOver]++
		return
	}
	it := &w.item
	kind := int(span.Kind())
	pairs := p.pairing != nil && it.Session != ""
	if pairs {
		p.onStream(w, seenBy, kind, int64(span.EndTimestamp()))
		if last {
			w.asker.Reset(p.pairing, &w.stream)
			it.Exchange.Asked = &w.asker
		}
	}
	done := p.assess(w)
	if pairs && !last && w.judge.Unasked() && it.Exchange.HTTPMethod == "GET" && done == judged {
		w.spans = append(w.spans, later[ptrace.Span]{span, seenBy, int64(span.EndTimestamp())})
		return
	}
	p.count(w, kind, done)
	if done == passedOver {
		return
	}
	v := &w.verdict
	if p.retries != nil && w.judged {
		p.attemptOfSpan(w, span, seenBy)
	}
	if p.removesBodies(v) {
		p.carrier.RemoveFromSpan(span) // nothing more can be read of the item
	}
	if done != judged && done != annotated {
		return
	}
	if pairs && (v.Outcome == verdict.StreamDeferred || v.Outcome == verdict.StreamIncomplete) {
		w.stream.Time = int64(span.StartTimestamp())
		p.remember(w, nil)
	}
	p.writer.writeSpan(span, &it.Exchange, v)
}
