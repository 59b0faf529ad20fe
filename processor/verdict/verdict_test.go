package verdict

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// exchange makes an Exchange of a POST with the two bodies, "-" for one that
// was not recorded.
func exchange(status int, request, response string, more ...func(*Exchange)) Exchange {
	ex := Exchange{HTTP: true, HTTPMethod: "POST", Status: status}
	body := func(text string) Body {
		if text == "-" {
			return Body{}
		}
		b := Body{Text: text, Capture: Whole, Media: MediaJSON}
		if strings.HasPrefix(text, "data:") || strings.HasPrefix(text, "id:") || strings.HasPrefix(text, ":") || strings.HasPrefix(text, "event:") {
			b.Media = MediaEventStream
		}
		return b
	}
	ex.Request, ex.Response = body(request), body(response)
	for _, f := range more {
		f(&ex)
	}
	return ex
}

func session(ex *Exchange)   { ex.Header, ex.SessionID = true, "s-1" }
func modern(ex *Exchange)    { ex.Header, ex.ProtocolVersion = true, "2026-07-28" }
func get(ex *Exchange)       { ex.HTTPMethod = "GET"; session(ex) }
func del(ex *Exchange)       { ex.HTTPMethod = "DELETE"; session(ex) }
func resumed(ex *Exchange)   { ex.LastEventID = true }
func server(ex *Exchange)    { ex.Side = Server }
func entire(ex *Exchange)    { ex.Response.Entire = true }
func cutShort(ex *Exchange)  { ex.Response.Capture = Cut }
func tooLarge(ex *Exchange)  { ex.Response.Capture = TooLarge }
func opaque(ex *Exchange)    { ex.Response = Body{Capture: Opaque} }
func stream(ex *Exchange)    { ex.Response.Media = MediaEventStream }
func challenge(ex *Exchange) { ex.Challenge = true }
func logged(ex *Exchange) {
	*ex = Exchange{Log: true, Messages: true, Request: ex.Response, Response: ex.Response}
}

func fails(words ...string) func(*Exchange) {
	return func(ex *Exchange) {
		ex.ErrorType = words[0]
		ex.Failure = FailureOf(words...)
	}
}

func header(method string) func(*Exchange) {
	return func(ex *Exchange) { ex.Header, ex.MethodHeader = true, method }
}

