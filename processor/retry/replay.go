package retry

import "github.com/otel-mcp/mcpprocessor/processor/verdict"

// execution is whether an attempt ran.
type execution uint8

const (
	// ranNot: it was refused before anything ran, or did not arrive.
	ranNot execution = iota
	// ranHardly: servers refuse it before anything runs, but need not.
	ranHardly
	// ranMaybe: it can have run to its end, in part, or not at all.
	ranMaybe
	ranYes
)

// The JSON-RPC error codes that a rule names (JSON-RPC 2.0 section 5.1; MCP
// 2025-11-25 URL elicitation; MCP 2026-07-28 basic, Error Codes).
const (
	codeParseError         = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
	codeURLElicitation     = -32042
)

// executed is whether a call ran that ended as r says. A status or a broken
// connection never proves that it did not: a gateway answers 503 and 504 also
// for a server that is still at work.
func executed(r *Result) execution {
	if r.HasCode {
		switch r.Code {
		case codeParseError, codeInvalidRequest, codeMethodNotFound,
			codeHeaderMismatch, codeMissingCapability, codeUnsupportedVersion:
			return ranNot
		case codeInvalidParams, codeURLElicitation:
			// An unknown tool and arguments of a wrong shape, but a tool may
			// also say so itself.
			return ranHardly
		}
	}
	switch r.Outcome {
	case verdict.NoResponse:
		if r.NotSent {
			return ranNot
		}
	case verdict.HTTPError:
		return executedStatus(r.Status)
	case verdict.ToolError, verdict.ToolSuccess, verdict.InvalidToolResult, verdict.RPCSuccess, verdict.InvalidResult, verdict.TaskCreated:
		return ranYes
	}
	return ranMaybe
}

// executedStatus is executed for a status outside 2xx.
func executedStatus(status int) execution {
	switch {
	case 300 <= status && status < 400:
		return ranNot
	case status < 400 || status >= 500:
		return ranMaybe
	}
	switch status {
	case 401, 403, 404, 405, 406, 413, 415:
		return ranNot
	case 408, 499:
		return ranMaybe
	default:
		return ranHardly
	}
}

// safety is whether sending n again can have done something twice; p is the
// attempt before it, nil if only a sender tells of one. Whether a tool writes
// is what the settings say: the annotations of tools/list are hints of the
// server, often missing, and never a guarantee (MCP, Tool Annotations).
func (t *Tracker) safety(a *Attempt, n, p *record) Safety {
	write := a.Method == verdict.ToolsCall && anyMatch(t.writeTools, a.Tool)
	switch {
	case p != nil && p.packed.execution() == ranNot:
		return NotExecuted
	case a.Method != verdict.ToolsCall, !write && anyMatch(t.readOnlyTools, a.Tool):
		return ReadOnly
	case p != nil && n.key != 0 && n.key == p.key:
		return Keyed
	case p != nil && write && p.packed.execution() >= ranMaybe && p.op == n.op:
		return UnsafeSuspected
	default:
		return UnknownSafety
	}
}

// anyMatch reports whether one of the patterns matches the whole of name.
func anyMatch(patterns []string, name string) bool {
	if name == "" {
		return false
	}
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}

// matches reports whether pattern matches the whole of name: * stands for any
// text, ? for one byte. Names of tools have slashes and brackets in them, which
// stand for themselves.
func matches(pattern, name string) bool {
	var i, j int
	star, from := -1, 0
	for j < len(name) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, from = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == name[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}
