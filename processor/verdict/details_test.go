package verdict

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func judgeOne(s Settings, ex Exchange) Verdict {
	var v Verdict
	NewJudge(s).Judge(&ex, &v)
	return v
}

func TestClassOfHTTPErrors(t *testing.T) {
	assert.Equal(t, Failure, judgeOne(Settings{}, exchange(401, callRequest, "-")).Class)
	assert.Equal(t, Pending, judgeOne(Settings{}, exchange(401, callRequest, "-", challenge)).Class)
	assert.Equal(t, Pending, judgeOne(Settings{}, exchange(403, callRequest, "-", challenge)).Class)
	assert.Equal(t, Pending, judgeOne(Settings{}, exchange(302, callRequest, "-")).Class)
	assert.Equal(t, Failure, judgeOne(Settings{}, exchange(404, callRequest, "-", challenge)).Class)
}

func TestWhatWasCalled(t *testing.T) {
	v := judgeOne(Settings{}, exchange(200, `{"jsonrpc":"2.0","id":"a\u0062","method":"tools/call","params":{"name":"l\u00f6ok","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}`, result("{}")))
	assert.Equal(t, "tools/call", v.Method)
	assert.Equal(t, "löok", v.Tool)
	assert.Equal(t, "ab", v.ID)
	assert.Equal(t, "2026-07-28", v.ProtocolVersion)
	assert.Equal(t, "c", v.ClientName)
	assert.Equal(t, "1", v.ClientVersion)

	v = judgeOne(Settings{}, exchange(200, ofMethod("resources/read", `{"uri":"file:///a"}`), result(`{"contents":[]}`)))
	assert.Equal(t, "file:///a", v.ResourceURI)
	assert.Empty(t, v.Tool)

	v = judgeOne(Settings{}, exchange(200, ofMethod("prompts/get", `{"name":"p"}`), result(`{"messages":[]}`)))
	assert.Equal(t, "p", v.Prompt)
	assert.Empty(t, v.Tool)

	v = judgeOne(Settings{}, exchange(200, ofMethod("initialize", `{"protocolVersion":"2025-11-25","clientInfo":{"name":"c"}}`), result(`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{}}`)))
	assert.Equal(t, "2025-06-18", v.ProtocolVersion, "the server's word counts")
	assert.Equal(t, "c", v.ClientName)

	v = judgeOne(Settings{}, exchange(200, notification, ""))
	assert.Equal(t, "notifications/initialized", v.Method)
	assert.False(t, v.HasID)

	v = judgeOne(Settings{}, exchange(200, "-", toolOK, header("tools/call"), func(ex *Exchange) { ex.NameHeader = "lookup" }))
	assert.Equal(t, "lookup", v.Tool)
	assert.Equal(t, "1", v.ID, "the response tells the id of the request that was not captured")

	v = judgeOne(Settings{}, exchange(200, callRequest[:strings.Index(callRequest, `,"arguments`)], toolOK))
	assert.Equal(t, "lookup", v.Tool)
	v = judgeOne(Settings{}, exchange(200, callRequest[:strings.Index(callRequest, `up"`)], toolOK))
	assert.Equal(t, "tools/call", v.Method)
	assert.Empty(t, v.Tool, "a name that was cut is not the name")

	v = judgeOne(Settings{}, exchange(200, strings.Replace(callRequest, `"lookup"`, `"lookup","name":"other"`, 1), toolOK))
	assert.Empty(t, v.Tool, "two names: none is chosen")
}

