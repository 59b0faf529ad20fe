package jsonrpc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchBody is a body as MCP servers and clients send them.
type benchBody struct {
	name   string
	format Format
	text   string
}

// benchBodies returns bodies of every size and make that matters for speed.
func benchBodies() []benchBody {
	r := rand.New(rand.NewPCG(1, 2))
	request := `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Lisbon","units":"metric"},"_meta":{"progressToken":"p-17","traceparent":"00-4bf9"}}}`
	failure := `{"jsonrpc":"2.0","id":17,"error":{"code":-32602,"message":"Unknown tool: invalid_tool_name","data":{"tool":"invalid_tool_name","hint":"list tools"}}}`
	result := `{"jsonrpc":"2.0","id":"req-000017","result":{"resultType":"complete","content":[{"type":"text","text":"Weather in Lisbon:\nTemperature: 22.5 C\nConditions: partly cloudy, wind 12 km/h from the north west; humidity 61 percent; no warnings are in force today."}],"structuredContent":{"temperature":22.5,"conditions":"Partly cloudy","humidity":61,"wind":{"speed":12,"dir":"NW"},"alerts":[],"station":"LIS-0042","observed":"2026-11-20T10:15:00Z"},"isError":false,"_meta":{"cacheHit":true,"elapsedMs":143}}}`
	toolResult := func(text string) string {
		return `{"jsonrpc":"2.0","id":18,"result":{"content":[{"type":"text","text":` + quote(text) + `}],"isError":true}}`
	}
	nested := `{"jsonrpc":"2.0","id":19,"result":{"content":[{"type":"text","text":"` + prose(r, 400) + `"}],"structuredContent":` + marshal(benchRecords(r, 64<<10)) + `,"isError":false}}`
	image := make([]byte, 785_000)
	for i := range image {
		image[i] = byte(r.Uint32())
	}
	bodies := []benchBody{
		{"request 180B", JSON, request},
		{"error 150B", JSON, failure},
		{"result 500B", JSON, result},
		{"escapes 4KB", JSON, toolResult(sourceCode(r, 3500))},
		{"nested 64KB", JSON, nested},
		{"indented 140KB", JSON, indent(nested)},
		{"tools 256KB", JSON, `{"jsonrpc":"2.0","id":21,"result":{"tools":` + marshal(benchTools(r, 256<<10)) + `,"nextCursor":"eyJvZmZzZXQiOjI1MH0="}}`},
		{"image 1MB", JSON, `{"jsonrpc":"2.0","id":20,"result":{"content":[{"type":"image","data":"` + base64.StdEncoding.EncodeToString(image) + `","mimeType":"image/png"}],"isError":false}}`},
		{"CJK 16KB", JSON, toolResult(repeatTo("工具调用失败时请检查参数。サーバー応答 the tool ", 16<<10))},
		{"Cyrillic 16KB", JSON, toolResult(repeatTo("Проверьте параметры вызова инструмента. ", 16<<10))},
		{"stream 20 events", EventStream, benchStream(r, result)},
	}
	for _, body := range bodies[2:5] {
		bodies = append(bodies, benchBody{body.name + " cut", JSON, body.text[:len(body.text)*9/10]})
	}
	return append(bodies,
		benchBody{"HTML 4KB", JSON, "<!DOCTYPE html>\n<html><body>" + strings.Repeat("<p>nginx 502 bad gateway</p>\n", 140) + "</body></html>"},
		benchBody{"text 30B", JSON, "upstream connect error or reset"},
	)
}

var benchWords = strings.Fields("the value is outside of its range server tool request result resource file path schema number string object returns list items found matching query please check arguments and try again order invoice payment region latency service")

func prose(r *rand.Rand, n int) string {
	var sb strings.Builder
	for sb.Len() < n {
		sb.WriteString(benchWords[r.IntN(len(benchWords))])
		sb.WriteByte(' ')
	}
	return sb.String()[:n]
}

func sourceCode(r *rand.Rand, n int) string {
	var sb strings.Builder
	for i := 0; sb.Len() < n; i++ {
		fmt.Fprintf(&sb, "\tif err := run(%q, %d); err != nil {\n%04d | %s\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\nC:\\srv\\data\\%s — café\n", prose(r, 12), i, i, prose(r, 48), prose(r, 22), prose(r, 10))
	}
	return sb.String()
}

