package verdict

import "github.com/otel-mcp/mcpprocessor/processor/jsonrpc"

// The values of resultType that the core of MCP 2026-07-28 (basic, Responses)
// and its tasks extension define.
const (
	typeComplete      = "complete"
	typeInputRequired = "input_required"
	typeTask          = "task"
	tasksExtension    = "io.modelcontextprotocol/tasks"
)

// judgeResult judges a result: the value v with the members r, in answer to c
// (DESIGN 4.6).
func (j *Judge) judgeResult(m *jsonrpc.Message, v jsonrpc.Value, r *jsonrpc.Result, c *call) judged {
	if c.method == "" {
		return j.unknownResult(m, v, r, c)
	}
	method := c.methodID
	if method == TasksResult {
		// 2025-11-25 tasks: exactly what the call would have returned.
		method = ToolsCall
	}
	invalid := InvalidResult
	if method == ToolsCall {
		invalid = InvalidToolResult
	}
	if v.Kind != jsonrpc.Object {
		return verdictOf(invalid, NotAnObject)
	}
	a, complete := j.resultType(m, r, c, method, invalid)
	switch {
	case !complete:
	case method == ToolsCall && r.Task.Kind == jsonrpc.Object && !r.Content.Present() && (c.asksTask || !c.complete):
		// 2025-11-25 tasks: CreateTaskResult, to a request that asked for it.
		why, o := NoReason, TaskCreated
		if _, kind := m.Member(r.Task, "taskId"); kind != jsonrpc.String {
			o, why = InvalidToolResult, MemberMissing
		}
		a.Answer = verdictOf(o, why).Answer
	case method == ToolsCall:
		a = j.toolResult(r, a)
	case method == TasksGet:
		a = j.taskState(m, r, a)
	default:
		a = j.otherResult(m, r, c, method, a)
	}
	return a
}

// resultType judges what resultType says. If it is complete, or absent, the
// rest of the result is still to be judged.
func (j *Judge) resultType(m *jsonrpc.Message, r *jsonrpc.Result, c *call, method Method, invalid Outcome) (a judged, complete bool) {
	t := r.ResultType
	if !j.present(t) {
		return judged{}, true
	}
	if t.Twice() {
		return verdictOf(invalid, DuplicateMember), false
	}
	a.resultType = m.Text(t)
	decide := func(o Outcome, why Reason) (judged, bool) {
		b := verdictOf(o, why)
		b.resultType = a.resultType
		return b, false
	}
	switch {
	case t.Kind != jsonrpc.String:
		return decide(invalid, UnknownResultType)
	case a.resultType == typeComplete:
		return a, true
	case a.resultType == typeInputRequired:
		if !methods[method].inputRequired {
			return decide(invalid, InputRequiredNotAllowed)
		}
		if !asksInput(r) {
			return decide(invalid, InputRequiredEmpty)
		}
		return decide(InputRequired, NoReason)
	case a.resultType == typeTask && method == TasksGet:
		// An example of the extension's own text has it here.
		return a, true
	case a.resultType == typeTask && method == ToolsCall && (!c.complete || declares(c, tasksExtension)):
		if r.TaskID.Kind != jsonrpc.String {
			return decide(invalid, MemberMissing)
		}
		return decide(TaskCreated, NoReason)
	case a.resultType != typeTask && (!c.complete || declaresUnknown(c)):
		return decide(Undetermined, ExtensionResultType)
	default:
		return decide(invalid, UnknownResultType)
	}
}

// asksInput reports whether an InputRequiredResult asks for something:
// inputRequests or requestState (2026-07-28 basic/patterns/mrtr).
func asksInput(r *jsonrpc.Result) bool {
	return r.InputRequests.Kind == jsonrpc.Object && !r.InputRequests.Empty() || r.RequestState.Kind == jsonrpc.String
}

// declares reports whether the client declared extension.
func declares(c *call, extension string) bool {
	_, kind := jsonrpc.Lookup(c.extensions, extension)
	return kind != jsonrpc.Absent
}

// declaresUnknown reports whether the client declared an extension whose
// results this reader does not know.
func declaresUnknown(c *call) bool {
	unknown := false
	jsonrpc.Members(c.extensions, func(name, _ string, _ jsonrpc.Kind) bool {
		unknown = name != tasksExtension
		return !unknown
	})
	return unknown
}

