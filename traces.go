package mcpprocessor

import (
	"cmp"
	"context"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/carrier"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// atATime is how many spans are found before they are judged, and judged before
// they are written. The code of these steps together does not fit in the first
// cache of a core: span by span, each step would push the others out.
const atATime = 16

// foundSpan is a span with a sign of MCP.
type foundSpan struct {
	span    ptrace.Span
	seenBy  int
	item    *carrier.Item
	verdict verdict.Verdict
	due     bool // the verdict is to be written
}

// forget drops what f refers to.
func (f *foundSpan) forget() {
	f.item.Forget()
	f.span, f.verdict = ptrace.Span{}, verdict.Verdict{}
}

// maxHeld is how many bytes of bodies the spans that are worked on at a time may
// have, before the last of them: bodies that were decoded are in memory meanwhile.
const maxHeld = 256 << 10

// look makes f the item that is worked on.
func (w *worker) look(f *foundSpan) {
	w.item, w.verdict = f.item, &f.verdict
}

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
	p.judgeFound(w, false)
	slices.SortStableFunc(w.spans, func(a, b later[ptrace.Span]) int { return cmp.Compare(a.time, b.time) })
	for _, l := range w.spans {
		p.find(w, l.item, l.seenBy)
		p.judgeFound(w, true)
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
		p.find(w, span, seenBy)
		if w.waiting == len(w.found) || w.held > maxHeld {
			p.judgeFound(w, false)
		}
	}
	return next
}

// find reads what span tells of an exchange, and keeps it to be judged.
func (p *mcpProcessor) find(w *worker, span ptrace.Span, seenBy int) {
	defer p.rescue(w, span)
	w.used = true
	f := &w.found[w.waiting]
	found := p.carrier.Span(span, f.item)
	if p.retries != nil {
		if id := f.item.ToolCall(); id != "" {
			w.toolCalls[spanKey{span.TraceID(), span.SpanID()}] = p.retries.Digest(id)
		}
	}
	if !found {
		w.tally.items[passedOver]++
		return
	}
	f.span, f.seenBy = span, seenBy
	w.waiting++
	w.held += len(f.item.Exchange.Request.Text) + len(f.item.Exchange.Response.Text)
}

// rescue is deferred by each step: a panic is the end of the step for this span
// only.
func (p *mcpProcessor) rescue(w *worker, span ptrace.Span) {
	if cause := recover(); cause != nil {
		p.panicked(w, cause)
		w.tally.items[failed]++
		if p.keep != KeepAlways {
			p.carrier.RemoveFromSpan(span)
		}
	}
}

// judgeFound judges and writes the spans that were found. Unless it is the last
// look, streams with answers to requests of other spans are put off.
func (p *mcpProcessor) judgeFound(w *worker, last bool) {
	found := w.found[:w.waiting]
	w.waiting = 0
	for i := range found {
		p.judgeSpan(w, &found[i], last)
	}
	for i := range found {
		if found[i].due {
			p.writeSpan(w, &found[i])
		}
	}
	if w.held > maxHeld {
		for i := range found {
			found[i].forget()
		}
	}
	w.held = 0
}

// judgeSpan judges one span, and does all but to write the verdict.
func (p *mcpProcessor) judgeSpan(w *worker, f *foundSpan, last bool) {
	span := f.span
	f.due = false
	defer p.rescue(w, span)
	w.look(f)
	it := w.item
	kind := int(span.Kind())
	pairs := p.pairing != nil && it.Session != ""
	if pairs {
		p.onStream(w, f.seenBy, kind, int64(span.EndTimestamp()))
		if last {
			w.asker.Reset(p.pairing, &w.stream)
			it.Exchange.Asked = &w.asker
		}
	}
	done := p.assess(w)
	if pairs && !last && w.judge.Unasked() && it.Exchange.HTTPMethod == "GET" && done == judged {
		w.spans = append(w.spans, later[ptrace.Span]{span, f.seenBy, int64(span.EndTimestamp())})
		return
	}
	p.count(w, kind, done)
	if done == passedOver {
		return
	}
	v := w.verdict
	if p.retries != nil && w.judged {
		p.attemptOfSpan(w, span, f.seenBy)
	}
	if p.removesBodies(v) {
		p.carrier.RemoveFromSpan(span) // nothing more can be read of the item
		it.Exchange.Request.Detached = true
	}
	if done != judged && done != annotated {
		return
	}
	if pairs && (v.Outcome == verdict.StreamDeferred || v.Outcome == verdict.StreamIncomplete) {
		w.stream.Time = int64(span.StartTimestamp())
		p.remember(w, nil)
	}
	f.due = true
	if len(v.Answers) > 0 {
		p.writeSpan(w, f) // they are the judge's, who goes on
	}
}

// writeSpan writes the verdict of one span.
func (p *mcpProcessor) writeSpan(w *worker, f *foundSpan) {
	f.due = false
	defer p.rescue(w, f.span)
	p.writer.writeSpan(f.span, &f.item.Exchange, &f.verdict)
}
