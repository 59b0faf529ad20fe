package jsonrpc

// place tells which object of a message is being read, and so which of its members
// are tracked. All others are only checked.
type place uint8

const (
	untracked place = iota
	inEnvelope
	inParams
	inMeta         // params._meta
	inCapabilities // params._meta["io.modelcontextprotocol/clientCapabilities"]
	inResult
	inError
)

// depthOf is how many objects of the message are open in a place.
var depthOf = [...]int{inEnvelope: 1, inParams: 2, inMeta: 3, inCapabilities: 4, inResult: 2, inError: 2}

// member returns where the value of a member is to be noted, nil if it is not
// tracked, and which place the value is if it is an object.
//
// The names are the whole of what this package knows of MCP: those that decide a
// verdict, over all methods and revisions, each beside its field in Message.
func (m *Message) member(in place, name []byte) (*Value, place) {
	switch in {
	case inEnvelope:
		return m.envelopeMember(name)
	case inParams:
		return m.Params.member(name)
	case inMeta:
		return m.Params.metaMember(name)
	case inCapabilities:
		if string(name) == "extensions" {
			return &m.Params.MetaExtensions, untracked
		}
	case inResult:
		return m.Result.member(name), untracked
	case inError:
		return m.Error.member(name), untracked
	}
	return nil, untracked
}

func (m *Message) envelopeMember(name []byte) (*Value, place) {
	switch string(name) {
	case "jsonrpc":
		return &m.JSONRPC, untracked
	case "id":
		return &m.ID, untracked
	case "method":
		return &m.Method, untracked
	case "params":
		return &m.ParamsValue, inParams
	case "result":
		return &m.ResultValue, inResult
	case "error":
		return &m.ErrorValue, inError
	}
	return nil, untracked
}

func (p *Params) member(name []byte) (*Value, place) {
	switch string(name) {
	case "name":
		return &p.Name, untracked
	case "uri":
		return &p.URI, untracked
	case "taskId":
		return &p.TaskID, untracked
	case "arguments":
		return &p.Arguments, untracked
	case "task":
		return &p.Task, untracked
	case "inputResponses":
		return &p.InputResponses, untracked
	case "requestState":
		return &p.RequestState, untracked
	case "protocolVersion":
		return &p.ProtocolVersion, untracked
	case "clientInfo":
		return &p.ClientInfo, untracked
	case "processId":
		return &p.ProcessID, untracked
	case "rootUri":
		return &p.RootURI, untracked
	case "requestId":
		return &p.RequestID, untracked
	case "_meta":
		return &p.Meta, inMeta
	}
	return nil, untracked
}

func (p *Params) metaMember(name []byte) (*Value, place) {
	switch string(name) {
	case "io.modelcontextprotocol/protocolVersion":
		return &p.MetaProtocolVersion, untracked
	case "io.modelcontextprotocol/clientInfo":
		return &p.MetaClientInfo, untracked
	case "io.modelcontextprotocol/clientCapabilities":
		return &p.metaCapabilities, inCapabilities
	case "io.modelcontextprotocol/subscriptionId":
		return &p.MetaSubscriptionID, untracked
	case "traceparent":
		return &p.MetaTraceParent, untracked
	case "idempotency-key", "idempotency_key":
		return &p.MetaIdempotencyKey, untracked
	}
	return nil, untracked
}

func (r *Result) member(name []byte) *Value {
	switch string(name) {
	case "resultType":
		return &r.ResultType
	case "content":
		return &r.Content
	case "isError":
		return &r.IsError
	case "structuredContent":
		return &r.StructuredContent
	case "inputRequests":
		return &r.InputRequests
	case "requestState":
		return &r.RequestState
	case "task":
		return &r.Task
	case "taskId":
		return &r.TaskID
	case "status":
		return &r.Status
	case "tools":
		return &r.Tools
	case "resources":
		return &r.Resources
	case "resourceTemplates":
		return &r.ResourceTemplates
	case "contents":
		return &r.Contents
	case "prompts":
		return &r.Prompts
	case "messages":
		return &r.Messages
	case "completion":
		return &r.Completion
	case "protocolVersion":
		return &r.ProtocolVersion
	case "capabilities":
		return &r.Capabilities
	case "serverInfo":
		return &r.ServerInfo
	case "supportedVersions":
		return &r.SupportedVersions
	case "tasks":
		return &r.Tasks
	case "roots":
		return &r.Roots
	case "role":
		return &r.Role
	case "model":
		return &r.Model
	case "action":
		return &r.Action
	case "result":
		return &r.InlineResult
	case "error":
		return &r.InlineError
	case "toolResult":
		return &r.ToolResult
	}
	return nil
}

func (e *ErrorObject) member(name []byte) *Value {
	switch string(name) {
	case "code":
		return &e.Code
	case "message":
		return &e.Message
	case "data":
		return &e.Data
	}
	return nil
}

// forget drops what an earlier object of the same name held: of two members
// with one name the last one counts, with all that is in it.
func (m *Message) forget(inner place) {
	switch inner {
	case inParams:
		m.Params = Params{}
	case inMeta:
		m.Params.forgetMeta()
	case inCapabilities:
		m.Params.MetaExtensions = Value{}
	case inResult:
		m.Result = Result{}
	case inError:
		m.Error = ErrorObject{}
	}
}

func (p *Params) forgetMeta() {
	p.MetaProtocolVersion = Value{}
	p.MetaClientInfo = Value{}
	p.metaCapabilities = Value{}
	p.MetaExtensions = Value{}
	p.MetaTraceParent = Value{}
	p.MetaSubscriptionID = Value{}
	p.MetaIdempotencyKey = Value{}
}

// begin empties m for a value of text. Most of it is empty already: the members
// of params, result and error are only there if these are.
func (m *Message) begin(text string) {
	if m.ParamsValue.Present() {
		m.Params = Params{}
	}
	if m.ResultValue.Present() {
		m.Result = Result{}
	}
	if m.ErrorValue.Present() {
		m.Error = ErrorObject{}
	}
	m.text = text
	m.JSONRPC, m.ID, m.Method = Value{}, Value{}, Value{}
	m.ParamsValue, m.ResultValue, m.ErrorValue = Value{}, Value{}, Value{}
}
