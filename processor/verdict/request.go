package verdict

import (
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// requestSide is what the request body holds.
type requestSide struct {
	requestFacts
	// first is the first notification; its name stands for the exchange where
	// no request does.
	first call
}

// reset empties r. Most of it is empty already.
func (r *requestSide) reset() {
	if r.notifications > 0 {
		r.first = call{}
	}
	r.requestFacts = requestFacts{}
}

// requestFacts holds no pointers, so that it costs little to empty it.
type requestFacts struct {
	// unknown: it is not known which requests were made, or by which ids: the
	// body was not recorded, not readable or cut before the id. Then any
	// response may answer.
	unknown bool
	// read: at least one message was read.
	read          bool
	batch         bool
	notifications int
	responses     int  // of a client to a server's request, up to 2025-11-25
	requests      bool // at least one request
	overflow      int  // requests beyond maxCalls
	own           bool // a message with a method of MCP's own
}

// noAnswerDue reports whether the client sent nothing that an answer is due
// to: notifications, responses, an empty batch.
func (j *Judge) noAnswerDue() bool {
	if j.request.unknown {
		return !j.request.requests && strings.HasPrefix(j.assumed.method, notificationPrefix)
	}
	return !j.request.requests
}

// requestMade reports whether the client is known to have sent a request, be
// it by its headers only.
func (j *Judge) requestMade() bool {
	return j.request.requests || j.request.unknown && j.assumed.method != "" && !strings.HasPrefix(j.assumed.method, notificationPrefix)
}

// notificationPrefix begins the name of each notification of MCP.
const notificationPrefix = "notifications/"

// call is one request, as far as judging its answer needs it.
type call struct {
	id       jsonrpc.ID
	method   string
	methodID Method
	tool     string // tools/call
	prompt   string // prompts/get
	uri      string // resources/*

	revision                  string // _meta, or the offer of initialize
	clientName, clientVersion string
	// asksTask: params.task was sent (2025-11-25).
	asksTask bool
	details  requestDetails
	note     any
	// extensions is the JSON object of the extensions that the client declared.
	extensions string
	// complete: the request was read to its end, so that what was not found in
	// it is not there.
	complete bool

	answered bool
	full     bool // the answer was read to its end
	judged
}

// idText returns the id as text, and whether there is one to show.
func (c *call) idText() (string, bool) {
	if !c.id.Valid() {
		return "", false
	}
	return c.id.String(), true
}

func (j *Judge) readRequest() {
	ex, r := j.ex, &j.request
	b := &ex.Request
	if b.Capture == Absent || b.Capture == Opaque || b.Media == MediaForm {
		r.unknown = true
		if b.Capture == Opaque {
			j.v.Unreadable[RequestSide] = BodyOpaque
		}
		return
	}
	format := jsonrpc.JSON
	if ex.Messages {
		format = j.format(b)
	}
	j.v.BytesRead[RequestSide] = len(b.Text)
	j.reader.Reset(b.Text, format)
	for j.reader.Next() {
		m := j.reader.Message()
		r.batch = r.batch || m.InBatch
		j.readRequestMessage(m)
	}
	sum := j.reader.Summary()
	j.v.Unreadable[RequestSide] = unreadable(b, sum)
	if ex.Messages {
		r.unknown = len(j.calls) == 0 && r.overflow == 0
		return
	}
	if !r.requests && r.notifications+r.responses == 0 || sum.State == jsonrpc.Malformed {
		// An empty batch asks for nothing, as a notification does.
		r.unknown = !sum.Batch || sum.State != jsonrpc.Complete || r.read
	}
}

func (j *Judge) readRequestMessage(m *jsonrpc.Message) {
	r := &j.request
	if m.Kind != jsonrpc.Object {
		return
	}
	if m.State == jsonrpc.Malformed || m.State == jsonrpc.TooDeep {
		// Nothing in it is certain, but that somebody tried to speak MCP.
		r.own = r.own || !j.ex.Messages && m.JSONRPC.Present() && MethodNamed(closedText(m, m.Method)) != OtherMethod
		return
	}
	if !m.Method.Present() {
		if !j.ex.Messages {
			r.read = true
			if m.ResultValue.Present() || m.ErrorValue.Present() {
				r.responses++
			}
		}
		return
	}
	r.read = true
	name := m.Text(m.Method)
	if m.Method.Open() || m.Method.Twice() {
		name = ""
	}
	method := MethodNamed(name)
	if m.JSONRPC.Present() && isOwn(m, method) {
		r.own = true
	}
	if !m.ID.Present() && (m.State == jsonrpc.Complete || strings.HasPrefix(name, notificationPrefix)) {
		if r.notifications == 0 {
			r.first.read(m, name, method)
		}
		r.notifications++
		return
	}
	r.requests = true
	if len(j.calls) == maxCalls {
		r.overflow++
		return
	}
	j.calls = append(j.calls, call{})
	c := &j.calls[len(j.calls)-1]
	c.read(m, name, method)
	if !c.id.Valid() {
		// Cut before the id, null, twice or of a kind that no id may have: no
		// answer can be recognised by it.
		r.unknown = true
	}
}

// read fills c from the request m.
func (c *call) read(m *jsonrpc.Message, name string, method Method) {
	c.id, c.method, c.methodID = m.RequestID(), name, method
	if m.ID.Twice() {
		c.id = jsonrpc.ID{}
	}
	c.complete = m.State == jsonrpc.Complete
	p := &m.Params
	switch method {
	case ToolsCall:
		c.tool = closedText(m, p.Name)
	case PromptsGet:
		c.prompt = closedText(m, p.Name)
	case ResourcesRead, ResourcesSubscribe, ResourcesUnsubscribe, NotificationsResourcesUpdated:
		c.uri = closedText(m, p.URI)
	case Initialize:
		c.revision = closedText(m, p.ProtocolVersion)
		c.client(m, p.ClientInfo)
	}
	if p.MetaProtocolVersion.Kind == jsonrpc.String {
		c.revision = closedText(m, p.MetaProtocolVersion)
	}
	if p.MetaClientInfo.Kind == jsonrpc.Object {
		c.client(m, p.MetaClientInfo)
	}
	c.asksTask = p.Task.Present()
	if p.MetaExtensions.Kind == jsonrpc.Object {
		c.extensions = m.Raw(p.MetaExtensions)
	}
	c.details.read(m)
}

func (c *call) client(m *jsonrpc.Message, info jsonrpc.Value) {
	if info.Kind != jsonrpc.Object || info.Open() {
		return
	}
	if name, kind := m.Member(info, "name"); kind == jsonrpc.String {
		c.clientName = jsonrpc.DecodeString(name)
	}
	if version, kind := m.Member(info, "version"); kind == jsonrpc.String {
		c.clientVersion = jsonrpc.DecodeString(version)
	}
}

// closedText returns the string v, "" if it is none or the text ended in it.
func closedText(m *jsonrpc.Message, v jsonrpc.Value) string {
	if v.Open() || v.Twice() {
		return ""
	}
	return m.Text(v)
}

// unreadable says why b could not be read to its end, if so.
func unreadable(b *Body, sum jsonrpc.Summary) Reason {
	switch {
	case sum.State == jsonrpc.TooDeep:
		return TooDeep
	case b.Capture == TooLarge:
		return BodyTooLarge
	case b.Capture == Cut || sum.State == jsonrpc.Cut && !b.Entire:
		return BodyCut
	default:
		return NoReason
	}
}
