package mcpprocessor

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/carrier"
)

// TestCarriers runs the golden tests with items as products really write them,
// a folder for each row of the table in docs/carriers.md.
func TestCarriers(t *testing.T) {
	for _, folder := range goldenFolders(t, "carriers") {
		row := filepath.Base(folder)
		t.Run(row, func(t *testing.T) {
			// Where bodies are has nothing to do with who sent them again.
			settings := withSetting(t, goldenSettings(t, folder), "retry::enabled", false)
			require.NoError(t, runGolden(t, folder, settings))
		})
	}
}

// TestCarriersAreDocumented holds docs/carriers.md against the golden tests, the
// look-up lists and the settings.
func TestCarriersAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "carriers.md"))
	require.NoError(t, err)
	page := string(text)

	var rows []string
	for _, folder := range goldenFolders(t, "carriers") {
		row := filepath.Base(folder)
		rows = append(rows, row)
		assert.Contains(t, page, "(../testdata/carriers/"+row+")", "%s is not linked", row)
	}
	for rest, found := page, true; found; {
		if _, rest, found = strings.Cut(rest, "(../testdata/carriers/"); found {
			row, _, _ := strings.Cut(rest, ")")
			assert.Contains(t, rows, row, "linked, but there is no such test")
		}
	}

	var names []string
	names = append(names, carrier.DefaultRequestAttributes...)
	names = append(names, carrier.DefaultResponseAttributes...)
	names = append(names, carrier.DefaultMessageAttributes...)
	for _, p := range carrier.DefaultLogPaths {
		names = append(names, p.Request)
		if p.Response != "" {
			names = append(names, p.Response)
		}
	}
	names = append(names, "request_attributes", "response_attributes", "extra_request_attributes", "extra_response_attributes", "fragment_attributes",
		"message_attributes", "extra_message_attributes", "log_paths", "extra_log_paths", "pairing", "max_pending", "window", "max_bytes", "keep")
	for _, name := range names {
		assert.Contains(t, page, "`"+name+"`", "%s is not documented", name)
	}
}

// secret stands in all bodies in testdata/carriers: in the arguments, contents
// and error messages.
const secret = "falcon"

// notBodies are attributes that hold a part of what was said and that no
// setting names: `keep` does not reach them. docs/carriers.md says so.
var notBodies = []string{
	"error.message", "gen_ai.tool.call.arguments", "mcp.error.message", "mcp.request.argument.bird", "mcp.tool.result.content", "request", "traceloop.entity.input",
}

// TestKeepNeverLeavesNothing: with `keep: never` nothing is left of a body on an
// item of MCP, wherever it was.
func TestKeepNeverLeavesNothing(t *testing.T) {
	for _, folder := range goldenFolders(t, "carriers") {
		row := filepath.Base(folder)
		t.Run(row, func(t *testing.T) {
			in := start(t, withSetting(t, goldenSettings(t, folder), "bodies::keep", "never"))
			td, ld := goldenInput(t, folder)
			var leaks []string
			note := func(before, after pcommon.Map, json string) {
				if len(ours(before)) != len(ours(after)) && holdsSecret(json) {
					leaks = append(leaks, json)
				}
			}
			before := ptrace.NewTraces()
			td.CopyTo(before)
			for i, span := range spans(in.processTraces(td)) {
				note(spans(before)[i].Attributes(), span.Attributes(), spanJSON(t, span))
			}
			logsBefore := plog.NewLogs()
			ld.CopyTo(logsBefore)
			for i, record := range records(in.processLogs(ld)) {
				note(records(logsBefore)[i].Attributes(), record.Attributes(), recordJSON(t, record))
			}
			require.Empty(t, leaks)
		})
	}
}

// withSetting returns settings (YAML) with one more.
func withSetting(t *testing.T, settings, key string, value any) string {
	t.Helper()
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(settings))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	require.NoError(t, conf.Merge(confmap.NewFromStringMap(map[string]any{key: value})))
	text, err := json.Marshal(conf.ToStringMap())
	require.NoError(t, err)
	return string(text)
}

// spanJSON returns span without what is no body.
func spanJSON(t *testing.T, span ptrace.Span) string {
	t.Helper()
	td, alone := newSpan()
	span.CopyTo(alone)
	removeNotBodies(alone.Attributes())
	alone.Status().SetMessage("")
	text, err := new(ptrace.JSONMarshaler).MarshalTraces(td)
	require.NoError(t, err)
	return string(text)
}

