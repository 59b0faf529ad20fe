package mcpprocessor

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/retry"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// attempt is an exchange whose retry origin is to be found out when the whole
// batch has been judged: attempts are compared in the order of their times.
type attempt struct {
	retry.Attempt
	attributes pcommon.Map
	span       ptrace.Span // of traces only
	isSpan     bool
	// written: the group of attributes is there already, by somebody's word.
	written bool
	// note is where the answer to a request in a log record finds the attempt.
	note *note
}

// note joins a request in a log record with its answer in another one.
type note struct {
	ref atomic.Pointer[retry.Ref]
}

// attemptOf notes the exchange that was judged last as an attempt to look at.
// seenBy is its vantage and kind the kind of the span.
func (p *mcpProcessor) attemptOf(w *worker, seenBy, kind int) *attempt {
	v, ex := w.verdict, &w.item.Exchange
	var call verdict.Call
	isCall := w.judge.Call(&call)
	if !isCall && !(ex.HTTPMethod == "GET" && ex.LastEventID) {
		return nil
	}
	t := p.retries
	a := w.newAttempt()
	by := p.identify(w, seenBy)
	a.Vantage, a.Intermediary = p.vantageOf(by, kind), by.intermediary
	a.Side, a.Method, a.HTTPMethod, a.LastEventID = ex.Side, v.MethodID, ex.HTTPMethod, ex.LastEventID
	if a.Tool = v.Tool; detached(ex) {
		a.Tool = strings.Clone(a.Tool) // attempts stay until the end of the batch
	}
	a.Modern = verdict.IsModern(v.ProtocolVersion) || v.ProtocolVersion == "" && ex.MethodHeader != ""
	p.resendsOf(w, a)

	r := &a.Result
	r.Outcome, r.Class, r.Reason, r.Code, r.HasCode = v.Outcome, v.Class, v.Reason, v.Code, v.HasCode
	r.Status, r.TimedOut = ex.Status, ex.Failure == verdict.FailedTimeout
	r.NotSent = v.Outcome == verdict.NoResponse && ex.Failure != verdict.NotFailed && retry.NeverSent(w.item.FailureWords()...)

	if isCall {
		p.callOf(w, a, &call)
	} else if id, ok := w.judge.AnswerID(); ok {
		// Of a resumed stream.
		a.ID, a.RandomID = t.ID(id)
	}
	return a
}

// newAttempt adds an empty attempt to the batch. It is to be set in place: it is
// large, and the stack of most callers would have to grow for it.
func (w *worker) newAttempt() *attempt {
	n := len(w.attempts)
	w.attempts = slices.Grow(w.attempts, 1)[:n+1] // what is behind the end is empty, see release
	return &w.attempts[n]
}

// vantageOf is the vantage of items of this kind that were seen by v.
func (p *mcpProcessor) vantageOf(v *vantage, kind int) retry.Digest {
	if v.digest == 0 || v.kind != kind {
		v.digest, v.kind = p.retries.Vantage(v.resourceDigest, kind, v.scope), kind
	}
	return v.digest
}

// resendsOf fills in what the item tells of its being sent again, and by what it
// is known.
func (p *mcpProcessor) resendsOf(w *worker, a *attempt) {
	t, it := p.retries, w.item
	resends := it.Resends()
	// Those of one batch mostly have these two in common.
	a.Target = w.target.of(resends.URL, t.Target)
	a.Session = w.session.of(it.Session, t.Digest)
	a.ToolCall, a.Conversation = t.Digest(resends.ToolCall), t.Digest(resends.Conversation)
	a.IdempotencyKey = t.Digest(resends.IdempotencyKey)
	a.ResendCount = resends.Count
	a.written = resends.Judged
	if resends.Origin != "" {
		a.Asserted = retry.Asserted(resends.Origin)
	}
	it.Counters(func(name, value string) {
		switch sender, n := retry.ParseResends(name, value); sender {
		case retry.ClientSender:
			a.ClientResends = n
		case retry.GatewaySender:
			a.GatewayResends = n
		}
	})
}

