package verdict

import "github.com/otel-mcp/mcpprocessor/processor/jsonrpc"

// Call is one request with its result, by what tells it from other calls or
// joins it with them. Where a member is JSON it says so; what was not read to
// its end is "".
type Call struct {
	ID jsonrpc.ID
	// Message is the JSON text of the request.
	Message string
	// Complete: the request was read to its end.
	Complete bool
	// Params is the JSON of params, Arguments that of params.arguments.
	Params, Arguments string
	// InputResponses (JSON) and RequestState of a request that follows an
	// input_required result.
	InputResponses, RequestState string
	TaskID                       string
	TraceParent                  string // params._meta.traceparent
	IdempotencyKey               string // params._meta
	Revision                     string // that the request states

	// Of the result: what an input_required one asks for (JSON) and its state,
	// and the task that was made.
	ResultInputRequests, ResultState, ResultTaskID string
}

// requestDetails are the texts of a Call's request.
type requestDetails struct {
	params, arguments, inputResponses             string
	requestState, taskID, traceParent, idempotent string
}

// read fills d, which is empty.
func (d *requestDetails) read(m *jsonrpc.Message) {
	p := &m.Params
	raw(&d.params, m, m.ParamsValue)
	raw(&d.arguments, m, p.Arguments)
	raw(&d.inputResponses, m, p.InputResponses)
	text(&d.requestState, m, p.RequestState)
	text(&d.taskID, m, p.TaskID)
	text(&d.traceParent, m, p.MetaTraceParent)
	text(&d.idempotent, m, p.MetaIdempotencyKey)
}

// raw sets to, which is empty, to the JSON of v if that is closed.
func raw(to *string, m *jsonrpc.Message, v jsonrpc.Value) {
	if v.Present() {
		*to = closedRaw(m, v)
	}
}

// text sets to, which is empty, to the string v if that is closed.
func text(to *string, m *jsonrpc.Message, v jsonrpc.Value) {
	if v.Present() {
		*to = closedText(m, v)
	}
}

// resultDetails are the texts of a Call's result.
type resultDetails struct {
	inputRequests, state, taskID string
}

func (d *resultDetails) read(m *jsonrpc.Message) {
	r := &m.Result
	d.inputRequests, d.state = closedRaw(m, r.InputRequests), closedText(m, r.RequestState)
	if d.taskID = closedText(m, r.TaskID); d.taskID == "" && r.Task.Kind == jsonrpc.Object {
		if id, kind := m.Member(r.Task, "taskId"); kind == jsonrpc.String {
			d.taskID = jsonrpc.DecodeString(id)
		}
	}
}

// closedRaw returns the JSON of v, "" if it is not there or the text ended in
// it.
func closedRaw(m *jsonrpc.Message, v jsonrpc.Value) string {
	if !v.Present() || v.Open() || v.Twice() {
		return ""
	}
	return m.Raw(v)
}

// Call sets call, which is empty, to the request of the exchange that was judged
// last, if there is exactly one, and reports whether there is.
func (j *Judge) Call(call *Call) bool {
	if len(j.calls) != 1 || j.request.overflow > 0 {
		return false
	}
	c := &j.calls[0]
	call.ID, call.Complete, call.Revision = c.id, c.complete, c.revision
	d, r := &c.details, &c.result
	call.Params, call.Arguments, call.InputResponses = d.params, d.arguments, d.inputResponses
	call.RequestState, call.TaskID = d.requestState, d.taskID
	call.TraceParent, call.IdempotencyKey = d.traceParent, d.idempotent
	call.ResultInputRequests, call.ResultState, call.ResultTaskID = r.inputRequests, r.state, r.taskID
	if c.complete && !j.request.batch && !j.ex.Messages {
		call.Message = j.ex.Request.Text
	}
	return true
}
