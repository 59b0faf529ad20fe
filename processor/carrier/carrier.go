// Package carrier finds in spans and log records what an MCP exchange was: its
// bodies, status, headers and what is on the item already.
package carrier

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// Config says where to look and how far to read.
type Config struct {
	// RequestAttributes and ResponseAttributes hold bodies, the first found
	// wins.
	RequestAttributes, ResponseAttributes []string
	// URLPaths are paths of MCP endpoints: exact, or a prefix with a trailing *.
	URLPaths []string
	// MaxBytes of one decoded body are read.
	MaxBytes int
	// InstrumentedSpans also finds spans without bodies that only say which
	// method they are about.
	InstrumentedSpans bool
}

// Carrier finds exchanges. It is safe for concurrent use.
type Carrier struct {
	config Config
	table  *table
}

// New returns a Carrier that looks where c says.
func New(c Config) *Carrier {
	var bodies []name
	add := func(list []string, body, cut field) {
		for i, n := range list {
			rank := uint8(min(i, 255))
			bodies = append(bodies, name{n, body, rank}, name{n + ".truncated", cut, rank})
		}
	}
	add(c.RequestAttributes, requestBody, requestCut)
	add(c.ResponseAttributes, responseBody, responseCut)
	return &Carrier{config: c, table: newTable(bodies, names)}
}

// Item is what was found on one span or log record. It is used again for the
// next one.
type Item struct {
	// Exchange is what to judge.
	Exchange verdict.Exchange
	// Outcome is the mcp.outcome that is on the item already, and HasOutcome
	// whether there is one of whatever type; likewise its class.
	Outcome    string
	HasOutcome bool
	Class      string
	// OnBody reports that the messages were found in the body of a log record.
	OnBody bool

	values [knownIsError + 1]found
	words  [4]string
	decode decoder
}

// found is the value of one field with the rank of the name that it was under.
type found struct {
	value pcommon.Value
	rank  uint8
	ok    bool
}

func (it *Item) reset() {
	it.Exchange = verdict.Exchange{}
	it.Outcome, it.HasOutcome, it.Class, it.OnBody = "", false, "", false
	clear(it.values[:])
	clear(it.words[:])
}

// Forget drops what the Item refers to of the data that it was used for.
func (it *Item) Forget() {
	it.reset()
	it.decode.forget()
}

// Span reads span into it and reports whether there is a sign that it may be
// of MCP, so that its bodies are worth reading.
func (c *Carrier) Span(span ptrace.Span, it *Item) bool {
	if !c.attributes(span.Attributes(), it) {
		return false
	}
	ex := &it.Exchange
	if span.Kind() == ptrace.SpanKindServer {
		ex.Side = verdict.Server
	}
	c.exchange(it)
	failed := span.Status().Code() == ptrace.StatusCodeError
	if failed || ex.ErrorType != "" || ex.Status == 0 {
		c.spanFailure(span, it, failed)
	}
	return true
}

// attributes walks over the attributes once and reports whether a sign of MCP
// was found in them.
func (c *Carrier) attributes(attributes pcommon.Map, it *Item) bool {
	it.reset()
	sign, body := false, false
	for key, value := range attributes.All() {
		n, ok := c.table.find(key)
		if !ok {
			continue
		}
		switch n.field {
		case outcome:
			it.HasOutcome, it.Outcome = true, text(value)
			continue
		case outcomeClass:
			it.Class = text(value)
			continue
		case requestBody, responseBody:
			body = true
		case sessionHeader, versionHeader, methodHeader, nameHeader:
			sign = true
		case knownMethod:
			sign = sign || c.config.InstrumentedSpans
		}
		if v := &it.values[n.field]; !v.ok || n.rank < v.rank {
			*v = found{value: value, rank: n.rank, ok: true}
		}
	}
	if sign || it.HasOutcome {
		it.Exchange.Header = it.values[sessionHeader].ok || it.values[versionHeader].ok ||
			it.values[methodHeader].ok || it.values[nameHeader].ok
		return true
	}
	if len(c.config.URLPaths) > 0 {
		c.url(it)
		if it.Exchange.PathMatch {
			return true
		}
	}
	return body && (mentions(it.values[requestBody]) || mentions(it.values[responseBody]))
}

