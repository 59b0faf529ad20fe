package verdict

import (
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// responseSide is what the response body holds.
type responseSide struct {
	responseFacts
	answerID   jsonrpc.ID // of the last response to an unknown request
	firstError judged     // the first well-formed JSON-RPC error, whoever's
	idless     judged     // the first error whose id is null or missing
	extra      judged     // of a foreign response: the code of what decides, where it has one
}

// reset empties r. Most of it is empty already.
func (r *responseSide) reset() {
	for _, a := range [...]*judged{&r.firstError, &r.idless, &r.extra} {
		if a.Outcome != NoOutcome {
			*a = judged{}
		}
	}
	if r.answerID.Present() {
		r.answerID = jsonrpc.ID{}
	}
	r.responseFacts = responseFacts{}
}

// responseFacts holds no pointers, so that it costs little to empty it.
type responseFacts struct {
	read    bool
	format  jsonrpc.Format
	summary jsonrpc.Summary

	responses int  // messages that answer something
	partial   bool // one of them, noted for an unknown request, was cut
	own       bool // a server's message with a method of MCP's own
	shape     bool // a result of a shape that only MCP has
	hasIdless bool // there is an error without id

	// What was there in place of the answer.
	foreign     bool   // a response with another id
	foreignType bool   // with the same id but of another type
	idMissing   bool   // a response without id that is no error
	stray       Reason // JSON in a body that is no response: why not
	tooDeep     bool
	lost        bool // a message that could be the answer was cut

	acknowledged bool // subscriptions/listen was acknowledged
	cancelled    bool // the server cancelled this request
}

// format tells how to read b: by content, since types lie, else by type.
func (j *Judge) format(b *Body) jsonrpc.Format {
	f, ok := jsonrpc.Sniff(b.Text)
	switch {
	case !ok && b.Media == MediaEventStream:
		return jsonrpc.EventStream
	case !ok:
		return jsonrpc.JSON
	case f == jsonrpc.JSON && j.ex.Messages:
		return jsonrpc.Values
	default:
		return f
	}
}

func (j *Judge) readResponse() {
	ex, r := j.ex, &j.response
	b := &ex.Response
	switch b.Capture {
	case Absent:
		if j.answerExpected() {
			j.v.Unreadable[ResponseSide] = BodyAbsent
		}
		return
	case Opaque:
		j.v.Unreadable[ResponseSide] = BodyOpaque
		return
	}
	if b.Text == "" && b.Media == MediaEventStream {
		// Recorders that cannot read streams leave an empty attribute.
		return
	}
	r.read, r.format = true, j.format(b)
	j.v.BytesRead[ResponseSide] = len(b.Text)
	j.reader.Reset(b.Text, r.format)
	for j.reader.Next() {
		j.readResponseMessage(j.reader.Message())
	}
	r.summary = j.reader.Summary()
	j.v.Unreadable[ResponseSide] = unreadable(b, r.summary)
}

// answerExpected reports whether the exchange should have a body to read.
func (j *Judge) answerExpected() bool {
	ex := j.ex
	return !ex.Log && 200 <= ex.Status && ex.Status < 300 && ex.Status != 202 && ex.Status != 204 &&
		ex.HTTPMethod != "GET" && ex.HTTPMethod != "DELETE" && !j.noAnswerDue()
}

func (j *Judge) readResponseMessage(m *jsonrpc.Message) {
	r := &j.response
	switch {
	case m.State == jsonrpc.TooDeep:
		r.tooDeep = true
		return
	case m.State == jsonrpc.Malformed:
		return
	case m.Kind != jsonrpc.Object:
		r.strayIs(NotAnObject)
		return
	case m.Method.Present():
		j.readServerMessage(m)
		return
	}
	isResponse := m.ResultValue.Present() || m.ErrorValue.Present() || m.JSONRPC.Present() && m.ID.Present()
	if !isResponse {
		if m.State == jsonrpc.Cut {
			r.lost = true
		}
		r.strayIs(Version)
		return
	}
	if m.InBatch && r.format == jsonrpc.JSON && !j.request.batch && !j.request.unknown {
		// An array answers only a batch (JSON-RPC 2.0 section 6).
		r.strayIs(NotAnObject)
		return
	}
	if m.ErrorValue.Present() && r.firstError.Outcome == NoOutcome {
		j.noteError(m)
	}
	if !r.shape && !j.signSeen() && m.ResultValue.Kind == jsonrpc.Object && m.JSONRPC.Present() {
		r.shape = ownShape(m)
	}
	j.match(m)
}

// noteError keeps the error of m, the first one.
func (j *Judge) noteError(m *jsonrpc.Message) {
	if !m.Is(m.JSONRPC, "2.0") {
		return
	}
	e := &j.response.firstError
	if j.errorOf(m, e); !e.HasCode {
		*e = judged{}
	}
}

// strayIs keeps the first reason why the body is not a response.
func (r *responseSide) strayIs(why Reason) {
	if r.stray == NoReason {
		r.stray = why
	}
}

// readServerMessage looks at a request or notification of the server. It never
// answers, whatever its id: ids are unique per requestor only.
func (j *Judge) readServerMessage(m *jsonrpc.Message) {
	r := &j.response
	r.strayIs(ResponseMissing)
	method := MethodNamed(closedText(m, m.Method))
	if m.JSONRPC.Present() && isOwn(m, method) {
		r.own = true
	}
	if m.State != jsonrpc.Complete {
		return
	}
	switch method {
	case NotificationsSubscriptionsAcknowledged:
		r.acknowledged = true
	case NotificationsCancelled:
		if !j.ex.Messages && len(j.calls) == 1 && m.Params.RequestID.Present() && j.calls[0].id.Equal(m.IDOf(m.Params.RequestID)) {
			r.cancelled = true
		}
	}
}

// match finds out what the response m answers.
func (j *Judge) match(m *jsonrpc.Message) {
	r := &j.response
	id := m.RequestID()
	if m.ID.Twice() {
		// Which of the ids counts is not guessed at; that there are two is
		// certain.
		if j.request.unknown || len(j.calls) == 1 {
			j.answer(m, j.onlyCall())
		}
		return
	}
	if id.Valid() {
		if j.request.unknown {
			j.answer(m, j.askedElsewhere(id))
			return
		}
		if c := j.callWith(id); c != nil {
			j.answer(m, c)
			return
		}
		j.foreign(m, id)
		return
	}
	if m.State == jsonrpc.Cut && (id.Open() || !id.Present()) {
		// The id may have stood behind the cut.
		if j.request.unknown || len(j.calls) == 1 {
			j.answer(m, j.onlyCall())
		} else {
			r.lost = true
		}
		return
	}
	j.matchWithoutID(m)
}

// matchWithoutID finds out what the response m answers, which has no id.
func (j *Judge) matchWithoutID(m *jsonrpc.Message) {
	r := &j.response
	var e judged
	j.judge(m, nil, &e)
	if !m.ErrorValue.Present() {
		if j.request.unknown && e.Outcome == InvalidEnvelope {
			j.note(&e, nil)
			r.responses++
			return
		}
		r.idMissing = true
		if e.Reason == Version || e.Reason == NotAnObject {
			r.strayIs(e.Reason)
		}
		return
	}
	if j.request.unknown {
		j.answer(m, nil)
		return
	}
	if !r.hasIdless {
		r.hasIdless, r.idless = true, e
	}
}

// onlyCall is the one request there is, nil if it is unknown.
func (j *Judge) onlyCall() *call {
	if j.request.unknown {
		return nil
	}
	return &j.calls[0]
}

func (j *Judge) callWith(id jsonrpc.ID) *call {
	for i := range j.calls {
		if j.calls[i].id.Equal(id) {
			return &j.calls[i]
		}
	}
	return nil
}

// foreign notes a response to somebody else's request.
func (j *Judge) foreign(m *jsonrpc.Message, id jsonrpc.ID) {
	r := &j.response
	if !r.foreign {
		j.errorOf(m, &r.extra)
	}
	r.foreign = true
	for i := range j.calls {
		if j.calls[i].id.EqualText(id) {
			r.foreignType = true
		}
	}
}

// answer judges the response m to c, or to a request that is not known.
func (j *Judge) answer(m *jsonrpc.Message, c *call) {
	r := &j.response
	if c != nil && c.answered && c.full {
		if c.Reason == NoReason {
			c.Reason = DuplicateResponse
		}
		return
	}
	r.responses++
	full := m.State == jsonrpc.Complete
	if !j.request.unknown {
		if c.answered {
			c.judged = judged{}
		}
		c.answered, c.full = true, full
		j.judgeAny(m, c, &c.judged)
		return
	}
	var a judged
	j.judgeAny(m, c, &a)
	if !full {
		r.partial = true
	}
	if id := m.RequestID(); id.Valid() {
		a.ID, a.HasID = id.String(), true
		r.answerID = id
	}
	if c != nil {
		c.judged = a
	}
	j.note(&a, c)
}

// askedElsewhere returns the request with this id that was seen elsewhere, nil
// if none was.
func (j *Judge) askedElsewhere(id jsonrpc.ID) *call {
	if j.ex.Asked == nil {
		return nil
	}
	a, ok := j.ex.Asked.Asked(id)
	if !ok {
		return nil
	}
	j.asked = append(j.asked, call{
		id: id, method: a.Method, methodID: MethodNamed(a.Method), tool: a.Tool, prompt: a.Prompt, uri: a.URI,
		revision: a.Revision, asksTask: a.AsksTask, extensions: a.Extensions, complete: a.Complete, note: a.Note,
	})
	return &j.asked[len(j.asked)-1]
}

// brokenDocument reports whether the response is one JSON document and is
// known not to be JSON. No message in it then counts.
func (j *Judge) brokenDocument() bool {
	r := &j.response
	if !r.read || r.format != jsonrpc.JSON {
		return false
	}
	s := &r.summary
	return s.State == jsonrpc.Malformed || s.State == jsonrpc.Cut && j.ex.Response.Entire
}

// idlessAnswers reports whether an error without an id answers what has no
// answer of its own: its code says that the id could not be read.
func (j *Judge) idlessAnswers() bool {
	r := &j.response
	return r.hasIdless && r.idless.HasCode && requestUnreadable(r.idless.Code)
}

// oauthMembers are members of the bodies of OAuth's endpoints, which clients
// reach with MCP's headers on (MCP authorization; RFC 6749, 7591, 8414, 9728).
var oauthMembers = []string{
	"grant_type", "access_token", "redirect_uris", "client_secret", "authorization_endpoint", "authorization_servers",
}

// oauth reports whether a body is one of an OAuth endpoint.
func oauth(b *Body) bool {
	if b.Capture == Absent || b.Capture == Opaque || !strings.HasPrefix(strings.TrimLeft(b.Text, " \t\r\n"), "{") {
		return false
	}
	for _, name := range oauthMembers {
		if strings.Contains(b.Text, name) {
			if _, kind := jsonrpc.Lookup(b.Text, name); kind != jsonrpc.Absent {
				return true
			}
		}
	}
	return false
}
