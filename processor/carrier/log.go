package carrier

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// Log reads record into it and reports whether there is a sign that it may be
// of MCP. Bodies in attributes are looked for first, then messages in the body
// of the record.
func (c *Carrier) Log(record plog.LogRecord, it *Item) bool {
	sign := c.attributes(record.Attributes(), it)
	ex := &it.Exchange
	ex.Log = true
	hasBody := it.values[requestBody].ok || it.values[responseBody].ok
	onBody := !hasBody && c.messages(record.Body(), it)
	if !sign && !onBody {
		return false
	}
	c.exchange(it)
	if onBody {
		it.OnBody, ex.Messages = true, true
		it.decode.body(&ex.Request, record.Body(), "", c.config.MaxBytes)
		ex.Response = ex.Request
	}
	words := append(it.words[:0], ex.ErrorType, it.text(exceptionType), it.text(exceptionMessage))
	ex.Failure = verdict.FailureOf(words...)
	return true
}

// messages reports whether the body of a record may hold JSON-RPC messages.
func (c *Carrier) messages(body pcommon.Value, it *Item) bool {
	if !mentions(found{value: body, ok: true}) {
		return false
	}
	if body.Type() != pcommon.ValueTypeStr {
		return true
	}
	text := body.Str()
	if _, ok := jsonrpc.Sniff(text); ok {
		return true
	}
	return strings.HasPrefix(text, `"`)
}
