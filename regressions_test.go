package mcpprocessor

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Recorders keep a message in more than one place; keep: never means all.
func TestKeepNeverLeavesNoCopy(t *testing.T) {
	in := start(t, "bodies: {keep: never}")
	for name, fill := range map[string]func(plog.LogRecord){
		"original record": func(r plog.LogRecord) {
			r.Body().SetStr(successBody)
			r.Attributes().PutStr("log.record.original", successBody)
		},
		"two attributes": func(r plog.LogRecord) {
			r.Attributes().PutStr("Message", successBody)
			r.Attributes().PutStr("payload", callBody)
		},
		"body attribute": func(r plog.LogRecord) {
			r.Body().SetStr(successBody)
			r.Attributes().PutStr(responseBodyAttribute, successBody)
		},
		"two members": func(r plog.LogRecord) {
			m := r.Body().SetEmptyMap()
			m.PutStr("message", successBody)
			m.PutStr("raw", successBody)
		},
	} {
		ld, r := newRecord()
		fill(r)
		assert.NotContains(t, string(marshalLogs(t, in.processLogs(ld))), `"jsonrpc"`, name)
	}
}

// A recorder that kept nothing of a body is not the peer that sent nothing.
func TestEmptyCaptureOfABody(t *testing.T) {
	in := start(t, "")
	for _, name := range []string{"http.response.body.size", "http.response.header.content-length"} {
		span := in.span(func(s ptrace.Span) {
			post(s, callBody, "", 200)
			s.Attributes().PutInt(name, 123)
		})
		assert.Equal(t, "UNDETERMINED", outcomeOf(span.Attributes()), name)
	}
}

func TestQuotedBodyWithNewline(t *testing.T) {
	quoted, err := json.Marshal(successBody)
	require.NoError(t, err)
	span := start(t, "").span(posted(callBody, string(quoted)+"\n"))
	assert.Equal(t, "TOOL_SUCCESS", outcomeOf(span.Attributes()))
}

func TestMaskValuesOfAllKinds(t *testing.T) {
	for text, secret := range map[string]string{
		`{"password":"hun\"ter2","user":"me"}`:                "ter2",
		`{"secret":["hunter2"]}`:                              "hunter2",
		`{"credentials":{"user":"me","pw":"hunter2"}}`:        "hunter2",
		`"{\"password\":\"hunter2\",\"user\":\"me\"}"`:        "hunter2",
		`token=hunter2&x=1`:                                   "hunter2",
		`{"access_token": "hunter2", "api-key":'other'}`:      "hunter2",
		`{"password":"` + strings.Repeat("x", 10) + `hunter2`: "hunter2",
	} {
		assert.NotContains(t, mask(text), secret, text)
	}
	assert.Equal(t, `{"max_tokens":3}`, mask(`{"max_tokens":3}`))
	assert.Contains(t, mask(`{"password":"hunter2","user":"me"}`), `"user":"me"`)
}

func TestItemsAfterPanic(t *testing.T) {
	p, in := broken(t, "", signalLogs)
	ld, r := newRecord()
	r.Body().SetStr(successBody)
	_, err := p.processLogs(t.Context(), ld)
	require.NoError(t, err)
	assert.EqualValues(t, 1, in.counted("otelcol_processor_mcp_items"))
}
