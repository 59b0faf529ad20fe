package verdict

import "github.com/otel-mcp/mcpprocessor/processor/jsonrpc"

// statusClientClosedRequest is what nginx logs when the client went away. It
// tells of no answer of the server.
const statusClientClosedRequest = 499

// outsideSuccess judges a status outside 2xx: a transport error, whatever a
// success-looking body says. The exception is a JSON-RPC error that the protocol
// itself delivers so.
func (j *Judge) outsideSuccess() {
	ex := j.ex
	if ex.Status == 405 && (ex.HTTPMethod == "GET" || ex.HTTPMethod == "DELETE") {
		// 2025-11-25 basic/transports: a server that offers no stream, or lets
		// no client end a session, MUST or MAY answer so.
		j.set(NotOffered, NoReason)
		j.setCode()
		return
	}
	if j.protocolAnswered() {
		return
	}
	class, why := httpError(ex, &j.response, j.modern())
	j.v.Outcome, j.v.Class, j.v.Reason = HTTPError, class, why
	j.setCode()
}

// protocolAnswered takes over the request's own JSON-RPC error from a 400 or
// 404 and reports whether there is one. MCP 2026-07-28 (streamable-http)
// demands these statuses for some errors, and SDKs deliver others so.
func (j *Judge) protocolAnswered() bool {
	ex, r := j.ex, &j.response
	if j.settings.HTTPStatusAlways || ex.Status != 400 && ex.Status != 404 || j.brokenDocument() {
		return false
	}
	own := func(a *judged) bool {
		return (a.Outcome == JSONRPCError || a.Outcome == InputRequired) && a.HasCode && !implementationDefined(a.Code)
	}
	if j.request.unknown {
		// Any id that is not empty counts as the request's own.
		if j.worst != nil && own(j.worst) && j.worst.HasID && j.worst.ID != "" {
			j.adopt()
			return true
		}
	} else {
		answered := false
		for i := range j.calls {
			if c := &j.calls[i]; c.answered && own(&c.judged) {
				answered = true
				j.note(&c.judged, c)
			}
		}
		if answered {
			j.adopt()
			return true
		}
	}
	if e := &r.idless; r.hasIdless && e.HasCode &&
		(ex.Status == 400 && modernTransportCode(e.Code) || ex.Status == 404 && e.Code == codeMethodNotFound && j.modern()) {
		j.note(e, nil)
		j.adopt()
		return true
	}
	return false
}

// httpError sorts the statuses outside 2xx.
func httpError(ex *Exchange, r *responseSide, modern bool) (Class, Reason) {
	status := ex.Status
	switch {
	case 300 <= status && status < 400:
		return Pending, Redirect
	case status == 401 || status == 403:
		class := Failure
		if ex.Challenge {
			// The challenge begins an authorization flow (MCP authorization).
			class = Pending
		}
		if status == 401 {
			return class, AuthRequired
		}
		return class, Forbidden
	case status == 404:
		// 2025-11-25 basic/transports, Session Management: 404 to a request
		// with a session id means that the session is gone.
		if e := &r.firstError; !modern && (ex.SessionID != "" || e.HasCode && implementationDefined(e.Code)) {
			return Failure, SessionNotFound
		}
		return Failure, NotFound
	case status == 408 || status == 504 || status == 522 || status == 524:
		return Failure, Timeout
	case status == 429:
		return Failure, RateLimited
	case status < 500:
		return Failure, ClientError
	default:
		return Failure, ServerError
	}
}