// recordJSON is spanJSON for a log record.
func recordJSON(t *testing.T, record plog.LogRecord) string {
	t.Helper()
	ld, alone := newRecord()
	record.CopyTo(alone)
	removeNotBodies(alone.Attributes())
	text, err := new(plog.JSONMarshaler).MarshalLogs(ld)
	require.NoError(t, err)
	return string(text)
}

func removeNotBodies(m pcommon.Map) {
	m.RemoveIf(func(key string, _ pcommon.Value) bool { return slices.Contains(notBodies, key) })
}

// holdsSecret reports whether text has the secret in it, as it is or in base64.
func holdsSecret(text string) bool {
	if strings.Contains(text, secret) {
		return true
	}
	for before := range 3 {
		// What the neighbours of the secret do not change in its base64.
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("-", before) + secret))
		if strings.Contains(text, encoded[(before*8+5)/6:len(encoded)-1]) {
			return true
		}
	}
	return false
}

// TestNotBodiesAreDocumented: what `keep` does not reach is named.
func TestNotBodiesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "carriers.md"))
	require.NoError(t, err)
	for _, name := range notBodies {
		name = strings.TrimSuffix(name, "bird") // the name of an argument
		assert.Contains(t, string(text), "`"+name, "%s is not documented", name)
	}
}

// others makes items of everything but MCP, the same in each run.
type others struct{ *rand.Rand }

func newOthers() *others { return &others{rand.New(rand.NewPCG(2, 9))} }

func (o *others) pick(texts ...string) string { return texts[o.IntN(len(texts))] }

func (o *others) word() string {
	return o.pick("amber", "basalt", "cedar", "delta", "ember", "flint", "jsonrpc", "mcp", "result", "content", "tools/call", "isError", "名前", "naïve")
}

func (o *others) words(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = o.word()
	}
	return strings.Join(words, " ")
}

