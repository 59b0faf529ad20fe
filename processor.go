package mcpprocessor

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"

	"github.com/otel-mcp/mcpprocessor/processor/carrier"
	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/retry"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// mcpProcessor is one instance of the processor, for one pipeline.
type mcpProcessor struct {
	carrier   *carrier.Carrier
	pairing   *carrier.Pairing // nil if it is switched off
	retries   *retry.Tracker   // nil if it is switched off
	digestKey jsonrpc.DigestKey
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
	judge *verdict.Judge
	// item is what is worked on, with its verdict.
	item    *carrier.Item
	verdict *verdict.Verdict
	judged  bool // the judge knows the exchange that the verdict is about
	tally   tally
	used    bool // for more than to pass items over

	// found are the spans to work on, waiting of them. For log records, which are
	// worked on one by one, there is one.
	found   []foundSpan
	waiting int
	held    int // bytes of their bodies

	vantages []vantage // of the batch; items refer to them by index
	stream   carrier.Stream
	asker    carrier.PairingAsker
	spans    []later[ptrace.Span]
	logs     []later[plog.LogRecord]
	attempts []attempt
	order    []int32 // of attempts, by time
	observed int     // how many of them have been observed
	// target and session are those of the last attempt.
	target, session lastDigest
	// toolCalls are the gen_ai.tool.call.id on spans of the batch.
	toolCalls map[spanKey]retry.Digest
}

// spanKey names a span: span ids are unique within their trace only.
type spanKey struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// later is an item that is judged when the whole batch has been seen, since it
// holds answers to requests that may stand behind it.
type later[T any] struct {
	item   T
	seenBy int
	time   int64
}

// vantage is what items were seen by. What is derived from it is found out when
// the first MCP item comes.
type vantage struct {
	resource pcommon.Resource
	scope    string

	identified     bool
	pairing        uint64
	resourceDigest retry.Digest
	intermediary   bool
	// digest of the vantage of items of this kind, the last ones.
	digest retry.Digest
	kind   int
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
			FragmentAttributes: cfg.Bodies.FragmentAttributes,
			MessageAttributes:  slices.Concat(cfg.Bodies.ExtraMessageAttributes, cfg.Bodies.MessageAttributes),
			LogPaths:           logPaths(slices.Concat(cfg.Bodies.ExtraLogPaths, cfg.Bodies.LogPaths)),
			URLPaths:           cfg.Match.URLPaths,
			MaxBytes:           cfg.Bodies.MaxBytes,
			InstrumentedSpans:  cfg.Classification.InstrumentedSpans,
		}),
		writer:    writer{enabled: enabled, spanStatus: cfg.SpanStatus == SpanStatusFailures, retries: cfg.Retry.Enabled},
		keep:      cfg.Bodies.Keep,
		telemetry: t,
		logger:    set.Logger,
	}
	if cfg.Pairing.Enabled {
		window := cfg.Pairing.Window
		if sig == signalTraces {
			window = max(window, streamWindow)
		}
		p.pairing = carrier.NewPairing(window, cfg.Pairing.MaxPending)
	}
	if cfg.Retry.Enabled {
		p.retries = retry.New(retry.Config{
			Window: cfg.Retry.Window, MaxTracked: cfg.Retry.MaxTracked, Intermediaries: cfg.Retry.Intermediaries,
			ReadOnlyTools: cfg.Retry.ReadOnlyTools, WriteTools: cfg.Retry.WriteTools,
		})
		p.digestKey = jsonrpc.NewDigestKey()
	}
	t.pairing, t.retries = p.pairing, p.retries
	places := 1
	if sig == signalTraces {
		places = atATime
	}
	p.workers.New = func() any { return newWorker(settings, places) }
	return p, nil
}

// newWorker returns a worker that has places for so many items at a time.
func newWorker(settings verdict.Settings, places int) *worker {
	w := &worker{judge: verdict.NewJudge(settings), toolCalls: map[spanKey]retry.Digest{}, found: make([]foundSpan, places)}
	for i, item := range carrier.NewItems(places) {
		w.found[i].item = item
	}
	w.look(&w.found[0])
	return w
}

// streamWindow is how long the request of a span whose answer travels on
// another stream is remembered: such streams live long.
const streamWindow = time.Hour

func logPaths(settings []LogPathConfig) []carrier.LogPath {
	paths := make([]carrier.LogPath, len(settings))
	for i, s := range settings {
		paths[i] = carrier.LogPath{Request: s.Request + s.Message, Response: s.Response}
	}
	return paths
}

func (p *mcpProcessor) shutdown(context.Context) error {
	p.telemetry.shutdown()
	return nil
}

func (p *mcpProcessor) worker() *worker { return p.workers.Get().(*worker) }

