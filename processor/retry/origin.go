package retry

// Origin is who decided to send a call again.
type Origin uint8

// The origins. NoOrigin is no proof of a first attempt: no sign of a retry was
// seen here.
const (
	NoOrigin Origin = iota
	// SDK: automatic and on the client's side, within one decision to call: the
	// HTTP client, the MCP SDK or a retry wrapper of an agent framework.
	SDK
	// Gateway: an intermediary.
	Gateway
	// Application: a new decision to call, by a model's turn, a workflow engine
	// or business code.
	Application
	// Manual: a person. Nothing on the wire tells, so it is only ever asserted.
	Manual
	// UnknownOrigin: it was sent again, and nothing tells by whom.
	UnknownOrigin
)

var originNames = [...]string{"none", "sdk", "gateway", "application", "manual", "unknown"}

// String is the value of the attribute mcp.retry_origin.
func (o Origin) String() string { return originNames[o] }

// Asserted is the origin that the value of an mcp.retry_origin states which is
// on the item already, NoOrigin for "none" and "". A word that is not of the
// list still says that somebody sent the call again.
func Asserted(value string) Origin {
	switch value {
	case "", originNames[NoOrigin]:
		return NoOrigin
	}
	for o := SDK; o <= UnknownOrigin; o++ {
		if originNames[o] == value {
			return o
		}
	}
	return UnknownOrigin
}

// Evidence is the rule that decided, one name a row of the table in decide.go.
type Evidence uint8

// The evidence. What is below [EvidenceCount] and not marked (none) goes with an
// origin and is the value of an attribute; (none) says why there is none.
const (
	// NoPredecessor (none): nothing comparable was seen before.
	NoPredecessor Evidence = iota
	// NotACall (none): a handshake, a list, a ping, a notification, a response.
	NotACall
	// NotEvaluated (none): the request was not recorded whole, so that nothing
	// can be compared.
	NotEvaluated
	// LastEventID (none): a GET that resumes a stream.
	LastEventID
	// InputResponse (none): the follow-up of an answer that asked for input.
	InputResponse
	// TaskMethod (none): it asks for a task that an earlier call made.
	TaskMethod
	// Redirected (none): the same message, sent on where a 3xx pointed to.
	Redirected
	// Concurrent (none): the same call is under way.
	Concurrent
	// AfterSuccess (none): the same call succeeded before, as when polling.
	AfterSuccess
	// AfterCorrection (none): the same call was refused for its headers, which
	// are not compared, so this one may be another.
	AfterCorrection
	// AfterOther (none): the same call ended before in a way that tells
	// nothing: given up, deferred, sent elsewhere, undetermined.
	AfterOther

	// Explicit: an mcp.retry_origin was on the item already.
	Explicit
	// AttemptHeader: a header or attribute of the sender counts attempts.
	AttemptHeader
	// ResendCount: http.request.resend_count, which also counts redirects and
	// authorization.
	ResendCount
	// SameMessageParent: one serialized message went out twice under one parent
	// span.
	SameMessageParent
	// SameMessageSession: the same, in one wire session.
	SameMessageSession
	// SameMessageTraceParent: the same, with one params._meta.traceparent.
	SameMessageTraceParent
	// SameMessageRandomID: the same, with an id that no two messages have by
	// chance.
	SameMessageRandomID
	// SameMessageBelowClient: a server got one message twice from under one
	// client span: from a proxy, or from a retry layer below the client's
	// instrumentation.
	SameMessageBelowClient
	// SameMessageReinit: the session was not found, a new one was made, and the
	// same message was sent in it.
	SameMessageReinit
	// RepeatWhileTaskActive: the same call made a task that has not ended.
	RepeatWhileTaskActive
	// RestartAfterInputRequired: the same call was asked for input, and this one
	// brings none.
	RestartAfterInputRequired
	// HeaderMismatch: the same call was refused for its headers (-32020), and
	// the list of tools was fetched between.
	HeaderMismatch
	// VersionNegotiation: the same call was refused for its protocol version
	// (-32022), and this one has another.
	VersionNegotiation
	// SameToolCall: the same call failed, for one gen_ai.tool.call.id.
	SameToolCall
	// NewToolCall: the same call failed, for another gen_ai.tool.call.id.
	NewToolCall
	// SameIdempotencyKey: the same call failed, with one idempotency key.
	SameIdempotencyKey
	// NewIDAfterFailure: the same call failed, and came again with a new
	// JSON-RPC id.
	NewIDAfterFailure
	// SameIDAfterFailure: the same, with an equal id, which without more is no
	// sign of the same message.
	SameIDAfterFailure
	// EvidenceCount is the number of kinds of evidence.
	EvidenceCount
)