func (o *others) base64(n int) string {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(o.IntN(256))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func (o *others) id() string {
	return o.pick(fmt.Sprint(o.IntN(50)), fmt.Sprintf("%q", fmt.Sprint(o.IntN(50))), `"`+o.word()+`"`)
}

// exchange returns the two sides of an exchange of another protocol.
func (o *others) exchange() (request, response string) {
	id := o.id()
	rpc := func(method, params, result string) (string, string) {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`, `{"jsonrpc":"2.0","id":` + id + `,` + result + `}`
	}
	refused := `"error":{"code":` + o.pick("-32601", "-32602", "-32603", "-32000", "-32042", "3") + `,"message":"` + o.words(3) + `"}`
	switch o.IntN(15) {
	case 0: // Language Server Protocol
		return rpc("initialize", `{"processId":`+o.pick("null", "17")+`,"rootUri":null,"capabilities":{"textDocument":{}},"clientInfo":{"name":"editor"}}`,
			`"result":{"capabilities":{"hoverProvider":true},"serverInfo":{"name":"gopls","version":"v0.20.0"}}`)
	case 1:
		return rpc(o.pick("textDocument/hover", "textDocument/completion", "textDocument/definition", "shutdown", "workspace/executeCommand"),
			`{"textDocument":{"uri":"file:///a.go"},"position":{"line":1,"character":2}}`,
			o.pick(`"result":{"contents":{"kind":"markdown","value":"`+o.words(4)+`"}}`, `"result":{"contents":[{"language":"go","value":"func"}]}`,
				`"result":{"isIncomplete":false,"items":[{"label":"Println","kind":3}]}`, `"result":[{"uri":"file:///a.go","range":{}}]`, `"result":null`, refused))
	case 2: // Agent Client Protocol
		return rpc(o.pick("session/new", "session/prompt", "fs/read_text_file"), `{"sessionId":"s","cwd":"/","prompt":[{"type":"text","text":"`+o.words(3)+`"}]}`,
			o.pick(`"result":{"stopReason":"end_turn"}`, `"result":{"sessionId":"s"}`, `"result":{"content":"`+o.words(2)+`"}`, refused))
	case 3:
		return rpc("initialize", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}`, `"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}`)
	case 4: // Ethereum
		return rpc(o.pick("eth_call", "eth_getLogs", "eth_blockNumber", "net_version"), `[{"to":"0x00"},"latest"]`,
			o.pick(`"result":"0x4b7"`, `"result":[{"address":"0x00","data":"0x"}]`, `"result":{"hash":"0x00","transactions":[]}`, refused, `"error":null,"result":"0x"`))
	case 5:
		return "[" + `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]},{"jsonrpc":"2.0","id":2,"method":"eth_chainId"}` + "]",
			"[" + `{"jsonrpc":"2.0","id":1,"result":"0x"},{"jsonrpc":"2.0","id":2,"result":"0x1"}` + "]"
	case 6: // Agent2Agent
		return rpc("message/send", `{"message":{"role":"user","parts":[{"kind":"text","text":"`+o.words(3)+`"}],"messageId":"m"}}`,
			o.pick(`"result":{"kind":"message","role":"agent","parts":[{"kind":"text","text":"x"}],"messageId":"n"}`,
				`"result":{"id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[]}],"kind":"task"}`, refused))
	case 7:
		return rpc(o.pick("tasks/get", "tasks/cancel", "tasks/resubscribe"), `{"id":"t","historyLength":3}`, `"result":{"id":"t","status":{"state":"working"},"kind":"task"}`)
	case 8: // Odoo, Zabbix, Bitcoin
		return rpc(o.pick("call", "host.get", "getblock"), `{"service":"object","method":"execute"}`,
			o.pick(`"result":{"uid":2,"records":[]}`, `"result":[{"hostid":"1"}]`, `"error":{"code":200,"message":"Odoo Server Error","data":{"name":"x"}}`))
	case 9: // GraphQL
		return `{"query":"query { tools { name } }","variables":{"jsonrpc":"2.0","id":1}}`, o.pick(`{"data":{"tools":[{"name":"a"}]}}`, `{"errors":[{"message":"`+o.words(3)+`"}]}`)
	case 10: // OpenAI
		return `{"model":"gpt","messages":[{"role":"user","content":"what is jsonrpc 2.0 tools/call"}],"tools":[{"type":"mcp","server_label":"x","server_url":"https://x.test/mcp"}]}`,
			o.pick(`{"id":"resp_1","object":"response","output":[{"type":"mcp_list_tools","tools":[{"name":"a","input_schema":{}}]},{"type":"mcp_call","name":"a","arguments":"{}","output":"{\"jsonrpc\":\"2.0\"}","error":null}]}`,
				`{"error":{"message":"Invalid value","type":"invalid_request_error","code":-32600}}`)
	case 11: // Anthropic
		return `{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"}"}],"mcp_servers":[{"type":"url","url":"https://x.test/mcp","name":"x"}]}`,
			`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"mcp_tool_use","id":"1","name":"a","server_name":"x","input":{}},{"type":"mcp_tool_result","tool_use_id":"1","is_error":true,"content":[{"type":"text","text":"jsonrpc"}]}]}`
	case 12: // Server-sent events of LLM APIs
		return `{"stream":true,"messages":[]}`, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"jsonrpc\"}}]}\n\ndata: [DONE]\n\n"
	case 13: // OAuth
		return "grant_type=authorization_code&code=jsonrpc&resource=https%3A%2F%2Fx.test%2Fmcp", o.pick(`{"access_token":"jsonrpc","token_type":"Bearer"}`, `{"error":"invalid_grant","error_description":"jsonrpc"}`)
	default: // any service
		return `{"name":"` + o.word() + `","arguments":{"` + o.word() + `":1},"method":"tools/call"}`, o.pick(`{"content":[{"type":"text","text":"`+o.words(2)+`"}],"isError":true}`, `{"result":{"isError":true}}`, `{"tools":[]}`, `jsonrpc`, ``)
	}
}