const (
	callRequest   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup","arguments":{}}}`
	listRequest   = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	notification  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	posted        = `{"jsonrpc":"2.0","id":4,"result":{"action":"accept"}}`
	toolOK        = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fine"}]}}`
	toolBad       = `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`
	progress      = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
	listen        = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`
	acknowledged  = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\"}\n\n"
	batchRequest  = `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}]`
	html          = `<!doctype html><title>proxy</title>`
	taskRequest   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup","task":{"ttl":1}}}`
	tasksDeclared = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
	otherDeclared = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"org.example/partial":{}}}}}}`
)

// ofMethod returns a request of id 1.
func ofMethod(method, params string) string {
	if params == "" {
		params = "{}"
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

// result returns a response of id 1.
func result(r string) string { return `{"jsonrpc":"2.0","id":1,"result":` + r + `}` }

// rpcError returns an error with id, which is left out if it is "".
func rpcError(id, code string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return `{"jsonrpc":"2.0",` + id + `"error":{"code":` + code + `,"message":"m"}}`
}

// events puts each text into an event of its own.
func events(texts ...string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString("data: " + t + "\n\n")
	}
	return b.String()
}

type row struct {
	name string
	ex   Exchange
	// want is outcome, reason and code, the latter two where there are any.
	want string
}

// rows holds the rules, section by section of the decision order.
var rows = []row{
	// Transport.
	{"500", exchange(500, callRequest, toolOK), "HTTP_ERROR server_error"},
	{"500 with the request's own error keeps its code", exchange(500, callRequest, rpcError("1", "-32603")), "HTTP_ERROR server_error -32603"},
	{"503 without body", exchange(503, callRequest, "-"), "HTTP_ERROR server_error"},
	{"504", exchange(504, callRequest, html), "HTTP_ERROR timeout"},
	{"524", exchange(524, callRequest, html), "HTTP_ERROR timeout"},
	{"408", exchange(408, callRequest, "-"), "HTTP_ERROR timeout"},
	{"429", exchange(429, callRequest, `{"error":{"reason":"slow down","retry_after":1}}`), "HTTP_ERROR rate_limited"},
	{"307", exchange(307, callRequest, ""), "HTTP_ERROR redirect"},
	{"401", exchange(401, callRequest, `{"error":"invalid_token"}`), "HTTP_ERROR auth_required"},
	{"403", exchange(403, callRequest, "-", challenge), "HTTP_ERROR forbidden"},
	{"404 with a session", exchange(404, callRequest, "Not found", session), "HTTP_ERROR session_not_found"},
	{"404 with a transport code", exchange(404, callRequest, rpcError("null", "-32001")), "HTTP_ERROR session_not_found -32001"},
	{"404 without a session", exchange(404, callRequest, html), "HTTP_ERROR not_found"},
	{"404 from 2026-07-28", exchange(404, callRequest, html, modern, func(ex *Exchange) { ex.SessionID = "s" }), "HTTP_ERROR not_found"},
	{"406 in the words of the Python SDK", exchange(406, listRequest, rpcError(`"server-error"`, "-32600")), "HTTP_ERROR client_error -32600"},
	{"400 with the request's own error", exchange(400, callRequest, rpcError("1", "-32602")), "JSONRPC_ERROR invalid_params -32602"},
	{"400 with another's error", exchange(400, callRequest, rpcError("7", "-32602")), "HTTP_ERROR client_error -32602"},
	{"400 with a transport code", exchange(400, callRequest, rpcError("1", "-32000")), "HTTP_ERROR client_error -32000"},
	{"400 with a result", exchange(400, callRequest, toolOK), "HTTP_ERROR client_error"},
	{"400 without id, header mismatch", exchange(400, callRequest, rpcError("null", "-32020")), "JSONRPC_ERROR header_mismatch -32020"},
	{"400 without id, other code", exchange(400, callRequest, rpcError("", "-32600")), "HTTP_ERROR client_error -32600"},
	{"404 without id, method not found", exchange(404, listRequest, rpcError("", "-32601"), modern), "JSONRPC_ERROR method_not_found -32601"},
	{"404 without id before 2026-07-28", exchange(404, listRequest, rpcError("", "-32601"), session), "HTTP_ERROR session_not_found -32601"},
	{"404 with an empty id, request unknown", exchange(404, "-", rpcError(`""`, "-32601"), session), "HTTP_ERROR session_not_found -32601"},
	{"400 with any id, request unknown", exchange(400, "-", rpcError("5", "-32022"), modern), "JSONRPC_ERROR unsupported_protocol_version -32022"},
	{"400 on a stream", exchange(400, callRequest, events(rpcError("1", "-32021"))), "JSONRPC_ERROR missing_required_client_capability -32021"},
	{"400 that asks for input", exchange(400, callRequest, rpcError("1", "-32042")), "INPUT_REQUIRED url_elicitation_required -32042"},
	{"notification refused", exchange(400, notification, rpcError("", "-32600")), "HTTP_ERROR client_error -32600"},
	{"499", exchange(499, callRequest, "-"), "CANCELLED aborted"},
	{"499 seen by the server", exchange(499, callRequest, "-", server), "CANCELLED client_disconnected"},

	// The other methods of HTTP.
	{"GET 405", exchange(405, "-", rpcError("null", "-32000"), get), "NOT_OFFERED -32000"},
	{"DELETE 405", exchange(405, "-", "-", del), "NOT_OFFERED"},
	{"GET 204", exchange(204, "-", "-", get), "NOT_OFFERED"},
	{"DELETE 200", exchange(200, "-", "", del), "SESSION_CLOSED"},
	{"DELETE 204", exchange(204, "-", "-", del), "SESSION_CLOSED"},
	{"DELETE 404", exchange(404, "-", "-", del), "HTTP_ERROR session_not_found"},
	{"GET stream", exchange(200, "-", events(progress), get), "STREAM_OPEN"},
	{"GET stream not captured", exchange(200, "-", "-", get), "STREAM_OPEN"},
	{"GET stream closed by the client", exchange(200, "-", events(progress), get, fails("AbortError")), "STREAM_OPEN"},
	{"GET stream reset", exchange(200, "-", events(progress), get, fails("ECONNRESET")), "STREAM_INCOMPLETE"},
	{"GET stream timed out", exchange(200, "-", events(progress), get, fails("UND_ERR_BODY_TIMEOUT")), "STREAM_INCOMPLETE timeout"},
	{"GET page", exchange(200, "-", html, get), "MALFORMED_JSON not_json"},
	{"GET JSON", exchange(200, "-", `{"ok":true}`, get), "INVALID_ENVELOPE version"},
	{"GET resumed with the answer", exchange(200, "-", events(toolBad), get, resumed), "TOOL_ERROR"},
	{"GET resumed without an answer", exchange(200, "-", events(progress), get, resumed), "STREAM_OPEN"},

	// What the span says.
	{"refused", exchange(0, callRequest, "-", fails("ECONNREFUSED")), "NO_RESPONSE"},
	{"timeout before the status", exchange(0, callRequest, "-", fails("java.net.SocketTimeoutException")), "NO_RESPONSE timeout"},
	{"timeout as a cancelled request", exchange(0, callRequest, "-", fails("*url.Error", "net/http: request canceled (Client.Timeout exceeded)")), "NO_RESPONSE timeout"},
	{"abort", exchange(0, callRequest, "-", fails("AbortError")), "CANCELLED aborted"},
	{"status but no end", exchange(200, callRequest, events(progress), fails("other")), "STREAM_INCOMPLETE"},
	{"timeout on the stream", exchange(200, callRequest, events(progress), fails("context deadline exceeded")), "STREAM_INCOMPLETE timeout"},
	{"abort on the stream", exchange(200, callRequest, events(progress), fails("context canceled")), "CANCELLED aborted"},
	{"answer read, then reset", exchange(200, callRequest, events(toolOK), fails("ECONNRESET")), "TOOL_SUCCESS"},
	{"cut answer and reset", exchange(200, callRequest, toolBad[:len(toolBad)-1], fails("ECONNRESET")), "STREAM_INCOMPLETE"},
	{"empty stream that failed", exchange(200, callRequest, "", stream, fails("closed")), "STREAM_INCOMPLETE"},
	{"a JSON-RPC code is no broken connection", exchange(200, callRequest, "-", fails("-32602")), "UNDETERMINED body_absent"},
	{"client gone", exchange(200, callRequest, "-", server, fails("context canceled")), "CANCELLED client_disconnected"},
	{"server's own error", exchange(200, callRequest, "-", server, fails("Boom")), "UNDETERMINED body_absent"},
	{"no status, no failure", exchange(0, callRequest, "-"), "UNDETERMINED status_absent"},
	{"no status, but the answer", exchange(0, callRequest, toolOK), "TOOL_SUCCESS"},

	// Nothing due, nothing there.
	{"notification 202", exchange(202, notification, ""), "ACCEPTED"},
	{"notification 204", exchange(204, notification, "-"), "ACCEPTED"},
	{"notification 200 null", exchange(200, notification, "null"), "ACCEPTED"},
	{"notification with text", exchange(202, notification, "Accepted"), "ACCEPTED"},
	{"notification by header", exchange(202, "-", "-", modern, header("notifications/cancelled")), "ACCEPTED"},
	{"notification answered by an error", exchange(200, notification, rpcError("null", "-32601")), "JSONRPC_ERROR refused -32601"},
	{"posted response", exchange(202, posted, "", session), "ACCEPTED"},
	{"empty batch", exchange(202, "[]", "", session), "ACCEPTED"},
	{"request 202", exchange(202, callRequest, ""), "STREAM_DEFERRED"},
	{"request 202 with text", exchange(202, callRequest, "Accepted"), "STREAM_DEFERRED"},
	{"request 202 from 2026-07-28", exchange(202, callRequest, "", modern), "INVALID_ENVELOPE accepted_not_answered"},
	{"request 202 with the answer", exchange(202, callRequest, toolOK), "TOOL_SUCCESS"},
	{"HTTP+SSE 200", exchange(200, callRequest, "", func(ex *Exchange) { ex.SessionQuery = true }), "STREAM_DEFERRED"},
	{"unknown request 202 with session", exchange(202, "-", "-", session), "ACCEPTED"},
	{"unknown request 202", exchange(202, "-", "-", func(ex *Exchange) { ex.Header = true }), "UNDETERMINED request_absent"},
	{"nothing captured", exchange(200, "-", "-", session), "UNDETERMINED body_absent"},
	{"unknown request, empty body", exchange(200, "-", "", session), "UNDETERMINED request_absent"},
	{"request by header 202", exchange(202, "-", "-", header("tools/call")), "INVALID_ENVELOPE accepted_not_answered"},

	// Which message answers.
	{"tool success", exchange(200, callRequest, toolOK), "TOOL_SUCCESS"},
	{"SSE", exchange(200, callRequest, events(progress, toolOK)), "TOOL_SUCCESS"},
	{"id 1.0", exchange(200, callRequest, strings.Replace(toolOK, `"id":1`, `"id":1.0`, 1)), "TOOL_SUCCESS"},
	{"string id", exchange(200, callRequest, strings.Replace(toolOK, `"id":1`, `"id":"1"`, 1)), "INVALID_ENVELOPE id_type_mismatch"},
	{"other id", exchange(200, callRequest, strings.Replace(toolOK, `"id":1`, `"id":2`, 1)), "INVALID_ENVELOPE id_mismatch"},
	{"other id with an error", exchange(200, callRequest, rpcError("9", "-32603")), "INVALID_ENVELOPE id_mismatch -32603"},
	{"null id with a result", exchange(200, callRequest, strings.Replace(toolOK, `"id":1`, `"id":null`, 1)), "INVALID_ENVELOPE id_missing"},
	{"null id, unreadable", exchange(200, callRequest, rpcError("null", "-32700")), "JSONRPC_ERROR parse_error -32700"},
	{"no id, unreadable", exchange(200, callRequest, rpcError("", "-32600")), "JSONRPC_ERROR invalid_request -32600"},
	{"null id, other code", exchange(200, callRequest, rpcError("null", "-32603")), "INVALID_ENVELOPE id_missing -32603"},
	{"null id, request unknown", exchange(200, "-", rpcError("null", "-32603"), session), "JSONRPC_ERROR internal_error -32603"},
	{"second answer", exchange(200, callRequest, events(toolOK, toolBad)), "TOOL_SUCCESS duplicate_response"},
	{"server request with the same id", exchange(200, callRequest, events(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, toolOK)), "TOOL_SUCCESS"},
	{"only a server request", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`), "INVALID_ENVELOPE response_missing"},
	{"foreign, then own", exchange(200, callRequest, events(rpcError("9", "-32603"), toolOK)), "TOOL_SUCCESS"},
	{"only a foreign one on the stream", exchange(200, callRequest, events(rpcError("9", "-32603"))), "INVALID_ENVELOPE id_mismatch -32603"},
	{"broken event", exchange(200, callRequest, events(`{"jsonrpc" "2.0"}`)), "MALFORMED_JSON syntax"},
	{"broken event before the answer", exchange(200, callRequest, events(`{"jsonrpc" "2.0"}`, "[DONE]", toolOK)), "TOOL_SUCCESS"},
	{"stream without answer", exchange(200, callRequest, events(progress)), "STREAM_INCOMPLETE"},
	{"stream to be polled", exchange(200, callRequest, "id: 1\nretry: 500\ndata: \n\n"+events(progress)), "STREAM_DEFERRED"},
	{"stream to be polled from 2026-07-28", exchange(200, callRequest, "id: 1\ndata: \n\n", modern), "STREAM_INCOMPLETE"},
	{"cancelled by the server", exchange(200, callRequest, events(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)), "CANCELLED cancelled_by_notification"},
	{"listen, open", exchange(200, listen, acknowledged), "STREAM_OPEN"},
	{"listen, closed by the client", exchange(200, listen, acknowledged, fails("AbortError")), "STREAM_OPEN"},
	{"listen, lost", exchange(200, listen, acknowledged, fails("ECONNRESET")), "STREAM_INCOMPLETE subscription_lost"},
	{"listen, ended gracefully", exchange(200, listen, acknowledged+events(result(`{"resultType":"complete"}`))), "RPC_SUCCESS"},
	{"listen, not acknowledged", exchange(200, listen, events(progress)), "STREAM_INCOMPLETE not_acknowledged"},

	// JSON.
	{"syntax", exchange(200, callRequest, `{unclosed`), "MALFORMED_JSON syntax"},
	{"page", exchange(200, callRequest, html), "MALFORMED_JSON not_json"},
	{"empty", exchange(200, callRequest, ""), "MALFORMED_JSON empty_body"},
	{"204", exchange(204, callRequest, "-"), "MALFORMED_JSON empty_body"},
	{"two documents", exchange(200, callRequest, toolOK+"\n"+toolOK), "MALFORMED_JSON trailing_data"},
	{"cut, and that was all", exchange(200, callRequest, toolBad[:len(toolBad)-1], entire), "MALFORMED_JSON syntax"},
	{"event cut, and that was all", exchange(200, callRequest, "data: "+toolOK[:40], entire), "MALFORMED_JSON syntax"},

	// Cuts and limits.
	{"cut", exchange(200, callRequest, toolOK[:40]), "UNDETERMINED body_cut"},
	{"cut behind isError", exchange(200, callRequest, toolBad[:len(toolBad)-2]), "TOOL_ERROR"},
	{"cut behind the code", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"mess`), "JSONRPC_ERROR invalid_params -32602"},
	{"cut in the code", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"error":{"code":-326`), "UNDETERMINED body_cut"},
	{"cut, other id", exchange(200, callRequest, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,`), "UNDETERMINED body_cut"},
	{"cut, contradiction", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32602,`), "UNDETERMINED body_cut"},
	{"cut, wrong version", exchange(200, callRequest, `{"jsonrpc":"1.0","id":1,"error":{"code":-32602,`), "UNDETERMINED body_cut"},
	{"cut, isError of another method", exchange(200, listRequest, `{"jsonrpc":"2.0","id":1,"result":{"isError":true,`), "UNDETERMINED body_cut"},
	{"nothing of it recorded", exchange(200, callRequest, "", cutShort), "UNDETERMINED body_cut"},
	{"mark", exchange(200, callRequest, toolOK[:40]+"... [truncated]"), "UNDETERMINED body_cut"},
	{"mark behind the answer", exchange(200, callRequest, toolOK+"[truncated]"), "TOOL_SUCCESS"},
	{"stream cut behind the answer", exchange(200, callRequest, events(toolOK)+"data: {", cutShort), "TOOL_SUCCESS"},
	{"stream cut at an event's end", exchange(200, callRequest, events(progress), cutShort), "UNDETERMINED body_cut"},
	{"too large", exchange(200, callRequest, toolOK[:40], tooLarge), "UNDETERMINED body_too_large"},
	{"opaque", exchange(200, callRequest, "-", opaque), "UNDETERMINED body_opaque"},
	{"too deep", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"result":`+strings.Repeat("[", 10_001)), "UNDETERMINED too_deep"},
	{"not captured", exchange(200, callRequest, "-"), "UNDETERMINED body_absent"},
	{"empty stream", exchange(200, callRequest, "", stream), "UNDETERMINED body_absent"},
	{"cut request, own answer", exchange(200, callRequest[:20], toolOK, session), "TOOL_SUCCESS"},

	// Envelope.
	{"no jsonrpc", exchange(200, callRequest, `{"id":1,"result":{"content":[]}}`), "INVALID_ENVELOPE version"},
	{"jsonrpc 1.0", exchange(200, callRequest, `{"jsonrpc":"1.0","id":1,"result":{"content":[]}}`), "INVALID_ENVELOPE version"},
	{"bare result", exchange(200, callRequest, `{"content":[]}`), "INVALID_ENVELOPE version"},
	{"both", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-1,"message":"m"}}`), "INVALID_ENVELOPE result_and_error -1"},
	{"null beside", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":null}`), "INVALID_ENVELOPE null_member"},
	{"error null", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"error":null}`), "INVALID_ENVELOPE null_member"},
	{"neither", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1}`), "INVALID_ENVELOPE no_result_or_error"},
	{"error a string", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"error":"bad"}`), "INVALID_ENVELOPE error_shape"},
	{"code a string", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"error":{"code":"-1","message":"m"}}`), "INVALID_ENVELOPE error_shape"},
	{"code fractional", exchange(200, callRequest, rpcError("1", "1.5")), "INVALID_ENVELOPE error_shape"},
	{"no message", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602}}`), "INVALID_ENVELOPE error_shape -32602"},
	{"code integral by value", exchange(200, callRequest, rpcError("1", "-32603.0")), "JSONRPC_ERROR internal_error -32603"},
	{"code zero", exchange(200, callRequest, rpcError("1", "0")), "JSONRPC_ERROR 0"},
	{"resource not found", exchange(200, ofMethod("resources/read", `{"uri":"a:b"}`), rpcError("1", "-32002")), "JSONRPC_ERROR resource_not_found -32002"},
	{"cancelled request", exchange(200, callRequest, rpcError("1", "-32800")), "JSONRPC_ERROR request_cancelled -32800"},
	{"id twice", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"id":2,"result":{"content":[]}}`), "INVALID_ENVELOPE duplicate_member"},
	{"result twice", exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"result":{"content":[]},"result":{"content":[]}}`), "INVALID_ENVELOPE duplicate_member"},
	{"array for one request", exchange(200, callRequest, "["+toolOK+"]"), "INVALID_ENVELOPE not_an_object"},
	{"scalar", exchange(200, callRequest, `"ok"`), "INVALID_ENVELOPE not_an_object"},

	// Results of tools/call.
	{"empty content", exchange(200, callRequest, result(`{"content":[]}`)), "TOOL_SUCCESS"},
	{"tool error", exchange(200, callRequest, toolBad), "TOOL_ERROR"},
	{"error in the text", exchange(200, callRequest, result(`{"content":[{"type":"text","text":"Error: isError true"}],"isError":false}`)), "TOOL_SUCCESS"},
	{"structured only", exchange(200, callRequest, result(`{"structuredContent":{}}`)), "INVALID_TOOL_RESULT content_missing"},
	{"content an object", exchange(200, callRequest, result(`{"content":{}}`)), "INVALID_TOOL_RESULT content_not_array"},
	{"isError a string", exchange(200, callRequest, result(`{"content":[],"isError":"true"}`)), "INVALID_TOOL_RESULT is_error_not_boolean"},
	{"isError twice", exchange(200, callRequest, result(`{"content":[],"isError":true,"isError":false}`)), "INVALID_TOOL_RESULT duplicate_member"},
	{"isError escaped", exchange(200, callRequest, result(`{"content":[],"\u0069sError":true}`)), "TOOL_ERROR"},
	{"result null", exchange(200, callRequest, result(`null`)), "INVALID_TOOL_RESULT not_an_object"},
	{"result an array", exchange(200, callRequest, result(`[]`)), "INVALID_TOOL_RESULT not_an_object"},
	{"resultType null", exchange(200, callRequest, result(`{"content":[],"resultType":null}`)), "INVALID_TOOL_RESULT unknown_result_type"},
	{"resultType unknown", exchange(200, callRequest, result(`{"content":[],"resultType":"weird"}`)), "INVALID_TOOL_RESULT unknown_result_type"},
	{"resultType of a declared extension", exchange(200, otherDeclared, result(`{"content":[],"resultType":"partial"}`)), "UNDETERMINED extension_result_type"},
	{"resultType of nobody's extension", exchange(200, tasksDeclared, result(`{"content":[],"resultType":"partial"}`)), "INVALID_TOOL_RESULT unknown_result_type"},
	{"input required", exchange(200, callRequest, result(`{"resultType":"input_required","inputRequests":{"a":{}}}`)), "INPUT_REQUIRED"},
	{"input required, state only", exchange(200, callRequest, result(`{"resultType":"input_required","requestState":"s"}`)), "INPUT_REQUIRED"},
	{"input required, nothing", exchange(200, callRequest, result(`{"resultType":"input_required"}`)), "INVALID_TOOL_RESULT input_required_empty"},
	{"input required of a list", exchange(200, listRequest, result(`{"resultType":"input_required","requestState":"s"}`)), "INVALID_RESULT input_required_not_allowed"},
	{"complete with inputRequests", exchange(200, callRequest, result(`{"resultType":"complete","content":[],"inputRequests":{"a":{}}}`)), "TOOL_SUCCESS"},
	{"task asked for", exchange(200, taskRequest, result(`{"task":{"taskId":"t","status":"working"}}`)), "TASK_CREATED"},
	{"task not asked for", exchange(200, callRequest, result(`{"task":{"taskId":"t","status":"working"}}`)), "INVALID_TOOL_RESULT content_missing"},
	{"task without id", exchange(200, taskRequest, result(`{"task":{"status":"working"}}`)), "INVALID_TOOL_RESULT member_missing"},
	{"task of the extension", exchange(200, tasksDeclared, result(`{"resultType":"task","taskId":"t","status":"working"}`)), "TASK_CREATED"},
	{"task of the extension, not declared", exchange(200, callRequest, result(`{"resultType":"task","taskId":"t","status":"working"}`)), "INVALID_TOOL_RESULT unknown_result_type"},

	// Results of other methods.
	{"list", exchange(200, listRequest, result(`{"tools":[]}`)), "RPC_SUCCESS"},
	{"list without tools", exchange(200, listRequest, result(`{}`)), "INVALID_RESULT member_missing"},
	{"list with tools null", exchange(200, listRequest, result(`{"tools":null}`)), "INVALID_RESULT member_missing"},
	{"list with tools twice", exchange(200, listRequest, result(`{"tools":[],"tools":[]}`)), "INVALID_RESULT duplicate_member"},
	{"ping", exchange(200, ofMethod("ping", ""), result(`{}`)), "RPC_SUCCESS"},
	{"unknown method", exchange(200, ofMethod("org.example/do", ""), result(`{"a":1}`), session), "RPC_SUCCESS"},
	{"unknown method, no object", exchange(200, ofMethod("org.example/do", ""), result(`7`), session), "INVALID_RESULT not_an_object"},
	{"initialize", exchange(200, ofMethod("initialize", `{"protocolVersion":"2025-06-18"}`), result(`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{}}`)), "RPC_SUCCESS"},
	{"initialize, other version", exchange(200, ofMethod("initialize", `{"protocolVersion":"2025-11-25"}`), result(`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{}}`)), "RPC_SUCCESS version_counter_offer"},
	{"tasks/get working", exchange(200, ofMethod("tasks/get", `{"taskId":"t"}`), result(`{"taskId":"t","status":"working"}`)), "RPC_SUCCESS task_working"},
	{"tasks/get failed", exchange(200, ofMethod("tasks/get", `{"taskId":"t"}`), result(`{"taskId":"t","status":"failed"}`)), "RPC_SUCCESS task_failed"},
	{"tasks/get cancelled", exchange(200, ofMethod("tasks/get", `{"taskId":"t"}`), result(`{"taskId":"t","status":"cancelled"}`)), "RPC_SUCCESS task_cancelled"},
	{"tasks/get completed", exchange(200, ofMethod("tasks/get", `{"taskId":"t"}`), result(`{"taskId":"t","status":"completed"}`)), "RPC_SUCCESS"},
	{"tasks/get with the result", exchange(200, ofMethod("tasks/get", `{"taskId":"t"}`), result(`{"resultType":"complete","taskId":"t","status":"completed","result":{"content":[],"isError":true}}`)), "TOOL_ERROR"},
	{"tasks/get with the error", exchange(200, ofMethod("tasks/get", `{"taskId":"t"}`), result(`{"taskId":"t","status":"failed","error":{"code":-32603,"message":"m"}}`)), "JSONRPC_ERROR internal_error -32603"},
	{"tasks/get without status", exchange(200, ofMethod("tasks/get", `{"taskId":"t"}`), result(`{"taskId":"t"}`)), "INVALID_RESULT member_missing"},
	{"tasks/result", exchange(200, ofMethod("tasks/result", `{"taskId":"t"}`), toolBad), "TOOL_ERROR"},
	{"tasks/cancel", exchange(200, ofMethod("tasks/cancel", `{"taskId":"t"}`), result(`{}`)), "RPC_SUCCESS"},

	// The request is not known.
	{"by shape", exchange(200, "-", toolBad), "TOOL_ERROR"},
	{"by shape, list", exchange(200, "-", result(`{"tools":[{"name":"a","inputSchema":{}}]}`)), "RPC_SUCCESS"},
	{"shape of many", exchange(200, "-", result(`{}`), session), "UNDETERMINED request_absent"},
	{"by header", exchange(200, "-", result(`{}`), modern, header("tools/call")), "INVALID_TOOL_RESULT content_missing"},

	// Log records.
	{"logged response", exchange(0, "-", toolBad, logged), "TOOL_ERROR"},
	{"logged request", exchange(0, "-", callRequest, logged), ""},
	{"logged exchange", exchange(0, "-", callRequest+"\n"+toolBad, logged), "TOOL_ERROR"},

	// Several messages.
	{"batch", exchange(200, batchRequest, `[`+toolOK+`,{"jsonrpc":"2.0","id":2,"result":{"content":[]}}]`), "TOOL_SUCCESS"},
	{"batch, one failed", exchange(200, batchRequest, `[`+toolOK+`,{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}}]`), "TOOL_ERROR"},
	{"batch, one missing", exchange(200, batchRequest, `[`+toolOK+`]`), "INVALID_ENVELOPE response_missing"},
	{"batch, one missing on a stream", exchange(200, batchRequest, events(toolOK)), "STREAM_INCOMPLETE"},
	{"batch, unreadable", exchange(200, batchRequest, rpcError("null", "-32700")), "JSONRPC_ERROR parse_error -32700"},
	{"batch on a stream", exchange(200, batchRequest, events(`[`+toolOK+`,{"jsonrpc":"2.0","id":2,"result":{"content":[]}}]`)), "TOOL_SUCCESS"},
	{"batch, cut", exchange(200, batchRequest, `[`+toolOK+`,{"jsonrpc":"2.0","id":2,"resu`), "UNDETERMINED body_cut"},
	{"batch, 503", exchange(503, batchRequest, "-"), "HTTP_ERROR server_error"},
}

// said writes a verdict the way rows have it.
func said(v *Verdict) string {
	s := v.Outcome.String()
	if v.Reason != NoReason {
		s += " " + v.Reason.String()
	}
	if v.HasCode {
		s += " " + strconv.FormatInt(v.Code, 10)
	}
	return s
}

func TestRules(t *testing.T) {
	j := NewJudge(Settings{})
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var v Verdict
			for range 2 { // a Judge carries nothing over
				j.Judge(&r.ex, &v)
				assert.True(t, v.MCP)
				assert.Equal(t, r.want, said(&v))
			}
		})
	}
}