// sweepWord is what each JSON-RPC message has in it, also where it was escaped
// into a string.
const sweepWord = "jsonrpc"

// mentions reports whether a body may hold a JSON-RPC message.
func mentions(f found) bool {
	if !f.ok {
		return false
	}
	switch f.value.Type() {
	case pcommon.ValueTypeStr:
		return strings.Contains(f.value.Str(), sweepWord)
	case pcommon.ValueTypeBytes:
		return strings.Contains(string(f.value.Bytes().AsRaw()), sweepWord)
	case pcommon.ValueTypeMap:
		_, ok := f.value.Map().Get(sweepWord)
		return ok
	case pcommon.ValueTypeSlice:
		for _, v := range f.value.Slice().All() {
			if v.Type() != pcommon.ValueTypeMap {
				continue
			}
			if _, ok := v.Map().Get(sweepWord); ok {
				return true
			}
		}
	}
	return false
}

// exchange fills the Exchange from the fields that were found.
func (c *Carrier) exchange(it *Item) {
	ex := &it.Exchange
	ex.HTTPMethod = strings.ToUpper(it.text(httpMethod))
	ex.Status = int(it.number(status))
	c.url(it)
	ex.HTTP = ex.HTTPMethod != "" || it.values[status].ok || it.values[urlFull].ok || it.values[urlPath].ok || it.values[urlTarget].ok

	ex.SessionID = it.text(sessionHeader)
	ex.ProtocolVersion = it.text(versionHeader)
	if ex.ProtocolVersion == "" {
		ex.ProtocolVersion = it.text(knownVersion)
	}
	ex.MethodHeader = it.text(methodHeader)
	ex.NameHeader = headerText(it.text(nameHeader))
	ex.LastEventID = it.values[lastEventID].ok
	ex.Challenge = it.values[challenge].ok
	ex.ErrorType = it.text(errorType)

	ex.KnownMethod, ex.KnownTool = it.text(knownMethod), it.text(knownTool)
	if f := it.values[knownCode]; f.ok {
		ex.KnownCode, ex.HasCode = integer(f.value)
	}
	if f := it.values[knownIsError]; f.ok && f.value.Type() == pcommon.ValueTypeBool {
		ex.IsError, ex.IsNoError = f.value.Bool(), !f.value.Bool()
	}

	c.body(it, &ex.Request, requestFields)
	c.body(it, &ex.Response, responseFields)
}

// side names the fields of one side.
type side struct {
	body, cut, size, length, mediaType, encoding field
}

var (
	requestFields  = side{requestBody, requestCut, requestSize, requestLength, requestType, requestEncoding}
	responseFields = side{responseBody, responseCut, responseSize, responseLength, responseType, responseEncoding}
)

// body fills b from the fields of one side.
func (c *Carrier) body(it *Item, b *verdict.Body, s side) {
	b.Media = mediaType(it.text(s.mediaType))
	size, hasSize := it.size(s)
	f := it.values[s.body]
	if !f.ok || f.value.Type() == pcommon.ValueTypeEmpty {
		if hasSize && size == 0 && b.Media != verdict.MediaEventStream {
			b.Capture, b.Entire = verdict.Whole, true
		}
		return
	}
	encoding := strings.ToLower(strings.TrimSpace(it.text(s.encoding)))
	recorded := it.decode.body(b, f.value, encoding, c.config.MaxBytes)
	if b.Capture == verdict.Opaque {
		return
	}
	if truncated := it.values[s.cut]; truncated.ok && truncated.value.Type() == pcommon.ValueTypeBool && truncated.value.Bool() {
		cut(b)
	}
	comparable := recorded >= 0 && (encoding == "" || encoding == "identity")
	switch {
	case !hasSize || !comparable:
	case recorded < size:
		cut(b)
	case recorded == size && b.Capture == verdict.Whole:
		b.Entire = true
	}
}

