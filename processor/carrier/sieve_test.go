package carrier

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// TestNothingPassedOver holds the quick look against the close one: what is passed
// over must have nothing that the close one finds.
func TestNothingPassedOver(t *testing.T) {
	carriers := []*Carrier{
		New(Config{RequestAttributes: DefaultRequestAttributes, ResponseAttributes: DefaultResponseAttributes, MessageAttributes: DefaultMessageAttributes, LogPaths: DefaultLogPaths, MaxBytes: 1 << 20}),
		New(Config{
			RequestAttributes: []string{"_", "a-b_c", strings.Repeat("x", 70)}, ResponseAttributes: []string{"Body"}, FragmentAttributes: []string{"out_put"},
			MessageAttributes: []string{"line"}, URLPaths: []string{"/mcp"}, InstrumentedSpans: true, MaxBytes: 1 << 20,
		}),
	}
	r := rand.New(rand.NewPCG(1, 2))
	spell := func(s string) string {
		b := []byte(s)
		for i, c := range b {
			switch {
			case 'a' <= c && c <= 'z' && r.IntN(2) == 0:
				b[i] = c - 'a' + 'A'
			case (c == '-' || c == '_') && r.IntN(2) == 0:
				b[i] = '-' ^ '_' ^ c
			}
		}
		return string(b)
	}
	values := []string{"", "x", "/mcp", "https://a.example/mcp?sessionId=1", "tools/call", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "TOOL_ERROR"}
	passed, looked := 0, 0
	for _, c := range carriers {
		var keys []string
		for _, bucket := range c.logTable.buckets {
			for _, n := range bucket {
				keys = append(keys, n.name)
			}
		}
		for range 20_000 {
			span, record := ptrace.NewSpan(), plog.NewLogRecord()
			for range r.IntN(4) {
				key := spell(keys[r.IntN(len(keys))])
				if r.IntN(4) == 0 {
					key = key[:r.IntN(len(key)+1)]
				}
				value := values[r.IntN(len(values))]
				for _, m := range []pcommon.Map{span.Attributes(), record.Attributes()} {
					m.PutStr(key, value)
				}
				if r.IntN(8) == 0 {
					event := span.Events().AppendEmpty()
					event.SetName([]string{"exception", "http.response"}[r.IntN(2)])
					event.Attributes().PutStr(key, value)
				}
			}
			if r.IntN(4) == 0 {
				record.Body().SetStr(values[r.IntN(len(values))])
			}
			looked++
			var it Item
			if c.PassesOver(span) {
				passed++
				found := c.Span(span, &it)
				assert.False(t, found, "%v", span.Attributes().AsRaw())
				assert.Empty(t, it.ToolCall(), "%v", span.Attributes().AsRaw())
			}
			if c.PassesOverRecord(record) {
				assert.False(t, c.Log(record, newItem()), "%v %s", record.Attributes().AsRaw(), record.Body().AsString())
			}
		}
	}
	assert.Greater(t, passed, looked/10)
}

// TestOrdinarySpansArePassedOver at the first look: the attributes of the semantic
// conventions for HTTP are not taken for signs.
func TestOrdinarySpansArePassedOver(t *testing.T) {
	c := New(Config{RequestAttributes: DefaultRequestAttributes, ResponseAttributes: DefaultResponseAttributes})
	for _, key := range []string{
		"http.request.method", "url.full", "url.path", "url.scheme", "url.query", "server.address", "server.port", "network.protocol.version",
		"network.peer.address", "network.peer.port", "http.response.status_code", "http.route", "user_agent.original", "client.address", "error.type",
		"http.request.body.size", "http.response.body.size", "http.response.header.content-type", "http.request.header.content-type",
		"http.method", "http.url", "http.target", "http.status_code", "http.scheme", "net.peer.name", "net.peer.port",
	} {
		assert.False(t, c.signs.mayHave(key), key)
	}
}
