package retry

import "github.com/otel-mcp/mcpprocessor/processor/verdict"

// Attempt is what is known of one exchange that may be an attempt of a call.
// What is not known is left zero, and nothing is concluded from it. The digests
// are made by the [Tracker] that the attempt is given to.
type Attempt struct {
	// Vantage is where the exchange was seen from: resource identity, span kind
	// and scope name, see [Tracker.Vantage]. Attempts of different vantages are
	// never compared, since one exchange is often seen from several, and since
	// the clocks of different hosts differ.
	Vantage Digest
	Side    verdict.Side
	// Intermediary reports that the settings name the resource as a gateway.
	Intermediary bool

	// TraceID, SpanID and ParentID of the span, or TraceID and SpanID of the log
	// record. Items without any are told apart by Session, ID and Start.
	TraceID  [16]byte
	SpanID   [8]byte
	ParentID [8]byte
	// Start in nanoseconds since 1970.
	Start int64

	Method verdict.Method
	// HTTPMethod in upper case, "" if unknown.
	HTTPMethod string
	// LastEventID reports that the request had this header.
	LastEventID bool
	// Modern reports a revision from 2026-07-28 on, which has no resumption.
	Modern bool

	// ID of the JSON-RPC request with its type, see [Tracker.ID]. Of a GET it is
	// that of the answer on the stream, if there was one.
	ID Digest
	// RandomID reports an id that no two messages have by chance, see
	// [Tracker.ID].
	RandomID bool
	// Whole reports that the request was recorded and read to its end. If not,
	// Body and Operation are not looked at.
	Whole bool
	// Body is the JSON text of the request message, byte for byte; of a batch
	// the text of this message.
	Body Digest
	// Operation is what is called with which arguments, see [Tracker.Operation].
	Operation Digest
	// NoArguments reports that there are no arguments, or an empty object.
	// Calls without arguments are equal by chance.
	NoArguments bool
	// Tool is the tool's name, for the lists of the settings.
	Tool string

	// Target is the endpoint, see [Tracker.Target].
	Target Digest
	// Session is the wire session, Mcp-Session-Id. Of initialize it is the one
	// that the response opens.
	Session Digest
	// TraceParent is params._meta.traceparent.
	TraceParent Digest
	// ToolCall is gen_ai.tool.call.id, the id of one decision to call.
	ToolCall Digest
	// Conversation is gen_ai.conversation.id.
	Conversation Digest
	// IdempotencyKey is the key wherever it stands: the header Idempotency-Key,
	// params._meta.
	IdempotencyKey Digest
	// Version is the protocol version that the request states.
	Version Digest

	// Continues reports that params has inputResponses or requestState.
	Continues bool
	// RequestState of params.
	RequestState Digest
	// InputKeys are the keys of params.inputResponses, see [Tracker.Keys].
	InputKeys Digest
	// TaskID of params.
	TaskID Digest

	// Asserted is what an mcp.retry_origin says that is on the item already, see
	// [Asserted].
	Asserted Origin
	// ClientResends and GatewayResends are how often the message was sent again
	// before this attempt, as a header or attribute states, see [ParseResends].
	ClientResends, GatewayResends int
	// ResendCount is http.request.resend_count.
	ResendCount int

	// Open reports that the answer was not seen yet; Result is then not looked
	// at. [Tracker.Settle] brings it.
	Open   bool
	Result Result
}

// Result is how an attempt ended.
type Result struct {
	// End in nanoseconds since 1970.
	End     int64
	Outcome verdict.Outcome
	Class   verdict.Class
	Reason  verdict.Reason
	// Code is the JSON-RPC error code, where HasCode.
	Code    int64
	HasCode bool
	// Status is the HTTP status, 0 if there was none.
	Status int
	// NotSent reports that no connection was made, see [NeverSent].
	NotSent bool
	// TimedOut reports that the caller gave up because its time was over.
	TimedOut bool

	// RequestState of an input_required result.
	RequestState Digest
	// InputKeys are the keys of its inputRequests, see [Tracker.Keys].
	InputKeys Digest
	// TaskID of the task that was made in place of a result.
	TaskID Digest
}

// Finding is what was found out about one attempt.
type Finding struct {
	Origin       Origin
	Evidence     Evidence
	Confidence   Confidence
	Safety       Safety
	Continuation Continuation
	// Attempt is 0 without an origin, else which re-send this is, 1 for the
	// first: as many as were seen here, or as the sender states.
	Attempt int

	// Link says how to refer to the predecessor, whose ids follow.
	Link            Link
	PreviousTraceID [16]byte
	PreviousSpanID  [8]byte
	// Seen reports that the finding rests on a predecessor, which may lack ids.
	Seen bool
	// PreviousClass is the class of the predecessor's outcome, NoClass if it was
	// unanswered still when this attempt began, or if none was seen.
	PreviousClass verdict.Class

	// Duplicate reports that this very item was observed before. The finding is
	// the earlier one, and nothing is to be counted again.
	Duplicate bool
	// LatePredecessor reports that this is the predecessor of an attempt that
	// has been judged already. That one keeps its finding.
	LatePredecessor bool
	// Recovered and Wasted report that this attempt was a retry, and whether it
	// succeeded or failed.
	Recovered, Wasted bool

	// Ref names the attempt to [Tracker.Settle].
	Ref Ref
}
