package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// body is a text as MCP clients and servers send them.
type body struct {
	name   string
	format jsonrpc.Format
	text   string
	// request is the body of the request that text answers.
	request string
}

// The bodies of one exchange each. Texts of which the ratio to other readers is
// known from before (facts of the prototype) are the same here.
var (
	request180 = call("17")
	error150   = body{
		name:    "error 150 B",
		text:    `{"jsonrpc":"2.0","id":17,"error":{"code":-32602,"message":"Unknown tool: invalid_tool_name","data":{"tool":"invalid_tool_name","hint":"list tools"}}}`,
		request: request180,
	}
	result500 = body{
		name: "result 500 B",
		text: `{"jsonrpc":"2.0","id":"req-000017","result":{"resultType":"complete","content":[{"type":"text","text":"` +
			`Weather in Lisbon:\nTemperature: 22.5 C\nConditions: partly cloudy, wind 12 km/h from the north west; humidity 61 percent; no warnings are in force today."}],` +
			`"structuredContent":{"temperature":22.5,"conditions":"Partly cloudy","humidity":61,"wind":{"speed":12,"dir":"NW"},"alerts":[],"station":"LIS-0042","observed":"2026-11-20T10:15:00Z"},"isError":false,"_meta":{"cacheHit":true,"elapsedMs":143}}}`,
		request: call(`"req-000017"`),
	}
	escapes4k  = body{name: "escapes 4 KiB", text: toolResult("18", sourceCode(3500), true), request: call("18")}
	nested64k  = body{name: "nested 64 KiB", text: nestedResult("19", 64<<10), request: call("19")}
	tools256k  = body{name: "tools/list 256 KiB", text: toolList(256 << 10)}
	image1m    = body{name: "image 1 MiB", text: imageResult(785_000)}
	cjk16k     = body{name: "CJK 16 KiB", text: toolResult("22", repeatTo("工具调用失败时请检查参数。サーバー応答 the tool ", 16<<10), false)}
	stream20   = body{name: "stream of 20 events", format: jsonrpc.EventStream, text: stream(20)}
	foreign2k  = body{name: "foreign 2 KiB", text: completion(2 << 10)}
	plainText  = body{name: "text 485 B", text: strings.Repeat("upstream connect error or disconnect/reset before headers. reset reason: connection termination. ", 5)}
	html4k     = body{name: "HTML 4 KiB", text: "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body>" + strings.Repeat("<p>nginx 502 bad gateway</p>\n", 140) + "</body></html>"}
	text1m     = body{name: "text 1 MiB", text: repeatTo("INFO 2026-11-29T10:15:00Z worker 12 took order 4711 from the queue in 17 ms\n", 1<<20)}
	wholeTexts = []body{{name: "request 180 B", text: request180}, error150, result500, escapes4k, nested64k, tools256k, image1m, cjk16k, stream20}
	notJSON    = []body{plainText, html4k, text1m}
)

// cutBodies are what a recorder leaves of a body.
func cutBodies(percent int) (cut, whole []body) {
	for _, b := range []body{result500, escapes4k, nested64k} {
		whole = append(whole, b)
		b.name = fmt.Sprintf("%s, cut at %d %%", b.name, percent)
		b.text = b.text[:len(b.text)*percent/100]
		cut = append(cut, b)
	}
	return cut, whole
}

// call is the request that calls a tool, of about 180 bytes.
func call(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Lisbon","units":"metric"},"_meta":{"progressToken":"p-17","traceparent":"00-4bf9"}}}`
}

func toolResult(id, text string, isError bool) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}],"isError":%t}}`, id, quote(text), isError)
}

// source makes the bodies the same in every run.
func source() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

var words = strings.Fields(`the supplied value is outside allowed range server tool request result resource file path
	schema number string object returns list of items found matching query please check arguments and try again customer
	order invoice payment region latency service error deployment pod container log trace span metric attribute context
	model agent prompt session token`)

func word(r *rand.Rand) string { return words[r.IntN(len(words))] }

func prose(r *rand.Rand, n int) string {
	var sb strings.Builder
	for sb.Len() < n {
		sb.WriteString(word(r))
		sb.WriteByte(' ')
	}
	return sb.String()[:n]
}

// sourceCode is text with a lot to escape.
func sourceCode(n int) string {
	r := source()
	var sb strings.Builder
	for i := 0; sb.Len() < n; i++ {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&sb, "\tif err := run(%q, %d); err != nil {\n", prose(r, 12), i)
		case 1:
			fmt.Fprintf(&sb, "%04d | %s\n", i, prose(r, 48))
		case 2:
			fmt.Fprintf(&sb, "\t\treturn fmt.Errorf(\"%s: %%w\", err)\n", prose(r, 22))
		case 3:
			fmt.Fprintf(&sb, "C:\\srv\\data\\%s — café\n", prose(r, 10))
		}
	}
	return sb.String()
}

// record is one element of structured content.
func record(r *rand.Rand) map[string]any {
	return map[string]any{
		"id": r.IntN(1 << 30), "sku": fmt.Sprintf("SKU-%06d", r.IntN(1e6)), "title": prose(r, 30),
		"price": map[string]any{"amount": float64(r.IntN(100_000)) / 100, "currency": "EUR", "tax": 0.23},
		"tags":  []string{word(r), word(r)}, "active": r.IntN(2) == 0,
		"dims": []any{r.Float64() * 10, r.Float64() * 10, r.IntN(50)}, "parent": nil,
		"vendor": map[string]any{
			"name":    prose(r, 16),
			"address": map[string]any{"street": prose(r, 20), "zip": fmt.Sprint(r.IntN(99_999)), "geo": []any{r.Float64() * 90, r.Float64() * 180}},
		},
	}
}

// nestedResult is a tool result with structured content, of about so many bytes.
func nestedResult(id string, size int) string { return nestedFrom(source(), id, size) }

func nestedFrom(r *rand.Rand, id string, size int) string {
	before := `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + prose(r, min(400, size/8)) + `"}],"structuredContent":{"items":[`
	const behind = `],"next":null},"isError":false}}`
	var sb strings.Builder
	sb.WriteString(before)
	for i := 0; ; i++ {
		item := marshal(record(r))
		if i > 0 && sb.Len()+len(item)+len(behind) > size {
			break
		}
		if i > 0 {
			sb.WriteByte(',')
		}
		sb.WriteString(item)
	}
	return sb.String() + behind
}

