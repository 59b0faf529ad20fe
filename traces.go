package mcpprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// processTraces gives each MCP span of td its verdict.
func (p *mcpProcessor) processTraces(ctx context.Context, td ptrace.Traces) (ptrace.Traces, error) {
	w := p.worker()
	defer p.release(ctx, w)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				w.tally.items[p.span(w, span)]++
			}
		}
	}
	return td, nil
}

// span finds, judges and writes one span.
func (p *mcpProcessor) span(w *worker, span ptrace.Span) (done disposition) {
	defer func() {
		if cause := recover(); cause != nil {
			p.panicked(w, cause)
			if p.keep != KeepAlways {
				p.removeAttributes(span.Attributes())
			}
			done = passedOver
		}
	}()
	if !p.carrier.Span(span, &w.item) {
		return passedOver
	}
	done = p.assess(w, int(span.Kind()))
	if done == passedOver {
		return done
	}
	v := &w.verdict
	if p.removesBodies(v) {
		p.removeAttributes(span.Attributes())
	}
	if done != leftAlone {
		p.writer.writeSpan(span, &w.item.Exchange, v)
	}
	return done
}
