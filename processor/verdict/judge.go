// Package verdict says at which layer an MCP exchange ended and how. It knows
// what the revisions of MCP say and nothing of the collector: a carrier hands
// it an [Exchange], a [Judge] returns a [Verdict].
package verdict

import "github.com/otel-mcp/mcpprocessor/processor/jsonrpc"

// maxCalls is the number of requests of one batch that are told apart. What
// stands behind them is counted, and leaves the exchange undetermined.
const maxCalls = 1024

// Judge judges exchanges, one after the other. It keeps its buffers from one
// to the next, so that a verdict allocates nothing. Not for concurrent use.
type Judge struct {
	settings Settings
	ex       *Exchange
	v        *Verdict
	reader   jsonrpc.Reader
	request  requestSide
	response responseSide
	calls    []call
	asked    []call // requests that were seen elsewhere
	assumed  call   // what the headers say of the request
	answers  []Answer

	// worst is the worst verdict noted so far, nil if there is none, and worstCall
	// the request that it is about.
	worst     *judged
	worstCall *call
	worstCopy judged // what worst refers to, unless that is a part of calls
}

// NewJudge returns a Judge that follows s.
func NewJudge(s Settings) *Judge {
	return &Judge{settings: s, calls: make([]call, 0, 4)}
}

// Judge reads the bodies of ex and sets v to the verdict on it. v refers to
// the texts of ex, and its Answers are valid until the next call.
func (j *Judge) Judge(ex *Exchange, v *Verdict) {
	*v = Verdict{}
	j.ex, j.v = ex, v
	j.request.reset()
	j.response.reset()
	j.calls, j.asked, j.answers = j.calls[:0], j.asked[:0], j.answers[:0]
	j.worst, j.worstCall = nil, nil

	if ex.HTTPMethod == "OPTIONS" || ex.HTTPMethod == "HEAD" || 100 <= ex.Status && ex.Status < 200 {
		return
	}
	if (j.settings.InstrumentedSpans || ex.Fragment.Capture != Absent) && j.instrumented() {
		return
	}
	j.assume()
	j.readRequest()
	j.readResponse()
	if !j.recognised() {
		*v = Verdict{}
		return
	}
	v.MCP = true
	j.describe()
	j.decide()
	j.finish()
}

// Forget drops what the Judge still refers to of the exchanges that it judged.
func (j *Judge) Forget() {
	clear(j.calls[:cap(j.calls)])
	clear(j.asked[:cap(j.asked)])
	clear(j.answers[:cap(j.answers)])
	j.reader.Reset("", jsonrpc.JSON)
	j.request = requestSide{}
	j.response = responseSide{}
	j.worstCopy = judged{}
	j.assumed = call{}
	j.worst, j.worstCall, j.ex, j.v = nil, nil, nil, nil
}

// Requests calls yield with each request of the exchange that was judged last,
// and its id, for a later Asker.
func (j *Judge) Requests(yield func(jsonrpc.ID, Asked)) {
	for i := range j.calls {
		c := &j.calls[i]
		if c.id.Valid() && c.method != "" {
			yield(c.id, Asked{
				Method: c.method, Tool: c.tool, Prompt: c.prompt, URI: c.uri, Revision: c.revision,
				AsksTask: c.asksTask, Extensions: c.extensions, Complete: c.complete,
			})
		}
	}
}

// Answered calls yield with the note of each request that was seen elsewhere and
// that the exchange judged last answers, and with what its result holds.
func (j *Judge) Answered(yield func(note any, result Call)) {
	for i := range j.asked {
		if c := &j.asked[i]; c.note != nil {
			yield(c.note, Call{ResultInputRequests: c.result.inputRequests, ResultState: c.result.state, ResultTaskID: c.result.taskID})
		}
	}
}

// AnswerID is the id of the one response in the exchange judged last whose
// request it does not hold.
func (j *Judge) AnswerID() (id jsonrpc.ID, ok bool) {
	return j.response.answerID, j.Unasked() && j.response.responses == 1
}

// Unasked reports whether the exchange that was judged last holds responses
// whose requests it does not hold.
func (j *Judge) Unasked() bool {
	return j.request.unknown && !j.request.requests && j.response.responses > 0
}

// decide follows the order of the evidence: the HTTP status, an answer that was
// read, what the span says of itself, and what is left.
func (j *Judge) decide() {
	ex := j.ex
	status := ex.Status
	switch {
	case status != 0 && (status < 200 || status > 299) && status != statusClientClosedRequest:
		j.outsideSuccess()
	case ex.HTTPMethod == "DELETE" && status != 0 && status != statusClientClosedRequest:
		j.set(SessionClosed, NoReason)
	case ex.HTTPMethod == "GET" && status != 0 && status != statusClientClosedRequest:
		j.getStream()
	case j.noAnswerDue() && (status != 0 && status != statusClientClosedRequest):
		j.accepted()
	case ex.Log && j.onlyRequest():
		// One side of an exchange: no outcome is due.
	case j.answeredInFull():
		j.conclude()
	case j.spanFailure():
	case status == 0 && !ex.Log:
		j.set(Undetermined, StatusAbsent)
	default:
		j.conclude()
	}
}

