package verdict

// Layer is where an exchange ended.
type Layer uint8

// The layers, from the outside in. NoLayer goes with Undetermined and with no
// outcome at all.
const (
	NoLayer Layer = iota
	Transport
	Protocol
	Interaction
	Application
)

var layerNames = [...]string{"", "transport", "protocol", "interaction", "application"}

// String is the value of the attribute mcp.layer.
func (l Layer) String() string { return layerNames[l] }

// Class sorts outcomes for those who only want to count failures.
type Class uint8

// The classes. NoClass goes with no outcome.
const (
	NoClass Class = iota
	Failure
	Pending
	Success
	Neutral
	Unknown
)

var classNames = [...]string{"", "failure", "pending", "success", "neutral", "unknown"}

// String is the value of the attribute mcp.outcome_class.
func (c Class) String() string { return classNames[c] }

// severity orders classes when one exchange holds several answers: the worst
// one speaks for the exchange.
var severity = [...]uint8{NoClass: 0, Success: 1, Neutral: 2, Pending: 3, Unknown: 4, Failure: 5}

// Outcome is how an exchange ended.
type Outcome uint8

// The outcomes. NoOutcome is what a request without its response gets when it
// is seen alone: none is due yet.
const (
	NoOutcome Outcome = iota
	HTTPError
	MalformedJSON
	InvalidEnvelope
	JSONRPCError
	InvalidToolResult
	InputRequired
	ToolError
	ToolSuccess
	NoResponse
	StreamIncomplete
	Cancelled
	StreamDeferred
	StreamOpen
	Accepted
	NotOffered
	SessionClosed
	RPCSuccess
	InvalidResult
	TaskCreated
	Undetermined
	// OutcomeCount is the number of outcomes, NoOutcome included.
	OutcomeCount
)

var outcomes = [OutcomeCount]struct {
	name  string
	layer Layer
	class Class
}{
	NoOutcome:         {"", NoLayer, NoClass},
	HTTPError:         {"HTTP_ERROR", Transport, Failure}, // or Pending, see httpError
	MalformedJSON:     {"MALFORMED_JSON", Protocol, Failure},
	InvalidEnvelope:   {"INVALID_ENVELOPE", Protocol, Failure},
	JSONRPCError:      {"JSONRPC_ERROR", Protocol, Failure},
	InvalidToolResult: {"INVALID_TOOL_RESULT", Protocol, Failure},
	InputRequired:     {"INPUT_REQUIRED", Interaction, Pending},
	ToolError:         {"TOOL_ERROR", Application, Failure},
	ToolSuccess:       {"TOOL_SUCCESS", Application, Success},
	NoResponse:        {"NO_RESPONSE", Transport, Failure},
	StreamIncomplete:  {"STREAM_INCOMPLETE", Transport, Failure},
	Cancelled:         {"CANCELLED", Transport, Neutral},
	StreamDeferred:    {"STREAM_DEFERRED", Transport, Pending},
	StreamOpen:        {"STREAM_OPEN", Transport, Success},
	Accepted:          {"ACCEPTED", Transport, Success},
	NotOffered:        {"NOT_OFFERED", Transport, Success},
	SessionClosed:     {"SESSION_CLOSED", Transport, Success},
	RPCSuccess:        {"RPC_SUCCESS", Protocol, Success},
	InvalidResult:     {"INVALID_RESULT", Protocol, Failure},
	TaskCreated:       {"TASK_CREATED", Interaction, Pending},
	Undetermined:      {"UNDETERMINED", NoLayer, Unknown},
}

// String is the value of the attribute mcp.outcome.
func (o Outcome) String() string { return outcomes[o].name }

// Layer is the layer that o belongs to.
func (o Outcome) Layer() Layer { return outcomes[o].layer }

// Class is the class that o belongs to, unless a Verdict says otherwise: an
// HTTPError may be Pending.
func (o Outcome) Class() Class { return outcomes[o].class }

// ParseOutcome returns the outcome that is written as s, and whether there is
// one.
func ParseOutcome(s string) (Outcome, bool) {
	for o := NoOutcome + 1; o < OutcomeCount; o++ {
		if outcomes[o].name == s {
			return o, true
		}
	}
	return NoOutcome, false
}

// ParseClass returns the class that is written as s, NoClass if there is none.
func ParseClass(s string) Class {
	for c := Failure; c <= Unknown; c++ {
		if classNames[c] == s {
			return c
		}
	}
	return NoClass
}

// Reason says why, where the outcome alone does not.
type Reason uint8