// Each outcome and each reason is reached by a rule, and so has a row.
func TestRowsCoverOutcomesAndReasons(t *testing.T) {
	j := NewJudge(Settings{})
	outcomes, reasons := map[Outcome]bool{}, map[Reason]bool{}
	add := func(s Settings, exs ...Exchange) {
		j := j
		if s != (Settings{}) {
			j = NewJudge(s)
		}
		for i := range exs {
			var v Verdict
			j.Judge(&exs[i], &v)
			outcomes[v.Outcome], reasons[v.Reason] = true, true
		}
	}
	for i := range rows {
		add(Settings{}, rows[i].ex)
	}
	add(Settings{InstrumentedSpans: true}, Exchange{KnownMethod: "tools/call"})
	for o := NoOutcome; o < OutcomeCount; o++ {
		assert.True(t, outcomes[o], "no row ends in %s", o)
	}
	for r := NoReason; r < ReasonCount; r++ {
		assert.True(t, reasons[r], "no row has the reason %s", r)
	}
}

func TestLayersAndClasses(t *testing.T) {
	for o := NoOutcome + 1; o < OutcomeCount; o++ {
		assert.NotEqual(t, NoClass, o.Class(), o)
		assert.Equal(t, o == Undetermined, o.Layer() == NoLayer, o)
		parsed, ok := ParseOutcome(o.String())
		assert.True(t, ok)
		assert.Equal(t, o, parsed)
		assert.Equal(t, o.Class(), ParseClass(o.Class().String()))
	}
	for r := NoReason + 1; r < ReasonCount; r++ {
		assert.Regexp(t, `^[a-z]+(_[a-z]+)*$`, r.String())
	}
	_, ok := ParseOutcome("SUCCESS")
	assert.False(t, ok)
}