// toolResult judges a CallToolResult: content is required in every revision,
// also beside structuredContent, and isError is a boolean. Types of content
// blocks are not judged, since newer peers know more of them.
func (j *Judge) toolResult(r *jsonrpc.Result, a judged) judged {
	o, why := ToolSuccess, NoReason
	switch {
	case r.Content.Twice() || r.IsError.Twice():
		o, why = InvalidToolResult, DuplicateMember
	case !j.present(r.Content):
		o, why = InvalidToolResult, ContentMissing
	case r.Content.Kind != jsonrpc.Array:
		o, why = InvalidToolResult, ContentNotArray
	case j.present(r.IsError) && !r.IsError.Kind.IsBool():
		o, why = InvalidToolResult, IsErrorNotBoolean
	case r.IsError.Kind == jsonrpc.True:
		o = ToolError
	}
	a.Answer = verdictOf(o, why).Answer
	return a
}

// taskState judges the answer to tasks/get. A terminal one of the extension
// has the result or the error of the call in it, and is judged as that.
func (j *Judge) taskState(m *jsonrpc.Message, r *jsonrpc.Result, a judged) judged {
	if a.Answer = missingMember(r, TasksGet); a.Outcome != NoOutcome {
		return a
	}
	status := m.Text(r.Status)
	switch {
	case status == "completed" && j.present(r.InlineResult):
		inline := jsonrpc.ReadResult(m.Raw(r.InlineResult))
		return j.judgeResult(&inline, inline.ResultValue, &inline.Result, &finishedCall)
	case status == "failed" && j.present(r.InlineError):
		inline := jsonrpc.ReadError(m.Raw(r.InlineError))
		if why := errorShape(&inline); why != NoReason {
			return verdictOf(InvalidResult, why)
		}
		return j.errorOf(&inline)
	}
	why := NoReason
	switch status {
	case "working":
		why = TaskWorking
	case "failed":
		why = TaskFailed
	case "cancelled":
		why = TaskCancelled
	}
	a.Answer = verdictOf(RPCSuccess, why).Answer
	return a
}

// finishedCall stands for the tools/call that a finished task was made by.
var finishedCall = call{method: "tools/call", methodID: ToolsCall, complete: true}

// otherResult judges the result of a method other than tools/call.
func (j *Judge) otherResult(m *jsonrpc.Message, r *jsonrpc.Result, c *call, method Method, a judged) judged {
	if a.Answer = missingMember(r, method); a.Outcome != NoOutcome {
		return a
	}
	why := NoReason
	if method == Initialize {
		a.version = m.Text(r.ProtocolVersion)
		if c.revision != "" && c.revision != a.version {
			why = VersionCounterOffer
		}
	}
	a.Answer = verdictOf(RPCSuccess, why).Answer
	return a
}

// missingMember returns what a result gets that lacks a member which every
// revision requires, or has it of another kind or twice; no outcome otherwise.
func missingMember(r *jsonrpc.Result, method Method) Answer {
	for i := range methods[method].required {
		required := &methods[method].required[i]
		v := required.get(r)
		switch {
		case v.Twice():
			return verdictOf(InvalidResult, DuplicateMember).Answer
		case v.Kind == jsonrpc.Null, !v.Present(), required.kind != jsonrpc.Absent && v.Kind != required.kind:
			return verdictOf(InvalidResult, MemberMissing).Answer
		}
	}
	return Answer{}
}

// unknownResult judges a result by its shape, since nothing says what was
// called. A shape that several methods share, such as {}, tells nothing.
func (j *Judge) unknownResult(m *jsonrpc.Message, v jsonrpc.Value, r *jsonrpc.Result, c *call) judged {
	if v.Kind != jsonrpc.Object {
		return verdictOf(InvalidResult, NotAnObject)
	}
	method := methodOfShape(m, r)
	if method == OtherMethod {
		return undetermined(RequestAbsent)
	}
	guess := *c
	guess.method, guess.methodID = method.String(), method
	return j.judgeResult(m, v, r, &guess)
}