// The reasons, a closed list. docs/attributes.md explains each.
const (
	NoReason Reason = iota

	// Undetermined.
	BodyAbsent
	BodyCut
	BodyOpaque
	BodyTooLarge
	TooDeep
	RequestAbsent
	StatusAbsent
	ExtensionResultType
	NoErrorRecorded

	// HTTPError, NoResponse, StreamIncomplete.
	AuthRequired
	Forbidden
	SessionNotFound
	NotFound
	RateLimited
	Redirect
	ClientError
	ServerError
	Timeout

	// Cancelled.
	Aborted
	ClientDisconnected
	CancelledByNotification

	// MalformedJSON.
	Syntax
	EmptyBody
	NotJSON
	TrailingData

	// InvalidEnvelope.
	Version
	NullMember
	IDMissing
	IDMismatch
	IDTypeMismatch
	DuplicateMember
	ResultAndError
	NoResultOrError
	ErrorShape
	NotAnObject
	ResponseMissing
	AcceptedNotAnswered
	DuplicateResponse

	// JSONRPCError: the names of the codes that MCP and JSON-RPC define.
	ParseError
	InvalidRequest
	MethodNotFound
	InvalidParams
	InternalError
	ResourceNotFound
	HeaderMismatch
	MissingRequiredClientCapability
	UnsupportedProtocolVersion
	URLElicitationRequired
	RequestCancelled
	Refused

	// InvalidToolResult, InvalidResult.
	ContentMissing
	ContentNotArray
	IsErrorNotBoolean
	UnknownResultType
	InputRequiredEmpty
	InputRequiredNotAllowed
	MemberMissing

	// RPCSuccess.
	TaskWorking
	TaskFailed
	TaskCancelled
	VersionCounterOffer

	// StreamIncomplete.
	SubscriptionLost
	NotAcknowledged

	// ReasonCount is the number of reasons, NoReason included.
	ReasonCount
)

var reasonNames = [ReasonCount]string{
	BodyAbsent:                      "body_absent",
	BodyCut:                         "body_cut",
	BodyOpaque:                      "body_opaque",
	BodyTooLarge:                    "body_too_large",
	TooDeep:                         "too_deep",
	RequestAbsent:                   "request_absent",
	StatusAbsent:                    "status_absent",
	ExtensionResultType:             "extension_result_type",
	NoErrorRecorded:                 "no_error_recorded",
	AuthRequired:                    "auth_required",
	Forbidden:                       "forbidden",
	SessionNotFound:                 "session_not_found",
	NotFound:                        "not_found",
	RateLimited:                     "rate_limited",
	Redirect:                        "redirect",
	ClientError:                     "client_error",
	ServerError:                     "server_error",
	Timeout:                         "timeout",
	Aborted:                         "aborted",
	ClientDisconnected:              "client_disconnected",
	CancelledByNotification:         "cancelled_by_notification",
	Syntax:                          "syntax",
	EmptyBody:                       "empty_body",
	NotJSON:                         "not_json",
	TrailingData:                    "trailing_data",
	Version:                         "version",
	NullMember:                      "null_member",
	IDMissing:                       "id_missing",
	IDMismatch:                      "id_mismatch",
	IDTypeMismatch:                  "id_type_mismatch",
	DuplicateMember:                 "duplicate_member",
	ResultAndError:                  "result_and_error",
	NoResultOrError:                 "no_result_or_error",
	ErrorShape:                      "error_shape",
	NotAnObject:                     "not_an_object",
	ResponseMissing:                 "response_missing",
	AcceptedNotAnswered:             "accepted_not_answered",
	DuplicateResponse:               "duplicate_response",
	ParseError:                      "parse_error",
	InvalidRequest:                  "invalid_request",
	MethodNotFound:                  "method_not_found",
	InvalidParams:                   "invalid_params",
	InternalError:                   "internal_error",
	ResourceNotFound:                "resource_not_found",
	HeaderMismatch:                  "header_mismatch",
	MissingRequiredClientCapability: "missing_required_client_capability",
	UnsupportedProtocolVersion:      "unsupported_protocol_version",
	URLElicitationRequired:          "url_elicitation_required",
	RequestCancelled:                "request_cancelled",
	Refused:                         "refused",
	ContentMissing:                  "content_missing",
	ContentNotArray:                 "content_not_array",
	IsErrorNotBoolean:               "is_error_not_boolean",
	UnknownResultType:               "unknown_result_type",
	InputRequiredEmpty:              "input_required_empty",
	InputRequiredNotAllowed:         "input_required_not_allowed",
	MemberMissing:                   "member_missing",
	TaskWorking:                     "task_working",
	TaskFailed:                      "task_failed",
	TaskCancelled:                   "task_cancelled",
	VersionCounterOffer:             "version_counter_offer",
	SubscriptionLost:                "subscription_lost",
	NotAcknowledged:                 "not_acknowledged",
}

// String is the value of the attribute mcp.outcome_reason.
func (r Reason) String() string { return reasonNames[r] }
