// Package carrier finds in spans and log records what an MCP exchange was: its
// bodies, status, headers and what is on the item already.
package carrier

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// Config says where to look and how far to read.
type Config struct {
	// RequestAttributes and ResponseAttributes hold bodies, the first found
	// wins.
	RequestAttributes, ResponseAttributes []string
	// FragmentAttributes hold the results of tool calls without their envelopes.
	FragmentAttributes []string
	// MessageAttributes of log records hold JSON-RPC messages.
	MessageAttributes []string
	// LogPaths are the members of structured log bodies that hold bodies.
	LogPaths []LogPath
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
	config   Config
	table    *table // of spans
	logTable *table
	// signs and logSigns are those of the names that may be signs of MCP.
	signs, logSigns *signs
	// pathNames are the names of members that are looked up in structured logs.
	pathNames map[string]bool
}

// New returns a Carrier that looks where c says.
func New(c Config) *Carrier {
	var bodies []name
	for _, list := range []struct {
		names []string
		side  side
	}{{c.RequestAttributes, requestFields}, {c.ResponseAttributes, responseFields}} {
		for i, n := range list.names {
			rank := uint8(min(i, 255))
			bodies = append(bodies, name{n, list.side.body, rank}, name{n + ".truncated", list.side.cut, rank},
				name{n + ".base64", list.side.base64, rank}, name{n + ".encoding", list.side.coding, rank})
		}
	}
	bodies = append(bodies, ranked(c.FragmentAttributes, fragment)...)
	messages := ranked(c.MessageAttributes, message)
	fixed := slices.Concat(names, ranked(clientCounters, clientCounter), ranked(gatewayCounters, gatewayCounter))
	paths := slices.Concat(statusPaths, methodPaths, urlPaths, sessionPaths, versionPaths, headerPaths)
	for _, p := range c.LogPaths {
		paths = append(paths, p.Request, p.Response)
	}
	return &Carrier{
		config: c, pathNames: namesIn(paths...),
		table: newTable(bodies, fixed), logTable: newTable(bodies, fixed, messages, logNames),
		signs: c.signsOf(bodies, fixed), logSigns: c.signsOf(bodies, fixed, messages, logNames),
	}
}

// Item is what was found on one span or log record. It is made by [NewItems] and
// used again for the next one.
type Item struct {
	// Exchange is what to judge.
	Exchange verdict.Exchange
	// Outcome is the mcp.outcome that is on the item already, likewise Class,
	// and HasOutcome whether there is anything of the group of attributes that
	// tell the outcome. It is written whole or not at all.
	Outcome    string
	HasOutcome bool
	Class      string
	// Session tells exchanges of several clients apart: the session id of a
	// header, or of the URI of an HTTP+SSE endpoint.
	Session string
	// Text is where in a log record the messages were found.
	Text TextPlace
	// ToServer and ToClient say which way the messages of a log record went,
	// where it tells. Stream tells several servers in one log apart.
	ToServer, ToClient bool
	Stream             string

	values [fieldCount]found
	set    []field // of values
	more   bool    // one of them is of what few items have
	used   bool    // more than values was set
	words  [4]string
	decode *decoder

	querySession string
	noStatus     bool // the record says that no response came
	found        textFound
	reader       *jsonrpc.Reader // finds messages in the text of log records
}

// NewItems returns n Items, which share what is large: they are filled one after
// the other.
func NewItems(n int) []*Item {
	items := make([]*Item, n)
	decode, reader := new(decoder), new(jsonrpc.Reader)
	for i := range items {
		items[i] = &Item{decode: decode, reader: reader}
	}
	return items
}

// found is the value of one field with the rank of the name that it was under.
type found struct {
	value pcommon.Value
	rank  uint8
	ok    bool
}

// reset makes it ready for the next item. Most items are none of MCP, so only
// what was set is cleared.
func (it *Item) reset() {
	for _, f := range it.set {
		it.values[f] = found{}
	}
	it.set, it.more = it.set[:0], false
	it.Outcome, it.HasOutcome, it.Class = "", false, ""
	if !it.used {
		return
	}
	it.used = false
	it.Exchange = verdict.Exchange{}
	it.Session, it.Text = "", TextPlace{}
	it.ToServer, it.ToClient, it.Stream = false, false, ""
	it.querySession, it.noStatus, it.found = "", false, textFound{}
	clear(it.words[:])
}

// FailureWords are the words in which the item tells of its failure.
func (it *Item) FailureWords() []string { return it.words[:] }

