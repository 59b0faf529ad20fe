package mcpprocessor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	otelattr "go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// seen is a log record of one side, at so many seconds.
type seen struct {
	at         float64
	body       string
	attributes map[string]any
	resource   map[string]any
	scope      string
}

// batch makes one batch of log records, each in a resource of its own.
func batch(all ...seen) plog.Logs {
	ld := plog.NewLogs()
	for _, s := range all {
		rl := ld.ResourceLogs().AppendEmpty()
		must(rl.Resource().Attributes().FromRaw(s.resource))
		sl := rl.ScopeLogs().AppendEmpty()
		sl.Scope().SetName(s.scope)
		record := sl.LogRecords().AppendEmpty()
		record.SetTimestamp(atSecond(s.at))
		record.Body().SetStr(s.body)
		must(record.Attributes().FromRaw(s.attributes))
	}
	return ld
}

// must is for errors that no test means to have, in any goroutine.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func atSecond(s float64) pcommon.Timestamp {
	return pcommon.Timestamp(1_790_000_000_000_000_000 + int64(s*1e9))
}

// told says what is written about each record: outcome, method, tool, id.
func told(ld plog.Logs) (all []string) {
	for _, record := range records(ld) {
		all = append(all, toldOf(record.Attributes()))
	}
	return all
}

func toldOf(a pcommon.Map) string {
	var words []string
	for _, name := range []string{"mcp.outcome", "mcp.method.name", "gen_ai.tool.name", "jsonrpc.request.id"} {
		if v := attr(a, name); v != nil {
			words = append(words, fmt.Sprint(v))
		}
	}
	return strings.Join(words, " ")
}

// The two sides of calls and their answers. An id is JSON.
func request(id, tool string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
}

func response(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[],"isError":true}}`
}

// The handshake, whose response tells the session.
const (
	initializes = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"birds","version":"1"}}}`
)

