package mcpprocessor

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/ptrace"
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

// disposition is what was done with an item.
type disposition uint8

const (
	passedOver disposition = iota // no sign of MCP
	judged                        // got a verdict
	annotated                     // one side, of which no outcome is due
	leftAlone                     // has an mcp.outcome already
	failed                        // reading it panicked
	dispositionCount
)

var dispositionNames = [dispositionCount]string{"passed_over", "judged", "annotated", "left_alone", "failed"}

// kindNames are the values of span.kind, by ptrace.SpanKind.
var kindNames = [...]string{
	ptrace.SpanKindUnspecified: "unspecified",
	ptrace.SpanKindInternal:    "internal",
	ptrace.SpanKindServer:      "server",
	ptrace.SpanKindClient:      "client",
	ptrace.SpanKindProducer:    "producer",
	ptrace.SpanKindConsumer:    "consumer",
}

const (
	noKind    = len(kindNames) // of log records
	kindCount = noKind + 1
)

// exchangeIndex numbers the attribute sets of the exchanges metric. The class
// follows from the outcome, but for an HTTPError, which may be pending.
func exchangeIndex(kind int, v *verdict.Verdict) int {
	if kind < 0 || kind > noKind {
		kind = int(ptrace.SpanKindUnspecified)
	}
	pending := 0
	if v.Outcome == verdict.HTTPError && v.Class == verdict.Pending {
		pending = 1
	}
	return ((kind*int(verdict.OutcomeCount)+int(v.Outcome))*2+pending)*int(verdict.MethodCount) + int(v.MethodID)
}

const exchangeIndices = kindCount * int(verdict.OutcomeCount) * 2 * int(verdict.MethodCount)

// unreadableReasons are the values of reason of the unreadable bodies metric.
var unreadableReasons = [...]verdict.Reason{verdict.BodyAbsent, verdict.BodyCut, verdict.BodyOpaque, verdict.BodyTooLarge, verdict.TooDeep}

var sideNames = [2]string{verdict.RequestSide: "request", verdict.ResponseSide: "response"}

// tally counts what happened in one batch.
type tally struct {
	items      [dispositionCount]int64
	exchanges  [exchangeIndices]uint32
	touched    []uint16 // indices of exchanges that are not zero
	unreadable [2][len(unreadableReasons)]int64
	bytes      [2]int64
	conflicts  int64
	panics     int64

	retries       [retryOrigins][classes]int64
	results       [len(retryResults)]int64
	unsafeReplays int64
	late          int64
	notEvaluated  int64
}

func (t *tally) exchange(kind int, v *verdict.Verdict) {
	i := exchangeIndex(kind, v)
	if t.exchanges[i] == 0 {
		t.touched = append(t.touched, uint16(i))
	}
	t.exchanges[i]++
}

func (t *tally) bodies(v *verdict.Verdict) {
	for side := range sideNames {
		t.bytes[side] += int64(v.BytesRead[side])
		for i, reason := range unreadableReasons {
			if v.Unreadable[side] == reason {
				t.unreadable[side][i]++
			}
		}
	}
}

const (
	retryOrigins = int(retry.UnknownOrigin) + 1
	classes      = int(verdict.Unknown) + 1
)

// retryResults are the values of result of the retry results metric.
var retryResults = [...]string{"recovered", "wasted"}

// finding counts what was found out about an attempt.
func (t *tally) finding(f *retry.Finding, isCall bool) {
	if f.LatePredecessor {
		t.late++
	}
	if f.Duplicate || !isCall {
		return
	}
	if f.Evidence == retry.NotEvaluated {
		t.notEvaluated++
	}
	if f.Origin == retry.NoOrigin {
		return
	}
	t.retries[f.Origin][f.PreviousClass]++
	if f.Safety == retry.UnsafeSuspected {
		t.unsafeReplays++
	}
	t.result(f)
}

