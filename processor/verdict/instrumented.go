package verdict

import (
	"strconv"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// toolErrorType is the error.type of a tool's own error (semantic conventions
// for MCP).
const toolErrorType = "tool_error"

// instrumented judges the span of an MCP instrumentation, which has no bodies,
// by what it says in its attributes, and reports whether it did: by the words
// of the semantic conventions if the settings say so, and by a recorded result
// if there is one.
func (j *Judge) instrumented() bool {
	ex := j.ex
	if ex.KnownMethod == "" || ex.Log || ex.Request.Capture != Absent || ex.Response.Capture != Absent {
		return false
	}
	j.assume()
	if !(j.settings.InstrumentedSpans && j.words()) && !j.fragment() {
		if !j.settings.InstrumentedSpans || ex.HTTP && (!ex.KnownID || ex.Header || ex.Failure != NotFailed || ex.Status != 0 && (ex.Status < 200 || ex.Status > 299)) {
			// An HTTP span has more to say.
			return false
		}
		j.set(Undetermined, NoErrorRecorded)
	}
	v := j.v
	v.MCP = true
	j.name(&j.assumed)
	if v.ProtocolVersion == "" {
		v.ProtocolVersion = ex.ProtocolVersion
	}
	return true
}

// words judges by the attributes in which the span tells of an error, or of
// none.
func (j *Judge) words() bool {
	ex, v := j.ex, j.v
	switch {
	case ex.ErrorType == toolErrorType || ex.IsError:
		j.set(ToolError, NoReason)
	case ex.HasCode && (ex.KnownCode != 0 || ex.Failure != NotFailed):
		o := JSONRPCError
		if ex.KnownCode == codeURLElicitationRequired {
			o = InputRequired
		}
		j.set(o, codeReason(ex.KnownCode))
		v.Code, v.HasCode = ex.KnownCode, true
	case ex.IsNoError:
		j.set(ToolSuccess, NoReason)
	case ex.Status == 0 && statusOf(ex.ErrorType) != 0:
		ex.Status = statusOf(ex.ErrorType)
		v.Outcome = HTTPError
		v.Class, v.Reason = httpError(ex, &j.response, j.modern())
	default:
		return false
	}
	return true
}

// statusOf returns the HTTP status outside 2xx that an error.type of three
// digits names, 0 if it names none.
func statusOf(errorType string) int {
	status, err := strconv.Atoi(errorType)
	if err != nil || len(errorType) != 3 || status < 300 || status > 599 {
		return 0
	}
	return status
}

// fragment judges by the result of a tool call that was recorded without its
// envelope. It tells what it tells and no more: a result without isError and
// without content may be a part of one.
func (j *Judge) fragment() bool {
	b := &j.ex.Fragment
	if b.Capture != Whole && b.Capture != Cut || j.assumed.methodID != ToolsCall {
		return false
	}
	j.v.BytesRead[ResponseSide] = len(b.Text)
	m := jsonrpc.ReadResult(b.Text)
	r := &m.Result
	if m.State == jsonrpc.Malformed || m.State == jsonrpc.TooDeep || m.ResultValue.Kind != jsonrpc.Object {
		return false
	}
	_, isError := m.Member(m.ResultValue, "is_error") // OpenLLMetry's name for it
	_, codeKind := m.Member(m.ResultValue, "code")
	switch {
	case isError == jsonrpc.True, r.IsError.Kind == jsonrpc.True && !r.IsError.Twice():
		j.set(ToolError, NoReason)
	case m.State == jsonrpc.Cut:
		j.set(Undetermined, BodyCut)
	case isError == jsonrpc.False:
		j.set(ToolSuccess, NoReason)
	case r.Content.Present() || r.IsError.Present() || r.ResultType.Present():
		var a judged
		j.judgeResult(&m, m.ResultValue, r, &finishedCall, &a)
		j.v.Outcome, j.v.Class, j.v.Reason, j.v.ResultType = a.Outcome, a.Class, a.Reason, a.resultType
	case codeKind == jsonrpc.Number:
		// The error object in place of the result, as Logfire records it.
		e := jsonrpc.ReadError(b.Text)
		var a judged
		if j.errorOf(&e, &a); a.Outcome == NoOutcome {
			return false
		}
		j.v.Outcome, j.v.Class, j.v.Reason = a.Outcome, a.Class, a.Reason
		j.v.Code, j.v.HasCode = a.Code, a.HasCode
	default:
		return false
	}
	return true
}