// set makes o the outcome of the exchange as a whole.
func (j *Judge) set(o Outcome, r Reason) {
	j.v.Outcome, j.v.Class, j.v.Reason = o, o.Class(), r
}

// setCode keeps the code of the error that the response holds, if any.
func (j *Judge) setCode() {
	if e := &j.response.firstError; e.HasCode {
		j.v.Code, j.v.HasCode = e.Code, true
		j.v.ErrorMessage, j.v.ErrorData = e.errorMessage, e.errorData
	}
}

// onlyRequest reports whether what was recorded is a request, a notification
// or a posted response without its counterpart.
func (j *Judge) onlyRequest() bool {
	if j.ex.Status != 0 || j.ex.Failure != NotFailed {
		return false
	}
	if j.ex.Messages {
		return j.response.responses == 0
	}
	return j.ex.Response.Capture == Absent
}

// answeredInFull reports whether the answer, or each answer of a batch, was
// read to its end. Then nothing else that the span reports matters.
func (j *Judge) answeredInFull() bool {
	if j.brokenDocument() {
		return false
	}
	if j.request.unknown {
		return j.response.responses > 0 && !j.response.partial
	}
	for i := range j.calls {
		if !j.calls[i].full && !(j.idlessAnswers() && !j.calls[i].answered) {
			return false
		}
	}
	return len(j.calls) > 0 && j.request.overflow == 0
}

// conclude gives each request of the exchange its verdict and the exchange the
// worst of them.
func (j *Judge) conclude() {
	switch {
	case j.request.unknown && j.response.responses > 0 && !j.brokenDocument() && (!j.response.partial || !j.ex.Response.Entire):
		// Each response was noted as it was read.
	case j.request.unknown || len(j.calls) == 0:
		j.noteUnanswered(nil)
	case len(j.calls) > 1 && (j.brokenDocument() || !j.response.read || j.response.responses == 0 && j.idlessAnswers()):
		// One answer, or none that could be read, for the whole batch.
		j.noteUnanswered(nil)
	default:
		for i := range j.calls {
			c := &j.calls[i]
			if c.answered && (c.full || !j.ex.Response.Entire) && !j.brokenDocument() {
				j.note(&c.judged, c)
			} else {
				j.noteUnanswered(c)
			}
		}
		if j.request.overflow > 0 {
			left := undetermined(BodyTooLarge)
			j.note(&left, nil)
		}
	}
	j.adopt()
}

func (j *Judge) noteUnanswered(c *call) {
	a := j.unanswered(c)
	j.note(&a, c)
}

// note adds the verdict a on one message, which is the answer to c, and completes
// it. The worst so far is to speak for the exchange; of equals the first.
func (j *Judge) note(a *judged, c *call) {
	if c != nil {
		a.Method, a.Tool = c.method, c.tool
		a.ID, a.HasID = c.idText()
	}
	j.keep(&a.Answer)
	if j.worst != nil && severity[a.Class] <= severity[j.worst.Class] {
		return
	}
	j.worstCall = c
	if c != nil && a == &c.judged && !j.request.unknown {
		j.worst = &c.judged
		return
	}
	// It does not last, or more calls may come, for which they all move.
	j.worstCopy = *a
	j.worst = &j.worstCopy
}

// adopt makes the worst verdict noted that of the exchange.
func (j *Judge) adopt() {
	v, a := j.v, j.worst
	v.Outcome, v.Class, v.Reason = a.Outcome, a.Class, a.Reason
	v.Code, v.HasCode = a.Code, a.HasCode
	v.ErrorMessage, v.ErrorData, v.ResultType = a.errorMessage, a.errorData, a.resultType
	if j.worstCall != nil {
		j.name(j.worstCall)
	}
	if a.version != "" {
		v.ProtocolVersion = a.version
	}
}

// keep remembers the verdict on one message of several, the worst ones if
// there are more than MaxAnswers.
func (j *Judge) keep(a *Answer) {
	if len(j.answers) < MaxAnswers {
		j.answers = append(j.answers, *a)
		return
	}
	j.v.AnswersLeftOut++
	for i := len(j.answers) - 1; i >= 0; i-- {
		if severity[j.answers[i].Class] < severity[a.Class] {
			copy(j.answers[i:], j.answers[i+1:])
			j.answers[len(j.answers)-1] = *a
			return
		}
	}
}

// finish fills what follows from the verdict.
func (j *Judge) finish() {
	v := j.v
	v.MessageCount = max(len(j.calls)+j.request.overflow, j.response.responses)
	several := v.MessageCount > 1 && v.Outcome != HTTPError && !(len(j.answers) == 1 && !j.answers[0].HasID)
	if several || j.ex.HTTPMethod == "GET" && v.Outcome == StreamOpen {
		sortBySeverity(j.answers)
		v.Answers = j.answers
	} else {
		v.AnswersLeftOut = 0
	}
	j.finishStream()
}

func sortBySeverity(a []Answer) {
	for i := 1; i < len(a); i++ {
		for k := i; k > 0 && severity[a[k-1].Class] < severity[a[k].Class]; k-- {
			a[k-1], a[k] = a[k], a[k-1]
		}
	}
}
