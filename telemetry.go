package mcpprocessor

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	otelattr "go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otel-mcp/mcpprocessor/internal/metadata"
	"github.com/otel-mcp/mcpprocessor/processor/carrier"
	"github.com/otel-mcp/mcpprocessor/processor/retry"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// signal is the signal that an instance of the processor works on.
type signal string

const (
	signalTraces signal = "traces"
	signalLogs   signal = "logs"
)

// recordDelay is how long counts of batches are gathered before they are recorded:
// to record them for each batch would cost more than to pass over its spans.
// Tests set it to 0, to record at once.
var recordDelay = 200 * time.Millisecond

// telemetry writes the processor's own metrics. The sets of attributes are
// made once.
type telemetry struct {
	builder    *metadata.TelemetryBuilder
	signal     signal
	onlySignal []metric.AddOption
	// pairing and retries are asked for their own counts, nil if switched off.
	pairing *carrier.Pairing
	retries *retry.Tracker
	delay   time.Duration

	mu    sync.Mutex
	sum   tally       // what has not been recorded yet
	timer *time.Timer // records it; set while there is something to record
	told  retry.Stats // what the metrics of entries have been told

	pairings   [len(pairingResults)][]metric.AddOption
	items      [dispositionCount][]metric.AddOption
	unreadable [2][len(unreadableReasons)][]metric.AddOption
	bytes      [2][]metric.AddOption
	retried    [retryOrigins][classes][]metric.AddOption
	results    [len(retryResults)][]metric.AddOption
	forgotten  [2][]metric.AddOption
	exchanges  [exchangeIndices][]metric.AddOption // made when they are needed
}

func newTelemetry(settings component.TelemetrySettings, sig signal) (*telemetry, error) {
	builder, err := metadata.NewTelemetryBuilder(settings)
	if err != nil {
		return nil, err
	}
	t := &telemetry{builder: builder, signal: sig, onlySignal: addOptions(sig), delay: recordDelay}
	for d, name := range dispositionNames {
		t.items[d] = addOptions(sig, otelattr.String("disposition", name))
	}
	for origin := range t.retried {
		for class := range t.retried[origin] {
			name := verdict.Class(class).String()
			if name == "" {
				name = "none"
			}
			t.retried[origin][class] = addOptions(sig,
				otelattr.String("mcp.retry_origin", retry.Origin(origin).String()), otelattr.String("previous_class", name))
		}
	}
	for i, name := range retryResults {
		t.results[i] = addOptions(sig, otelattr.String("result", name))
	}
	for i, name := range [...]string{"expired", "evicted"} {
		t.forgotten[i] = addOptions(sig, otelattr.String("cause", name))
	}
	for i, name := range pairingResults {
		t.pairings[i] = addOptions(sig, otelattr.String("result", name))
	}
	for side, name := range sideNames {
		t.bytes[side] = addOptions(sig, otelattr.String("side", name))
		for i, reason := range unreadableReasons {
			t.unreadable[side][i] = addOptions(sig, otelattr.String("side", name), otelattr.String("reason", reason.String()))
		}
	}
	return t, nil
}

func addOptions(sig signal, more ...otelattr.KeyValue) []metric.AddOption {
	set := otelattr.NewSet(append(more, otelattr.String("signal", string(sig)))...)
	return []metric.AddOption{metric.WithAttributeSet(set)}
}

// shutdown records what is left. What is counted after it is lost.
func (t *telemetry) shutdown() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.record()
	t.builder.Shutdown()
}

// take takes over what was counted in a batch, to be recorded soon.
func (t *telemetry) take(batch *tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	batch.moveTo(&t.sum)
	switch {
	case t.delay == 0:
		t.record()
	case t.timer == nil:
		t.timer = time.AfterFunc(t.delay, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.record()
		})
	}
}

// record records what was counted. t is locked.
func (t *telemetry) record() {
	ctx := context.Background() // of no batch in particular
	t.timer = nil
	t.recordItems(ctx)
	if t.pairing != nil {
		t.recordPairing(ctx, t.pairing.Counts())
	}
	if t.retries != nil {
		t.recordRetries(ctx, t.retries.Stats())
	}
}

// add adds a count to a counter and sets it back.
func add(ctx context.Context, counter metric.Int64Counter, n *int64, options []metric.AddOption) {
	if *n != 0 {
		counter.Add(ctx, *n, options...)
		*n = 0
	}
}