// lastDigest is the digest of the text that it was asked for last.
type lastDigest struct {
	text   string
	digest retry.Digest
}

// of returns the digest of text, which digest makes.
func (l *lastDigest) of(text string, digest func(string) retry.Digest) retry.Digest {
	if text != l.text {
		l.text, l.digest = text, digest(text)
	}
	return l.digest
}

// callOf fills in what the request and its result tell.
func (p *mcpProcessor) callOf(w *worker, a *attempt, call *verdict.Call) {
	t, v := p.retries, w.verdict
	a.ID, a.RandomID = t.ID(call.ID)
	a.Whole = call.Complete
	a.TraceParent = t.Digest(call.TraceParent)
	a.Version = t.Digest(call.Revision)
	a.TaskID = t.Digest(call.TaskID)
	if a.IdempotencyKey == 0 {
		a.IdempotencyKey = t.Digest(call.IdempotencyKey)
	}
	a.Continues = call.InputResponses != "" || call.RequestState != ""
	a.RequestState, a.InputKeys = t.Digest(call.RequestState), p.keys(call.InputResponses)
	a.Result.RequestState, a.Result.InputKeys = t.Digest(call.ResultState), p.keys(call.ResultInputRequests)
	a.Result.TaskID = t.Digest(call.ResultTaskID)
	if !call.Complete || !v.MethodID.IsCall() {
		return
	}
	a.Body = t.Digest(call.Message)
	var arguments [16]byte
	name := v.Tool
	switch v.MethodID {
	case verdict.PromptsGet:
		name = v.Prompt
	case verdict.ResourcesRead:
		name = v.ResourceURI
	case verdict.CompletionComplete:
		parts := retry.Digest(0)
		for _, member := range [...]string{"ref", "argument", "context"} {
			value, _ := jsonrpc.Lookup(call.Params, member)
			parts = t.Combine(parts, retry.Digest(jsonrpc.Digest(value, p.digestKey)))
		}
		binary.LittleEndian.PutUint64(arguments[:], uint64(parts))
	}
	if call.Arguments != "" {
		binary.LittleEndian.PutUint64(arguments[:], jsonrpc.Digest(call.Arguments, p.digestKey))
	}
	a.NoArguments = (v.MethodID == verdict.ToolsCall || v.MethodID == verdict.PromptsGet) && !hasMembers(call.Arguments)
	a.Operation = t.Operation(v.MethodID, name, arguments)
}

// keys returns the digest of the names of the members of a JSON object.
func (p *mcpProcessor) keys(object string) (set retry.Digest) {
	if object == "" {
		return 0
	}
	jsonrpc.Members(object, func(name, _ string, _ jsonrpc.Kind) bool {
		set = p.retries.Keys(set, name)
		return true
	})
	return set
}

// hasMembers reports whether raw, which is JSON, is an object with members.
func hasMembers(raw string) bool {
	const space = " \t\r\n"
	inside, isObject := strings.CutPrefix(strings.TrimLeft(raw, space), "{")
	return isObject && !strings.HasPrefix(strings.TrimLeft(inside, space), "}")
}

// attemptOfSpan notes an attempt that span tells of.
func (p *mcpProcessor) attemptOfSpan(w *worker, span ptrace.Span, seenBy int) {
	a := p.attemptOf(w, seenBy, int(span.Kind()))
	if a == nil {
		return
	}
	a.TraceID, a.SpanID, a.ParentID = span.TraceID(), span.SpanID(), span.ParentSpanID()
	a.Start, a.Result.End = int64(span.StartTimestamp()), int64(span.EndTimestamp())
	a.attributes, a.span, a.isSpan = span.Attributes(), span, true
}