// release gives w back, and what it counted to the metrics.
func (p *mcpProcessor) release(w *worker) {
	p.telemetry.take(&w.tally)
	if w.used {
		w.used, w.waiting, w.held = false, 0, 0
		w.judge.Forget()
		for i := range w.found {
			w.found[i].forget()
		}
		clear(w.spans)
		clear(w.logs)
		clear(w.attempts)
		clear(w.toolCalls)
		w.spans, w.logs, w.attempts = w.spans[:0], w.logs[:0], w.attempts[:0]
		w.target, w.session = lastDigest{}, lastDigest{}
	}
	clear(w.vantages)
	w.vantages = w.vantages[:0]
	p.workers.Put(w)
}

// assess finds out what is to be done with the item that w.item describes, of
// which the carrier saw a sign of MCP.
func (p *mcpProcessor) assess(w *worker) disposition {
	it := w.item
	if it.HasOutcome {
		if o, ok := verdict.ParseOutcome(it.Outcome); ok {
			p.assessJudged(w, o)
			return leftAlone
		}
	}
	v := w.verdict
	w.judge.Judge(&it.Exchange, v)
	w.judged = v.MCP
	switch {
	case !v.MCP:
		return passedOver
	case it.HasOutcome:
		// Somebody else's word under our name: it is not ours to replace.
		return leftAlone
	case v.Outcome == verdict.NoOutcome:
		return annotated
	default:
		return judged
	}
}

// assessJudged takes over the verdict of an item that was judged upstream. It is
// read all the same where its retry origin is still to be found out.
func (p *mcpProcessor) assessJudged(w *worker, o verdict.Outcome) {
	v := w.verdict
	*v = verdict.Verdict{}
	w.judged = p.retries != nil
	if w.judged {
		w.judge.Judge(&w.item.Exchange, v)
		w.judged = v.MCP
	}
	v.MCP, v.Outcome, v.Class = true, o, verdict.ParseClass(w.item.Class)
	if v.Class == verdict.NoClass {
		v.Class = o.Class()
	}
}

// count counts what was done with the item that was assessed last.
func (p *mcpProcessor) count(w *worker, kind int, done disposition) {
	v, ex := w.verdict, &w.item.Exchange
	w.tally.items[done]++
	if done == passedOver {
		return
	}
	if w.item.HasOutcome {
		if _, ours := verdict.ParseOutcome(w.item.Outcome); !ours {
			w.tally.conflicts++
		}
	}
	w.tally.bodies(v)
	if done != judged {
		return
	}
	w.tally.exchange(kind, v)
	if v.Outcome == verdict.Undetermined && ex.HTTP && ex.Request.Capture == verdict.Absent && ex.Response.Capture == verdict.Absent {
		p.warnNoBodies.Do(func() {
			p.logger.Warn("MCP exchanges arrive without their bodies, so their outcome cannot be told. " +
				"Let what records them capture bodies: see \"Where bodies come from\" in the README of this processor. " +
				"This is said once.")
		})
	}
}

// see adds a vantage of the batch and returns its index.
func (w *worker) see(resource pcommon.Resource, scope pcommon.InstrumentationScope) int {
	w.vantages = append(w.vantages, vantage{resource: resource, scope: scope.Name()})
	return len(w.vantages) - 1
}

// identify finds out what is derived from a vantage.
func (p *mcpProcessor) identify(w *worker, seenBy int) *vantage {
	v := &w.vantages[seenBy]
	if v.identified {
		return v
	}
	v.identified = true
	var identity [256]byte
	id := carrier.AppendIdentity(identity[:0], v.resource)
	if p.pairing != nil {
		v.pairing = p.pairing.Hash(id, v.scope)
	}
	if p.retries != nil {
		v.resourceDigest = p.retries.DigestBytes(id)
		if name, ok := v.resource.Attributes().Get("service.name"); ok {
			v.intermediary = p.retries.IsIntermediary(name.AsString())
		}
	}
	return v
}

// onStream sets w.stream to the stream that the item belongs to.
func (p *mcpProcessor) onStream(w *worker, seenBy, kind int, time int64) {
	it := w.item
	w.stream = carrier.Stream{
		Vantage: p.identify(w, seenBy).pairing + uint64(kind),
		Session: it.Session, Label: it.Label(),
		ToServer: it.ToServer, ToClient: it.ToClient,
		Time: time,
	}
}

// remember keeps the requests of the exchange judged last for their answers.
// An answer is to be told to whoever waits for it.
func (p *mcpProcessor) remember(w *worker, waits *note) {
	w.judge.Requests(func(id jsonrpc.ID, asked verdict.Asked) {
		if waits != nil {
			asked.Note = waits
		}
		p.pairing.Remember(&w.stream, id, asked)
	})
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
