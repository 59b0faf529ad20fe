package jsonrpc

// place tells which object of a message is being read. It decides which of the
// object's members are tracked.
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

// member returns where the value of a member is to be noted, nil if it is not
// tracked, and which place the value is if it is an object.
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

// stopped notes why the scanner stopped.
func (m *Message) stopped(sc *scanner) {
	m.State, m.Cause, m.Offset = sc.state, NoCause, sc.at
	if m.State == Malformed {
		m.Cause = Syntax
	}
}

// object reads the rest of an object that tracks members, behind its brace.
func (r *Reader) object(b []byte, i int, in place) int {
	if i = next(b, i); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if uint(i) >= uint(len(b)) || b[i] != '"' {
			if i = skipSpace(b, i); uint(i) >= uint(len(b)) || b[i] != '"' {
				return r.scanner.unexpected(b, i)
			}
		}
		var (
			v     *Value
			inner place
			start = i + 1
		)
		if i = shortString(b, start); uint(i) < uint(len(b)) && b[i] == '"' {
			name := b[start:i:i]
			switch in {
			case inEnvelope:
				v, inner = r.message.envelopeMember(name)
			case inParams:
				v, inner = r.message.Params.member(name)
			case inResult:
				v = r.message.Result.member(name)
			default:
				v, inner = r.message.member(in, name)
			}
			i++
		} else {
			var escaped bool
			if i, escaped = r.scanner.str(b, i); i < 0 {
				return stopped
			}
			v, inner = r.message.longMember(in, r.message.text[start:i-1], escaped)
		}
		if v == nil {
			v = &r.ignored
		}
		if uint(i) >= uint(len(b)) || b[i] != ':' {
			if i = skipSpace(b, i); uint(i) >= uint(len(b)) || b[i] != ':' {
				return r.scanner.unexpected(b, i)
			}
		}
		if i = next(b, i+1); uint(i) >= uint(len(b)) {
			return r.scanner.unexpected(b, i)
		}

		flags := uint8(flagOpen)
		if v.Kind != Absent {
			flags |= flagTwice
			if inner != untracked {
				r.message.forget(inner)
			}
		}
		kind := kinds[b[i]]
		*v = Value{start: uint32(i), Kind: kind, flags: flags}
		switch kind {
		case String:
			if i = shortString(b, i+1); uint(i) < uint(len(b)) && b[i] == '"' {
				i++
			} else {
				var escaped bool
				if i, escaped = r.scanner.str(b, i); escaped {
					v.flags |= flagEscaped
				}
			}
		case Number:
			i = r.scanner.number(b, i)
		case Object:
			if inner != untracked {
				i = r.object(b, i+1, inner)
			} else {
				i = r.scanner.container(b, i, r.depth+depthOf[in])
			}
		case Array:
			i = r.scanner.container(b, i, r.depth+depthOf[in])
		case Absent:
			i = r.scanner.unexpected(b, i)
		default:
			i = r.scanner.literal(b, i)
		}
		if i < 0 {
			if v.end = uint32(r.scanner.at); v.end <= v.start {
				*v = Value{} // a truncation mark in its place
			}
			return stopped
		}
		v.end = uint32(i)
		v.flags &^= flagOpen
		if v.Kind >= Array && next(b, int(v.start)+1) == i-1 {
			v.flags |= flagEmpty
		}

		end := i
		if i = next(b, i); uint(i) < uint(len(b)) {
			if b[i] == ',' {
				i++
				continue
			}
			if b[i] == '}' {
				return i + 1
			}
		}
		if v.Kind == Number && r.scanner.mayGoOn(b, end) {
			v.flags |= flagOpen
		}
		return r.scanner.unexpected(b, i)
	}
}

var depthOf = [...]int{inEnvelope: 1, inParams: 2, inResult: 2, inError: 2, inMeta: 3, inCapabilities: 4}

// longestName is at least the length of the longest tracked name.
const longestName = 48

// longMember is member for a name that is not short and plain.
func (m *Message) longMember(in place, name string, escaped bool) (*Value, place) {
	if !escaped {
		return m.member(in, []byte(name))
	}
	if len(name) > 6*longestName {
		return nil, untracked
	}
	var buf [6 * longestName]byte
	return m.member(in, appendDecoded(buf[:0], name))
}