func TestSettings(t *testing.T) {
	own := exchange(404, callRequest, rpcError("1", "-32601"))
	assert.Equal(t, JSONRPCError, judgeOne(Settings{}, own).Outcome)
	v := judgeOne(Settings{HTTPStatusAlways: true}, own)
	assert.Equal(t, HTTPError, v.Outcome)
	assert.EqualValues(t, -32601, v.Code)

	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":null}`:                "TOOL_SUCCESS",
		`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32602,"message":"m"}}`: "JSONRPC_ERROR invalid_params -32602",
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":null}}`:              "TOOL_SUCCESS",
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":null}}`:           "TOOL_SUCCESS",
		`{"jsonrpc":"2.0","id":1,"result":{"content":null}}`:                           "INVALID_TOOL_RESULT content_missing",
		`{"jsonrpc":"2.0","id":1,"result":null,"error":null}`:                          "INVALID_ENVELOPE no_result_or_error",
	} {
		v := judgeOne(Settings{NullMembersAbsent: true}, exchange(200, callRequest, body))
		assert.Equal(t, want, said(&v), body)
	}

	v = judgeOne(Settings{ErrorText: true}, exchange(200, callRequest, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no\nway","data":{"a":1}}}`))
	assert.Equal(t, "no\nway", v.ErrorMessage)
	assert.Equal(t, `{"a":1}`, v.ErrorData)
}

func TestInstrumentedSpans(t *testing.T) {
	for name, r := range map[string]struct {
		ex   Exchange
		want string
	}{
		"tool_error":          {Exchange{KnownMethod: "tools/call", ErrorType: "tool_error"}, "TOOL_ERROR"},
		"is_error":            {Exchange{KnownMethod: "tools/call", IsError: true}, "TOOL_ERROR"},
		"is_error false":      {Exchange{KnownMethod: "tools/call", IsNoError: true}, "TOOL_SUCCESS"},
		"code":                {Exchange{KnownMethod: "tools/call", KnownCode: -32602, HasCode: true}, "JSONRPC_ERROR invalid_params -32602"},
		"code asks for input": {Exchange{KnownMethod: "tools/call", KnownCode: -32042, HasCode: true}, "INPUT_REQUIRED url_elicitation_required -32042"},
		"code 0 with error":   {Exchange{KnownMethod: "tools/call", HasCode: true, Failure: FailedOther}, "JSONRPC_ERROR 0"},
		"code 0":              {Exchange{KnownMethod: "tools/call", HasCode: true}, "UNDETERMINED no_error_recorded"},
		"status":              {Exchange{KnownMethod: "tools/call", ErrorType: "503"}, "HTTP_ERROR server_error"},
		"no word":             {Exchange{KnownMethod: "tools/list"}, "UNDETERMINED no_error_recorded"},
	} {
		v := judgeOne(Settings{InstrumentedSpans: true}, r.ex)
		assert.True(t, v.MCP, name)
		assert.Equal(t, r.want, said(&v), name)
		assert.False(t, judgeOne(Settings{}, r.ex).MCP, name)
	}
}

func TestNotMCP(t *testing.T) {
	for name, ex := range map[string]Exchange{
		"REST":                   exchange(200, `{"q":1}`, `{"jsonrpc_like":true}`),
		"other JSON-RPC":         exchange(200, `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}`, `{"jsonrpc":"2.0","id":1,"result":"0x"}`),
		"no jsonrpc member":      exchange(200, `{"id":1,"method":"tools/list","params":[]}`, `{"id":1,"result":null}`),
		"LSP initialize":         exchange(0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":1,"rootUri":null}}`, "-"),
		"ACP initialize":         exchange(0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`, "-"),
		"A2A task":               exchange(200, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}`, rpcError("1", "-32001")),
		"A2A list":               exchange(200, `{"jsonrpc":"2.0","id":1,"method":"tasks/list","params":{"pageSize":5}}`, result(`{"tasks":[]}`)),
		"LSP hover alone":        exchange(200, "-", result(`{"contents":["text"]}`)),
		"LSP initialize result":  exchange(200, "-", result(`{"capabilities":{},"serverInfo":{"name":"gopls"}}`)),
		"error alone":            exchange(200, "-", rpcError("1", "-32602")),
		"result of another":      exchange(200, `{"jsonrpc":"2.0","id":1,"method":"x","params":{}}`, toolOK),
		"well-known with header": exchange(404, "-", html, modern, func(ex *Exchange) { ex.WellKnown = true }),
		"form with header":       exchange(200, "grant_type=x", "{}", modern, func(ex *Exchange) { ex.Request.Media = MediaForm }),
		"registration":           exchange(201, `{"redirect_uris":["http://127.0.0.1/cb"]}`, `{"client_id":"x"}`, modern),
		"token":                  exchange(200, "-", `{"access_token":"x"}`, modern),
		"OPTIONS":                exchange(204, "-", "-", session, func(ex *Exchange) { ex.HTTPMethod = "OPTIONS" }),
		"HEAD":                   exchange(200, "-", "-", session, func(ex *Exchange) { ex.HTTPMethod = "HEAD" }),
		"100":                    exchange(100, callRequest, "-"),
		"page":                   exchange(200, "-", html),
		"log of something else":  exchange(0, "-", `{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`, logged),
		"broken log":             exchange(0, "-", `{"jsonrpc":"2.0","id":1,"result":{"content":[]`+"\x00", logged),
	} {
		v := judgeOne(Settings{}, ex)
		assert.Equal(t, Verdict{}, v, name)
	}
	v := judgeOne(Settings{}, exchange(200, "-", html, func(ex *Exchange) { ex.PathMatch = true }))
	assert.Equal(t, MalformedJSON, v.Outcome, "a path from the settings is a sign")
}

func TestSeveralMessages(t *testing.T) {
	v := judgeOne(Settings{}, exchange(200, batchRequest, `[{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"m"}},`+toolOK+`]`))
	assert.Equal(t, 2, v.MessageCount)
	assert.Equal(t, "JSONRPC_ERROR invalid_params -32602", said(&v))
	assert.Equal(t, "b", v.Tool, "the exchange names what decided")
	require.Len(t, v.Answers, 2)
	assert.Equal(t, Answer{Outcome: JSONRPCError, Class: Failure, Reason: InvalidParams, Code: -32602, HasCode: true, Method: "tools/call", Tool: "b", ID: "2", HasID: true}, v.Answers[0])
	assert.Equal(t, ToolSuccess, v.Answers[1].Outcome)
	assert.Equal(t, "1", v.Answers[1].ID)

	// One that fails stands before many that do not, also beyond the limit.
	var requests, answers []string
	for i := range 2 * MaxAnswers {
		id := strconv.Itoa(i)
		requests = append(requests, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`)
		answers = append(answers, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`)
	}
	answers[2*MaxAnswers-1] = rpcError(strconv.Itoa(2*MaxAnswers-1), "-32603")
	v = judgeOne(Settings{}, exchange(200, "["+strings.Join(requests, ",")+"]", "["+strings.Join(answers, ",")+"]"))
	assert.Equal(t, JSONRPCError, v.Outcome)
	assert.Equal(t, 2*MaxAnswers, v.MessageCount)
	require.Len(t, v.Answers, MaxAnswers)
	assert.Equal(t, MaxAnswers, v.AnswersLeftOut)
	assert.Equal(t, JSONRPCError, v.Answers[0].Outcome)

	// What is beyond the number of requests that are told apart is not known.
	for i := 2 * MaxAnswers; i <= maxCalls; i++ {
		requests = append(requests, `{"jsonrpc":"2.0","id":`+strconv.Itoa(i)+`,"method":"ping"}`)
	}
	v = judgeOne(Settings{}, exchange(202, "["+strings.Join(requests, ",")+"]", "-"))
	assert.Equal(t, maxCalls+1, v.MessageCount)

	// HTTP+SSE: every answer travels on the GET stream.
	v = judgeOne(Settings{}, exchange(200, "-", events(toolOK, strings.Replace(toolBad, `"id":1`, `"id":2`, 1)), get))
	assert.Equal(t, StreamOpen, v.Outcome)
	assert.False(t, v.HasCode)
	require.Len(t, v.Answers, 2)
	assert.Equal(t, ToolError, v.Answers[0].Outcome)
}

func TestStreamEnd(t *testing.T) {
	for want, ex := range map[StreamEnd]Exchange{
		EndFinalResponse:   exchange(200, callRequest, events(progress, toolOK)),
		EndNoFinalResponse: exchange(200, callRequest, events(progress)),
		EndCut:             exchange(200, callRequest, events(progress)+"data: {"),
		EndOpen:            exchange(200, listen, acknowledged),
		EndClientClosed:    exchange(200, callRequest, events(progress), fails("AbortError")),
		EndReset:           exchange(200, callRequest, events(progress), fails("ECONNRESET")),
		EndTimeout:         exchange(200, callRequest, events(progress), fails("TimeoutError")),
		NoStreamEnd:        exchange(200, callRequest, toolOK),
	} {
		v := judgeOne(Settings{}, ex)
		assert.Equal(t, want.String(), v.StreamEnd.String())
	}
}

func TestUnreadable(t *testing.T) {
	v := judgeOne(Settings{}, exchange(200, callRequest[:20], toolOK[:30], session))
	assert.Equal(t, [2]Reason{BodyCut, BodyCut}, v.Unreadable)
	assert.Equal(t, [2]int{20, 30}, v.BytesRead)
	assert.Equal(t, BodyAbsent, judgeOne(Settings{}, exchange(200, callRequest, "-")).Unreadable[ResponseSide])
	assert.Equal(t, NoReason, judgeOne(Settings{}, exchange(202, notification, "-")).Unreadable[ResponseSide])
	assert.Equal(t, BodyOpaque, judgeOne(Settings{}, exchange(200, callRequest, "-", opaque)).Unreadable[ResponseSide])
}

// The words that clients of the languages use.
func TestFailureOf(t *testing.T) {
	for words, want := range map[string]SpanFailure{
		"":                                   NotFailed,
		"ECONNREFUSED":                       FailedOther,
		"ETIMEDOUT":                          FailedTimeout,
		"UND_ERR_HEADERS_TIMEOUT":            FailedTimeout,
		"context.deadlineExceededError":      FailedTimeout,
		"java.net.http.HttpTimeoutException": FailedTimeout,
		"httpx.ReadTimeout":                  FailedTimeout,
		"System.Threading.Tasks.TaskCanceledException": FailedAbort,
		"asyncio.exceptions.CancelledError":            FailedAbort,
		"AbortError":                                   FailedAbort,
		"ABORT_ERR":                                    FailedAbort,
		"context canceled":                             FailedAbort,
		"ECONNRESET":                                   FailedReset,
		"read: connection reset by peer":               FailedReset,
		"EPIPE":                                        FailedReset,
		"httpx.RemoteProtocolError":                    FailedReset,
		"io: unexpected EOF":                           FailedReset,
		"starlette.requests.ClientDisconnect":          FailedReset,
		"UND_ERR_SOCKET: other side closed":            FailedReset,
		"connection_closed":                            FailedOther,
	} {
		assert.Equal(t, want, FailureOf(words), words)
	}
	assert.Equal(t, FailedTimeout, FailureOf("Error", "aborted: timeout of 5 s"))
	assert.Equal(t, FailedReset, FailureOf("aborted", "ECONNRESET"))
}

func TestJudgeAllocatesNothing(t *testing.T) {
	j := NewJudge(Settings{})
	for _, ex := range []Exchange{
		exchange(200, callRequest, toolOK),
		exchange(200, callRequest, events(progress, toolBad)),
		exchange(400, callRequest, rpcError("1", "-32602")),
		exchange(200, batchRequest, "["+toolOK+"]"),
		exchange(200, `{"q":1}`, `{"jsonrpc":1}`),
	} {
		var v Verdict
		j.Judge(&ex, &v)
		assert.Zero(t, testing.AllocsPerRun(20, func() { j.Judge(&ex, &v) }))
	}
}
