package carrier

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// logCarrier looks in log records where the processor looks by default.
func logCarrier() *Carrier {
	return New(Config{
		RequestAttributes: DefaultRequestAttributes, ResponseAttributes: DefaultResponseAttributes,
		MessageAttributes: DefaultMessageAttributes, LogPaths: DefaultLogPaths, MaxBytes: 4 << 20,
	})
}

// textRecord is a log record with text as its body.
func textRecord(text string) plog.LogRecord {
	record := plog.NewLogRecord()
	record.Body().SetStr(text)
	return record
}

const (
	oneCall   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`
	oneResult = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
)

// TestTextPlaces: where in a text the messages are is what `keep` removes.
func TestTextPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		text, messages, removed string
	}{
		"a prefix":           {"a [b] {c} " + oneCall + " { d: e }", oneCall, "a [b] {c} " + Removed + " { d: e }"},
		"nothing around it":  {oneCall, oneCall, Removed},
		"in single quotes":   {"Message: '" + oneCall + "'.", oneCall, "Message: '" + Removed + "'."},
		"two":                {"> " + oneCall + " < " + oneResult + " end", oneCall + "\n" + oneResult, "> " + Removed + " end"},
		"the word behind it": {"> " + oneCall + " jsonrpc {", oneCall, "> " + Removed},
		"a batch":            {"got [" + oneCall + ", " + oneCall + "] and more", "[" + oneCall + ", " + oneCall + "]", "got " + Removed + " and more"},
		"the word before it": {"jsonrpc: " + oneCall, oneCall, Removed},
		"braces in a string": {`> {"a":"}{","jsonrpc":"2.0","method":"ping"} <`, `{"a":"}{","jsonrpc":"2.0","method":"ping"}`, "> " + Removed + " <"},
		"several lines":      {"a\nb\nBody: " + oneCall + "\nc", oneCall, "a\nb\nBody: " + Removed + "\nc"},
		"jsonrpc is no name": {`{"a":"jsonrpc"} ` + oneCall, oneCall, Removed},
	} {
		t.Run(name, func(t *testing.T) {
			it, record := newItem(), textRecord(c.text)
			found := logCarrier().Log(record, it)
			require.True(t, found)
			require.True(t, it.Exchange.Messages)
			require.Equal(t, c.messages, it.Exchange.Response.Text)
			logCarrier().RemoveFromRecord(record, it)
			require.Equal(t, c.removed, record.Body().Str())
		})
	}
}

// TestTruncatedLines: a message that goes on beyond what was recorded is cut.
func TestTruncatedLines(t *testing.T) {
	whole := "> " + oneCall
	for _, text := range []string{
		whole[:len(whole)-1], whole[:len(whole)-2] + "... [truncated]", whole[:len(whole)-2] + " [TRUNCATED]",
		"> " + oneCall[:40] + "...[14696 chars truncated]...\"}}",
	} {
		it := newItem()
		require.True(t, logCarrier().Log(textRecord(text), it), text)
		require.Equal(t, verdict.Cut, it.Exchange.Request.Capture, text)
	}
}

// TestPrefixes: what a prefix tells.
func TestPrefixes(t *testing.T) {
	for prefix, want := range map[string]struct {
		sign, toServer, toClient bool
		stream                   string
	}{
		"2026-09-21T14:13:21.507Z [info] [birds] Message from client: ": {sign: true, toServer: true, stream: "birds"},
		"2026-09-21T14:13:21.507Z [birds] [info] Message from server: ": {sign: true, toClient: true, stream: "birds"},
		"2026-09-21 14:13:21.970 [info] [Client Says] ":                 {sign: true, toServer: true},
		"2026-09-21 14:13:21.970 [info] [Server Says] ":                 {sign: true, toClient: true},
		"2026-09-21 14:13:21.970 [trace] [editor -> server] ":           {sign: true, toServer: true},
		"2026-09-21 14:13:21.970 [debug] [server -> editor] ":           {sign: true, toClient: true},
		"2026-09-21T14:13:21.507Z [STDIN] ":                             {toServer: true},
		"2026-09-21T14:13:21.507Z [STDOUT] ":                            {toClient: true},
		"[supergateway] SSE → Child (session 1): ":                      {sign: true, toServer: true},
		"[supergateway] Child → StreamableHttp: ":                       {sign: true, toClient: true},
		"[MCP] → Request: ":                                             {sign: true},
		"Client (a) transport received message. Message: '":             {sign: true},
		"read: ":                                {},
		"2026-09-21 [INFO] [my-server] [main] ": {stream: "my-server"},
		"Message from client:\nbody=":           {},
		"":                                      {},
	} {
		it := newItem()
		require.True(t, logCarrier().Log(textRecord(prefix+oneCall), it), prefix)
		require.Equal(t, want.sign, it.Exchange.LogPrefix, "sign of %q", prefix)
		require.Equal(t, want.toServer, it.ToServer, "to the server: %q", prefix)
		require.Equal(t, want.toClient, it.ToClient, "to the client: %q", prefix)
		require.Equal(t, want.stream, it.Stream, "stream of %q", prefix)
	}
}

// hostileLines are texts that a search which begins anew at each brace, or at
// each word, would read over and over.
func hostileLines(size int) map[string]string {
	return map[string]string{
		"braces":              strings.Repeat("{", size) + `"jsonrpc"`,
		"brackets":            strings.Repeat("[", size) + `{"jsonrpc":`,
		"open objects":        strings.Repeat(`{"a":`, size/5) + `"jsonrpc"`,
		"open messages":       strings.Repeat(`{"jsonrpc":`, size/11),
		"open strings":        strings.Repeat(`{"`, size/2) + "jsonrpc",
		"empty objects":       strings.Repeat("{} ", size/3) + oneCall,
		"the word":            strings.Repeat("jsonrpc ", size/8),
		"the word in braces":  strings.Repeat("{jsonrpc} ", size/10),
		"brackets of braces":  strings.Repeat("[{ ", size/3) + "jsonrpc",
		"one long string":     `{"a":"` + strings.Repeat("{", size) + `","b":` + "jsonrpc",
		"malformed late":      strings.Repeat(`{"a":"`+strings.Repeat("x", size/40)+`",jsonrpc `, 40),
		"spaces and brackets": strings.Repeat(strings.Repeat(" ", 1000)+"[ ", size/1002) + "{jsonrpc",
	}
}

// TestSearchReadsAtMostThrice counts what is read in search of a message: twice
// the text, and the last reading that it takes to notice.
func TestSearchReadsAtMostThrice(t *testing.T) {
	for name, text := range hostileLines(1 << 18) {
		t.Run(name, func(t *testing.T) {
			budget := maxReread*len(text) + 1<<10
			s := lineSearch{item: newItem(), text: text, budget: budget}
			for at, ok := 0, true; ok && !s.cut; {
				_, at, ok = s.next(at)
			}
			require.LessOrEqual(t, budget-s.budget, (maxReread+1)*len(text)+1<<10)
			// What an Item keeps for the next record is its Reader.
			require.Less(t, allocated(func() { logCarrier().Log(textRecord(text), newItem()) }), uint64(4*len(text)))
		})
	}
}

// TestCandidates: the search gives up after so many objects that are none.
func TestCandidates(t *testing.T) {
	require.True(t, logCarrier().Log(textRecord(strings.Repeat("{a} ", maxCandidates-1)+oneCall), newItem()))
	require.False(t, logCarrier().Log(textRecord(strings.Repeat("{a} ", maxCandidates)+oneCall), newItem()))
}

// TestMessageAtTheEndOfALongLine: what stands before it is swept over.
func TestMessageAtTheEndOfALongLine(t *testing.T) {
	before := strings.Repeat("amber ", 1<<18)
	it := newItem()
	require.True(t, logCarrier().Log(textRecord(before+oneCall), it))
	require.Equal(t, len(before), it.Text.Start)
	require.Equal(t, len(before)+len(oneCall), it.Text.End)
	s := lineSearch{item: newItem(), text: before + oneCall, budget: 1 << 20}
	_, _, ok := s.next(0)
	require.True(t, ok)
	require.LessOrEqual(t, 1<<20-s.budget, 2*len(oneCall))
}

// TestManyMessagesInOneRecord: each is found, and put together once.
func TestManyMessagesInOneRecord(t *testing.T) {
	const n = 2000
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "14:13:21 read: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[]}}\n", i)
	}
	it := newItem()
	size := allocated(func() { require.True(t, logCarrier().Log(textRecord(text.String()), it)) })
	require.Equal(t, n-1, strings.Count(it.Exchange.Response.Text, "\n"))
	require.Less(t, size, uint64(8*text.Len()))
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// notOurs are log records that are not of MCP, by what it takes to see it.
func notOurs() []struct {
	name   string
	record plog.LogRecord
} {
	object := `{"level":"info","ts":"2026-09-21T14:13:21.507Z","msg":"request served","fields":{` + strings.Repeat(`"name":"value",`, 60) + `"status":200}}`
	parsed := plog.NewLogRecord()
	m := parsed.Body().SetEmptyMap()
	for i := range 20 {
		m.PutStr(fmt.Sprint("name ", i), "some value of a member")
		m.PutEmptyMap(fmt.Sprint("more ", i)).PutStr("inner", "value")
	}
	attributes := textRecord("request served")
	for i := range 12 {
		attributes.Attributes().PutStr(fmt.Sprint("attribute.", i), "value")
	}
	attributes.Attributes().PutStr("http.request.method", "POST")
	attributes.Attributes().PutInt("http.response.status_code", 200)
	return []struct {
		name   string
		record plog.LogRecord
	}{
		{"short line", textRecord("2026-09-21T14:13:21.507Z INFO server started on port 8080")},
		{"empty", plog.NewLogRecord()},
		{"attributes", attributes},
		{"1 KiB JSON", textRecord(object)},
		{"parsed JSON", parsed},
		{"1 MiB text", textRecord(strings.Repeat("no message in this text ", 1<<20/24))},
		{"1 MiB braces", textRecord(strings.Repeat("{", 1<<20))},
		{"the word in prose", textRecord("2026-09-21T14:13:21.507Z INFO the jsonrpc server started on port 8080")},
	}
}

// TestOtherRecordsCostNothing: a record that is not of MCP is passed over
// without an allocation.
func TestOtherRecordsCostNothing(t *testing.T) {
	c, it := logCarrier(), newItem()
	for _, other := range notOurs() {
		limit := 0.0
		if strings.Contains(other.record.Body().AsString(), sweepWord) {
			limit = 1 // to look whether it is compressed
		}
		require.LessOrEqual(t, testing.AllocsPerRun(10, func() {
			if c.Log(other.record, it) {
				panic("taken for one of MCP")
			}
		}), limit, other.name)
	}
}

func BenchmarkLogOfOthers(b *testing.B) {
	c, it := logCarrier(), newItem()
	for _, other := range notOurs() {
		b.Run(other.name, func(b *testing.B) {
			b.ReportAllocs()
			if body := other.record.Body(); body.Type() == pcommon.ValueTypeStr {
				b.SetBytes(int64(len(body.Str())))
			}
			for b.Loop() {
				c.Log(other.record, it)
			}
		})
	}
}

func BenchmarkLogOfMCP(b *testing.B) {
	pair := plog.NewLogRecord()
	m := pair.Body().SetEmptyMap()
	m.PutStr("request", oneCall)
	m.PutStr("response", oneResult)
	var many strings.Builder
	for range 1000 {
		many.WriteString("14:13:21 read: " + oneResult + "\n")
	}
	c, it := logCarrier(), newItem()
	for _, mcp := range []struct {
		name   string
		record plog.LogRecord
	}{
		{"message", textRecord(oneCall)},
		{"line", textRecord("2026-09-21T14:13:21.507Z [info] [birds] Message from client: " + oneCall + " { metadata: undefined }")},
		{"event", textRecord(`{"level":"info","data":{"request":` + oneCall + `,"response":` + oneResult + `}}`)},
		{"parsed event", pair},
		{"behind 1 MiB", textRecord(strings.Repeat("no message in this text ", 1<<20/24) + oneCall)},
		{"1000 in one record", textRecord(many.String())},
	} {
		b.Run(mcp.name, func(b *testing.B) {
			b.ReportAllocs()
			if body := mcp.record.Body(); body.Type() == pcommon.ValueTypeStr {
				b.SetBytes(int64(len(body.Str())))
			}
			for b.Loop() {
				if !c.Log(mcp.record, it) {
					b.Fatal("not found")
				}
			}
		})
	}
}

func BenchmarkHostileLog(b *testing.B) {
	c, it := logCarrier(), newItem()
	for name, text := range hostileLines(1 << 20) {
		record := textRecord(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c.Log(record, it)
			}
		})
	}
}
