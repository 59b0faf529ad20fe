package jsonrpc

// Kind is the JSON kind of a value. The two booleans are kinds of their own,
// since what a reader of MCP asks of a boolean is which one it is.
type Kind uint8

// The kinds of a JSON value. Absent is the zero Kind: a member that was not
// there, which is not the same as Null.
const (
	Absent Kind = iota
	Null
	False
	True
	Number
	String
	Array
	Object
)

// IsBool reports whether k is one of the two booleans.
func (k Kind) IsBool() bool { return k == False || k == True }

// Value says where a member of a message lies in the text and what it is. It
// is only meaningful together with the Message that it was taken from.
type Value struct {
	start, end uint32
	Kind       Kind
	flags      uint8
}

const (
	flagTwice   = 1 << iota // its name stands more than once in its object
	flagOpen                // the text ended before the value had certainly ended
	flagEscaped             // a string that holds at least one escape
	flagEmpty               // an object or array without members
)

// Present reports whether the member is there, be it null.
func (v Value) Present() bool { return v.Kind != Absent }

// Twice reports whether the name of the member stands more than once in its
// object. The value is then the last one read; readers of JSON disagree on
// which one counts, so nothing may be concluded from it.
func (v Value) Twice() bool { return v.flags&flagTwice != 0 }

// Open reports whether the text ended before the value had certainly ended. A
// number that touches the end of a cut text is open, a literal is not.
func (v Value) Open() bool { return v.flags&flagOpen != 0 }

// Empty reports whether the value is an object or array that closed without a
// member.
func (v Value) Empty() bool { return v.flags&flagEmpty != 0 }

// State says how the reading of a text, or of one message in it, ended.
type State uint8

// The states in which reading ends.
const (
	// Complete: the value closed, and what had to follow followed.
	Complete State = iota
	// Cut: the text ended, or a recorder's truncation mark stands, where JSON
	// or the event stream wanted more.
	Cut
	// Malformed: the text breaks RFC 8259 before its end.
	Malformed
	// TooDeep: the text nests deeper than MaxDepth. That is a limit of this
	// reader, not a fault of the text.
	TooDeep
)

// MaxDepth is the number of nested arrays and objects that are read, counted
// with the outermost one. RFC 8259 section 9 allows an implementation to limit
// it.
const MaxDepth = 10_000

// Cause says why a text is Malformed.
type Cause uint8

// The causes of a Malformed text.
const (
	NoCause Cause = iota
	// NotJSON: the text does not begin like a JSON value at all.
	NotJSON
	// Syntax: a syntax error inside a JSON value.
	Syntax
	// TrailingData: a complete JSON value, and then something that is neither
	// white space nor a truncation mark.
	TrailingData
)

// Message is the skeleton of one JSON value that may be a JSON-RPC message:
// which decisive members are there, of which kind, and where. Nothing is
// copied; it is valid as long as the text that it was read from.
//
// In a Cut message, what is set was read before the cut and is certain, unless
// the Value is Open. In a Malformed or TooDeep one nothing is certain.
type Message struct {
	text string

	// State says how the reading of this value ended.
	State State
	// Cause is set when State is Malformed.
	Cause Cause
	// Kind of the value itself. Only an Object has members.
	Kind Kind
	// InvalidUTF8 reports bytes inside this value that are not UTF-8. They are
	// read on over, as JSON.parse would see U+FFFD there.
	InvalidUTF8 bool
	// InBatch reports an element of an array, the top-level value or the data of
	// an event (batches: revision 2025-03-26, "Batching").
	InBatch bool
	// Offset is the byte offset in the body, or in the data of the event, at
	// which reading stopped.
	Offset int

	// The envelope (JSON-RPC 2.0 sections 4 and 5).
	JSONRPC, ID, Method, ParamsValue, ResultValue, ErrorValue Value

	Params Params
	Result Result
	Error  ErrorObject
}

// Params holds the members of `params` that a verdict needs.
type Params struct {
	Name, URI, TaskID            Value
	Arguments                    Value
	Task                         Value // 2025-11-25: the request asks for a task
	InputResponses, RequestState Value // 2026-07-28: follow-up of an input_required result
	ProtocolVersion, ClientInfo  Value // initialize
	ProcessID, RootURI           Value // initialize of the Language Server Protocol
	RequestID                    Value // notifications/cancelled
	Meta                         Value
	MetaProtocolVersion          Value // _meta["io.modelcontextprotocol/protocolVersion"]
	MetaClientInfo               Value // _meta["io.modelcontextprotocol/clientInfo"]
	MetaExtensions               Value // _meta["io.modelcontextprotocol/clientCapabilities"].extensions
	MetaTraceParent              Value // _meta.traceparent
	MetaSubscriptionID           Value // _meta["io.modelcontextprotocol/subscriptionId"]
	MetaIdempotencyKey           Value // _meta["idempotency-key"] or _meta.idempotency_key, seen in the field

	metaCapabilities Value // _meta["io.modelcontextprotocol/clientCapabilities"]
}

// Result holds the members of `result` that a verdict needs, over all methods
// and revisions.
type Result struct {
	ResultType                                Value
	Content, IsError, StructuredContent       Value // tools/call; sampling/createMessage has content too
	InputRequests, RequestState               Value // input_required
	Task, TaskID, Status                      Value // tasks
	Tools, Resources, ResourceTemplates       Value
	Contents, Prompts, Messages, Completion   Value
	ProtocolVersion, Capabilities, ServerInfo Value // initialize, server/discover
	SupportedVersions                         Value // server/discover
	Tasks, Roots                              Value
	Role, Model, Action                       Value // sampling/createMessage, elicitation/create
	InlineResult, InlineError                 Value // tasks/get of the extension: result.result, result.error
	ToolResult                                Value // tools/call of 2024-10-07
}

// ErrorObject holds the members of `error`.
type ErrorObject struct {
	Code, Message, Data Value
}

// Raw returns the JSON text of v, quotes included. Of an Open value it returns
// what is there.
func (m *Message) Raw(v Value) string { return m.text[v.start:v.end] }

// Text returns the text that the string v stands for. It allocates only if there
// is something to decode: escapes, or bytes that are not UTF-8, which become
// U+FFFD as lone surrogates do. It is "" for anything else than a string, and
// for an Open one, of which half would be taken for the whole.
func (m *Message) Text(v Value) string {
	if v.Kind != String || v.Open() {
		return ""
	}
	if v.flags&flagEscaped == 0 && !m.InvalidUTF8 {
		return m.text[v.start+1 : v.end-1]
	}
	return DecodeString(m.Raw(v))
}

// Is reports whether v is a string that stands for s. An Open string is not: it
// may go on.
func (m *Message) Is(v Value, s string) bool {
	if v.Kind != String || v.Open() {
		return false
	}
	text := m.text[v.start+1 : v.end-1]
	if v.flags&flagEscaped == 0 && !m.InvalidUTF8 {
		return text == s
	}
	return decodesTo(text, s)
}
