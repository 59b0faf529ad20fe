package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// batchSize is how many spans one request has. One in mcpShare of them is MCP.
const (
	batchSize = 100
	mcpShare  = 10
)

// generate sends spans to the address to, at this rate, and takes what arrives at
// the address sink, until the standard input ends.
func generate(ctx context.Context, to, sink string, rate int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()

	l, err := net.Listen("tcp", sink)
	if err != nil {
		return err
	}
	arrived := &counter{}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	ptraceotlp.RegisterGRPCServer(server, arrived)
	go func() { _ = server.Serve(l) }()
	defer server.Stop()

	conn, err := grpc.NewClient(to, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	client := ptraceotlp.NewGRPCClient(conn)
	interval := time.Second * batchSize / time.Duration(rate)
	due := time.Now()
	sent, number := 0, uint64(0)
	for ctx.Err() == nil {
		// At moments by chance: else they would be in step with the clock of the
		// profile, which then sees one part of the work too often and another
		// never.
		due = due.Add(interval/2 + rand.N(interval))
		if sleep(ctx, time.Until(due)) != nil {
			break
		}
		if _, err := client.Export(context.WithoutCancel(ctx), ptraceotlp.NewExportRequestFromTraces(batch(&number))); err != nil {
			return err
		}
		sent += batchSize
	}
	time.Sleep(time.Second) // for what is still on its way
	fmt.Fprintf(os.Stderr, "load: %d spans sent, %d arrived, %d of them with a verdict\n", sent, arrived.spans.Load(), arrived.judged.Load())
	return nil
}

// counter takes spans and counts them.
type counter struct {
	ptraceotlp.UnimplementedGRPCServer
	spans, judged atomic.Int64
}

func (c *counter) Export(_ context.Context, r ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	for _, rs := range r.Traces().ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				c.spans.Add(1)
				if _, ok := span.Attributes().Get("mcp.outcome"); ok {
					c.judged.Add(1)
				}
			}
		}
	}
	return ptraceotlp.NewExportResponse(), nil
}

// batch returns the next spans. Each has its own trace and, if it is MCP, its own
// request.
func batch(number *uint64) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "agent")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("http")
	now := time.Now()
	for i := range batchSize {
		*number++
		span := ss.Spans().AppendEmpty()
		n := *number
		span.SetTraceID(pcommon.TraceID{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 1})
		span.SetSpanID(pcommon.SpanID{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 1})
		span.SetName("POST")
		span.SetKind(ptrace.SpanKindClient)
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(now.Add(-20 * time.Millisecond)))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(now))
		path, request, response := "/api/orders", "", ""
		if i%mcpShare == 0 {
			path = "/mcp"
			request = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Lisbon","day":%d}}}`, n, n)
			response = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}],"structuredContent":{"temperature":22.5,"station":"LIS-0042","alerts":[]},"isError":false}}`, n, text)
		}
		a := span.Attributes()
		a.PutStr("http.request.method", "POST")
		a.PutStr("url.full", "https://api.example.com"+path)
		a.PutStr("url.path", path)
		a.PutStr("server.address", "api.example.com")
		a.PutInt("server.port", 443)
		a.PutStr("network.protocol.version", "1.1")
		a.PutStr("network.peer.address", "10.0.0.7")
		a.PutInt("http.response.status_code", 200)
		a.PutStr("user_agent.original", "agent/1.0")
		a.PutInt("http.request.body.size", int64(len(request)))
		a.PutInt("http.response.body.size", int64(len(response)))
		a.PutEmptySlice("http.response.header.content-type").AppendEmpty().SetStr("application/json")
		if request != "" {
			a.PutStr("http.request.body.content", request)
			a.PutStr("http.response.body.content", response)
		}
	}
	return td
}

// text makes the body of a response one of 2 KiB.
var text = strings.Repeat(`Partly cloudy, wind 12 km/h from the north west.\n`, 2048/50)[:1900]