func (t *telemetry) recordItems(ctx context.Context) {
	c := &t.sum
	for d := range c.items {
		add(ctx, t.builder.ProcessorMcpItems, &c.items[d], t.items[d])
	}
	for side := range sideNames {
		add(ctx, t.builder.ProcessorMcpBodyBytes, &c.bytes[side], t.bytes[side])
		for i := range unreadableReasons {
			add(ctx, t.builder.ProcessorMcpBodiesUnreadable, &c.unreadable[side][i], t.unreadable[side][i])
		}
	}
	add(ctx, t.builder.ProcessorMcpConflicts, &c.conflicts, t.onlySignal)
	add(ctx, t.builder.ProcessorMcpPanics, &c.panics, t.onlySignal)
	for _, i := range c.touched {
		t.builder.ProcessorMcpExchanges.Add(ctx, int64(c.exchanges[i]), t.exchangeOptions(int(i))...)
		c.exchanges[i] = 0
	}
	c.touched = c.touched[:0]
}

// pairingResults are the values of result of the pairings metric.
var pairingResults = [...]string{"paired", "ambiguous", "expired", "evicted"}

// recordPairing adds what happened to remembered requests.
func (t *telemetry) recordPairing(ctx context.Context, c carrier.PairingCounts) {
	for i, n := range [...]int64{c.Paired, c.Ambiguous, c.Expired, c.Evicted} {
		if n != 0 {
			t.builder.ProcessorMcpPairings.Add(ctx, n, t.pairings[i]...)
		}
	}
	if c.Pending != 0 {
		t.builder.ProcessorMcpPendingRequests.Add(ctx, c.Pending, t.onlySignal...)
	}
}

// recordRetries adds what was found out about attempts, and how much is
// remembered of them.
func (t *telemetry) recordRetries(ctx context.Context, s retry.Stats) {
	c := &t.sum
	for origin := range c.retries {
		for class := range c.retries[origin] {
			add(ctx, t.builder.ProcessorMcpRetries, &c.retries[origin][class], t.retried[origin][class])
		}
	}
	for i := range c.results {
		add(ctx, t.builder.ProcessorMcpRetryResults, &c.results[i], t.results[i])
	}
	add(ctx, t.builder.ProcessorMcpReplaysUnsafe, &c.unsafeReplays, t.onlySignal)
	add(ctx, t.builder.ProcessorMcpRetryLatePredecessors, &c.late, t.onlySignal)
	add(ctx, t.builder.ProcessorMcpRetryNotEvaluated, &c.notEvaluated, t.onlySignal)

	if n := s.Tracked - t.told.Tracked; n != 0 {
		t.builder.ProcessorMcpRetryEntries.Add(ctx, int64(n), t.onlySignal...)
	}
	if n := s.Limit - t.told.Limit; n != 0 {
		t.builder.ProcessorMcpRetryEntriesLimit.Add(ctx, int64(n), t.onlySignal...)
	}
	for i, n := range [...]uint64{s.Expired - t.told.Expired, s.Evicted - t.told.Evicted} {
		if n != 0 {
			t.builder.ProcessorMcpRetryEntriesForgotten.Add(ctx, int64(n), t.forgotten[i]...)
		}
	}
	t.told = s
}

// exchangeOptions returns the attributes of the exchanges with index i, the
// inverse of exchangeIndex.
func (t *telemetry) exchangeOptions(i int) []metric.AddOption {
	if made := t.exchanges[i]; made != nil {
		return made
	}
	rest := i
	method := verdict.Method(rest % int(verdict.MethodCount))
	rest /= int(verdict.MethodCount)
	pending := rest%2 == 1
	rest /= 2
	o := verdict.Outcome(rest % int(verdict.OutcomeCount))
	kind := rest / int(verdict.OutcomeCount)

	class := o.Class()
	if pending {
		class = verdict.Pending
	}
	attributes := []otelattr.KeyValue{
		otelattr.String("mcp.outcome", o.String()),
		otelattr.String("mcp.outcome_class", class.String()),
		otelattr.String("mcp.method.name", method.String()),
	}
	if layer := o.Layer(); layer != verdict.NoLayer {
		attributes = append(attributes, otelattr.String("mcp.layer", layer.String()))
	}
	if kind < noKind {
		attributes = append(attributes, otelattr.String("span.kind", kindNames[kind]))
	}
	made := addOptions(t.signal, attributes...)
	t.exchanges[i] = made
	return made
}
