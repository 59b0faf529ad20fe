package mcpprocessor

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/retry"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// maxValueBytes is the length to which copied strings are clamped. An id that
// is longer is left out, since half an id is the id of something else.
const maxValueBytes = 256

// writer writes verdicts. It overwrites nothing.
type writer struct {
	enabled    attributeSet
	spanStatus bool
	retries    bool // the retry origin is written too, later
}

// pending is an attribute about to be written.
type pending struct {
	attribute attribute
	isInt     bool
	text      string
	number    int64
}

// list collects the attributes of one item, so that room is made once for as many
// as are written by default. It is small, since it is on the stack.
type list struct {
	enabled attributeSet
	to      pcommon.Map
	copies  bool // texts are parts of bodies that are not to stay in memory
	entries [12]pending
	n       int
}

func (l *list) text(a attribute, s string) {
	if s != "" && l.enabled.has(a) {
		*l.next() = pending{attribute: a, text: s}
	}
}

func (l *list) number(a attribute, n int64) {
	if l.enabled.has(a) {
		*l.next() = pending{attribute: a, isInt: true, number: n}
	}
}

func (l *list) next() *pending {
	if l.n == len(l.entries) {
		l.put(0)
	}
	l.n++
	return &l.entries[l.n-1]
}

// answer lists what an exchange and each of its messages have in common.
func (l *list) answer(a *verdict.Answer) {
	l.text(attrLayer, a.Outcome.Layer().String())
	l.text(attrOutcome, a.Outcome.String())
	l.text(attrOutcomeClass, a.Class.String())
	l.text(attrOutcomeReason, a.Reason.String())
	if a.HasCode {
		l.number(attrErrorCode, a.Code)
	}
	l.text(attrMethodName, clamp(a.Method))
	l.text(attrToolName, clamp(a.Tool))
	if a.HasID && len(a.ID) <= maxValueBytes {
		l.text(attrRequestID, valid(a.ID))
	}
}

// put writes the list, leaving alone what is there, and empties it. Room is made
// for more attributes behind.
func (l *list) put(more int) {
	l.to.EnsureCapacity(l.to.Len() + l.n + more)
	for i := range l.n {
		e := &l.entries[i]
		value, exists := l.to.GetOrPutEmpty(attributeTable[e.attribute].name)
		switch {
		case exists:
		case e.isInt:
			value.SetInt(e.number)
		case l.copies:
			value.SetStr(strings.Clone(e.text))
		default:
			value.SetStr(e.text)
		}
	}
	l.n = 0
}

// writeSpan writes v to span: attributes, an event for each of several
// messages and, if asked for, the status.
func (w *writer) writeSpan(span ptrace.Span, ex *verdict.Exchange, v *verdict.Verdict) {
	w.write(span.Attributes(), ex, v)
	w.events(span, ex, v)
	if w.spanStatus && span.Status().Code() == ptrace.StatusCodeUnset && errorTypeOf(ex, v) != "" {
		span.Status().SetCode(ptrace.StatusCodeError)
	}
}

// write writes the attributes of v.
func (w *writer) write(m pcommon.Map, ex *verdict.Exchange, v *verdict.Verdict) {
	l := list{enabled: w.enabled, to: m, copies: detached(ex)}
	l.answer(&verdict.Answer{
		Outcome: v.Outcome, Class: v.Class, Reason: v.Reason, Code: v.Code, HasCode: v.HasCode,
		Method: v.Method, Tool: v.Tool, ID: v.ID, HasID: v.HasID,
	})
	if v.MessageCount > 1 {
		l.number(attrMessageCount, int64(v.MessageCount))
	}
	if w.enabled&^defaultAttributes != 0 {
		w.selected(&l, ex, v)
	}
	more := 0
	if w.retries && v.MethodID.IsCall() {
		more = 1 // most calls get a retry origin of none
	}
	l.put(more)
}

// detached reports whether a body of ex is only in memory as long as something
// refers to it.
func detached(ex *verdict.Exchange) bool {
	return ex.Request.Detached || ex.Response.Detached || ex.Fragment.Detached
}

// defaultAttributes are the attributes that are written by default.
var defaultAttributes = enabledAttributes(nil)

// selected lists the attributes that are written on request only.
func (w *writer) selected(l *list, ex *verdict.Exchange, v *verdict.Verdict) {
	l.text(attrProtocolVersion, clamp(v.ProtocolVersion))
	l.text(attrClientName, clamp(v.ClientName))
	l.text(attrClientVersion, clamp(v.ClientVersion))
	if !verdict.IsModern(v.ProtocolVersion) {
		// From 2026-07-28 on there are no sessions; a header that is there
		// means nothing.
		l.text(attrSessionID, clamp(ex.SessionID))
	}
	if w.enabled.has(attrResourceURI) {
		l.text(attrResourceURI, clamp(withoutSecrets(v.ResourceURI)))
	}
	l.text(attrPromptName, clamp(v.Prompt))
	if v.MethodID == verdict.ToolsCall {
		l.text(attrOperationName, "execute_tool")
	}
	l.text(attrResultType, clamp(v.ResultType))
	if v.Stream {
		l.number(attrStreamEventCount, int64(v.StreamEvent))
	}
	l.text(attrStreamEnd, v.StreamEnd.String())
	if v.HasCode && w.enabled.has(attrStatusCode) {
		l.text(attrStatusCode, strconv.FormatInt(v.Code, 10))
	}
	if w.enabled.has(attrErrorType) {
		l.text(attrErrorType, errorTypeOf(ex, v))
	}
	if w.enabled.has(attrErrorMessage) {
		l.text(attrErrorMessage, clamp(mask(v.ErrorMessage)))
	}
	if w.enabled.has(attrErrorData) {
		l.text(attrErrorData, clamp(mask(v.ErrorData)))
	}
}

