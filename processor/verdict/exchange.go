package verdict

import "github.com/otel-mcp/mcpprocessor/processor/jsonrpc"

// Side tells from which end of the connection an exchange was seen.
type Side uint8

// The sides. What is not known to be a server's view counts as a client's.
const (
	Client Side = iota
	Server
)

// Capture says how much of a body was recorded. What the recorder did is never
// blamed on the peer.
type Capture uint8

// The kinds of capture.
const (
	// Absent: nothing was recorded, which says nothing about the body.
	Absent Capture = iota
	// Whole: nothing says that the record is less than the body.
	Whole
	// Cut: the recorder says that it recorded less than the body.
	Cut
	// Opaque: recorded in a form that cannot be decoded here.
	Opaque
	// TooLarge: only the beginning was read, because of our own limit.
	TooLarge
)

// MediaType is what matters of a content type.
type MediaType uint8

// The media types.
const (
	NoMediaType MediaType = iota
	MediaJSON
	MediaEventStream
	MediaForm
	MediaOther
)

// Body is one side of an exchange.
type Body struct {
	// Text is the body, its content coding undone. Empty unless Capture is
	// Whole, Cut or TooLarge.
	Text    string
	Capture Capture
	// Entire reports that the size the recorder states proves that Text is all
	// that was sent.
	Entire bool
	Media  MediaType
	// Detached reports that Text is no part of the item, or not any more: it was
	// decoded, or is removed. What refers to it keeps it all in memory.
	Detached bool
}

// Exchange is what a carrier tells of one exchange: an HTTP request with its
// response, or what a log record holds of one. The strings are read, never
// kept beyond the Verdict that refers to them.
type Exchange struct {
	// HTTP reports that this is an HTTP exchange: a method, a URL or a status
	// was recorded.
	HTTP bool
	// Log reports that a log record tells of the exchange. It may hold one side
	// only.
	Log bool
	// Messages reports that Request and Response are the same text of a log
	// record, one or more JSON-RPC messages of either side. Text that is not
	// JSON is then no fault of a peer.
	Messages bool
	Side     Side
	// HTTPMethod in upper case as recorded, "" if unknown.
	HTTPMethod string
	// Status is the HTTP status, 0 if none was recorded.
	Status int
	// Failure is what the span says of itself beside the status.
	Failure SpanFailure

	// What the headers say. Header is true if any of the four MCP headers was
	// recorded on either side.
	Header          bool
	SessionID       string
	ProtocolVersion string
	MethodHeader    string // Mcp-Method
	NameHeader      string // Mcp-Name, its Base64 form undone
	LastEventID     bool
	Challenge       bool // the response has WWW-Authenticate

	// LogPrefix reports that a log line begins as software of MCP has it.
	LogPrefix bool
	// PathMatch reports that the settings name this URL path as an MCP endpoint.
	PathMatch bool
	// WellKnown reports a URL path under /.well-known/.
	WellKnown bool
	// SessionQuery reports a session id in the query, the mark of the POST
	// endpoint of HTTP+SSE (2024-11-05).
	SessionQuery bool

	// What is on the item already, written by an MCP instrumentation.
	KnownMethod string // mcp.method.name
	KnownTool   string // gen_ai.tool.name
	KnownID     bool   // jsonrpc.request.id is there
	ErrorType   string // error.type
	IsError     bool   // mcp.tool.result.is_error is true
	IsNoError   bool   // mcp.tool.result.is_error is false
	KnownCode   int64  // rpc.response.status_code and its older and newer names
	HasCode     bool

	Request, Response Body
	// Fragment is the result of a tool call without its envelope, as some
	// instrumentations record it. It is looked at where there are no bodies.
	Fragment Body

	// Asked, if set, finds the request that a response answers where the
	// exchange does not hold it itself.
	Asked Asker
}

// Asker knows requests that were seen elsewhere: in another log record, or on
// the span of the POST whose answer travels on another stream.
type Asker interface {
	// Asked returns the request with this id. If several could be meant it
	// returns none.
	Asked(id jsonrpc.ID) (Asked, bool)
}

// Asked is what must be known of a request to judge its answer by it.
type Asked struct {
	Method, Tool, Prompt, URI string
	Revision                  string
	// AsksTask: params.task was sent.
	AsksTask bool
	// Extensions is the JSON object of the extensions that the client declared.
	Extensions string
	// Complete: the request was read to its end.
	Complete bool
	// Note is whatever who remembered the request wants to have back.
	Note any
}

// Settings are the policies of classification.
type Settings struct {
	// HTTPStatusAlways judges every status outside 2xx as a transport error,
	// also one that carries the request's own JSON-RPC error.
	HTTPStatusAlways bool
	// NullMembersAbsent reads a null member as one that is not there.
	NullMembersAbsent bool
	// InstrumentedSpans judges spans of MCP instrumentations, which have no
	// bodies, by their own words.
	InstrumentedSpans bool
	// ErrorText fills Verdict.ErrorMessage and ErrorData.
	ErrorText bool
}

// Verdict is what was found out about one exchange. Its strings refer to the
// texts of the Exchange or were decoded from them.
type Verdict struct {
	// MCP reports whether the exchange is one of MCP at all. If not, nothing
	// else is set.
	MCP bool

	Outcome Outcome
	Class   Class
	Reason  Reason
	// Code is the JSON-RPC error code, where HasCode.
	Code    int64
	HasCode bool

	// What was called, as far as it is known.
	Method      string
	MethodID    Method
	Tool        string
	Prompt      string
	ResourceURI string
	ID          string
	HasID       bool

	ProtocolVersion string
	ClientName      string
	ClientVersion   string
	ResultType      string
	// ErrorMessage and ErrorData (JSON text) of the error that Code is from.
	ErrorMessage string
	ErrorData    string

	// MessageCount is the larger of the number of requests and of responses.
	MessageCount int
	// Stream reports that the response is an event stream; its members follow.
	Stream      bool
	StreamEvent int
	StreamEnd   StreamEnd

	// Answers holds the single verdicts when there are several: MessageCount
	// is above one. It is valid until the next use of the Judge.
	Answers []Answer
	// AnswersLeftOut counts the answers beyond MaxAnswers.
	AnswersLeftOut int

	// Unreadable says why a body could not be read to its end, per side.
	Unreadable [2]Reason
	// BytesRead is the length of the texts that were parsed, per side.
	BytesRead [2]int
}

// The indices of the arrays in a Verdict.
const (
	RequestSide = iota
	ResponseSide
)

// MaxAnswers is the number of answers of one exchange that are kept one by one.
const MaxAnswers = 32

// Answer is the verdict on one message of several.
type Answer struct {
	Outcome Outcome
	Class   Class
	Reason  Reason
	Code    int64
	HasCode bool
	Method  string
	Tool    string
	ID      string
	HasID   bool
}

// StreamEnd says how an event stream ended, as far as it was seen.
type StreamEnd uint8

// The ends of a stream.
const (
	NoStreamEnd StreamEnd = iota
	EndFinalResponse
	EndNoFinalResponse
	EndCut
	EndOpen
	EndClientClosed
	EndReset
	EndTimeout
)

var streamEndNames = [...]string{"", "final_response", "no_final_response", "cut", "open", "client_closed", "reset", "timeout"}

// String is the value of the attribute mcp.stream.end.
func (e StreamEnd) String() string { return streamEndNames[e] }
