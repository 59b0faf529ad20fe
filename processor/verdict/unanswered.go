package verdict

import "github.com/otel-mcp/mcpprocessor/processor/jsonrpc"

// unanswered judges the request c, or the exchange if c is nil, where no
// response to it was read in full. The status is in 2xx, or there is none to
// judge by.
func (j *Judge) unanswered(c *call) judged {
	ex, r := j.ex, &j.response
	switch {
	case j.idlessAnswers():
		return r.idless
	case r.hasIdless:
		a := r.idless
		a.Outcome, a.Class, a.Reason = InvalidEnvelope, Failure, IDMissing
		return a
	case !r.hasMessage() && (ex.Status == 202 || ex.SessionQuery):
		return j.notAnsweredHere()
	case r.cancelled:
		return verdictOf(Cancelled, CancelledByNotification)
	case ex.Response.Capture == Opaque:
		return undetermined(BodyOpaque)
	case !r.read && ex.Status == 204 && j.requestMade():
		return verdictOf(MalformedJSON, EmptyBody)
	case !r.read:
		return undetermined(BodyAbsent)
	case r.format == jsonrpc.EventStream:
		return j.unansweredStream()
	default:
		return j.unansweredDocument(c)
	}
}

// hasMessage reports whether the response holds any JSON-RPC message.
func (r *responseSide) hasMessage() bool {
	return r.responses > 0 || r.foreign || r.hasIdless || r.idMissing || r.stray == ResponseMissing || r.lost
}

// notAnsweredHere judges a request that was taken without an answer: 202, or
// any 2xx of an HTTP+SSE endpoint (2024-11-05), whose answers travel on the
// GET stream. From 2026-07-28 on there is no other stream.
func (j *Judge) notAnsweredHere() judged {
	ex := j.ex
	switch {
	case !j.requestMade() && !ex.SessionQuery:
		if ex.SessionID != "" {
			return verdictOf(Accepted, NoReason)
		}
		return undetermined(RequestAbsent)
	case j.modern():
		return verdictOf(InvalidEnvelope, AcceptedNotAnswered)
	default:
		return verdictOf(StreamDeferred, NoReason)
	}
}

// unansweredDocument judges a JSON body in which the answer is not.
func (j *Judge) unansweredDocument(c *call) judged {
	ex, r := j.ex, &j.response
	s := &r.summary
	switch {
	case s.Empty && ex.Response.Capture != Whole:
		return undetermined(j.cutReason())
	case s.Empty && !j.requestMade():
		return undetermined(RequestAbsent)
	case s.Empty:
		return verdictOf(MalformedJSON, EmptyBody)
	case s.State == jsonrpc.Malformed:
		return verdictOf(MalformedJSON, causeReason(s.Cause))
	case s.State == jsonrpc.TooDeep || r.tooDeep:
		return undetermined(TooDeep)
	case s.State == jsonrpc.Cut && ex.Response.Entire:
		return verdictOf(MalformedJSON, Syntax)
	case s.State == jsonrpc.Cut:
		return undetermined(j.cutReason())
	case s.Batch && j.request.batch && !r.foreign && !r.idMissing, c != nil && len(j.calls) > 1 && s.Batch:
		return verdictOf(InvalidEnvelope, ResponseMissing)
	case r.foreign:
		return j.foreignAnswer()
	case r.stray != NoReason:
		a := r.firstError
		a.Answer.Outcome, a.Class, a.Reason = InvalidEnvelope, Failure, r.stray
		return a
	case r.idMissing:
		return verdictOf(InvalidEnvelope, IDMissing)
	default:
		return verdictOf(InvalidEnvelope, ResponseMissing)
	}
}

// foreignAnswer judges an exchange whose only response has another id.
func (j *Judge) foreignAnswer() judged {
	a := j.response.extra
	a.Outcome, a.Class, a.Reason = InvalidEnvelope, Failure, IDMismatch
	if j.response.foreignType {
		a.Reason = IDTypeMismatch
	}
	return a
}

// unansweredStream judges an event stream on which the answer is not.
func (j *Judge) unansweredStream() judged {
	ex, r := j.ex, &j.response
	s := &r.summary
	listening := j.listens()
	switch {
	case listening && r.acknowledged:
		return verdictOf(StreamOpen, NoReason)
	case r.tooDeep || s.State == jsonrpc.TooDeep:
		return undetermined(TooDeep)
	case ex.Response.Capture == Cut || ex.Response.Capture == TooLarge:
		return undetermined(j.cutReason())
	case s.State == jsonrpc.Cut && ex.Response.Entire:
		return verdictOf(MalformedJSON, Syntax)
	case s.State == jsonrpc.Cut:
		return undetermined(BodyCut)
	case r.foreign:
		return j.foreignAnswer()
	case r.idMissing:
		return verdictOf(InvalidEnvelope, IDMissing)
	case s.Broken > 0:
		return verdictOf(MalformedJSON, Syntax)
	case listening:
		return verdictOf(StreamIncomplete, NotAcknowledged)
	case s.Resumable && !j.modern():
		// 2025-11-25 basic/transports: the server closed and lets the client
		// poll; the answer comes on a stream that resumes this one.
		return verdictOf(StreamDeferred, NoReason)
	default:
		return verdictOf(StreamIncomplete, NoReason)
	}
}

// causeReason says why a text is not JSON.
func causeReason(c jsonrpc.Cause) Reason {
	switch c {
	case jsonrpc.NotJSON:
		return NotJSON
	case jsonrpc.TrailingData:
		return TrailingData
	default:
		return Syntax
	}
}
