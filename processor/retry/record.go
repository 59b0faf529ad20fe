package retry

import (
	"encoding/binary"
	"math"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// record is an attempt, or a mark, as it is remembered. Its size decides what a
// tracked entry costs; TestEntrySize holds it.
type record struct {
	// op is the operation seen from the vantage. Of a mark it is its key.
	op       uint64
	trace    [16]byte
	next     [chains]uint32
	session  uint32
	id, body uint32
	parent   uint32
	start    int64

	end                                            int64
	span                                           [8]byte
	target, conversation, toolCall, key, traceText uint32
	// state and answers are those of params, asked the keys or the task of the
	// result.
	state, answers, asked uint32
	// arrived is when it was stored, in seconds of the tracker.
	arrived uint32
	// previous is the predecessor, which may be forgotten by now.
	previous uint32
	version  uint16
	attempt  uint16
	flags    flags
	outcome  verdict.Outcome
	class    verdict.Class
	ran      execution

	// lives is how many lifetimes have passed, see expire.
	lives uint8
	kind  kind

	// What was found, for items that are delivered twice.
	origin        Origin
	evidence      Evidence
	continuation  Continuation
	safety        Safety
	previousClass verdict.Class
}

// kind tells calls and the kinds of marks apart.
type kind uint8

const (
	call kind = iota
	markInput
	markTask
	markStream
	markSession
	markList
)

type flags uint16

const (
	flagRandomID     flags = 1 << iota // no two messages have this id by chance
	flagContinues                      // params has inputResponses or requestState
	flagRedirected                     // 3xx
	flagUnauthorized                   // 401, 403
	flagNotFound                       // 404
	flagFailed                         // a failure, or given up because time was over
	flagHeaders                        // -32020
	flagVersion                        // -32022
	flagElicitation                    // -32042
	flagContinued                      // of an input_required answer: a follow-up was seen
	flagSeen                           // the finding rests on a predecessor
	flagRepeats                        // that predecessor was sent again
	flagKept                           // counted as kept longer than others
	flagNotSettled                     // Open when it was observed, and still
	flagDone                           // of a mark: what it marks has ended
)

// never is the end of an attempt that has none yet.
const never = math.MaxInt64

// pack makes r what is remembered of a.
func (r *record) pack(a *Attempt, op uint64) {
	*r = record{
		op:           op,
		trace:        a.TraceID,
		span:         a.SpanID,
		parent:       shortSpan(a.ParentID),
		start:        max(a.Start, 0), // so that differences do not overflow
		session:      a.Session.short(),
		id:           a.ID.short(),
		body:         a.Body.short(),
		target:       a.Target.short(),
		conversation: a.Conversation.short(),
		toolCall:     a.ToolCall.short(),
		key:          a.IdempotencyKey.short(),
		traceText:    a.TraceParent.short(),
		state:        a.RequestState.short(),
		answers:      a.InputKeys.short(),
		version:      uint16(a.Version.short()),
	}
	if a.RandomID {
		r.flags |= flagRandomID
	}
	if a.Continues {
		r.flags |= flagContinues
	}
	if a.Open {
		r.flags |= flagNotSettled
		r.end, r.ran = never, ranMaybe
		return
	}
	r.settle(&a.Result)
}

// settle notes how r ended.
func (r *record) settle(res *Result) {
	r.flags &^= flagNotSettled
	r.end = max(res.End, r.start)
	r.outcome, r.class, r.ran = res.Outcome, res.Class, executed(res)
	switch s := res.Status; {
	case 300 <= s && s < 400:
		r.flags |= flagRedirected
	case s == 401 || s == 403:
		r.flags |= flagUnauthorized
	case s == 404:
		r.flags |= flagNotFound
	}
	if res.HasCode && (res.Outcome == verdict.JSONRPCError || res.Outcome == verdict.HTTPError || res.Outcome == verdict.InputRequired) {
		switch res.Code {
		case codeHeaderMismatch:
			r.flags |= flagHeaders
		case codeUnsupportedVersion:
			r.flags |= flagVersion
		case codeURLElicitation:
			r.flags |= flagElicitation
		}
	}
	if res.Class == verdict.Failure || res.Outcome == verdict.Cancelled && (res.TimedOut || res.Reason == verdict.Timeout) {
		r.flags |= flagFailed
	}
	switch res.Outcome {
	case verdict.InputRequired:
		r.asked = res.InputKeys.short()
	case verdict.TaskCreated:
		r.asked = res.TaskID.short()
	}
}

// has reports whether r has any of f.
func (r *record) has(f flags) bool { return r.flags&f != 0 }

// traced reports whether r is part of a trace.
func (r *record) traced() bool { return r.trace != [16]byte{} }

// shortSpan is a span id in half the space, 0 for none.
func shortSpan(id [8]byte) uint32 {
	v := binary.LittleEndian.Uint64(id[:])
	if v == 0 {
		return 0
	}
	return Digest(mix(0, v)).short()
}

// chain numbers the ways in which records are found: one operation seen from
// one vantage, and what a repeat of it has in common with it.
type chain int

const (
	byTrace chain = iota
	bySession
	byMessage // a lost session, an idempotency key, a random id or a traceparent
	byCaller  // conversation or tool call
	chains
)

// keys are what r is found by in each chain, 0 where it is not in the chain. A
// caller that states several of one chain states them all each time, so that
// one is enough. A mark is found by its own key.
func (r *record) keys() (keys [chains]uint64) {
	if r.kind != call {
		keys[byTrace] = r.op
		return keys
	}
	if r.traced() {
		keys[byTrace] = traceKey(r.op, r.trace)
	}
	if r.session != 0 {
		keys[bySession] = mix(r.op, uint64(r.session))
	}
	switch {
	case r.has(flagNotFound) && r.session != 0:
		keys[byMessage] = r.lostKey()
	case r.key != 0:
		keys[byMessage] = mix(r.op, uint64(r.key)|1<<32)
	case r.has(flagRandomID):
		keys[byMessage] = mix(r.op, uint64(r.id)|2<<32)
	case r.traceText != 0:
		keys[byMessage] = mix(r.op, uint64(r.traceText)|3<<32)
	}
	switch {
	case r.conversation != 0:
		keys[byCaller] = mix(r.op, uint64(r.conversation)|1<<32)
	case r.toolCall != 0:
		keys[byCaller] = mix(r.op, uint64(r.toolCall)|2<<32)
	}
	return keys
}

// lostKey is what a message is found by whose session was not found. Nothing
// else need tie the message in the new session to it.
func (r *record) lostKey() uint64 { return mix(r.op, uint64(r.id)|4<<32) }

// traceKey folds a trace id into h.
func traceKey(h uint64, id [16]byte) uint64 {
	return mix(mix(h, binary.LittleEndian.Uint64(id[:8])), binary.LittleEndian.Uint64(id[8:]))
}
