package mcpprocessor

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// caseFile is one file of testdata/cases: an exchange, a sequence of exchanges
// or log records, with what an expert expects of it.
type caseFile struct {
	ID    string `json:"id"`
	Input struct {
		exchange
		Exchanges []exchange  `json:"exchanges"`
		Log       *logRecord  `json:"log"`
		Logs      []logRecord `json:"logs"`
	} `json:"input"`
	Expected struct {
		expectation
		Records []expectation `json:"records"`
	} `json:"expected"`
}

// exchange is one HTTP exchange, or one span as it is.
type exchange struct {
	Request  *side `json:"request"`
	Response *side `json:"response"`
	Span     struct {
		Name           string          `json:"name"`
		Kind           string          `json:"kind"`
		Status         json.RawMessage `json:"status"`
		Attributes     map[string]any  `json:"attributes"`
		AttributesOTLP json.RawMessage `json:"attributes_otlp"`
	} `json:"span"`
	Context struct {
		Kind       string         `json:"kind"`
		Trace      string         `json:"trace"`
		StartMS    *int64         `json:"start_ms"`
		EndMS      *int64         `json:"end_ms"`
		Service    string         `json:"service"`
		Span       string         `json:"span"`
		Parent     string         `json:"parent"`
		Attributes map[string]any `json:"attributes"`
	} `json:"span_context"`
}

// side is one side of an exchange.
type side struct {
	Method     string              `json:"method"`
	URL        string              `json:"url"`
	Status     int                 `json:"status"`
	Headers    map[string]oneOrAll `json:"headers"`
	Body       *string             `json:"body"`
	BodyBase64 []byte              `json:"body_base64"`
	Complete   *bool               `json:"complete"`
}

type logRecord struct {
	Body       json.RawMessage `json:"body"`
	Attributes map[string]any  `json:"attributes"`
	Time       *int64          `json:"time"`
	TraceID    string          `json:"trace_id"`
	SpanID     string          `json:"span_id"`
}

// expectation is what is expected of one span or log record.
type expectation struct {
	MCP     bool     `json:"mcp"`
	Outcome *string  `json:"outcome"`
	Layer   *string  `json:"layer"`
	Code    *int64   `json:"jsonrpc_error_code"`
	Tool    string   `json:"tool"`
	Method  string   `json:"method"`
	Retry   oneOrAll `json:"retry_origin"`
}

// oneOrAll is a string or a list of strings in JSON.
type oneOrAll []string

func (o *oneOrAll) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(o))
	}
	var one *string
	err := json.Unmarshal(data, &one)
	if one != nil {
		*o = []string{*one}
	}
	return err
}

// loadCases reads testdata/cases.
func loadCases(t testing.TB) []*caseFile {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var cases []*caseFile
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		c := new(caseFile)
		require.NoError(t, json.Unmarshal(data, c), file)
		cases = append(cases, c)
	}
	return cases
}

// isLog reports whether the case is about log records.
func (c *caseFile) isLog() bool { return c.Input.Log != nil || c.Input.Logs != nil }

// exchanges are those of a case about spans, except for a span as it is.
func (c *caseFile) exchanges() []exchange {
	switch {
	case c.isLog() || c.isSpan():
		return nil
	case c.Input.Exchanges != nil:
		return c.Input.Exchanges
	default:
		return []exchange{c.Input.exchange}
	}
}

// isSpan reports whether the case is one span as it is.
func (c *caseFile) isSpan() bool {
	return c.Input.Request == nil && c.Input.Response == nil && c.Input.Span.Name != ""
}

// expectations are in the order of the records of the case. Records behind the
// last one are expected to be there and nothing more.
func (c *caseFile) expectations() []expectation {
	if c.Expected.Records != nil {
		return c.Expected.Records
	}
	return []expectation{c.Expected.expectation}
}

// epoch is when the first record of a case was made.
const epoch = 1790000000 * int64(time.Second)