// getStream judges a GET answered 2xx: it opens a stream on which no single
// answer is due, unless it resumes one.
func (j *Judge) getStream() {
	ex, r := j.ex, &j.response
	if ex.LastEventID && r.responses > 0 && !j.brokenDocument() {
		j.conclude()
		return
	}
	switch {
	case ex.Status == 204:
		j.set(NotOffered, NoReason)
	case r.read && r.format == jsonrpc.JSON && r.summary.State == jsonrpc.Malformed:
		j.set(MalformedJSON, causeReason(r.summary.Cause))
	case r.read && r.format == jsonrpc.JSON && r.summary.State == jsonrpc.Complete && !r.summary.Empty:
		why := r.stray
		if why == NoReason {
			why = ResponseMissing
		}
		j.set(InvalidEnvelope, why)
		j.setCode()
	case ex.Side == Client && ex.Failure == FailedTimeout:
		j.set(StreamIncomplete, Timeout)
	case ex.Side == Client && ex.Failure == FailedReset:
		j.set(StreamIncomplete, NoReason)
	default:
		j.set(StreamOpen, NoReason)
	}
}

// accepted judges what a 2xx says to a notification or to a response that the
// client posted: that it was taken, unless there is an error in it.
func (j *Judge) accepted() {
	if j.response.firstError.HasCode && !j.brokenDocument() {
		j.set(JSONRPCError, Refused)
		j.setCode()
		return
	}
	j.set(Accepted, NoReason)
}

// spanFailure judges by what the span says of itself, where no answer was read
// in full, and reports whether it says anything.
func (j *Judge) spanFailure() bool {
	ex := j.ex
	answered := ex.Status != 0 && ex.Status != statusClientClosedRequest
	failure := ex.Failure
	if ex.Status == statusClientClosedRequest {
		failure = FailedAbort
	}
	if ex.Side == Server {
		if failure != FailedReset && failure != FailedAbort {
			return false
		}
		j.set(Cancelled, ClientDisconnected)
		return true
	}
	listening := j.listens() && j.response.acknowledged
	switch {
	case failure == NotFailed:
		return false
	case failure == FailedTimeout && answered:
		j.set(StreamIncomplete, Timeout)
	case failure == FailedTimeout:
		j.set(NoResponse, Timeout)
	case listening && answered && failure == FailedReset:
		j.set(StreamIncomplete, SubscriptionLost)
	case listening:
		// The client ended its subscription.
		j.set(StreamOpen, NoReason)
	case failure == FailedAbort:
		j.set(Cancelled, Aborted)
	case failure == FailedOther && protocolWord(ex.ErrorType):
		// The words of an MCP instrumentation tell of no broken connection.
		return false
	case answered:
		j.set(StreamIncomplete, NoReason)
	case ex.HTTP:
		j.set(NoResponse, NoReason)
	default:
		return false
	}
	return true
}

// protocolWord reports whether errorType tells of an answer: tool_error or a
// JSON-RPC error code.
func protocolWord(errorType string) bool {
	if errorType == toolErrorType {
		return true
	}
	return len(errorType) > 1 && errorType[0] == '-' && errorType[1] >= '0' && errorType[1] <= '9'
}

// listens reports whether the request is subscriptions/listen.
func (j *Judge) listens() bool {
	return j.context(nil).methodID == SubscriptionsListen
}

// finishStream says how an event stream ended.
func (j *Judge) finishStream() {
	v, r, ex := j.v, &j.response, j.ex
	if !r.read || r.format != jsonrpc.EventStream {
		return
	}
	v.Stream, v.StreamEvent = true, r.summary.Events
	final := !j.request.unknown && len(j.calls) > 0 || j.request.unknown && r.responses > 0
	for i := range j.calls {
		final = final && (j.request.unknown || j.calls[i].answered && j.calls[i].full)
	}
	switch {
	case final && !r.partial:
		v.StreamEnd = EndFinalResponse
	case ex.Failure == FailedTimeout:
		v.StreamEnd = EndTimeout
	case ex.Failure == FailedReset:
		v.StreamEnd = EndReset
	case ex.Failure == FailedAbort:
		v.StreamEnd = EndClientClosed
	case v.Unreadable[ResponseSide] != NoReason:
		v.StreamEnd = EndCut
	case v.Outcome == StreamOpen:
		v.StreamEnd = EndOpen
	default:
		v.StreamEnd = EndNoFinalResponse
	}
}