func benchRecords(r *rand.Rand, size int) any {
	var items []any
	for n := 0; n < size; n += 430 {
		items = append(items, map[string]any{
			"id": r.IntN(1 << 30), "sku": fmt.Sprintf("SKU-%06d", r.IntN(1e6)), "title": prose(r, 30), "active": r.IntN(2) == 0, "parent": nil,
			"price": map[string]any{"amount": float64(r.IntN(100_000)) / 100, "currency": "EUR", "tax": 0.23},
			"tags":  []string{benchWords[r.IntN(20)], benchWords[r.IntN(20)]}, "dims": []any{r.Float64() * 10, r.Float64() * 10, r.IntN(50)},
			"vendor": map[string]any{"name": prose(r, 16), "address": map[string]any{"street": prose(r, 20), "zip": fmt.Sprint(r.IntN(99_999)), "geo": []any{r.Float64() * 90, r.Float64() * 180}}},
		})
	}
	return map[string]any{"items": items, "total": len(items), "next": nil}
}

func benchTools(r *rand.Rand, size int) any {
	var tools []any
	for n := 0; n < size; n += 1050 {
		properties := map[string]any{}
		for range 4 + r.IntN(6) {
			name := benchWords[r.IntN(20)] + "_" + benchWords[r.IntN(20)]
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
		tools = append(tools, map[string]any{
			"name": fmt.Sprintf("%s_%d", benchWords[r.IntN(20)], n), "title": prose(r, 24), "description": prose(r, 150+r.IntN(200)),
			"inputSchema": map[string]any{"type": "object", "properties": properties, "required": []string{"a", "b"}, "additionalProperties": false},
			"annotations": map[string]any{"readOnlyHint": r.IntN(2) == 0, "destructiveHint": false, "idempotentHint": true},
		})
	}
	return tools
}

func benchStream(r *rand.Rand, result string) string {
	var sb strings.Builder
	sb.WriteString(": ping\n\n")
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&sb, "event: message\nid: s-%d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"p-17\",\"progress\":%d,\"total\":20,\"message\":\"%s\"}}\n\n", i, i, prose(r, 30))
	}
	return sb.String() + "event: message\nid: s-21\ndata: " + result + "\n\n"
}

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

func indent(text string) string {
	var buf bytes.Buffer
	if err := json.Indent(&buf, []byte(text), "", "  "); err != nil {
		panic(err)
	}
	return buf.String()
}

func repeatTo(s string, n int) string {
	return strings.Repeat(s, n/len(s)+1)
}

// BenchmarkReader compares reading with json.Valid, which only checks the syntax,
// over the same text. For an event stream that is the text of its data lines.
//
//	go test -run '^$' -bench Reader -count 10 ./processor/jsonrpc | benchstat -col /by -
func BenchmarkReader(b *testing.B) {
	for _, body := range benchBodies() {
		b.Run(body.name+"/by=Reader", func(b *testing.B) {
			var r Reader
			b.SetBytes(int64(len(body.text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(body.text, body.format)
				for r.Next() {
					_ = r.Message()
				}
			}
		})
		b.Run(body.name+"/by=json.Valid", func(b *testing.B) {
			texts := [][]byte{[]byte(body.text)}
			if body.format == EventStream {
				texts = nil
				for line := range strings.SplitSeq(body.text, "\n") {
					if data, ok := strings.CutPrefix(line, "data: "); ok {
						texts = append(texts, []byte(data))
					}
				}
			}
			b.SetBytes(int64(len(body.text)))
			for b.Loop() {
				for _, text := range texts {
					json.Valid(text)
				}
			}
		})
	}
}

func BenchmarkIDs(b *testing.B) {
	number, other := NumberID("1234567"), NumberID("1234567.0")
	text, same := StringID("6f1c3c1e-9a7b-4a53-b8c3-0e6f1d2a9b10"), StringID("6f1c3c1e-9a7b-4a53-b8c3-0e6f1d2a9b10")
	for name, ids := range map[string][2]ID{"number": {number, number}, "numbers written in two ways": {number, other}, "string": {text, same}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !ids[0].Equal(ids[1]) {
					b.Fatal("not equal")
				}
			}
		})
	}
}