func toolList(size int) string {
	r := source()
	var tools []any
	for n := 0; n < size; {
		properties := map[string]any{}
		for range 4 + r.IntN(6) {
			name := word(r) + "_" + word(r)
			switch r.IntN(4) {
			case 0:
				properties[name] = map[string]any{"type": "string", "description": prose(r, 40+r.IntN(60))}
			case 1:
				properties[name] = map[string]any{"type": "integer", "minimum": 0, "maximum": 1000, "default": 25, "description": prose(r, 30)}
			case 2:
				properties[name] = map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": []string{"asc", "desc", "none"}}}
			case 3:
				properties[name] = map[string]any{"type": "object", "properties": map[string]any{"lat": map[string]any{"type": "number"}, "lon": map[string]any{"type": "number"}}, "required": []string{"lat", "lon"}}
			}
		}
		tool := map[string]any{
			"name": fmt.Sprintf("%s_%s_%d", word(r), word(r), n), "title": prose(r, 24), "description": prose(r, 150+r.IntN(200)),
			"inputSchema": map[string]any{"type": "object", "properties": properties, "required": []string{word(r), word(r)}, "additionalProperties": false},
			"annotations": map[string]any{"readOnlyHint": r.IntN(2) == 0, "destructiveHint": false, "idempotentHint": true},
		}
		tools = append(tools, tool)
		n += len(marshal(tool)) + 1
	}
	return `{"jsonrpc":"2.0","id":21,"result":{"tools":` + marshal(tools) + `,"nextCursor":"eyJvZmZzZXQiOjI1MH0="}}`
}

func imageResult(bytes int) string {
	r := source()
	image := make([]byte, bytes)
	for i := range image {
		image[i] = byte(r.Uint32())
	}
	return `{"jsonrpc":"2.0","id":20,"result":{"content":[{"type":"image","data":"` + base64.StdEncoding.EncodeToString(image) + `","mimeType":"image/png"}],"isError":false}}`
}

func stream(notifications int) string {
	r := source()
	var sb strings.Builder
	sb.WriteString(": ping\n\n")
	for i := 1; i <= notifications; i++ {
		fmt.Fprintf(&sb, "event: message\nid: s-%d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"p-17\",\"progress\":%d,\"total\":20,\"message\":\"%s\"}}\n\n", i, i, prose(r, 30))
	}
	return sb.String() + "event: message\nid: s-21\ndata: " + result500.text + "\n\n"
}

// completion is what the API of a language model answers: JSON, not MCP.
func completion(size int) string {
	r := source()
	before := `{"id":"chatcmpl-9a7b4a53","object":"chat.completion","created":1764412345,"model":"some-model-2026","choices":[{"index":0,"message":{"role":"assistant","content":"`
	behind := `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":812,"completion_tokens":377,"total_tokens":1189}}`
	return before + prose(r, size-len(before)-len(behind)) + behind
}

func repeatTo(s string, n int) string { return strings.Repeat(s, n/len(s)+1)[:n/len(s)*len(s)] }

func marshal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// quote writes a string as encoders other than Go's do, which escape no more than
// they must.
func quote(s string) string {
	var sb strings.Builder
	encoder := json.NewEncoder(&sb)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(sb.String(), "\n")
}

// dataLines returns the texts of the data lines of an event stream, and of
// anything else the text itself.
func dataLines(b body) []string {
	if b.format != jsonrpc.EventStream {
		return []string{b.text}
	}
	var lines []string
	for line := range strings.SplitSeq(b.text, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			lines = append(lines, data)
		}
	}
	return lines
}
