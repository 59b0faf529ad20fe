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

// judgeResult judges a result: the value v with the members r, in answer to c.
// It sets a, which is empty.
func (j *Judge) judgeResult(m *jsonrpc.Message, v jsonrpc.Value, r *jsonrpc.Result, c *call, a *judged) {
	if c.method == "" {
		j.unknownResult(m, v, r, c, a)
		return
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
		a.set(invalid, NotAnObject)
		return
	}
	switch {
	case !j.resultType(m, r, c, method, invalid, a):
	case method == ToolsCall && r.Task.Kind == jsonrpc.Object && !r.Content.Present() && (c.asksTask || !c.complete):
		// 2025-11-25 tasks: CreateTaskResult, to a request that asked for it.
		why, o := NoReason, TaskCreated
		if _, kind := m.Member(r.Task, "taskId"); kind != jsonrpc.String {
			o, why = InvalidToolResult, MemberMissing
		}
		a.set(o, why)
	case method == ToolsCall:
		j.toolResult(r, a)
	case method == TasksGet:
		j.taskState(m, r, a)
	default:
		j.otherResult(m, r, c, method, a)
	}
}

// resultType judges what resultType says. If it is complete, or absent, the
// rest of the result is still to be judged.
func (j *Judge) resultType(m *jsonrpc.Message, r *jsonrpc.Result, c *call, method Method, invalid Outcome, a *judged) (complete bool) {
	t := r.ResultType
	if !j.present(t) {
		return true
	}
	decide := func(o Outcome, why Reason) bool {
		a.set(o, why)
		return false
	}
	if t.Twice() {
		return decide(invalid, DuplicateMember)
	}
	a.resultType = m.Text(t)
	switch {
	case t.Kind != jsonrpc.String:
		return decide(invalid, UnknownResultType)
	case a.resultType == typeComplete:
		return true
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
		return true
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
func (j *Judge) toolResult(r *jsonrpc.Result, a *judged) {
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
	a.set(o, why)
}

// taskState judges the answer to tasks/get. A terminal one of the extension
// has the result or the error of the call in it, and is judged as that.
func (j *Judge) taskState(m *jsonrpc.Message, r *jsonrpc.Result, a *judged) {
	if missingMember(r, TasksGet, a) {
		return
	}
	status := m.Text(r.Status)
	switch {
	case status == "completed" && j.present(r.InlineResult):
		inline := jsonrpc.ReadResult(m.Raw(r.InlineResult))
		*a = judged{}
		j.judgeResult(&inline, inline.ResultValue, &inline.Result, &finishedCall, a)
		return
	case status == "failed" && j.present(r.InlineError):
		inline := jsonrpc.ReadError(m.Raw(r.InlineError))
		if why := errorShape(&inline); why != NoReason {
			*a = verdictOf(InvalidResult, why)
			return
		}
		*a = judged{}
		j.errorOf(&inline, a)
		return
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
	a.set(RPCSuccess, why)
}

// finishedCall stands for the tools/call that a finished task was made by.
var finishedCall = call{method: "tools/call", methodID: ToolsCall, complete: true}

// otherResult judges the result of a method other than tools/call.
func (j *Judge) otherResult(m *jsonrpc.Message, r *jsonrpc.Result, c *call, method Method, a *judged) {
	if missingMember(r, method, a) {
		return
	}
	why := NoReason
	if method == Initialize {
		a.version = m.Text(r.ProtocolVersion)
		if c.revision != "" && c.revision != a.version {
			why = VersionCounterOffer
		}
	}
	a.set(RPCSuccess, why)
}

// missingMember sets what a result gets that lacks a member which every revision
// requires, or has it of another kind or twice. It reports whether it does.
func missingMember(r *jsonrpc.Result, method Method, a *judged) bool {
	for i := range methods[method].required {
		required := &methods[method].required[i]
		v := required.get(r)
		switch {
		case v.Twice():
			a.set(InvalidResult, DuplicateMember)
			return true
		case v.Kind == jsonrpc.Null, !v.Present(), required.kind != jsonrpc.Absent && v.Kind != required.kind:
			a.set(InvalidResult, MemberMissing)
			return true
		}
	}
	return false
}

// unknownResult judges a result by its shape, since nothing says what was
// called. A shape that several methods share, such as {}, tells nothing.
func (j *Judge) unknownResult(m *jsonrpc.Message, v jsonrpc.Value, r *jsonrpc.Result, c *call, a *judged) {
	if v.Kind != jsonrpc.Object {
		a.set(InvalidResult, NotAnObject)
		return
	}
	method := methodOfShape(m, r)
	if method == OtherMethod {
		a.set(Undetermined, RequestAbsent)
		return
	}
	guess := *c
	guess.method, guess.methodID = method.String(), method
	j.judgeResult(m, v, r, &guess, a)
}
