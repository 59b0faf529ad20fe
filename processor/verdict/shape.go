package verdict

import "github.com/otel-mcp/mcpprocessor/processor/jsonrpc"

// ownShape reports whether the result of m has a shape that only MCP has, so
// that a response alone tells that this is MCP. Other protocols on JSON-RPC
// also have results with contents (a hover of the Language Server Protocol) or
// with an array called content; what makes the difference is what stands in it.
func ownShape(m *jsonrpc.Message) bool {
	return methodOfShape(m, &m.Result) != OtherMethod
}

// methodOfShape tells the method from the shape of its result, OtherMethod if
// the shape is not one method's alone. A result with what only a tools/call
// returns counts as one also where it breaks the schema.
func methodOfShape(m *jsonrpc.Message, r *jsonrpc.Result) Method {
	is := func(v jsonrpc.Value, kind jsonrpc.Kind) bool { return v.Kind == kind }
	switch {
	case is(r.ProtocolVersion, jsonrpc.String) && is(r.ServerInfo, jsonrpc.Object):
		return Initialize
	case is(r.SupportedVersions, jsonrpc.Array) && is(r.Capabilities, jsonrpc.Object):
		return ServerDiscover
	case is(r.ResultType, jsonrpc.String) && m.Is(r.ResultType, typeInputRequired) && asksInput(r),
		is(r.ResultType, jsonrpc.String) && m.Is(r.ResultType, typeTask) && is(r.TaskID, jsonrpc.String),
		is(r.Task, jsonrpc.Object) && hasMember(m, r.Task, "taskId"):
		return ToolsCall
	case is(r.Content, jsonrpc.Array) && !r.Role.Present() &&
		(r.StructuredContent.Present() || firstHas(m, r.Content, "type")):
		return ToolsCall
	case r.IsError.Kind.IsBool() && !r.Role.Present() && (r.Content.Present() || r.StructuredContent.Present()):
		return ToolsCall
	case is(r.Tools, jsonrpc.Array) && (r.Tools.Empty() || firstHas(m, r.Tools, "name")):
		return ToolsList
	case is(r.ResourceTemplates, jsonrpc.Array):
		return ResourcesTemplatesList
	case is(r.Resources, jsonrpc.Array) && firstHas(m, r.Resources, "uri"):
		return ResourcesList
	case is(r.Contents, jsonrpc.Array) && firstHas(m, r.Contents, "uri"):
		return ResourcesRead
	case is(r.Prompts, jsonrpc.Array) && firstHas(m, r.Prompts, "name"):
		return PromptsList
	case is(r.Messages, jsonrpc.Array) && firstHas(m, r.Messages, "role"):
		return PromptsGet
	case is(r.Completion, jsonrpc.Object) && hasMember(m, r.Completion, "values"):
		return CompletionComplete
	case is(r.TaskID, jsonrpc.String) && is(r.Status, jsonrpc.String):
		return TasksGet
	default:
		return OtherMethod
	}
}

func hasMember(m *jsonrpc.Message, v jsonrpc.Value, name string) bool {
	_, kind := m.Member(v, name)
	return kind != jsonrpc.Absent
}

// firstHas reports whether the first element of the array v is an object with
// a member called name. It reads no further than there.
func firstHas(m *jsonrpc.Message, v jsonrpc.Value, name string) (has bool) {
	inside := m.Raw(v)[1:]
	jsonrpc.Members(inside, func(n, _ string, _ jsonrpc.Kind) bool {
		has = n == name
		return !has
	})
	return has
}

// isOwn reports whether m is a request or notification with a method of MCP's
// own. Some names are used by other protocols on JSON-RPC as well and need
// more: initialize (Language Server and Agent Client Protocol), tasks/*
// (Agent2Agent, which has params.id where MCP has params.taskId), ping.
func isOwn(m *jsonrpc.Message, method Method) bool {
	p := &m.Params
	switch method {
	case OtherMethod:
		return false
	case Initialize:
		if p.ProtocolVersion.Present() {
			return p.ProtocolVersion.Kind == jsonrpc.String
		}
		return !p.ProcessID.Present() && !p.RootURI.Present()
	case TasksGet, TasksResult, TasksCancel, TasksUpdate:
		return p.TaskID.Present()
	case TasksList:
		return p.Meta.Present()
	case Ping:
		return !m.ParamsValue.Present() || m.ParamsValue.Kind == jsonrpc.Object && (m.ParamsValue.Empty() || p.Meta.Present())
	default:
		return true
	}
}