// line returns the text of a log record.
func (o *others) line() string {
	request, response := o.exchange()
	side := o.pick(request, response)
	at := fmt.Sprintf("2026-09-21T14:%02d:%02d.%03dZ", o.IntN(60), o.IntN(60), o.IntN(1000))
	switch o.IntN(16) {
	case 0:
		return fmt.Sprintf(`192.0.2.%d - - [21/Sep/2026:14:13:21 +0000] "POST /mcp HTTP/1.1" %s %d "-" "%s"`, o.IntN(255), o.pick("200", "404", "503"), o.IntN(9999), o.words(2))
	case 1:
		return `{"level":"` + o.pick("info", "error") + `","ts":"` + at + `","msg":"` + o.words(5) + `","request":` + quoted(request) + `,"response":` + quoted(response) + `}`
	case 2:
		return `{"time":"` + at + `","logger":"jsonrpc","fields":{"a":[1,2,{"b":null}]},"message":"` + o.words(4) + `"}`
	case 3:
		return "[Trace - 14:13:21] Received response '" + o.word() + " - (1)' in 3ms.\nResult: " + response
	case 4:
		return "Content-Length: " + fmt.Sprint(len(side)) + "\r\n\r\n" + side
	case 5:
		return at + " DEBUG http: body=" + side
	case 6:
		return side
	case 7:
		return "Traceback (most recent call last):\n  File \"/usr/lib/python3/site-packages/jsonrpc/client.py\", line 17, in call\n    raise JSONRPCError({'jsonrpc': '2.0'})\n" + o.words(3)
	case 8:
		return "java.lang.IllegalStateException: {jsonrpc=2.0, id=1, result={content=[], isError=true}}\n\tat com.googlecode.jsonrpc4j.JsonRpcServer.handle(JsonRpcServer.java:123)"
	case 9:
		return `DEBUG {'jsonrpc': '2.0', 'id': ` + fmt.Sprint(o.IntN(9)) + `, 'result': {'content': [{'type': 'text', 'text': '` + o.words(2) + `'}], 'isError': True}}`
	case 10:
		return "{jsonrpc=2.0, id=1, method=tools/call, params={name=" + o.word() + ", arguments={}}}"
	case 11:
		return "{ jsonrpc: '2.0', id: 1, result: { content: [ [Object] ], isError: true } }"
	case 12:
		return o.pick("", "data: ", "payload ") + o.base64(200+o.IntN(400))
	case 13:
		return "The jsonrpc member has to be \"2.0\", see {" + o.words(3) + "} and [" + o.words(2) + "]"
	case 14:
		return `received JsonRpcRequest { jsonrpc: "2.0", id: Number(1), method: "tools/call", params: Some({"a": String("` + o.word() + `")}) }`
	default:
		return o.words(1 + o.IntN(30))
	}
}

func quoted(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(q)
}

// longLines are lines of up to a MiB.
func (o *others) longLines() []string {
	const size, structured = 1 << 20, 1 << 18
	return []string{
		strings.Repeat("x", size),
		strings.Repeat("{", size),
		strings.Repeat("{", size) + " jsonrpc",
		strings.Repeat("[", size) + "\"jsonrpc\"",
		strings.Repeat("amber falcon ", size/13) + "and jsonrpc",
		strings.Repeat("{'jsonrpc': '2.0', 'result': {'isError': True}} ", size/48),
		strings.Repeat(`{"a":{"jsonrpc":`, structured/16),
		strings.Repeat(`"jsonrpc"`, size/9),
		`{"jsonrpc":"2.0","id":1,"result":{"isIncomplete":false,"items":[` + strings.Repeat(`{"label":"jsonrpc"},`, structured/20) + `{}]}}`,
		`{"log":"` + strings.Repeat(`{\"jsonrpc\":\"2.0\"} `, structured/22) + `"}`,
		o.base64(size),
	}
}

// fill makes record one that is not of MCP.
func (o *others) fill(t testing.TB, record plog.LogRecord) {
	t.Helper()
	record.SetTimestamp(pcommon.Timestamp(1_790_000_000_000_000_000 + o.Int64N(60_000_000_000)))
	record.SetSeverityText(o.pick("INFO", "ERROR"))
	record.Attributes().PutStr("log.file.name", o.pick("app.log", "mcp.log", "mcp-server-birds.log"))
	line := o.line()
	switch o.IntN(6) {
	case 0: // parsed, as far as it is an object
		var parsed map[string]any
		if json.Unmarshal([]byte(line), &parsed) == nil {
			require.NoError(t, record.Body().FromRaw(parsed))
		} else {
			require.NoError(t, record.Body().FromRaw(map[string]any{"log": line, "stream": "stdout"}))
		}
	case 1:
		record.Body().SetEmptyBytes().FromRaw([]byte(line))
	case 2:
		record.Body().SetStr(o.words(3))
		record.Attributes().PutStr(o.pick("Message", "Request", "payload", "event.data", "log.record.original", "message"), line)
	case 3:
		request, response := o.exchange()
		record.Attributes().PutStr("http.request.method", "POST")
		record.Attributes().PutStr("http.request.body.content", request)
		record.Attributes().PutStr("http.response.body.content", response)
		record.Attributes().PutInt("http.response.status_code", 200)
	default:
		record.Body().SetStr(line)
	}
}

