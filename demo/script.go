package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// want is what the collector should say of one exchange. Code and Reason are
// checked only where they are set, HTTP only if it is not zero (-1: no status).
type want struct {
	Name    string
	HTTP    int
	Layer   string
	Outcome string
	Code    string
	Reason  string
}

// call is one step of the script. It has more than one want if it takes more
// than one exchange.
type call struct {
	do    func(context.Context, *stage) error
	wants []want
}

// step is a call that has a trace and can be looked up.
type step struct {
	trace trace
	wants []want
}

// stage is what the script plays on.
type stage struct {
	server  *mcp.Server
	client  *client
	session *mcp.ClientSession // revision 2025-11-25, with a session and a listening stream
	doomed  *mcp.ClientSession // revision 2025-11-25, the session that expires
	modern  *mcp.ClientSession // revision 2026-07-28, without sessions
}

const (
	revisionWithSessions = "2025-11-25"
	revisionStateless    = "2026-07-28"
)

// script is the list of calls, the good ones first, then layer by layer.
func script() []call {
	return []call{
		{tool("add", arguments{"a": 2, "b": 3}), one("tool call", 200, "application", "TOOL_SUCCESS", "", "")},
		{report(faultNone), one("stream with progress", 200, "application", "TOOL_SUCCESS", "", "")},
		{readResource, one("read a resource", 200, "protocol", "RPC_SUCCESS", "", "")},
		{notify, one("notification", 202, "transport", "ACCEPTED", "", "")},

		{tool("divide", arguments{"a": 1, "b": 0}), one("tool reports an error", 200, "application", "TOOL_ERROR", "", "")},
		{tool("add", arguments{"a": "two", "b": 3}), one("bad arguments", 200, "application", "TOOL_ERROR", "", "")},

		{book, []want{
			{"input required", 200, "interaction", "INPUT_REQUIRED", "", ""},
			{"  and its follow-up", 200, "application", "TOOL_SUCCESS", "", ""},
		}},

		{tool("subtract", arguments{}), one("unknown tool", 200, "protocol", "JSONRPC_ERROR", "-32602", "")},
		{unknownMethod, one("unknown method", 404, "protocol", "JSONRPC_ERROR", "-32601", "method_not_found")},
		{byHand(faultOtherID), one("answer to another call", 200, "protocol", "INVALID_ENVELOPE", "", "id_mismatch")},
		{byHand(faultNoContent), one("result without content", 200, "protocol", "INVALID_TOOL_RESULT", "", "")},
		{byHand(faultCutJSON), one("half an answer", 200, "protocol", "MALFORMED_JSON", "", "")},
		{byHand(faultLogin), one("login page of a proxy", 200, "protocol", "MALFORMED_JSON", "", "not_json")},

		{meeting(faultOverload), one("gateway overloaded", 503, "transport", "HTTP_ERROR", "", "server_error")},
		{meeting(faultRateLimit), one("too many requests", 429, "transport", "HTTP_ERROR", "", "rate_limited")},
		{expired, one("expired session", 404, "transport", "HTTP_ERROR", "", "session_not_found")},
		{report(faultBreak), one("stream breaks", 200, "transport", "STREAM_INCOMPLETE", "", "")},
		{meeting(faultReset), one("connection reset", -1, "transport", "NO_RESPONSE", "", "")},
		{giveUp, one("caller gives up", 0, "transport", "CANCELLED", "", "")},
	}
}

func one(name string, status int, layer, outcome, code, reason string) []want {
	return []want{{name, status, layer, outcome, code, reason}}
}

type arguments = map[string]any

// play runs the script and returns its steps. Errors of single calls are the
// point of it; only those that keep the script from being played are returned.
func play(ctx context.Context, st *stage) ([]step, error) {
	handshake := in(ctx, newTrace())
	for _, s := range []struct {
		session       **mcp.ClientSession
		path, version string
		listen        bool
	}{
		{&st.session, sessionPath, revisionWithSessions, true},
		{&st.doomed, sessionPath, revisionWithSessions, false},
		{&st.modern, statelessPath, revisionStateless, false},
	} {
		session, err := st.client.connect(handshake, s.path, s.version, s.listen)
		if err != nil {
			return nil, err
		}
		defer session.Close()
		*s.session = session
	}
	var steps []step
	for _, c := range script() {
		s := step{trace: newTrace(), wants: c.wants}
		if err := c.do(in(ctx, s.trace), st); err != nil {
			return nil, fmt.Errorf("%s: %w", c.wants[0].Name, err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func tool(name string, args arguments) func(context.Context, *stage) error {
	return func(ctx context.Context, st *stage) error {
		_, _ = st.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		return nil
	}
}

// meeting is a good call that meets a fault on its way.
func meeting(f fault) func(context.Context, *stage) error {
	return func(ctx context.Context, st *stage) error {
		return mustFail(st.session.CallTool(facing(ctx, f), &mcp.CallToolParams{Name: "add", Arguments: arguments{"a": 2, "b": 3}}))
	}
}

func report(f fault) func(context.Context, *stage) error {
	return func(ctx context.Context, st *stage) error {
		params := &mcp.CallToolParams{Name: "report"}
		params.SetProgressToken("report-" + string(f))
		res, err := st.session.CallTool(facing(ctx, f), params)
		if f != faultNone {
			return mustFail(res, err)
		}
		return err
	}
}

func readResource(ctx context.Context, st *stage) error {
	_, err := st.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "demo://menu"})
	return err
}

func notify(ctx context.Context, st *stage) error {
	return st.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "none", Progress: 1})
}

func book(ctx context.Context, st *stage) error {
	_, err := st.modern.CallTool(ctx, &mcp.CallToolParams{Name: "book"})
	return err
}

func expired(ctx context.Context, st *stage) error {
	if err := expire(st.server, st.doomed.ID()); err != nil {
		return err
	}
	return mustFail(st.doomed.CallTool(ctx, &mcp.CallToolParams{Name: "add", Arguments: arguments{"a": 2, "b": 3}}))
}

// giveUp is a client with less patience than the tool needs.
func giveUp(ctx context.Context, st *stage) error {
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	params := &mcp.CallToolParams{Name: "slow"}
	params.SetProgressToken("slow")
	if err := mustFail(st.session.CallTool(short, params)); err != nil {
		return err
	}
	// The SDK tells the server in the background, and could not if the session
	// were closed at once.
	return pause(ctx, 100*time.Millisecond)
}

// byHand is a call for which the SDK's client would wait in vain or close its
// session.
func byHand(f fault) func(context.Context, *stage) error {
	return func(ctx context.Context, st *stage) error {
		return st.client.post(facing(ctx, f), sessionPath,
			`{"jsonrpc":"2.0","id":`+rawID+`,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}`,
			map[string]string{"Mcp-Session-Id": st.session.ID(), "Mcp-Protocol-Version": revisionWithSessions})
	}
}

// unknownMethod uses the revision that answers with a JSON-RPC error in a 404.
func unknownMethod(ctx context.Context, st *stage) error {
	return st.client.post(ctx, statelessPath,
		`{"jsonrpc":"2.0","id":`+rawID+`,"method":"tools/rename","params":{"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"`+revisionStateless+`",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"demo-client","version":"1.0.0"},`+
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		map[string]string{"Mcp-Protocol-Version": revisionStateless, "Mcp-Method": "tools/rename"})
}

func mustFail(_ *mcp.CallToolResult, err error) error {
	if err == nil {
		return errors.New("it succeeded, but was to fail")
	}
	return nil
}