// makeTraces makes the spans of the case, one resource for each service.
func (c *caseFile) makeTraces(t testing.TB) ptrace.Traces {
	t.Helper()
	td := ptrace.NewTraces()
	services := map[string]ptrace.SpanSlice{}
	of := func(service string) ptrace.SpanSlice {
		if _, ok := services[service]; !ok {
			services[service] = newService(td, strings.TrimSuffix(c.ID+"/"+service, "/"))
		}
		return services[service]
	}
	if c.isSpan() {
		c.fillSpan(t, of("").AppendEmpty())
		return td
	}
	for i, ex := range c.exchanges() {
		ex.fill(t, of(ex.Context.Service).AppendEmpty(), c.ID, i)
	}
	return td
}

func newService(td ptrace.Traces, name string) ptrace.SpanSlice {
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", name)
	return rs.ScopeSpans().AppendEmpty().Spans()
}

// fillSpan makes span what the case says it is.
func (c *caseFile) fillSpan(t testing.TB, span ptrace.Span) {
	t.Helper()
	in := &c.Input.Span
	if in.AttributesOTLP != nil {
		var d ptrace.JSONUnmarshaler
		td, err := d.UnmarshalTraces(fmt.Appendf(nil, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":%s,"status":%s}]}]}]}`,
			in.AttributesOTLP, cmp.Or(string(in.Status), "{}")))
		require.NoError(t, err)
		spans(td)[0].CopyTo(span)
	} else {
		putAll(t, span.Attributes(), in.Attributes)
	}
	identify(span, c.ID, c.ID+"/0", epoch, epoch+int64(100*time.Millisecond))
	span.SetName(in.Name)
	span.SetKind(kindOf(in.Kind))
}

// kindOf returns the kind called s, CLIENT if there is none.
func kindOf(s string) ptrace.SpanKind {
	switch s {
	case "SERVER":
		return ptrace.SpanKindServer
	case "INTERNAL":
		return ptrace.SpanKindInternal
	default:
		return ptrace.SpanKindClient
	}
}

// fill makes span the i-th exchange of something called id, as an HTTP
// instrumentation that records headers and bodies would.
func (ex *exchange) fill(t testing.TB, span ptrace.Span, id string, i int) {
	t.Helper()
	var none side
	request, response := cmp.Or(ex.Request, &none), cmp.Or(ex.Response, &none)
	a := span.Attributes()
	kind := kindOf(ex.Context.Kind)

	putIfSet(a, "http.request.method", request.Method)
	putIfSet(a, "url.full", request.URL)
	request.put(a, "request")
	if response.Status != 0 {
		a.PutInt("http.response.status_code", int64(response.Status))
	}
	response.put(a, "response")

	extra := maps.Clone(ex.Context.Attributes)
	if extra == nil {
		extra = map[string]any{}
	}
	maps.Copy(extra, ex.Span.Attributes)
	failed := response.Status == 0 || response.Status >= 400 && kind == ptrace.SpanKindClient || response.Status >= 500 ||
		string(ex.Span.Status) == `"ERROR"`
	if response.Complete != nil && !*response.Complete && request.Method == http.MethodPost && response.Status != 0 {
		failed = true
		if extra["error.type"] == nil {
			extra["error.type"] = "connection_closed"
		}
	}
	putAll(t, a, extra)
	if failed {
		span.Status().SetCode(ptrace.StatusCodeError)
	}

	begin := int64(i) * 1000
	if ex.Context.StartMS != nil {
		begin = *ex.Context.StartMS
	}
	end := begin + 100
	if ex.Context.EndMS != nil {
		end = *ex.Context.EndMS
	}
	identify(span, id+cmp.Or(ex.Context.Trace, "t"), id+"/"+cmp.Or(ex.Context.Span, fmt.Sprint(i)),
		epoch+begin*int64(time.Millisecond), epoch+end*int64(time.Millisecond))
	if ex.Context.Parent != "" {
		span.SetParentSpanID(pcommon.SpanID(digest(id + "/" + ex.Context.Parent)[:8]))
	}
	span.SetName(cmp.Or(request.Method, "POST") + " /mcp")
	span.SetKind(kind)
}

