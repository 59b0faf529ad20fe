package mcpprocessor

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"

	"github.com/otel-mcp/mcpprocessor/processor/carrier"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// mcpProcessor is one instance of the processor, for one pipeline.
type mcpProcessor struct {
	carrier   *carrier.Carrier
	writer    writer
	keep      Keep
	telemetry *telemetry
	logger    *zap.Logger
	workers   sync.Pool

	warnNoBodies sync.Once
	reportPanic  sync.Once
}

// worker is what one batch needs at a time.
type worker struct {
	judge   *verdict.Judge
	item    carrier.Item
	verdict verdict.Verdict
	tally   tally
}

func newProcessor(cfg *Config, set processor.Settings, sig signal) (*mcpProcessor, error) {
	t, err := newTelemetry(set.TelemetrySettings, sig)
	if err != nil {
		return nil, err
	}
	enabled := enabledAttributes(cfg.Attributes)
	settings := verdict.Settings{
		HTTPStatusAlways:  cfg.Classification.HTTPStatus == HTTPStatusAlways,
		NullMembersAbsent: cfg.Classification.NullMembers == NullMembersAbsent,
		InstrumentedSpans: cfg.Classification.InstrumentedSpans,
		ErrorText:         enabled.has(attrErrorMessage) || enabled.has(attrErrorData),
	}
	p := &mcpProcessor{
		carrier: carrier.New(carrier.Config{
			RequestAttributes:  slices.Concat(cfg.Bodies.ExtraRequestAttributes, cfg.Bodies.RequestAttributes),
			ResponseAttributes: slices.Concat(cfg.Bodies.ExtraResponseAttributes, cfg.Bodies.ResponseAttributes),
			URLPaths:           cfg.Match.URLPaths,
			MaxBytes:           cfg.Bodies.MaxBytes,
			InstrumentedSpans:  cfg.Classification.InstrumentedSpans,
		}),
		writer:    writer{enabled: enabled, spanStatus: cfg.SpanStatus == SpanStatusFailures},
		keep:      cfg.Bodies.Keep,
		telemetry: t,
		logger:    set.Logger,
	}
	p.workers.New = func() any { return &worker{judge: verdict.NewJudge(settings)} }
	return p, nil
}

func (p *mcpProcessor) shutdown(context.Context) error {
	p.telemetry.shutdown()
	return nil
}

func (p *mcpProcessor) worker() *worker { return p.workers.Get().(*worker) }

// release records what w counted and gives it back.
func (p *mcpProcessor) release(ctx context.Context, w *worker) {
	p.telemetry.record(ctx, &w.tally)
	w.judge.Forget()
	w.item.Forget()
	w.verdict = verdict.Verdict{}
	p.workers.Put(w)
}

// assess finds out what is to be done with the item that w.item describes, of
// which the carrier saw a sign of MCP, and counts it.
func (p *mcpProcessor) assess(w *worker, kind int) disposition {
	it := &w.item
	if it.HasOutcome {
		if o, ok := verdict.ParseOutcome(it.Outcome); ok {
			w.verdict = verdict.Verdict{MCP: true, Outcome: o, Class: verdict.ParseClass(it.Class)}
			if w.verdict.Class == verdict.NoClass {
				w.verdict.Class = o.Class()
			}
			return leftAlone
		}
	}
	v := &w.verdict
	w.judge.Judge(&it.Exchange, v)
	if !v.MCP {
		return passedOver
	}
	w.tally.bodies(v)
	if it.HasOutcome {
		w.tally.conflicts++
		return leftAlone
	}
	if v.Outcome == verdict.NoOutcome {
		return annotated
	}
	w.tally.exchange(kind, v)
	if v.Outcome == verdict.Undetermined && it.Exchange.Request.Capture == verdict.Absent && it.Exchange.Response.Capture == verdict.Absent {
		p.warnNoBodies.Do(func() {
			p.logger.Warn("MCP exchanges arrive without their bodies, so their outcome cannot be told. " +
				"Let what records them capture bodies: see \"Where bodies come from\" in the README of this processor. " +
				"This is said once.")
		})
	}
	return judged
}

// removesBodies reports whether an item with the verdict v loses its bodies.
func (p *mcpProcessor) removesBodies(v *verdict.Verdict) bool {
	return p.keep == KeepNever || p.keep == KeepFailures && v.Class != verdict.Failure
}

// panicked counts a panic, and tells of the first one where it came from. What
// the item holds is not told.
func (p *mcpProcessor) panicked(w *worker, cause any) {
	w.tally.panics++
	p.reportPanic.Do(func() {
		fields := []zap.Field{zap.ByteString("stack", debug.Stack())}
		if err, ok := cause.(error); ok {
			fields = append(fields, zap.Error(err))
		}
		p.logger.Error("Reading an item panicked; it went on without a verdict. This is a defect of the processor: "+
			"please report it with this stack. It is said once, otelcol_processor_mcp_panics counts.", fields...)
	})
}