var evidenceNames = [EvidenceCount]string{
	NoPredecessor:             "no_predecessor",
	NotACall:                  "not_a_call",
	NotEvaluated:              "not_evaluated",
	LastEventID:               "last_event_id",
	InputResponse:             "input_response",
	TaskMethod:                "task_method",
	Redirected:                "redirect",
	Concurrent:                "concurrent",
	AfterSuccess:              "after_success",
	AfterCorrection:           "after_correction",
	AfterOther:                "after_other",
	Explicit:                  "explicit",
	AttemptHeader:             "attempt_header",
	ResendCount:               "resend_count",
	SameMessageParent:         "same_message_parent",
	SameMessageSession:        "same_message_session",
	SameMessageTraceParent:    "same_message_traceparent",
	SameMessageRandomID:       "same_message_random_id",
	SameMessageBelowClient:    "same_message_below_client_span",
	SameMessageReinit:         "same_message_reinit",
	RepeatWhileTaskActive:     "repeat_while_task_active",
	RestartAfterInputRequired: "restart_after_input_required",
	HeaderMismatch:            "header_mismatch",
	VersionNegotiation:        "version_negotiation",
	SameToolCall:              "same_tool_call",
	NewToolCall:               "new_tool_call",
	SameIdempotencyKey:        "same_idempotency_key",
	NewIDAfterFailure:         "new_id_after_failure",
	SameIDAfterFailure:        "same_id_after_failure",
}

// String is the value of the attribute mcp.retry_evidence, which is only
// written next to an origin.
func (e Evidence) String() string { return evidenceNames[e] }

// confidence is how an origin is known that rests on e.
func (e Evidence) confidence() Confidence {
	switch e {
	case Explicit, AttemptHeader, ResendCount:
		return StatedBySender
	case SameMessageParent, SameMessageSession, SameMessageTraceParent, SameMessageRandomID,
		SameMessageBelowClient, SameMessageReinit, SameIdempotencyKey:
		return Observed
	default:
		return Inferred
	}
}

// Confidence is how the origin is known.
type Confidence uint8

// The confidences. NoConfidence goes with no origin.
const (
	NoConfidence Confidence = iota
	// StatedBySender: a sender said so.
	StatedBySender
	// Observed: the message itself was seen before, or a member of the protocol
	// says so.
	Observed
	// Inferred: it fits what was seen before.
	Inferred
)

var confidenceNames = [...]string{"", "asserted", "observed", "inferred"}

// String is the value of the attribute mcp.retry_confidence.
func (c Confidence) String() string { return confidenceNames[c] }

// Continuation is what an exchange goes on with. It is no retry.
type Continuation uint8

// The continuations. NoContinuation goes with most exchanges.
const (
	NoContinuation Continuation = iota
	// WithInput: it answers a result that asked for input (MCP 2026-07-28,
	// basic/patterns/mrtr; the error -32042 of 2025-11-25).
	WithInput
	// OfTask: it asks for a task (the tasks of 2025-11-25, and the extension).
	OfTask
	// OfStream: it resumes a stream (Streamable HTTP up to 2025-11-25,
	// Resumability and Redelivery).
	OfStream
)

var continuationNames = [...]string{"", "input_response", "task", "stream_resume"}

// String is the value of the attribute mcp.continuation.
func (c Continuation) String() string { return continuationNames[c] }

// Link is how an exchange relates to its predecessor.
type Link uint8

// The types of link. NoLink: none was seen, or it has no ids to link to.
const (
	NoLink Link = iota
	RetryOf
	Continues
	Resumes
)

var linkNames = [...]string{"", "retry_of", "continues", "resumes"}

// String is the value of the attribute mcp.link.type of the span link.
func (l Link) String() string { return linkNames[l] }

// Safety is whether sending a call again can have done something twice.
type Safety uint8

// The safeties, see safety in replay.go. NoSafety goes with no origin.
const (
	NoSafety Safety = iota
	// NotExecuted: the attempt before this one did not reach the tool.
	NotExecuted
	// ReadOnly: the call changes nothing, by its method or by the settings.
	ReadOnly
	// Keyed: both attempts carry one idempotency key.
	Keyed
	// UnsafeSuspected: a tool that the settings name as a write was called
	// again with equal arguments, and the attempt before may have run.
	UnsafeSuspected
	// UnknownSafety: nothing tells.
	UnknownSafety
)

var safetyNames = [...]string{"", "not_executed", "read_only", "keyed", "unsafe_suspected", "unknown"}

// String is the value of the attribute mcp.replay_safety.
func (s Safety) String() string { return safetyNames[s] }
