package carrier

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// TextPlace says where in a log record the text was that holds the messages.
type TextPlace struct {
	// OnBody: in the body of the record; else in the attribute called Attribute.
	OnBody    bool
	Attribute string
	// Start and End of the messages in a text, where the value is a string of
	// which they are a part. End is 0 if the whole value is the messages.
	Start, End int
	// Members are the paths of the members of a structured body that hold
	// bodies, for a record that has them there.
	Members [2]string
	// Structured: the members are in a map, not in a text.
	Structured bool
}

// Found reports whether messages were found in a text or a structured body.
func (p *TextPlace) Found() bool { return p.OnBody || p.Attribute != "" }

// Log reads record into it and reports whether there is a sign that it may be
// of MCP. Bodies in attributes are looked for first, then messages in
// attributes, then the body of the record.
func (c *Carrier) Log(record plog.LogRecord, it *Item) bool {
	sign := c.attributes(c.logTable, record.Attributes(), it)
	it.used = true
	ex := &it.Exchange
	ex.Log = true
	if !it.hasBody() {
		c.findInText(record, it)
	}
	if !sign && !it.Text.Found() {
		return false
	}
	c.exchange(it)
	if it.Text.Found() {
		c.fromText(it)
	}
	ex.Failure = verdict.FailureOf(append(it.words[:0], ex.ErrorType, it.text(exceptionType), it.text(exceptionMessage))...)
	if it.noStatus && ex.Failure == verdict.NotFailed {
		ex.Failure = verdict.FailedOther
	}
	return true
}

// findInText looks for JSON-RPC messages in the attributes that may hold them,
// and in the body of the record.
func (c *Carrier) findInText(record plog.LogRecord, it *Item) {
	if f := it.values[message]; f.ok && mentionsAnywhere(f.value, 0) {
		if it.findText(f.value, c) {
			it.Text.Attribute = c.messageAttribute(record, f)
			return
		}
	}
	if body := record.Body(); mentionsAnywhere(body, 0) && it.findText(body, c) {
		it.Text.OnBody = true
	}
}

// messageAttribute returns the key under which f was found.
func (c *Carrier) messageAttribute(record plog.LogRecord, f found) string {
	for key, value := range record.Attributes().All() {
		if value == f.value {
			return key
		}
	}
	return ""
}

// mentionsAnywhere reports whether a text or a structured value may hold a
// JSON-RPC message.
func mentionsAnywhere(v pcommon.Value, depth int) bool {
	const maxDepth = 64 // the depth to which the SDKs keep values
	switch v.Type() {
	case pcommon.ValueTypeStr, pcommon.ValueTypeBytes:
		return mentions(v)
	case pcommon.ValueTypeMap:
		if depth == maxDepth {
			return false
		}
		for key, value := range v.Map().All() {
			if key == sweepWord || mentionsAnywhere(value, depth+1) {
				return true
			}
		}
	case pcommon.ValueTypeSlice:
		if depth == maxDepth {
			return false
		}
		for _, value := range v.Slice().All() {
			if mentionsAnywhere(value, depth+1) {
				return true
			}
		}
	}
	return false
}

// findText finds the messages in v, a value that mentions them, and notes in
// it where they are and the texts to read.
func (it *Item) findText(v pcommon.Value, c *Carrier) bool {
	var b verdict.Body
	it.decode.body(&b, v, "", c.config.MaxBytes)
	if b.Capture == verdict.Opaque && v.Type() == pcommon.ValueTypeStr {
		// A line of a log may begin with colours of a terminal.
		b = verdict.Body{Text: v.Str()[:min(len(v.Str()), c.config.MaxBytes)], Capture: verdict.Whole}
	}
	if b.Capture == verdict.Opaque || b.Capture == verdict.Absent {
		return false
	}
	structured := v.Type() != pcommon.ValueTypeStr && v.Type() != pcommon.ValueTypeBytes
	it.found = textFound{capture: b.Capture, detached: b.Detached}
	whole := b.Text
	f, ok := jsonrpc.Sniff(whole)
	switch {
	case ok && f == jsonrpc.EventStream:
		it.found.messages = whole
		return true
	case ok && isMessage(whole):
		it.found.messages = whole
		return true
	case ok && c.findMembers(it, whole):
		it.Text.Structured = structured
		return true
	case structured:
		return false
	default:
		return it.findLine(whole, v.Type() == pcommon.ValueTypeStr && whole == v.Str(), c)
	}
}

// textFound is what was found in a text: messages, or the two sides of an
// exchange.
type textFound struct {
	messages          string
	request, response string
	wrapper           *node // the JSON object that the sides were members of
	capture           verdict.Capture
	both              bool // sides, not messages
	detached          bool // see verdict.Body
}

// isMessage reports whether text begins with a JSON-RPC message or a batch of
// them, rather than with an object that has some in it.
func isMessage(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n\uFEFF")
	if strings.HasPrefix(text, "[") {
		text = jsonrpc.FirstElement(text)
	}
	_, kind := jsonrpc.Lookup(text, sweepWord)
	return kind != jsonrpc.Absent
}

// fromText fills the Exchange from what was found in a text.
func (c *Carrier) fromText(it *Item) {
	ex, f := &it.Exchange, &it.found
	if !f.both {
		ex.Messages = true
		ex.Request = verdict.Body{Text: f.messages, Capture: f.capture, Detached: f.detached}
		ex.Response = ex.Request
		return
	}
	ex.Request, ex.Response = c.sideBody(it, f.request), c.sideBody(it, f.response)
	it.describeWrapper(f.wrapper)
	switch {
	case it.noStatus && ex.Response.Text == "":
		ex.Response = verdict.Body{}
	case ex.Status == 0 && ex.Response.Capture == verdict.Whole && !it.isJSON(ex.Response.Text):
		// Nothing says that this is what the peer sent.
		ex.Response = verdict.Body{Capture: verdict.Opaque}
	}
}

// isJSON reports whether text is JSON, be it cut, or an event stream.
func (it *Item) isJSON(text string) bool {
	f, ok := jsonrpc.Sniff(text)
	if !ok || f == jsonrpc.EventStream {
		return ok
	}
	it.reader.Reset(text, f)
	for it.reader.Next() {
		continue
	}
	return it.reader.Summary().State != jsonrpc.Malformed
}

// sideBody reads one side of an exchange from the JSON value of a member.
func (c *Carrier) sideBody(it *Item, raw string) verdict.Body {
	if raw == "" || raw == "null" {
		return verdict.Body{}
	}
	b := verdict.Body{Text: raw, Capture: verdict.Whole, Detached: it.found.detached}
	if strings.HasPrefix(raw, `"`) {
		b.Text, b.Detached = jsonrpc.DecodeString(raw), true
	}
	it.decode.unwrap(&b, "", c.config.MaxBytes)
	if b.Capture == verdict.Whole && it.found.capture != verdict.Whole && strings.HasSuffix(it.found.wrapper.raw, raw) {
		b.Capture = it.found.capture
	}
	return b
}
