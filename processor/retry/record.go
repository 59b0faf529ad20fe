package retry

import (
	"encoding/binary"
	"math"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// record is an attempt, or a mark, as it is remembered. Its size decides what a
// tracked entry costs: it is two cache lines long, and those that are passed on
// the way to a match are only read in the first. TestEntrySize holds it.
type record struct {
	// op is the operation seen from the vantage. Of a mark it is its key.
	op uint64
	// next are the next older ones by chain.
	next                      [chains]uint32
	session, id, body, parent uint32
	start, end                int64
	span                      [8]byte

	trace                                          [16]byte
	target, conversation, toolCall, key, traceText uint32
	// leg is what params brings: the state and the keys, or the keys alone;
	// asked are the keys or the task of the result.
	leg, asked uint32
	// previous is the predecessor, which may be forgotten by now.
	previous uint32
	// arrived is when it was stored, in seconds of the tracker.
	arrived seconds
	version uint16
	attempt uint16
	flags   flags
	outcome verdict.Outcome
	class   verdict.Class
	// lives is how many lifetimes have passed, see expire.
	lives uint8
	kind  kind

	// What was found, for items that are delivered twice.
	origin        Origin
	evidence      Evidence
	previousClass verdict.Class
	packed        packed
}

// packed are three small values in one byte.
type packed uint8

func pack(c Continuation, s Safety, e execution) packed {
	return packed(c) | packed(s)<<2 | packed(e)<<5
}

func (p packed) continuation() Continuation { return Continuation(p & 3) }
func (p packed) safety() Safety             { return Safety(p >> 2 & 7) }
func (p packed) execution() execution       { return execution(p >> 5) }

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
	flagState                          // params has requestState
)

// never is the end of an attempt that has none yet.
const never = math.MaxInt64

// of makes r what is remembered of a.
func (r *record) of(a *Attempt, op uint64) {
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
		leg:          a.InputKeys.short(),
		version:      uint16(a.Version.short()),
	}
	if a.RandomID {
		r.flags |= flagRandomID
	}
	if a.Continues {
		r.flags |= flagContinues
	}
	if a.RequestState != 0 {
		r.flags |= flagState
		r.leg = Digest(mix(uint64(a.RequestState), uint64(a.InputKeys))).short()
	}
	if a.Open {
		r.flags |= flagNotSettled
		r.end, r.packed = never, pack(NoContinuation, NoSafety, ranMaybe)
		return
	}
	r.settle(&a.Result)
}

// settle notes how r ended.
func (r *record) settle(res *Result) {
	r.flags &^= flagNotSettled
	r.end = max(res.End, r.start)
	r.outcome, r.class = res.Outcome, res.Class
	r.packed = pack(r.packed.continuation(), r.packed.safety(), executed(res))
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