// refusal is an answer that shows no sign of MCP by itself.
func refusal(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32602,"message":"no"}}`
}

// TestPairing sends batches of one-sided log records through the processor.
func TestPairing(t *testing.T) {
	file := func(name string) map[string]any { return map[string]any{"log.file.path": name} }
	session := func(id string) map[string]any { return map[string]any{"http.request.header.mcp-session-id": id} }
	for name, c := range map[string]struct {
		settings string
		batches  [][]seen
		want     []string
		counts   string // paired, ambiguous, expired, evicted
	}{
		"request, then response": {
			batches: [][]seen{{{at: 1, body: request("1", "a")}, {at: 2, body: response("1")}}},
			want:    []string{"tools/call a 1", "TOOL_ERROR tools/call a 1"},
			counts:  "1 0 0 0",
		},
		"response first in the batch": {
			batches: [][]seen{{{at: 2, body: response("1")}, {at: 1, body: request("1", "a")}}},
			want:    []string{"TOOL_ERROR tools/call a 1", "tools/call a 1"},
			counts:  "1 0 0 0",
		},
		"several in one batch, by time": {
			batches: [][]seen{{
				{at: 4, body: response("1")}, {at: 2, body: refusal("1")}, {at: 3, body: request("1", "b")}, {at: 1, body: request("1", "a")},
			}},
			want:   []string{"TOOL_ERROR tools/call b 1", "JSONRPC_ERROR tools/call a 1", "tools/call b 1", "tools/call a 1"},
			counts: "2 0 0 0",
		},
		"a response earlier than the request": {
			batches: [][]seen{{{at: 2, body: request("1", "a")}, {at: 1, body: response("1")}}},
			want:    []string{"tools/call a 1", "TOOL_ERROR 1"},
		},
		"across batches": {
			batches: [][]seen{{{at: 1, body: request("1", "a")}}, {{at: 30, body: response("1")}}},
			want:    []string{"tools/call a 1", "TOOL_ERROR tools/call a 1"},
			counts:  "1 0 0 0",
		},
		"at the end of the window": {
			batches: [][]seen{{{at: 1, body: request("1", "a")}}, {{at: 31, body: response("1")}}},
			want:    []string{"tools/call a 1", "TOOL_ERROR tools/call a 1"},
			counts:  "1 0 0 0",
		},
		"beyond the window": {
			batches: [][]seen{{{at: 1, body: request("1", "a")}}, {{at: 31.001, body: response("1")}, {at: 32, body: request("2", "b")}}},
			want:    []string{"tools/call a 1", "TOOL_ERROR 1", "tools/call b 2"},
		},
		"a batch of more than the window": {
			batches: [][]seen{{{at: 1, body: request("1", "a")}, {at: 2, body: response("1")}, {at: 60, body: request("2", "b")}, {at: 61, body: response("2")}}},
			want:    []string{"tools/call a 1", "TOOL_ERROR tools/call a 1", "tools/call b 2", "TOOL_ERROR tools/call b 2"},
			counts:  "2 0 0 0",
		},
		"an older log next to a newer one": {
			batches: [][]seen{
				{{at: 1, body: request("1", "a"), attributes: file("/old")}},
				{{at: 3600, body: request("1", "b"), attributes: file("/new")}},
				{{at: 2, body: response("1"), attributes: file("/old")}},
				{{at: 3601, body: response("1"), attributes: file("/new")}},
			},
			want:   []string{"tools/call a 1", "tools/call b 1", "TOOL_ERROR tools/call a 1", "TOOL_ERROR tools/call b 1"},
			counts: "2 0 0 0",
		},
		"a longer window": {
			settings: "pairing: {window: 2m}",
			batches:  [][]seen{{{at: 1, body: request("1", "a")}}, {{at: 120, body: response("1")}}},
			want:     []string{"tools/call a 1", "TOOL_ERROR tools/call a 1"},
			counts:   "1 0 0 0",
		},
		"the response in an earlier batch": {
			batches: [][]seen{{{at: 2, body: response("1")}}, {{at: 1, body: request("1", "a")}}},
			want:    []string{"TOOL_ERROR 1", "tools/call a 1"},
		},
		"two candidates": {
			batches: [][]seen{{{at: 1, body: request("1", "a")}, {at: 2, body: request("1", "b")}, {at: 3, body: response("1")}, {at: 4, body: refusal("1")}}},
			want:    []string{"tools/call a 1", "tools/call b 1", "TOOL_ERROR 1", ""},
			counts:  "0 2 0 0",
		},
		"one answer for one request": {
			batches: [][]seen{{{at: 1, body: request("1", "a")}, {at: 2, body: response("1")}, {at: 3, body: response("1")}}},
			want:    []string{"tools/call a 1", "TOOL_ERROR tools/call a 1", "TOOL_ERROR 1"},
			counts:  "1 0 0 0",
		},
		"the id of an answered request again": {
			batches: [][]seen{{{at: 1, body: request("1", "a")}, {at: 2, body: response("1")}}, {{at: 3, body: request("1", "b")}, {at: 4, body: response("1")}}},
			want:    []string{"tools/call a 1", "TOOL_ERROR tools/call a 1", "tools/call b 1", "TOOL_ERROR tools/call b 1"},
			counts:  "2 0 0 0",
		},
		"a number and a string": {
			batches: [][]seen{{
				{at: 1, body: request("1", "a")}, {at: 1, body: request(`"1"`, "b")}, {at: 2, body: response(`"1"`)}, {at: 3, body: response("1")},
			}},
			want:   []string{"tools/call a 1", "tools/call b 1", "TOOL_ERROR tools/call b 1", "TOOL_ERROR tools/call a 1"},
			counts: "2 0 0 0",
		},
		"a number written otherwise": {
			batches: [][]seen{{{at: 1, body: request("10", "a")}, {at: 2, body: refusal("1.0e1")}}},
			want:    []string{"tools/call a 10", "JSONRPC_ERROR tools/call a 10"},
			counts:  "1 0 0 0",
		},
		"two sessions": {
			batches: [][]seen{{
				{at: 1, body: request("1", "a"), attributes: session("A")},
				{at: 1, body: request("1", "b"), attributes: session("B")},
				{at: 2, body: response("1"), attributes: session("B")},
				{at: 2, body: response("1"), attributes: session("A")},
			}},
			want:   []string{"tools/call a 1", "tools/call b 1", "TOOL_ERROR tools/call b 1", "TOOL_ERROR tools/call a 1"},
			counts: "2 0 0 0",
		},
		"a session on the request only": {
			batches: [][]seen{{{at: 1, body: request("1", "a"), attributes: session("A")}, {at: 2, body: refusal("1")}}},
			want:    []string{"tools/call a 1", "JSONRPC_ERROR tools/call a 1"},
			counts:  "1 0 0 0",
		},
		"a session on the response only": {
			batches: [][]seen{{{at: 1, body: initializes}, {at: 2, body: initialized, attributes: map[string]any{"http.response.header.mcp-session-id": "A"}}}},
			want:    []string{"initialize 0", "RPC_SUCCESS initialize 0"},
			counts:  "1 0 0 0",
		},
		"two requests of two sessions at one moment": {
			batches: [][]seen{{
				{at: 1, body: request("1", "a"), attributes: session("A")},
				{at: 1, body: request("1", "b"), attributes: session("B")},
				{at: 2, body: response("1"), attributes: session("B")},
				{at: 3, body: response("1")},
			}},
			want:   []string{"tools/call a 1", "tools/call b 1", "TOOL_ERROR tools/call b 1", "TOOL_ERROR tools/call a 1"},
			counts: "2 0 0 0",
		},
		"two files": {
			batches: [][]seen{{
				{at: 1, body: request("1", "a"), attributes: file("/a")},
				{at: 1, body: request("1", "b"), attributes: file("/b")},
				{at: 2, body: refusal("1"), attributes: file("/b")},
				{at: 2, body: refusal("1"), attributes: file("/a")},
				{at: 2, body: refusal("1"), attributes: file("/c")},
			}},
			want:   []string{"tools/call a 1", "tools/call b 1", "JSONRPC_ERROR tools/call b 1", "JSONRPC_ERROR tools/call a 1", ""},
			counts: "2 0 0 0",
		},
		"two loggers": {
			batches: [][]seen{{
				{at: 1, body: request("1", "a"), attributes: map[string]any{"logger": "x"}},
				{at: 1, body: request("1", "b"), attributes: map[string]any{"logger": "y"}},
				{at: 2, body: response("1"), attributes: map[string]any{"logger": "y"}},
			}},
			want:   []string{"tools/call a 1", "tools/call b 1", "TOOL_ERROR tools/call b 1"},
			counts: "1 0 0 0",
		},
		"two instances of a service": {
			batches: [][]seen{{
				{at: 1, body: request("1", "a"), resource: map[string]any{"service.name": "s", "service.instance.id": "1"}},
				{at: 1, body: request("1", "b"), resource: map[string]any{"service.name": "s", "service.instance.id": "2"}},
				{at: 2, body: response("1"), resource: map[string]any{"service.name": "s", "service.instance.id": "2"}},
				{at: 2, body: response("1"), resource: map[string]any{"service.name": "s", "service.instance.id": "3"}},
			}},
			want:   []string{"tools/call a 1", "tools/call b 1", "TOOL_ERROR tools/call b 1", "TOOL_ERROR 1"},
			counts: "1 0 0 0",
		},
		"other attributes of one resource": {
			batches: [][]seen{{
				{at: 1, body: request("1", "a"), resource: map[string]any{"service.name": "s", "host.id": "h", "process.pid": 1}},
				{at: 2, body: response("1"), resource: map[string]any{"host.id": "h", "service.name": "s", "process.pid": 2}},
			}},
			want:   []string{"tools/call a 1", "TOOL_ERROR tools/call a 1"},
			counts: "1 0 0 0",
		},
		"two scopes": {
			batches: [][]seen{{{at: 1, body: request("1", "a"), scope: "x"}, {at: 2, body: response("1"), scope: "y"}}},
			want:    []string{"tools/call a 1", "TOOL_ERROR 1"},
		},
		"two servers in the log of Claude Desktop": {
			batches: [][]seen{{
				{at: 1, body: "2026-09-21T14:13:21.507Z [info] [birds] Message from client: " + request("1", "a")},
				{at: 1, body: "2026-09-21T14:13:21.507Z [info] [fish] Message from client: " + request("1", "b")},
				{at: 2, body: "2026-09-21T14:13:21.507Z [info] [fish] Message from server: " + refusal("1")},
				{at: 3, body: "2026-09-21T14:13:21.507Z [info] [birds] Message from server: " + response("1")},
			}},
			want:   []string{"tools/call a 1", "tools/call b 1", "JSONRPC_ERROR tools/call b 1", "TOOL_ERROR tools/call a 1"},
			counts: "2 0 0 0",
		},
		"a request of the server with the same id": {
			batches: [][]seen{{
				{at: 1, body: "[editor -> server] " + request("1", "a")},
				{at: 2, body: `[server -> editor] {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}}`},
				{at: 3, body: "[editor -> server] " + refusal("1")},
				{at: 4, body: "[server -> editor] " + response("1")},
			}},
			want:   []string{"tools/call a 1", "sampling/createMessage 1", "JSONRPC_ERROR sampling/createMessage 1", "TOOL_ERROR tools/call a 1"},
			counts: "2 0 0 0",
		},
		"a request of the server, without directions": {
			batches: [][]seen{{
				{at: 1, body: request("1", "a")},
				{at: 2, body: `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object"}}}`},
				{at: 3, body: response("1")},
			}},
			want:   []string{"tools/call a 1", "elicitation/create 1", "TOOL_ERROR 1"},
			counts: "0 1 0 0",
		},
		"delivered twice": {
			batches: [][]seen{
				{{at: 1, body: request("1", "a")}, {at: 1, body: request("1", "a")}},
				{{at: 1, body: request("1", "a")}},
				{{at: 2, body: response("1")}},
			},
			want:   []string{"tools/call a 1", "tools/call a 1", "tools/call a 1", "TOOL_ERROR tools/call a 1"},
			counts: "1 0 0 0",
		},
		"a batch twice": {
			batches: [][]seen{
				{{at: 1, body: request("1", "a")}, {at: 2, body: response("1")}},
				{{at: 1, body: request("1", "a")}, {at: 2, body: response("1")}},
			},
			want:   []string{"tools/call a 1", "TOOL_ERROR tools/call a 1", "tools/call a 1", "TOOL_ERROR tools/call a 1"},
			counts: "2 0 0 0",
		},
		"more than may wait": {
			settings: "pairing: {max_pending: 2}",
			batches: [][]seen{
				{{at: 1, body: request("1", "a")}, {at: 2, body: request("2", "b")}, {at: 3, body: request("3", "c")}},
				{{at: 4, body: response("1")}, {at: 4, body: response("2")}, {at: 4, body: response("3")}},
			},
			want:   []string{"tools/call a 1", "tools/call b 2", "tools/call c 3", "TOOL_ERROR 1", "TOOL_ERROR tools/call b 2", "TOOL_ERROR tools/call c 3"},
			counts: "2 0 0 1",
		},
		"switched off": {
			settings: "pairing: {enabled: false}",
			batches:  [][]seen{{{at: 1, body: request("1", "a")}, {at: 2, body: response("1")}, {at: 3, body: request("2", "a")}, {at: 4, body: refusal("2")}}},
			want:     []string{"tools/call a 1", "TOOL_ERROR 1", "tools/call a 2", ""},
		},
		"an error without a sign of MCP": {
			batches: [][]seen{{{at: 1, body: refusal("1")}, {at: 2, body: request("1", "a")}, {at: 3, body: refusal("1")}}},
			want:    []string{"", "tools/call a 1", "JSONRPC_ERROR tools/call a 1"},
			counts:  "1 0 0 0",
		},
		"an error to a request of another protocol": {
			batches: [][]seen{{{at: 1, body: `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}`}, {at: 2, body: refusal("1")}}},
			want:    []string{"", ""},
		},
		"judged by its method": {
			batches: [][]seen{{
				{at: 1, body: `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`},
				{at: 2, body: `{"jsonrpc":"2.0","id":1,"result":{}}`},
				{at: 3, body: `{"jsonrpc":"2.0","id":2,"method":"ping"}`},
				{at: 4, body: `{"jsonrpc":"2.0","id":2,"result":{}}`},
				{at: 5, body: `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a"}}`},
				{at: 6, body: `{"jsonrpc":"2.0","id":3,"result":{}}`},
			}},
			want:   []string{"prompts/list 1", "INVALID_RESULT prompts/list 1", "ping 2", "RPC_SUCCESS ping 2", "tools/call a 3", "INVALID_TOOL_RESULT tools/call a 3"},
			counts: "3 0 0 0",
		},
		"notifications wait for nothing": {
			batches: [][]seen{{{at: 1, body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`}, {at: 2, body: refusal("null")}}},
			want:    []string{"notifications/initialized", ""},
		},
		"both sides in one record": {
			batches: [][]seen{{{at: 1, body: request("1", "a") + "\n" + response("1")}, {at: 2, body: response("1")}}},
			want:    []string{"TOOL_ERROR tools/call a 1", "TOOL_ERROR 1"},
		},
		"several requests in one record": {
			batches: [][]seen{{{at: 1, body: request("1", "a") + "\n" + request("2", "b")}, {at: 2, body: response("2")}, {at: 3, body: response("1")}}},
			want:    []string{"tools/call", "TOOL_ERROR tools/call b 2", "TOOL_ERROR tools/call a 1"},
			counts:  "2 0 0 0",
		},
		"in attributes": {
			batches: [][]seen{{
				{at: 1, attributes: map[string]any{"http.request.body.content": request("1", "a")}},
				{at: 2, attributes: map[string]any{"http.response.body.content": refusal("1"), "http.response.status_code": 200}},
			}},
			want:   []string{"tools/call a 1", "JSONRPC_ERROR tools/call a 1"},
			counts: "1 0 0 0",
		},
		"judged upstream": {
			batches: [][]seen{{
				{at: 1, body: request("1", "a")}, {at: 2, body: response("1"), attributes: map[string]any{"mcp.outcome": "TOOL_SUCCESS"}}, {at: 3, body: response("1")},
			}},
			want:   []string{"tools/call a 1", "TOOL_SUCCESS", "TOOL_ERROR tools/call a 1"},
			counts: "1 0 0 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t, c.settings)
			var got []string
			for _, all := range c.batches {
				got = append(got, told(in.processLogs(batch(all...)))...)
			}
			require.Equal(t, c.want, got)
			if c.counts == "" {
				c.counts = "0 0 0 0"
			}
			require.Equal(t, c.counts, in.pairings())
			in.requireQuiet()
		})
	}
}

// pairings returns how many were paired, ambiguous, expired and evicted.
func (in *instance) pairings() string {
	in.t.Helper()
	counts := in.countedBy("otelcol_processor_mcp_pairings", "result")
	return fmt.Sprint(counts["paired"], counts["ambiguous"], counts["expired"], counts["evicted"])
}

// TestNothingIsHeldBack: each batch leaves as it came, in its order and at once.
func TestNothingIsHeldBack(t *testing.T) {
	in := start(t, "")
	ld := batch(seen{at: 3, body: response("1")}, seen{at: 2, body: "between"}, seen{at: 1, body: request("1", "a")}, seen{at: 9, body: response("9")})
	var before, after []string
	for _, record := range records(ld) {
		before = append(before, record.Body().Str())
	}
	for _, record := range records(in.processLogs(ld)) {
		after = append(after, record.Body().Str())
	}
	require.Equal(t, before, after)
}

// TestPairingOfTheObservedTime: records without a time of their own are paired
// by when they were seen.
func TestPairingOfTheObservedTime(t *testing.T) {
	in := start(t, "")
	ld := batch(seen{body: response("1")}, seen{body: request("1", "a")}, seen{body: request("2", "b")}, seen{body: response("2")})
	for i, record := range records(ld) {
		record.SetTimestamp(0)
		if i < 2 {
			record.SetObservedTimestamp(atSecond(float64(2 - i)))
		}
	}
	require.Equal(t, []string{"TOOL_ERROR tools/call a 1", "tools/call a 1", "tools/call b 2", "TOOL_ERROR tools/call b 2"}, told(in.processLogs(ld)))
}

// TestPairingInParallel: batches of several services come at a time.
func TestPairingInParallel(t *testing.T) {
	in := start(t, "")
	const services, rounds = 8, 100
	done := make(chan error)
	for s := range services {
		resource := map[string]any{"service.name": fmt.Sprint("service ", s)}
		tool := fmt.Sprint("tool-", s)
		go func() {
			for r := range rounds {
				id := fmt.Sprint(r)
				asked := batch(seen{at: float64(r) / 10, body: request(id, tool), resource: resource})
				answered := batch(seen{at: float64(r)/10 + 0.01, body: refusal(id), resource: resource})
				for _, ld := range []plog.Logs{asked, answered} {
					if err := in.logs.ConsumeLogs(context.Background(), ld); err != nil {
						done <- err
						return
					}
				}
				if got, want := told(answered)[0], "JSONRPC_ERROR tools/call "+tool+" "+id; got != want {
					done <- fmt.Errorf("got %q, want %q", got, want)
					return
				}
			}
			done <- nil
		}()
	}
	for range services {
		require.NoError(t, <-done)
	}
	require.Equal(t, fmt.Sprint(services*rounds, 0, 0, 0), in.pairings())
	require.Zero(t, in.counted("otelcol_processor_mcp_pending_requests"))
}

// exchanged is a span of an HTTP exchange, from one second to another.
type exchanged struct {
	from, to           float64
	method, url        string
	status             int
	request, response  string
	headers            map[string]string
	service, errorType string
}

func (e exchanged) fill(td ptrace.Traces) ptrace.Span {
	span := newService(td, e.service).AppendEmpty()
	span.SetKind(ptrace.SpanKindClient)
	span.SetStartTimestamp(atSecond(e.from))
	span.SetEndTimestamp(atSecond(e.to))
	a := span.Attributes()
	a.PutStr("http.request.method", e.method)
	a.PutStr("url.full", "https://mcp.example.test"+e.url)
	a.PutInt("http.response.status_code", int64(e.status))
	for name, value := range e.headers {
		a.PutStr(name, value)
	}
	putIfSet(a, requestBodyAttribute, e.request)
	putIfSet(a, responseBodyAttribute, e.response)
	putIfSet(a, "error.type", e.errorType)
	return span
}

// traces sends spans in one batch through the processor.
func (in *instance) exchanges(all ...exchanged) []ptrace.Span {
	in.t.Helper()
	td := ptrace.NewTraces()
	for _, e := range all {
		e.fill(td)
	}
	return spans(in.processTraces(td))
}

// answersOf returns what the events of a span tell of the single answers.
func answersOf(span ptrace.Span) (all []string) {
	for _, event := range span.Events().All() {
		all = append(all, toldOf(event.Attributes()))
	}
	return all
}

// The stream of an HTTP+SSE server (2024-11-05), and the POST that it answers.
func endpointStream(session string, messages ...string) string {
	stream := "event: endpoint\ndata: /messages?sessionId=" + session + "\n\n"
	for _, m := range messages {
		stream += "event: message\ndata: " + m + "\n\n"
	}
	return stream
}

func postedTo(session string, from float64, body string) exchanged {
	return exchanged{from: from, to: from + 0.01, method: "POST", url: "/messages?sessionId=" + session, status: 202, request: body, service: "agent"}
}

var eventStream = map[string]string{"http.response.header.content-type": "text/event-stream"}

// TestAnswersOnAnotherStream: with HTTP+SSE each POST is answered on the GET
// stream of its session.
func TestAnswersOnAnotherStream(t *testing.T) {
	stream := func(session string, to float64, messages ...string) exchanged {
		return exchanged{from: 0, to: to, method: "GET", url: "/sse", status: 200, response: endpointStream(session, messages...), headers: eventStream, service: "agent"}
	}
	want := []string{"TOOL_ERROR tools/call a 1", "JSONRPC_ERROR tools/call b 2", "RPC_SUCCESS tools/list 3"}
	list := `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`
	listed := `{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}`

	for name, send := range map[string]func(*instance) ptrace.Span{
		"in one batch": func(in *instance) ptrace.Span {
			return in.exchanges(postedTo("A", 1, request("1", "a")), postedTo("A", 2, request("2", "b")), postedTo("A", 3, list),
				stream("A", 10, response("1"), refusal("2"), listed))[3]
		},
		"the stream first": func(in *instance) ptrace.Span {
			return in.exchanges(stream("A", 10, response("1"), refusal("2"), listed),
				postedTo("A", 1, request("1", "a")), postedTo("A", 2, request("2", "b")), postedTo("A", 3, list))[0]
		},
		"in batches of their own": func(in *instance) ptrace.Span {
			for _, e := range []exchanged{postedTo("A", 1, request("1", "a")), postedTo("A", 2, request("2", "b")), postedTo("A", 3, list)} {
				span := in.exchanges(e)[0]
				require.Equal(t, "STREAM_DEFERRED", outcomeOf(span.Attributes()))
			}
			return in.exchanges(stream("A", 3500, response("1"), refusal("2"), listed))[0]
		},
		"next to another session": func(in *instance) ptrace.Span {
			all := in.exchanges(postedTo("A", 1, request("1", "a")), postedTo("B", 1, request("1", "other")), postedTo("A", 2, request("2", "b")), postedTo("A", 3, list),
				stream("B", 10, response("1")), stream("A", 10, response("1"), refusal("2"), listed))
			require.Equal(t, []string{"TOOL_ERROR tools/call other 1"}, answersOf(all[4]))
			return all[5]
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t, "")
			span := send(in)
			require.Equal(t, "STREAM_OPEN", outcomeOf(span.Attributes()))
			require.ElementsMatch(t, want, answersOf(span))
			in.requireQuiet(warnsOfAbsentBodies)
		})
	}

	t.Run("beyond an hour", func(t *testing.T) {
		in := start(t, "")
		span := in.exchanges(postedTo("A", 1, request("1", "a")), stream("A", 3602, response("1")))[1]
		require.Equal(t, []string{"TOOL_ERROR 1"}, answersOf(span))
	})
	t.Run("another vantage", func(t *testing.T) {
		in := start(t, "")
		other := stream("A", 10, response("1"))
		other.service = "server"
		require.Equal(t, []string{"TOOL_ERROR 1"}, answersOf(in.exchanges(postedTo("A", 1, request("1", "a")), other)[1]))
	})
	t.Run("switched off", func(t *testing.T) {
		in := start(t, "pairing: {enabled: false}")
		require.Equal(t, []string{"TOOL_ERROR 1"}, answersOf(in.exchanges(postedTo("A", 1, request("1", "a")), stream("A", 10, response("1")))[1]))
	})
}

// TestResumedStream: the answer to a POST whose stream broke off, or was ended
// for polling, comes on a GET that resumes it (2025-03-26 and later).
func TestResumedStream(t *testing.T) {
	session := map[string]string{"http.request.header.mcp-session-id": "S", "http.response.header.content-type": "text/event-stream"}
	resuming := map[string]string{"http.request.header.last-event-id": "7"}
	for name, value := range session {
		resuming[name] = value
	}
	polled := exchanged{from: 1, to: 2, method: "POST", url: "/mcp", status: 200, request: request("1", "a"), response: "id: 7\nretry: 500\ndata:\n\n", headers: session, service: "agent"}
	broken := polled
	broken.response, broken.errorType = "id: 7\ndata:\n\n", "ECONNRESET"
	resumed := exchanged{from: 3, to: 4, method: "GET", url: "/mcp", status: 200, response: "id: 8\ndata: " + refusal("1") + "\n\n", headers: resuming, service: "agent"}

	for name, first := range map[string]exchanged{"STREAM_DEFERRED": polled, "STREAM_INCOMPLETE": broken} {
		t.Run(name, func(t *testing.T) {
			in := start(t, "")
			all := in.exchanges(first, resumed)
			require.Equal(t, name+" tools/call a 1", toldOf(all[0].Attributes()))
			require.Equal(t, "JSONRPC_ERROR tools/call a 1", toldOf(all[1].Attributes()))
			require.Equal(t, "1 0 0 0", in.pairings())
		})
	}
}

// TestPendingRequests: the number of requests that wait is a metric.
func TestPendingRequests(t *testing.T) {
	in := start(t, "")
	waiting := func() int64 { return in.counted("otelcol_processor_mcp_pending_requests") }
	in.processLogs(batch(seen{at: 1, body: request("1", "a")}, seen{at: 1, body: request("2", "a")}))
	require.EqualValues(t, 2, waiting())
	in.processLogs(batch(seen{at: 1.5, body: response("1")}))
	require.EqualValues(t, 1, waiting())
	require.Equal(t, "1 0 0 0", in.pairings())
}

// countedBy returns the sums of one of the processor's own metrics by the
// values of a label.
func (in *instance) countedBy(metric, label string) map[string]int64 {
	in.t.Helper()
	sums := map[string]int64{}
	m, err := in.telemetry.GetMetric(metric)
	if err != nil {
		return sums // nothing was ever added
	}
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		value, _ := p.Attributes.Value(otelattr.Key(label))
		sums[value.AsString()] += p.Value
	}
	return sums
}