// cut notes that the recorder kept less than the body.
func cut(b *verdict.Body) {
	if b.Capture == verdict.Whole {
		b.Capture, b.Entire = verdict.Cut, false
	}
}

// size is the size of the body that the recorder or the peer states.
func (it *Item) size(s side) (int, bool) {
	for _, f := range [...]field{s.size, s.length} {
		if v := it.values[f]; v.ok {
			if n, ok := integer(first(v.value)); ok && n >= 0 {
				return int(n), true
			}
		}
	}
	return 0, false
}

// spanFailure reads what the span says of its own failure.
func (c *Carrier) spanFailure(span ptrace.Span, it *Item, failed bool) {
	ex := &it.Exchange
	words := it.words[:0]
	words = append(words, ex.ErrorType, span.Status().Message())
	for _, event := range span.Events().All() {
		if event.Name() != "exception" || len(words) > 2 {
			continue
		}
		for _, key := range [...]string{"exception.type", "exception.message"} {
			if v, ok := event.Attributes().Get(key); ok {
				words = append(words, text(v))
			}
		}
	}
	ex.Failure = verdict.FailureOf(words...)
	if ex.Failure == verdict.NotFailed && failed {
		ex.Failure = verdict.FailedOther
	}
}

// url reads path and query of the URL and compares the path with the settings.
func (c *Carrier) url(it *Item) {
	ex := &it.Exchange
	path, query := splitURL(it.text(urlFull))
	if target := it.text(urlTarget); path == "" && target != "" {
		path, query, _ = strings.Cut(target, "?")
	}
	if path == "" {
		path = it.text(urlPath)
	}
	if query == "" {
		query = it.text(urlQuery)
	}
	ex.WellKnown = strings.Contains(path, "/.well-known/")
	ex.SessionQuery = hasSession(query)
	for _, want := range c.config.URLPaths {
		if prefix, isPrefix := strings.CutSuffix(want, "*"); path == want || isPrefix && strings.HasPrefix(path, prefix) {
			ex.PathMatch = true
		}
	}
}

// splitURL returns path and query of an absolute URL or of a path with query.
func splitURL(url string) (path, query string) {
	if url == "" {
		return "", ""
	}
	if _, rest, ok := strings.Cut(url, "://"); ok {
		slash := strings.IndexAny(rest, "/?#")
		if slash < 0 {
			return "/", ""
		}
		url = rest[slash:]
	}
	url, _, _ = strings.Cut(url, "#")
	path, query, _ = strings.Cut(url, "?")
	return path, query
}

// hasSession reports whether a query names a session, as the POST endpoints of
// HTTP+SSE servers do (2024-11-05 basic/transports leaves the URI to them).
func hasSession(query string) bool {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, _, _ := strings.Cut(pair, "=")
		switch key {
		case "sessionId", "session_id", "sessionid":
			return true
		}
	}
	return false
}

// IsBody reports whether the attribute called key may hold a body.
func (c *Carrier) IsBody(key string) bool {
	n, ok := c.table.find(key)
	return ok && (n.field == requestBody || n.field == responseBody)
}

func (it *Item) text(f field) string {
	if !it.values[f].ok {
		return ""
	}
	return text(first(it.values[f].value))
}

func (it *Item) number(f field) int64 {
	if !it.values[f].ok {
		return 0
	}
	n, _ := integer(first(it.values[f].value))
	return n
}

// first returns the first element of a header that was recorded as an array,
// and any other value as it is.
func first(v pcommon.Value) pcommon.Value {
	if v.Type() == pcommon.ValueTypeSlice && v.Slice().Len() > 0 {
		return v.Slice().At(0)
	}
	return v
}

// text returns v if it is a string, else "".
func text(v pcommon.Value) string {
	if v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}

// integer returns v as an integer, also where it was recorded as a string.
func integer(v pcommon.Value) (int64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return v.Int(), true
	case pcommon.ValueTypeDouble:
		n := int64(v.Double())
		return n, float64(n) == v.Double()
	case pcommon.ValueTypeStr:
		return parseInteger(v.Str())
	default:
		return 0, false
	}
}

func parseInteger(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return n, err == nil
}