// errorTypeOf is the error.type of a failure, "" where there is none
// (semantic conventions for MCP and HTTP): the error code, tool_error, the
// HTTP status, else the outcome. On a server's span what the caller did wrong
// is no error.
func errorTypeOf(ex *verdict.Exchange, v *verdict.Verdict) string {
	if v.Class != verdict.Failure {
		return ""
	}
	server := ex.Side == verdict.Server
	switch v.Outcome {
	case verdict.JSONRPCError:
		if server && verdict.ClientFault(v.Code) || !v.HasCode {
			return ""
		}
		return strconv.FormatInt(v.Code, 10)
	case verdict.ToolError:
		return "tool_error"
	case verdict.HTTPError:
		if server && ex.Status < 500 {
			return ""
		}
		return strconv.Itoa(ex.Status)
	default:
		return strings.ToLower(v.Outcome.String())
	}
}

// writeFinding writes the retry origin of a call, with its evidence where there
// is one, and what an exchange continues.
func (w *writer) writeFinding(m pcommon.Map, f *retry.Finding, isCall bool) {
	l := list{enabled: w.enabled, to: m}
	if isCall {
		if f.Origin != retry.NoOrigin {
			// What was not seen upstream was seen here.
			if said, ok := m.Get(attributeTable[attrRetryOrigin].name); ok && text(said) == retry.NoOrigin.String() {
				m.Remove(attributeTable[attrRetryOrigin].name)
			}
		}
		l.text(attrRetryOrigin, f.Origin.String())
	}
	if f.Origin != retry.NoOrigin {
		l.text(attrRetryEvidence, f.Evidence.String())
		l.text(attrRetryConfidence, f.Confidence.String())
		if f.Attempt > 0 {
			l.number(attrRetryAttempt, int64(f.Attempt))
		}
		l.text(attrReplaySafety, f.Safety.String())
	}
	l.text(attrContinuation, f.Continuation.String())
	l.put(0)
}

func text(v pcommon.Value) string {
	if v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}

// linkType is the attribute of a span link that says what the link means.
const linkType = "mcp.link.type"

// link links span to its predecessor.
func (w *writer) link(span ptrace.Span, f *retry.Finding) {
	link := span.Links().AppendEmpty()
	link.SetTraceID(f.PreviousTraceID)
	link.SetSpanID(f.PreviousSpanID)
	link.Attributes().PutStr(linkType, f.Link.String())
}

// previous names the predecessor of a log record, which can have no links.
func (w *writer) previous(m pcommon.Map, f *retry.Finding) {
	if f.Link != retry.RetryOf {
		return
	}
	l := list{enabled: w.enabled, to: m}
	l.text(attrPreviousTraceID, pcommon.TraceID(f.PreviousTraceID).String())
	l.text(attrPreviousSpanID, pcommon.SpanID(f.PreviousSpanID).String())
	l.put(0)
}

// eventName is the name of the span events that hold the single verdicts of an
// exchange with several messages.
const eventName = "mcp.message"

// events adds an event for each of several messages. What is beyond the limit
// counts as dropped.
func (w *writer) events(span ptrace.Span, ex *verdict.Exchange, v *verdict.Verdict) {
	if len(v.Answers) == 0 {
		return
	}
	events := span.Events()
	events.EnsureCapacity(events.Len() + len(v.Answers))
	for i := range v.Answers {
		a := &v.Answers[i]
		event := events.AppendEmpty()
		event.SetName(eventName)
		event.SetTimestamp(span.EndTimestamp())
		l := list{enabled: w.enabled, to: event.Attributes(), copies: detached(ex)}
		l.answer(a)
		l.put(0)
	}
	span.SetDroppedEventsCount(span.DroppedEventsCount() + uint32(v.AnswersLeftOut))
}

// clamp cuts s to maxValueBytes on a character boundary and makes it valid
// UTF-8, which OTLP demands of strings.
func clamp(s string) string {
	if len(s) > maxValueBytes {
		end := maxValueBytes
		for end > maxValueBytes-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	return valid(s)
}

func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// withoutSecrets removes user info and query from a URI. What cannot be read
// as a URI is left out.
func withoutSecrets(uri string) string {
	if uri == "" {
		return ""
	}
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
	return u.String()
}
