package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// trace is the identity of a call: its trace id. The demonstration sends it
// along and finds the exchanges of the call by it, the way a backend would.
type trace struct{ traceID, spanID string }

func newTrace() trace {
	var b [24]byte
	_, _ = rand.Read(b[:]) // it never fails
	return trace{hex.EncodeToString(b[:16]), hex.EncodeToString(b[16:])}
}

func (t trace) parent() string { return "00-" + t.traceID + "-" + t.spanID + "-01" }

type (
	traceKey struct{}
	faultKey struct{}
)

// in marks ctx so that the requests made with it belong to the trace t.
func in(ctx context.Context, t trace) context.Context { return context.WithValue(ctx, traceKey{}, t) }

// facing marks ctx so that the requests made with it meet the fault.
func facing(ctx context.Context, f fault) context.Context {
	return context.WithValue(ctx, faultKey{}, f)
}

// marking writes into the headers what the context says. It is what an
// instrumented HTTP client does.
type marking struct{ *http.Transport }

func (m marking) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if t, ok := r.Context().Value(traceKey{}).(trace); ok {
		r.Header.Set("Traceparent", t.parent())
	}
	if f, ok := r.Context().Value(faultKey{}).(fault); ok && f != faultNone {
		r.Header.Set(faultHeader, string(f))
	}
	return m.Transport.RoundTrip(r)
}

// client makes sessions with the official SDK, and single requests by hand
// where the SDK refuses to send what a bad client would.
type client struct {
	base string // address of the tap
	http *http.Client
}

func newClient(base string) *client {
	return &client{base: base, http: &http.Client{Transport: marking{&http.Transport{}}}}
}

// close lets go of idle connections, which would keep servers from draining.
func (c *client) close() { c.http.CloseIdleConnections() }

func (c *client) connect(ctx context.Context, path, version string, listen bool) (*mcp.ClientSession, error) {
	sdk := mcp.NewClient(&mcp.Implementation{Name: "demo-client", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"date": "2027-01-01"}}, nil
		},
	})
	session, err := sdk.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: c.base + path, HTTPClient: c.http, DisableStandaloneSSE: !listen,
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s with revision %s: %w", path, version, err)
	}
	if got := session.InitializeResult().ProtocolVersion; got != version {
		_ = session.Close()
		return nil, fmt.Errorf("connecting to %s: asked for revision %s, got %s", path, version, got)
	}
	return session, nil
}

// rawID is the JSON-RPC id of requests that are made by hand.
const rawID = `"by-hand"`

// post sends one JSON-RPC message by hand and reads the answer to its end.
func (c *client) post(ctx context.Context, path, body string, header map[string]string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}
