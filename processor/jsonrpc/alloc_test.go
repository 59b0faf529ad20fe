package jsonrpc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The texts are viewed as bytes without a copy as long as the compiler sees that
// nobody keeps or changes these. Where it ceases to, reading takes one allocation
// of the size of the text for each message.
func TestReadingDoesNotAllocate(t *testing.T) {
	type text struct {
		name   string
		format Format
		text   string
	}
	var texts []text
	for _, body := range benchBodies() {
		texts = append(texts, text(body))
	}
	for _, m := range oddMessages() {
		texts = append(texts, text{"odd", JSON, m}, text{"odd, cut", JSON, m[:len(m)-9]}, text{"odd, marked", JSON, m[:len(m)/2] + "...[TRUNCATED]"}, text{"odd, malformed", JSON, m[:len(m)/2] + "\x00"})
	}
	escapedNames := `{"params":{"_meta":{"io.modelcontextprotocol\/clientCapabilities":{},"io.modelcontextprotocol\/protocolVersion":"","` + strings.Repeat(`\u0061`, 100) + `":1}}}`
	texts = append(texts,
		text{"recorded", Values, recorded},
		text{"batch", JSON, "[" + strings.Join(recordedMessages(), ",") + "]"},
		text{"stream", EventStream, "data: " + strings.Join(recordedMessages(), "\r\n\r\nid: 7\r\nretry: 5\r\ndata: ")},
		text{"escaped names", JSON, escapedNames},
		text{"deep", JSON, strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)},
		text{"too deep", JSON, strings.Repeat(`{"a":`, MaxDepth+1)},
		text{"not JSON", JSON, "upstream connect error"},
		text{"not UTF-8", JSON, "{\"id\":\"\xff\xfe\"}"},
	)
	for _, text := range texts {
		var r Reader
		allocs := testing.AllocsPerRun(5, func() {
			r.Reset(text.text, text.format)
			for r.Next() {
				_ = r.Message()
			}
			_ = r.Summary()
		})
		assert.Zero(t, allocs, text.name)
	}

	var r Reader
	allocs := testing.AllocsPerRun(5, func() {
		r.Reset("data: {\"id\":\ndata: 1,\ndata: \"method\":\"ping\"}\n\n", EventStream)
		for r.Next() {
			_ = r.Message()
		}
	})
	assert.LessOrEqual(t, allocs, 1.0, "an event of several data lines is joined")
}

func TestAccessDoesNotAllocate(t *testing.T) {
	m := readComplete(t, `{"jsonrpc":"2.\u0030","id":"r\u0065q-1","method":"tools/call","params":{"name":"echo","requestId":100.0,"_meta":{"a":{"b":[1]}}},"result":{"content":[{"type":"text"}]}}`)
	id, other, number := m.RequestID(), StringID("req-1"), m.IDOf(m.Params.RequestID)
	raw := m.Raw(m.ResultValue)
	var buf [64]byte
	for name, access := range map[string]func(){
		"Raw":             func() { _ = m.Raw(m.ParamsValue) },
		"Text":            func() { _ = m.Text(m.Method) },
		"Is":              func() { _ = m.Is(m.JSONRPC, "2.0") && m.Is(m.Method, "tools/call") },
		"Integer":         func() { _ = m.Integer(m.Params.RequestID) },
		"RequestID":       func() { _ = m.RequestID() },
		"Equal":           func() { _ = id.Equal(other) && number.Equal(NumberID("1e2")) },
		"EqualText":       func() { _ = number.EqualText(StringID("100")) },
		"AppendCanonical": func() { _ = number.AppendCanonical(id.AppendCanonical(buf[:0])) },
		"String":          func() { _ = other.String() + NumberID("7").String()[:0] },
		"Member":          func() { _, _ = m.Member(m.Params.Meta, "a", "b") },
		"Lookup":          func() { _, _ = Lookup(raw, "content") },
		"Members":         func() { Members(raw, func(string, string, Kind) bool { return true }) },
		"Elements":        func() { Elements(`[1,{"a":"b"}]`, func(string) bool { return true }) },
		"FirstElement":    func() { _ = FirstElement(`[{"type":"text"}]`) },
		"ReadResult":      func() { _ = ReadResult(raw) },
		"ReadError":       func() { _ = ReadError(`{"code":1,"message":"x"}`) },
		"DecodeString":    func() { _ = DecodeString(`"plain"`) },
		"Sniff":           func() { _, _ = Sniff("event: message\n") },
	} {
		assert.Zero(t, testing.AllocsPerRun(20, access), name)
	}
}
