package mcpprocessor

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/retry"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
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

// tally counts what happened to items.
type tally struct {
	items      [dispositionCount]int64
	exchanges  [exchangeIndices]uint32 // by exchangeIndex
	touched    []uint16                // indices of exchanges that are not zero
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

// moveTo adds what was counted to sum and sets it back. Where all items were passed
// over, as in most batches, nothing else was.
func (t *tally) moveTo(sum *tally) {
	onlyPassedOver := t.items == [dispositionCount]int64{passedOver: t.items[passedOver]}
	move(t.items[:], sum.items[:])
	if onlyPassedOver {
		return
	}
	for _, i := range t.touched {
		if sum.exchanges[i] == 0 {
			sum.touched = append(sum.touched, i)
		}
		sum.exchanges[i] += t.exchanges[i]
		t.exchanges[i] = 0
	}
	t.touched = t.touched[:0]
	for side := range t.unreadable {
		move(t.unreadable[side][:], sum.unreadable[side][:])
	}
	move(t.bytes[:], sum.bytes[:])
	for origin := range t.retries {
		move(t.retries[origin][:], sum.retries[origin][:])
	}
	move(t.results[:], sum.results[:])
	sum.conflicts, t.conflicts = sum.conflicts+t.conflicts, 0
	sum.panics, t.panics = sum.panics+t.panics, 0
	sum.unsafeReplays, t.unsafeReplays = sum.unsafeReplays+t.unsafeReplays, 0
	sum.late, t.late = sum.late+t.late, 0
	sum.notEvaluated, t.notEvaluated = sum.notEvaluated+t.notEvaluated, 0
}

func move(from, to []int64) {
	for i := range from {
		to[i] += from[i]
		from[i] = 0
	}
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
