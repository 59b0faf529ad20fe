package verdict

import "github.com/otel-mcp/mcpprocessor/processor/jsonrpc"

// judged is the verdict on one message, and what of it may be written.
type judged struct {
	Answer
	resultType, version     string
	result                  resultDetails
	errorMessage, errorData string
}

func verdictOf(o Outcome, r Reason) judged {
	return judged{Answer: Answer{Outcome: o, Class: o.Class(), Reason: r}}
}

// set makes a the verdict of one outcome. What else is in it stays.
func (a *judged) set(o Outcome, r Reason) {
	a.Answer = Answer{Outcome: o, Class: o.Class(), Reason: r}
}

func undetermined(r Reason) judged { return verdictOf(Undetermined, r) }

// judge is judgeAny for a complete response.
func (j *Judge) judge(m *jsonrpc.Message, c *call, a *judged) {
	why := j.envelope(m)
	if why != NoReason || j.present(m.ErrorValue) {
		j.judgeError(m, why, a)
		return
	}
	j.judgeResult(m, m.ResultValue, &m.Result, j.context(c), a)
	if a.Outcome == InputRequired || a.Outcome == TaskCreated {
		a.result.read(m)
	}
}

// judgeError sets a to the error of m or, where why is a reason, to what is wrong
// with the envelope.
func (j *Judge) judgeError(m *jsonrpc.Message, why Reason, a *judged) {
	j.errorOf(m, a)
	if why != NoReason {
		a.Outcome, a.Class, a.Reason = InvalidEnvelope, Failure, why
	}
}

// envelope says what is wrong with m as a JSON-RPC 2.0 response, NoReason if
// nothing is (JSON-RPC 2.0 section 5; MCP basic, Responses). Its id has been
// looked at before.
func (j *Judge) envelope(m *jsonrpc.Message) Reason {
	if m.JSONRPC.Twice() || m.ID.Twice() || m.ResultValue.Twice() || m.ErrorValue.Twice() {
		return DuplicateMember
	}
	if !m.Is(m.JSONRPC, "2.0") {
		return Version
	}
	result, err := j.present(m.ResultValue), j.present(m.ErrorValue)
	switch {
	case result && err:
		if m.ResultValue.Kind == jsonrpc.Null || m.ErrorValue.Kind == jsonrpc.Null {
			return NullMember
		}
		return ResultAndError
	case !result && !err:
		return NoResultOrError
	case err:
		return errorShape(m)
	default:
		return NoReason
	}
}

// present reports whether a member counts as there. JSON-RPC knows members
// that are null apart from missing ones; some senders do not.
func (j *Judge) present(v jsonrpc.Value) bool {
	return v.Present() && !(j.settings.NullMembersAbsent && v.Kind == jsonrpc.Null)
}

// errorShape says what is wrong with the member error (JSON-RPC 2.0 section
// 5.1): an object with an integral code and a string message.
func errorShape(m *jsonrpc.Message) Reason {
	e := &m.Error
	switch {
	case m.ErrorValue.Kind == jsonrpc.Null:
		return NullMember
	case m.ErrorValue.Kind != jsonrpc.Object:
		return ErrorShape
	case e.Code.Twice() || e.Message.Twice():
		return DuplicateMember
	case e.Code.Kind != jsonrpc.Number || !m.Integer(e.Code).Integral || e.Message.Kind != jsonrpc.String:
		return ErrorShape
	default:
		return NoReason
	}
}

// errorOf sets a, which is empty, to the outcome that the error of m means, with
// its code. Where no code can be told a stays empty.
func (j *Judge) errorOf(m *jsonrpc.Message, a *judged) {
	if m.ErrorValue.Kind != jsonrpc.Object || m.ErrorValue.Twice() || m.Error.Code.Twice() ||
		m.Error.Code.Kind != jsonrpc.Number || m.Error.Code.Open() {
		return
	}
	n := m.Integer(m.Error.Code)
	if !n.Integral {
		return
	}
	o := JSONRPCError
	if n.Value == codeURLElicitationRequired && n.Fits {
		// 2025-11-25 client/elicitation: this error is the request for input.
		o = InputRequired
	}
	a.Outcome, a.Class = o, o.Class()
	if n.Fits {
		a.Code, a.HasCode, a.Reason = n.Value, true, codeReason(n.Value)
	}
	if j.settings.ErrorText {
		a.errorMessage = m.Text(m.Error.Message)
		if m.Error.Data.Present() && !m.Error.Data.Open() {
			a.errorData = m.Raw(m.Error.Data)
		}
	}
}

// judgeAny judges the response m to c, which is nil if the request is not known. It
// sets a, which is empty. To hand that large thing up as a value would take a
// kilobyte more of the stack, for which the stack of most callers has to grow.
func (j *Judge) judgeAny(m *jsonrpc.Message, c *call, a *judged) {
	if m.State == jsonrpc.Complete {
		j.judge(m, c, a)
	} else {
		j.judgeCut(m, c, a)
	}
}

// judgeCut judges a response whose end was not recorded, by what JSON cannot
// take back: an error code, or isError: true. Everything else is unknown, and
// so is all where what was read contradicts itself.
func (j *Judge) judgeCut(m *jsonrpc.Message, c *call, a *judged) {
	a.set(Undetermined, j.cutReason())
	if m.JSONRPC.Present() && !m.Is(m.JSONRPC, "2.0") && !m.JSONRPC.Open() ||
		m.JSONRPC.Twice() || m.ID.Twice() || m.ResultValue.Twice() || m.ErrorValue.Twice() ||
		j.present(m.ResultValue) && j.present(m.ErrorValue) {
		return
	}
	if m.Error.Message.Present() && m.Error.Message.Kind != jsonrpc.String {
		return
	}
	var e judged
	if j.errorOf(m, &e); e.Outcome != NoOutcome {
		*a = e
		return
	}
	r := &m.Result
	if m.ResultValue.Kind != jsonrpc.Object || r.IsError.Kind != jsonrpc.True || r.IsError.Twice() || r.Content.Twice() ||
		r.Content.Present() && r.Content.Kind != jsonrpc.Array ||
		r.ResultType.Present() && !m.Is(r.ResultType, "complete") {
		return
	}
	if method := j.context(c).methodID; method == ToolsCall || method == TasksResult || j.methodUnknown(c) {
		a.set(ToolError, NoReason)
	}
}

// cutReason says whose limit ended the text.
func (j *Judge) cutReason() Reason {
	if j.ex.Response.Capture == TooLarge {
		return BodyTooLarge
	}
	return BodyCut
}

// context is the request to judge an answer by: c, the one that was cut before
// its id, or what the headers say of it.
func (j *Judge) context(c *call) *call {
	switch {
	case c != nil:
		return c
	case len(j.calls) == 1:
		return &j.calls[0]
	default:
		return &j.assumed
	}
}

// methodUnknown reports whether nothing says which method was called.
func (j *Judge) methodUnknown(c *call) bool { return j.context(c).method == "" }
