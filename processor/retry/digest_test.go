package retry

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

func TestDigestsAreKeyed(t *testing.T) {
	a, b := newTracker(), newTracker()
	assert.Equal(t, a.Digest("x"), a.Digest("x"))
	assert.Equal(t, a.Digest("x"), a.DigestBytes([]byte("x")))
	assert.NotEqual(t, a.Digest("x"), a.Digest("y"))
	assert.NotEqual(t, a.Digest("x"), b.Digest("x"))
	assert.NotEqual(t, a.Operation(verdict.ToolsCall, "x", [16]byte{1}), b.Operation(verdict.ToolsCall, "x", [16]byte{1}))
	assert.NotEqual(t, a.Keys(0, "x"), b.Keys(0, "x"))
	assert.Zero(t, a.Digest(""))
	assert.Zero(t, a.DigestBytes(nil))
	assert.Zero(t, Digest(0).short())
	assert.NotZero(t, Digest(1<<32|1).short(), "what is there stays there")
}

func TestOperation(t *testing.T) {
	tr := newTracker()
	op := tr.Operation(verdict.ToolsCall, "x", [16]byte{1})
	assert.NotEqual(t, op, tr.Operation(verdict.PromptsGet, "x", [16]byte{1}))
	assert.NotEqual(t, op, tr.Operation(verdict.ToolsCall, "y", [16]byte{1}))
	assert.NotEqual(t, op, tr.Operation(verdict.ToolsCall, "x", [16]byte{2}))
	assert.NotEqual(t, op, tr.Operation(verdict.ToolsCall, "x", [16]byte{15: 1}))
}

func TestCombineMindsTheOrder(t *testing.T) {
	tr := newTracker()
	assert.NotEqual(t, tr.Combine(1, 2), tr.Combine(2, 1))
	assert.NotEqual(t, tr.Combine(1), tr.Combine(1, 0))
	assert.NotEqual(t, tr.Vantage(1, 3, "a"), tr.Vantage(1, 2, "a"))
	assert.NotEqual(t, tr.Vantage(1, 3, "a"), tr.Vantage(1, 3, "b"))
	assert.NotEqual(t, tr.Vantage(1, 3, "a"), tr.Vantage(2, 3, "a"))
}

func TestTarget(t *testing.T) {
	tr := newTracker()
	target := tr.Target("https://mcp.test:8443/mcp")
	for _, same := range []string{
		"https://mcp.test:8443/mcp", "https://mcp.test:8443/mcp?sessionId=1", "https://mcp.test:8443/mcp#x", "https://user:pw@mcp.test:8443/mcp",
	} {
		assert.Equal(t, target, tr.Target(same), same)
	}
	for _, other := range []string{
		"http://mcp.test:8443/mcp", "https://mcp.test/mcp", "https://other.test:8443/mcp", "https://mcp.test:8443/mcp/", "https://mcp.test:8443", "/mcp",
	} {
		assert.NotEqual(t, target, tr.Target(other), other)
	}
	assert.Equal(t, tr.Target("/mcp?x=1"), tr.Target("/mcp"))
	assert.NotEqual(t, tr.Target("https://h/a@b"), tr.Target("https://h/c@b"), "only in front of the path")
	assert.Zero(t, tr.Target(""))
}

func TestKeysAreASet(t *testing.T) {
	tr := newTracker()
	assert.Equal(t, tr.Keys(tr.Keys(0, "a"), "b"), tr.Keys(tr.Keys(0, "b"), "a"))
	assert.NotEqual(t, tr.Keys(0, "a"), tr.Keys(tr.Keys(0, "a"), "b"))
}

func TestID(t *testing.T) {
	tr := newTracker()
	id := func(id jsonrpc.ID) Digest {
		d, _ := tr.ID(id)
		return d
	}
	assert.Equal(t, id(jsonrpc.NumberID("7")), id(jsonrpc.NumberID("7.0")))
	assert.NotEqual(t, id(jsonrpc.NumberID("7")), id(jsonrpc.StringID("7")))
	assert.NotEqual(t, id(jsonrpc.NumberID("9007199254740993")), id(jsonrpc.NumberID("9007199254740992")))
	assert.NotZero(t, id(jsonrpc.StringID("")))
	assert.Zero(t, id(jsonrpc.ID{}))
	assert.Zero(t, id(jsonrpc.NumberID("x")))
}

func TestRandomIDs(t *testing.T) {
	tr := newTracker()
	for _, text := range []string{
		"6f1c0e0e7b0b4d0f9a3a", "3F2504E0-4F89-41D3-9A0C-0305E82C3301", "0192d3b4-7c8e-7abc-9def-0123456789ab",
	} {
		_, random := tr.ID(jsonrpc.StringID(text))
		assert.True(t, random, text)
	}
	for _, text := range []string{
		"1", "", "mcp-remote-reinit-1", "server-discover-probe-1", "listen:12", "0000000000000001", "00000000-0000-0000-0000-00000000000a",
		"deadbeef-12", "20260801120000000001", "1790000000000000000000", "aaaaaaaaaaaaaaaaaaaaaaaa", "2026-08-01-abcdef",
	} {
		_, random := tr.ID(jsonrpc.StringID(text))
		assert.False(t, random, text)
	}
	_, random := tr.ID(jsonrpc.NumberID("12345678901234567890"))
	assert.False(t, random)
}