// attemptOfRecord notes an attempt that record tells of, and returns it if its
// answer is still to come.
func (p *mcpProcessor) attemptOfRecord(w *worker, record plog.LogRecord, seenBy int, time int64) *note {
	a := p.attemptOf(w, seenBy, noKind)
	if a == nil {
		return nil
	}
	a.TraceID, a.SpanID = record.TraceID(), record.SpanID()
	a.Start, a.Result.End = time, time
	a.attributes = record.Attributes()
	if w.verdict.Outcome != verdict.NoOutcome {
		return nil
	}
	a.Open, a.note = true, &note{}
	return a.note
}

// inheritToolCalls gives the attempts of a batch the gen_ai.tool.call.id of the
// span that they are below, if that is in the batch: instrumentations put it on
// the span of the tool's execution, not on that of the HTTP request.
func (p *mcpProcessor) inheritToolCalls(w *worker, td ptrace.Traces) {
	if len(w.toolCalls) == 0 {
		return
	}
	parents := map[spanKey]pcommon.SpanID{}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				parents[spanKey{span.TraceID(), span.SpanID()}] = span.ParentSpanID()
			}
		}
	}
	const maxDepth = 16 // of spans between the two
	for i := range w.attempts {
		a := &w.attempts[i]
		span := pcommon.SpanID(a.ParentID)
		for depth := 0; a.ToolCall == 0 && depth < maxDepth && !span.IsEmpty(); depth++ {
			key := spanKey{a.TraceID, span}
			a.ToolCall, span = w.toolCalls[key], parents[key]
		}
	}
	clear(w.toolCalls)
}

// sortAttempts puts the attempts of the batch in the order of their times.
func (w *worker) sortAttempts() {
	w.order, w.observed = w.order[:0], 0
	for i := range w.attempts {
		w.order = append(w.order, int32(i))
	}
	byStart := func(x, y int32) int { return cmp.Compare(w.attempts[x].Start, w.attempts[y].Start) }
	if !slices.IsSortedFunc(w.order, byStart) {
		slices.SortStableFunc(w.order, byStart)
	}
}

// observe finds out the retry origins of the sorted attempts of the batch that
// began by then, and writes them.
func (p *mcpProcessor) observe(w *worker, then int64) {
	if w.observed < len(w.order) {
		p.retries.Tick()
	}
	for ; w.observed < len(w.order); w.observed++ {
		a := &w.attempts[w.order[w.observed]]
		if a.Start > then {
			return
		}
		p.observeOne(w, a)
	}
}

func (p *mcpProcessor) observeOne(w *worker, a *attempt) {
	defer func() {
		if cause := recover(); cause != nil {
			p.panicked(w, cause)
		}
	}()
	f := p.retries.Observe(&a.Attempt)
	if a.note != nil {
		ref := f.Ref
		a.note.ref.Store(&ref)
	}
	isCall := a.Method.IsCall() && a.HTTPMethod != "GET"
	w.tally.finding(&f, isCall)
	switch {
	case a.written:
		return
	case f.Link != retry.NoLink && a.isSpan:
		p.writer.link(a.span, &f)
	case f.Link != retry.NoLink:
		p.writer.previous(a.attributes, &f)
	}
	p.writer.writeFinding(a.attributes, &f, isCall)
}

// settle brings the answer of the exchange judged last to the attempts that
// asked for it in other log records.
func (p *mcpProcessor) settle(w *worker, time int64) {
	v := w.verdict
	result := retry.Result{
		End: time, Outcome: v.Outcome, Class: v.Class, Reason: v.Reason, Code: v.Code, HasCode: v.HasCode,
		Status: w.item.Exchange.Status,
	}
	w.judge.Answered(func(n any, call verdict.Call) {
		result.RequestState, result.InputKeys = p.retries.Digest(call.ResultState), p.keys(call.ResultInputRequests)
		result.TaskID = p.retries.Digest(call.ResultTaskID)
		if ref := n.(*note).ref.Load(); ref != nil {
			if f, ok := p.retries.Settle(*ref, &result); ok {
				w.tally.result(&f)
			}
		}
	})
}