// put adds headers and body of the side called name.
func (s *side) put(a pcommon.Map, name string) {
	for _, header := range slices.Sorted(maps.Keys(s.Headers)) {
		values := a.PutEmptySlice("http." + name + ".header." + strings.ToLower(header))
		for _, value := range s.Headers[header] {
			values.AppendEmpty().SetStr(value)
		}
	}
	switch {
	case s.BodyBase64 != nil:
		a.PutEmptyBytes("http." + name + ".body.content").FromRaw(s.BodyBase64)
	case s.Body != nil:
		a.PutStr("http."+name+".body.content", *s.Body)
	}
}

func putIfSet(a pcommon.Map, key, value string) {
	if value != "" {
		a.PutStr(key, value)
	}
}

func putAll(t testing.TB, a pcommon.Map, attributes map[string]any) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		value := attributes[key]
		if f, ok := value.(float64); ok && f == float64(int64(f)) {
			value = int64(f)
		}
		require.NoError(t, a.PutEmpty(key).FromRaw(value))
	}
}

// identify sets ids, made from names, and times.
func identify(span ptrace.Span, trace, id string, begin, end int64) {
	span.SetTraceID(pcommon.TraceID(digest(trace)[:16]))
	span.SetSpanID(pcommon.SpanID(digest(id)[:8]))
	span.SetStartTimestamp(pcommon.Timestamp(begin))
	span.SetEndTimestamp(pcommon.Timestamp(end))
}

func digest(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// makeLogs makes the log records of the case.
func (c *caseFile) makeLogs(t testing.TB) plog.Logs {
	t.Helper()
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", c.ID)
	all := c.Input.Logs
	if c.Input.Log != nil {
		all = append(all, *c.Input.Log)
	}
	out := rl.ScopeLogs().AppendEmpty().LogRecords()
	for i, in := range all {
		record := out.AppendEmpty()
		at := int64(i)
		if in.Time != nil {
			at = *in.Time
		}
		record.SetTimestamp(pcommon.Timestamp(epoch + at*int64(time.Second)))
		if len(in.Body) > 0 {
			setJSON(t, record.Body(), in.Body)
		}
		putAll(t, record.Attributes(), in.Attributes)
		if in.TraceID != "" {
			record.SetTraceID(pcommon.TraceID(digest(c.ID + in.TraceID)[:16]))
			record.SetSpanID(pcommon.SpanID(digest(c.ID + cmp.Or(in.SpanID, "s"))[:8]))
		}
	}
	return ld
}

// setJSON sets v to the JSON value data. The order of members stays, and what is
// written with a point or an exponent is a double.
func setJSON(t testing.TB, v pcommon.Value, data []byte) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	setToken(t, v, d)
}

func setToken(t testing.TB, v pcommon.Value, d *json.Decoder) {
	t.Helper()
	token, err := d.Token()
	require.NoError(t, err)
	switch token := token.(type) {
	case nil:
	case bool:
		v.SetBool(token)
	case string:
		v.SetStr(token)
	case json.Number:
		if n, err := token.Int64(); err == nil {
			v.SetInt(n)
			return
		}
		f, err := token.Float64()
		require.NoError(t, err)
		v.SetDouble(f)
	case json.Delim:
		if token == '[' {
			for s := v.SetEmptySlice(); d.More(); {
				setToken(t, s.AppendEmpty(), d)
			}
		} else {
			for m := v.SetEmptyMap(); d.More(); {
				key, err := d.Token()
				require.NoError(t, err)
				setToken(t, m.PutEmpty(key.(string)), d)
			}
		}
		_, err := d.Token()
		require.NoError(t, err)
	}
}