// Forget drops what the Item refers to of the data that it was used for.
func (it *Item) Forget() {
	it.reset()
	it.decode.forget()
	it.reader.Reset("", jsonrpc.JSON)
}

// Span reads span into it and reports whether there is a sign that it may be
// of MCP, so that its bodies are worth reading.
func (c *Carrier) Span(span ptrace.Span, it *Item) bool {
	sign := c.attributes(c.table, span.Attributes(), it)
	if !it.hasBody() && span.Events().Len() > 0 {
		sign = c.bodyEvents(span, it) || sign
	}
	if !sign {
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
func (c *Carrier) attributes(t *table, attributes pcommon.Map, it *Item) bool {
	it.reset()
	sign := false
	for key, value := range attributes.All() {
		n := t.find(key)
		if n == nil {
			continue
		}
		switch n.field {
		case outcome:
			it.HasOutcome, it.Outcome = true, text(value)
			continue
		case outcomeClass:
			it.Class, it.HasOutcome = text(value), true
			continue
		case outcomeOther:
			it.HasOutcome = true
			continue
		case sessionHeader, versionHeader, methodHeader, nameHeader:
			sign, it.used, it.Exchange.Header = true, true, true
		case knownMethod:
			sign = sign || c.config.InstrumentedSpans
		case fragment:
			sign = true
		}
		it.note(n, value)
	}
	if sign || it.HasOutcome {
		return true
	}
	if len(c.config.URLPaths) > 0 {
		c.url(it)
		if it.Exchange.PathMatch {
			return true
		}
	}
	return it.mentions()
}

// note keeps value under the name n, unless a name of lower rank has told the
// field.
func (it *Item) note(n *name, value pcommon.Value) {
	v := &it.values[n.field]
	if !v.ok {
		it.set = append(it.set, n.field)
		it.more = it.more || firstOfMore <= n.field && n.field <= lastOfMore
	}
	if !v.ok || n.rank < v.rank {
		*v = found{value: value, rank: n.rank, ok: true}
	}
}

// hasBody reports whether an attribute holds a body.
func (it *Item) hasBody() bool {
	return it.values[requestBody].ok || it.values[responseBody].ok || it.values[requestBase64].ok || it.values[responseBase64].ok
}

// mentions reports whether a body may hold a JSON-RPC message. What is in
// base64 cannot be told without decoding it.
func (it *Item) mentions() bool {
	request, response := &it.values[requestBody], &it.values[responseBody]
	return request.ok && mentions(request.value) || response.ok && mentions(response.value) ||
		it.values[requestBase64].ok || it.values[responseBase64].ok
}

// bodyEvents looks for bodies in the span events http.request and
// http.response, where some recorders put them.
func (c *Carrier) bodyEvents(span ptrace.Span, it *Item) bool {
	for _, event := range span.Events().All() {
		if !isBodyEvent(event) {
			continue
		}
		for key, value := range event.Attributes().All() {
			if n := c.table.find(key); n != nil && n.field < fieldCount {
				it.note(n, value)
			}
		}
	}
	return it.hasBody() && it.mentions()
}

func isBodyEvent(event ptrace.SpanEvent) bool {
	return event.Name() == "http.request" || event.Name() == "http.response"
}

// sweepWord is what each JSON-RPC message has in it, also where it was escaped
// into a string.
const sweepWord = "jsonrpc"

// mentions reports whether a body may hold a JSON-RPC message.
func mentions(body pcommon.Value) bool {
	switch body.Type() {
	case pcommon.ValueTypeStr:
		text := body.Str()
		return strings.HasPrefix(text, `{"`+sweepWord) || strings.Contains(text, sweepWord)
	case pcommon.ValueTypeBytes:
		return strings.Contains(string(body.Bytes().AsRaw()), sweepWord)
	case pcommon.ValueTypeMap:
		_, ok := body.Map().Get(sweepWord)
		return ok
	case pcommon.ValueTypeSlice:
		for _, v := range body.Slice().All() {
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
	it.used = true
	ex := &it.Exchange
	ex.HTTPMethod = strings.ToUpper(it.text(httpMethod))
	ex.Status = int(it.number(status))
	c.url(it)
	ex.HTTP = ex.HTTPMethod != "" || it.values[status].ok || it.values[urlFull].ok || it.values[urlPath].ok || it.values[urlTarget].ok

	if it.more {
		it.moreOf(ex)
	}
	if it.Session == "" {
		it.Session = it.querySession
	}

	c.body(it, &ex.Request, requestFields)
	c.body(it, &ex.Response, responseFields)
	if f := it.values[fragment]; f.ok {
		it.decode.body(&ex.Fragment, f.value, "", c.config.MaxBytes)
	}
	if it.Session == "" && ex.Response.Media == verdict.MediaEventStream {
		it.Session = endpointSession(ex.Response.Text)
	}
}

// moreOf fills in what few items have.
func (it *Item) moreOf(ex *verdict.Exchange) {
	ex.SessionID = it.text(sessionHeader)
	if it.Session = ex.SessionID; it.Session == "" {
		it.Session = it.text(knownSession)
	}
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
	ex.KnownID = it.values[knownID].ok
	if rpc := it.text(rpcMethod); rpc != "" && ex.KnownMethod == "" && verdict.MethodNamed(rpc) != verdict.OtherMethod {
		ex.KnownMethod = rpc
	}
	if f := it.values[knownCode]; f.ok {
		ex.KnownCode, ex.HasCode = integer(f.value)
	}
	if f := it.values[knownIsError]; f.ok && f.value.Type() == pcommon.ValueTypeBool {
		ex.IsError, ex.IsNoError = f.value.Bool(), !f.value.Bool()
	}
}

// side names the fields of one side.
type side struct {
	body, cut, base64, coding, size, length, mediaType, encoding field
}

var (
	requestFields = side{
		requestBody, requestCut, requestBase64, requestCoding, requestSize, requestLength, requestType, requestEncoding,
	}
	responseFields = side{
		responseBody, responseCut, responseBase64, responseCoding, responseSize, responseLength, responseType, responseEncoding,
	}
)

// body fills b from the fields of one side.
func (c *Carrier) body(it *Item, b *verdict.Body, s side) {
	b.Media = mediaType(it.text(s.mediaType))
	size, hasSize := it.size(s)
	f := it.values[s.body]
	if b64 := it.values[s.base64]; !f.ok && b64.ok && b64.value.Type() == pcommon.ValueTypeStr {
		f = b64
	}
	if !f.ok || f.value.Type() == pcommon.ValueTypeEmpty {
		if hasSize && size == 0 && b.Media != verdict.MediaEventStream {
			b.Capture, b.Entire = verdict.Whole, true
		}
		return
	}
	encoding := strings.ToLower(strings.TrimSpace(it.text(s.encoding)))
	if coding := it.text(s.coding); encoding == "" && isContentCoding(coding) {
		encoding = coding
	}
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
	it.used = true
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
	it.querySession, ex.SessionQuery = sessionOf(query)
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
		authority := len(rest)
		for _, end := range "/?#" {
			if i := strings.IndexByte(rest[:authority], byte(end)); i >= 0 {
				authority = i
			}
		}
		if authority == len(rest) {
			return "/", ""
		}
		url = rest[authority:]
	}
	url, _, _ = strings.Cut(url, "#")
	path, query, _ = strings.Cut(url, "?")
	return path, query
}

// sessionOf returns the session that a query names, as the POST endpoints of
// HTTP+SSE servers do (2024-11-05 basic/transports leaves the URI to them).
func sessionOf(query string) (string, bool) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "sessionId", "session_id", "sessionid":
			return value, true
		}
	}
	return "", false
}

// endpointSession returns the session in the URI of the event `endpoint`, with
// which a stream of HTTP+SSE begins (2024-11-05 basic/transports).
func endpointSession(stream string) string {
	const beginning = 1 << 10
	stream = stream[:min(len(stream), beginning)]
	if !strings.Contains(stream, "endpoint") {
		return ""
	}
	for line := range strings.FieldsFuncSeq(stream, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if data, ok := strings.CutPrefix(line, "data:"); ok {
			_, query := splitURL(strings.TrimSpace(data))
			session, _ := sessionOf(query)
			return session
		}
	}
	return ""
}

// IsBody reports whether the attribute called key may hold a body.
func (c *Carrier) IsBody(key string) bool {
	n := c.logTable.find(key)
	if n == nil {
		return false
	}
	switch n.field {
	case requestBody, responseBody, requestBase64, responseBase64, fragment:
		return true
	default:
		return false
	}
}

// Label tells the log that a record belongs to from others of the same vantage.
func (it *Item) Label() string {
	label := it.Stream
	for _, f := range [...]field{logFile, logThread, logLogger} {
		if v := it.values[f]; v.ok {
			label += "\x00" + v.value.AsString()
		}
	}
	return label
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
