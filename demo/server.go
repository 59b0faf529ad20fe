package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The two endpoints of the server: one that keeps sessions, as revisions up to
// 2025-11-25 do, and one without, for revision 2026-07-28.
const (
	sessionPath   = "/mcp"
	statelessPath = "/stateless/mcp"
)

// newServer is an MCP server made with the official SDK. Nothing in it knows
// of the demonstration: what goes wrong here goes wrong in real servers.
func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "demo-server", Version: "1.0.0"}, nil)

	type numbers struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "adds two numbers"},
		func(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, any, error) {
			return text("%d", in.A+in.B), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "divide", Description: "divides two numbers"},
		func(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, any, error) {
			if in.B == 0 {
				return nil, nil, errors.New("division by zero") // the SDK makes this isError: true
			}
			return text("%d", in.A/in.B), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "report", Description: "works for a while and tells how far it is"},
		func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			const steps = 3
			for i := range steps {
				if err := progress(ctx, req, i+1, steps); err != nil {
					return nil, nil, err
				}
				if err := pause(ctx, 40*time.Millisecond); err != nil {
					return nil, nil, err
				}
			}
			return text("done"), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "slow", Description: "takes longer than its callers wait"},
		func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			if err := progress(ctx, req, 1, 100); err != nil {
				return nil, nil, err
			}
			// Like many tools it does not notice that nobody waits any more.
			time.Sleep(600 * time.Millisecond)
			return text("done"), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "book", Description: "books a table and asks for the date"},
		func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			if len(req.Params.InputResponses) == 0 {
				return &mcp.CallToolResult{
					InputRequests: mcp.InputRequestMap{"date": &mcp.ElicitParams{
						Message: "For which date?",
						RequestedSchema: &jsonschema.Schema{
							Type:       "object",
							Properties: map[string]*jsonschema.Schema{"date": {Type: "string"}},
						},
					}},
					RequestState: "asked-for-date",
				}, nil, nil
			}
			return text("booked"), nil, nil
		})
	s.AddResource(&mcp.Resource{Name: "menu", URI: "demo://menu", MIMEType: "text/plain"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "text/plain", Text: "soup"}}}, nil
		})
	return s
}

func text(format string, a ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, a...)}}}
}

// progress tells the caller how far the work is, if the caller asked for that.
func progress(ctx context.Context, req *mcp.CallToolRequest, done, total int) error {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(done), Total: float64(total)})
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// expire ends a session on the server's side, as a restart or a timeout does.
func expire(s *mcp.Server, id string) error {
	for session := range s.Sessions() {
		if session.ID() == id {
			return session.Close()
		}
	}
	return fmt.Errorf("the server has no session %q", id)
}

func serverHandler(s *mcp.Server) http.Handler {
	get := func(*http.Request) *mcp.Server { return s }
	mux := http.NewServeMux()
	mux.Handle(sessionPath, mcp.NewStreamableHTTPHandler(get, nil))
	mux.Handle(statelessPath, mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}))
	return mux
}

// fault is something that happens between a client and a healthy server. A
// client asks for it with the header faultHeader.
type fault string

const faultHeader = "X-Demo-Fault"

const (
	faultNone      fault = ""
	faultOverload  fault = "503"
	faultRateLimit fault = "429"
	faultLogin     fault = "login-page"
	faultReset     fault = "reset"
	faultBreak     fault = "break-stream"
	faultCutJSON   fault = "cut-json"
	faultOtherID   fault = "other-id"
	faultNoContent fault = "no-content"
)

// withFaults stands in front of the server and plays the gateway that is
// overloaded, the proxy that wants a login, the server that speaks badly.
func withFaults(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := fault(r.Header.Get(faultHeader))
		r.Header.Del(faultHeader)
		if kind == faultNone {
			server.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		switch kind {
		case faultOverload:
			w.Header().Set("Retry-After", "1")
			page(w, http.StatusServiceUnavailable, "503 Service Temporarily Unavailable")
		case faultRateLimit:
			w.Header().Set("Retry-After", "30")
			page(w, http.StatusTooManyRequests, "429 Too Many Requests")
		case faultLogin:
			page(w, http.StatusOK, "Sign in")
		case faultReset:
			reset(w)
		case faultBreak:
			breakStream(w, r, body)
		case faultCutJSON:
			reply(w, `{"jsonrpc":"2.0","id":`+rawID+`,"result":{"content":[`)
		case faultOtherID:
			reply(w, `{"jsonrpc":"2.0","id":"of-another-call","result":{"content":[]}}`)
		case faultNoContent:
			reply(w, `{"jsonrpc":"2.0","id":`+rawID+`,"result":{"text":"5"}}`)
		default:
			http.Error(w, "unknown fault", http.StatusInternalServerError)
		}
	})
}

func page(w http.ResponseWriter, status int, title string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html>\n<title>%s</title>\n<h1>%s</h1>\n", title, title)
}

func reply(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

// reset drops the connection before anything was said.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// breakStream passes on the first event of the server's stream and then drops
// the connection.
func breakStream(w http.ResponseWriter, r *http.Request, body []byte) {
	out := r.Clone(r.Context())
	out.RequestURI = ""
	out.URL.Scheme, out.URL.Host = "http", r.Host
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		page(w, http.StatusBadGateway, err.Error())
		return
	}
	defer res.Body.Close()
	for k, v := range res.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(res.StatusCode)
	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(w, line)
		if err != nil || line == "\n" {
			break
		}
	}
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