// result counts how a retry ended.
func (t *tally) result(f *retry.Finding) {
	if f.Recovered {
		t.results[0]++
	}
	if f.Wasted {
		t.results[1]++
	}
}

// telemetry writes the processor's own metrics. The sets of attributes are
// made once.
type telemetry struct {
	builder    *metadata.TelemetryBuilder
	signal     signal
	onlySignal []metric.AddOption

	mu   sync.Mutex
	told retry.Stats // what the metrics of entries have been told

	pairings   [len(pairingResults)][]metric.AddOption
	items      [dispositionCount][]metric.AddOption
	unreadable [2][len(unreadableReasons)][]metric.AddOption
	bytes      [2][]metric.AddOption
	retries    [retryOrigins][classes][]metric.AddOption
	results    [len(retryResults)][]metric.AddOption
	forgotten  [2][]metric.AddOption
	exchanges  [exchangeIndices]atomic.Pointer[[]metric.AddOption]
}

func newTelemetry(settings component.TelemetrySettings, sig signal) (*telemetry, error) {
	builder, err := metadata.NewTelemetryBuilder(settings)
	if err != nil {
		return nil, err
	}
	t := &telemetry{builder: builder, signal: sig, onlySignal: addOptions(sig)}
	for d, name := range dispositionNames {
		t.items[d] = addOptions(sig, otelattr.String("disposition", name))
	}
	for origin := range t.retries {
		for class := range t.retries[origin] {
			name := verdict.Class(class).String()
			if name == "" {
				name = "none"
			}
			t.retries[origin][class] = addOptions(sig,
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

func (t *telemetry) shutdown() { t.builder.Shutdown() }

// add adds a count of a batch to a counter and sets it back.
func add(ctx context.Context, counter metric.Int64Counter, n *int64, options []metric.AddOption) {
	if *n != 0 {
		counter.Add(ctx, *n, options...)
		*n = 0
	}
}

// record adds the counts of a batch and sets them back.
func (t *telemetry) record(ctx context.Context, c *tally) {
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
func (t *telemetry) recordRetries(ctx context.Context, c *tally, s retry.Stats) {
	for origin := range c.retries {
		for class := range c.retries[origin] {
			add(ctx, t.builder.ProcessorMcpRetries, &c.retries[origin][class], t.retries[origin][class])
		}
	}
	for i := range c.results {
		add(ctx, t.builder.ProcessorMcpRetryResults, &c.results[i], t.results[i])
	}
	add(ctx, t.builder.ProcessorMcpReplaysUnsafe, &c.unsafeReplays, t.onlySignal)
	add(ctx, t.builder.ProcessorMcpRetryLatePredecessors, &c.late, t.onlySignal)
	add(ctx, t.builder.ProcessorMcpRetryNotEvaluated, &c.notEvaluated, t.onlySignal)

	t.mu.Lock()
	defer t.mu.Unlock()
	if n := s.Tracked - t.told.Tracked; n != 0 {
		t.builder.ProcessorMcpRetryEntries.Add(ctx, int64(n), t.onlySignal...)
	}
	if n := s.Limit - t.told.Limit; n != 0 {
		t.builder.ProcessorMcpRetryEntriesLimit.Add(ctx, int64(n), t.onlySignal...)
	}
	for i, n := range [...]uint64{max(s.Expired, t.told.Expired) - t.told.Expired, max(s.Evicted, t.told.Evicted) - t.told.Evicted} {
		if n != 0 {
			t.builder.ProcessorMcpRetryEntriesForgotten.Add(ctx, int64(n), t.forgotten[i]...)
		}
	}
	s.Expired, s.Evicted = max(s.Expired, t.told.Expired), max(s.Evicted, t.told.Evicted)
	t.told = s
}

// exchangeOptions returns the attributes of the exchanges with index i, the
// inverse of exchangeIndex.
func (t *telemetry) exchangeOptions(i int) []metric.AddOption {
	if made := t.exchanges[i].Load(); made != nil {
		return *made
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
	t.exchanges[i].Store(&made)
	return made
}