// otherSettings are those that change most, and read the most.
func otherSettings() string {
	return "bodies: {keep: never, fragment_attributes: [gen_ai.tool.call.result]}\nclassification: {instrumented_spans: true}\n" + allAttributes()
}

// TestOtherLogs: of a large log without MCP no record changes by a byte.
func TestOtherLogs(t *testing.T) {
	in, o := start(t, otherSettings()), newOthers()
	const batches, size = 12, 500
	n := 0
	for range batches {
		ld := plog.NewLogs()
		rl := ld.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("service.name", "mixed")
		all := rl.ScopeLogs().AppendEmpty().LogRecords()
		for range size {
			o.fill(t, all.AppendEmpty())
		}
		n += requireLogsUntouched(t, in, ld)
	}
	for _, line := range o.longLines() {
		ld, record := newRecord()
		record.Body().SetStr(line)
		n += requireLogsUntouched(t, in, ld)
	}
	require.Greater(t, n, 5000)
	require.EqualValues(t, n, in.counted("otelcol_processor_mcp_items"))
	require.Zero(t, in.counted("otelcol_processor_mcp_exchanges"))
	in.requireQuiet()
}

func requireLogsUntouched(t *testing.T, in *instance, ld plog.Logs) int {
	t.Helper()
	before := plog.NewLogs()
	ld.CopyTo(before)
	after := in.processLogs(ld)
	if !bytes.Equal(marshalLogs(t, before), marshalLogs(t, after)) {
		for i, record := range records(after) {
			require.Equal(t, recordText(records(before)[i]), recordText(record))
		}
		t.Fatal("changed")
	}
	return ld.LogRecordCount()
}

func recordText(r plog.LogRecord) string {
	return fmt.Sprintf("%.2000s\n%.2000v", r.Body().AsString(), r.Attributes().AsRaw())
}

// TestOtherSpans is the same for spans.
func TestOtherSpans(t *testing.T) {
	in, o := start(t, otherSettings()), newOthers()
	td := ptrace.NewTraces()
	service := newService(td, "mixed")
	for i := range 4000 {
		span := service.AppendEmpty()
		request, response := o.exchange()
		a := span.Attributes()
		a.PutStr("http.request.method", o.pick("POST", "GET", "DELETE"))
		a.PutStr("url.full", o.pick("https://x.test/mcp", "https://x.test/rpc", "https://x.test/.well-known/oauth-protected-resource/mcp", "https://x.test/sse?sessionId=1"))
		a.PutInt("http.response.status_code", int64(200+100*o.IntN(4)))
		a.PutStr("rpc.system", "jsonrpc")
		names := [][2]string{
			{"http.request.body.content", "http.response.body.content"},
			{"http.request.body", "http.response.body"},
			{"mcp.request.content", "mcp.response.content"},
			{"Request-Body", "Response-Body"},
		}[i%4]
		a.PutStr(names[0], request)
		if o.IntN(4) > 0 {
			a.PutStr(names[1], response)
		}
		a.PutStr("http.response.header.content-type", o.pick("application/json", "text/event-stream", "text/html"))
		span.SetKind(ptrace.SpanKind(o.IntN(6)))
		if o.IntN(3) == 0 {
			event := span.Events().AppendEmpty()
			event.SetName(o.pick("http.request", "exception"))
			event.Attributes().PutStr("http.request.body", o.line())
		}
	}
	for _, line := range o.longLines() {
		span := service.AppendEmpty()
		post(span, line, line, 200)
	}
	before := ptrace.NewTraces()
	td.CopyTo(before)
	after := in.processTraces(td)
	if !bytes.Equal(marshalTraces(t, before), marshalTraces(t, after)) {
		for i, span := range spans(after) {
			require.Equal(t, fmt.Sprint(spans(before)[i].Attributes().AsRaw()), fmt.Sprint(span.Attributes().AsRaw()))
		}
		t.Fatal("changed")
	}
	require.Zero(t, in.counted("otelcol_processor_mcp_exchanges"))
	in.requireQuiet()
}
