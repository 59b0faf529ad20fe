package retry

import "github.com/otel-mcp/mcpprocessor/processor/verdict"

// ending is what the end of an attempt says of equal bytes that follow.
type ending uint8

const (
	// unanswered: no JSON-RPC answer came, so that the message may be sent
	// again as it is.
	unanswered ending = iota
	// answered: equal bytes that follow are a new message. Ids may be used again
	// once they were answered (MCP 2026-07-28 basic, Requests).
	answered
	// unclear: it cannot be told, or it was answered by something else.
	unclear
)

// ending tells how r ended.
func (r *record) ending() ending {
	switch r.outcome {
	case verdict.HTTPError, verdict.NoResponse, verdict.StreamIncomplete, verdict.Cancelled:
		return unanswered
	case verdict.JSONRPCError, verdict.InvalidToolResult, verdict.InvalidResult, verdict.InputRequired, verdict.TaskCreated,
		verdict.ToolError, verdict.ToolSuccess, verdict.RPCSuccess:
		return answered
	case verdict.NoOutcome:
		return unanswered // still
	default:
		return unclear
	}
}

// resendable reports whether p was unanswered when n, the same message by e,
// was sent. Two that are under way at a time and are both answered are two
// messages, unless what ties them together gives each message an id of its own:
// a framework that makes a client for every call sends equal bytes under one
// parent. One request to a gateway makes one message.
func resendable(p, n *record, e Evidence, intermediary bool) bool {
	if p.end <= n.start {
		return p.ending() == unanswered
	}
	return p.ending() != answered || e != SameMessageParent || intermediary || n.session != 0 && p.session == n.session
}

// sameItem reports whether p and n are one span, or one log record: the same
// exchange, delivered twice. Log records of one span are told apart by id and
// time.
func sameItem(p, n *record) bool {
	return p.start == n.start && p.span == n.span && p.trace == n.trace && p.id == n.id && p.session == n.session
}

// sameTrace reports whether p and n are in one trace.
func sameTrace(p, n *record) bool { return p.trace == n.trace && p.traced() }

// oneExchange reports whether p and n are, or may be, one exchange that was seen
// twice from one vantage, by spans of which one is inside the other: a proxy
// that has its name in common with what it stands in front of. Between a span
// and its grandchild stand spans that are not seen here, so what lies within
// another in time and has another parent counts as inside of it.
func oneExchange(p, n *record) bool {
	if !sameTrace(p, n) {
		return false
	}
	if n.parent != 0 && n.parent == shortSpan(p.span) || p.parent != 0 && p.parent == shortSpan(n.span) {
		return true
	}
	return p.id == n.id && p.parent != n.parent &&
		(n.parent != 0 && p.start <= n.start && n.end <= p.end || p.parent != 0 && n.start <= p.start && p.end <= n.end)
}

// sameParent reports whether p and n are children of one span.
func sameParent(p, n *record) bool { return n.parent != 0 && p.parent == n.parent && sameTrace(p, n) }

// otherSession reports whether p and n state different sessions.
func otherSession(p, n *record) bool {
	return p.session != 0 && n.session != 0 && p.session != n.session
}

// equalBytes reports whether p and n have the same id and the same bytes. Alone
// that says nothing: counters start anew in every client, and two processes
// send the same bytes.
func equalBytes(p, n *record) bool {
	return n.id != 0 && n.body != 0 && p.id == n.id && p.body == n.body
}

// sameEndpoint reports whether p and n were sent to one endpoint, or n to where
// p was redirected to, and not in different sessions.
func sameEndpoint(p, n *record) bool {
	return !otherSession(p, n) && (p.target == n.target || p.has(flagRedirected))
}

// sameMessage reports whether n is the serialized message that p is, sent
// again, by what it is that ties the two together; NoPredecessor if it is not.
func sameMessage(p, n *record) Evidence {
	switch {
	case !equalBytes(p, n), !sameEndpoint(p, n):
		return NoPredecessor
	case sameParent(p, n):
		return SameMessageParent
	case n.session != 0 && p.session == n.session:
		return SameMessageSession
	case n.traceText != 0 && p.traceText == n.traceText:
		return SameMessageTraceParent
	case n.has(flagRandomID):
		return SameMessageRandomID
	default:
		return NoPredecessor
	}
}

// newSession reports whether n may be the message p, sent again in a new session
// since p's was not found (MCP up to 2025-11-25, Session Management). Those who
// were sent for different callers are not.
func newSession(p, n *record) bool {
	return p.has(flagNotFound) && otherSession(p, n) && equalBytes(p, n) && p.target == n.target &&
		(sameParent(p, n) || p.parent == 0 && n.parent == 0 || n.traceText != 0 && p.traceText == n.traceText || n.has(flagRandomID))
}

// sameCall reports whether p and n, which are of one operation, have enough in
// common to be of one undertaking. A session alone is not enough where each was
// sent in a trace of a caller of its own: those are two undertakings.
func sameCall(p, n *record) bool {
	switch {
	case p.target != n.target:
		return false
	case sameTrace(p, n),
		n.toolCall != 0 && p.toolCall == n.toolCall,
		n.key != 0 && p.key == n.key,
		n.conversation != 0 && p.conversation == n.conversation:
		return true
	default:
		return n.session != 0 && p.session == n.session && !(n.parent != 0 && p.parent != 0 && n.traced() && p.traced())
	}
}

// sameLeg reports whether p and n bring the same answers to the same request
// for input.
func sameLeg(p, n *record) bool {
	return p.has(flagContinues) && n.has(flagContinues) && p.leg == n.leg && n.leg != 0
}

// within reports whether n began at most limit after p had ended.
func within(p, n *record, limit int64) bool { return n.start-p.end <= limit }

// windowAfter is how long after the end of p a repeat of the message may begin. A
// person may have to log in first.
func (t *Tracker) windowAfter(p *record) int64 {
	if p.has(flagUnauthorized) {
		return max(t.window, consentTime.Nanoseconds())
	}
	return t.window
}
