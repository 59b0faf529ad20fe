package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The numbers that OTLP has for these.
const (
	kindClient  = 3
	statusError = 2
)

// object is a JSON object.
type object = map[string]any

// exchange is one call and its answer.
type exchange struct {
	trace, span string // ids, in hexadecimal
	start       time.Time
	request     string
	status      int
	response    string
}

const answer = `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"done"}]}}`

func call(id int, tool string, argument int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"n":%d}}}`, id, tool, argument)
}

func (e *exchange) attributes() []any {
	all := []any{
		attribute("http.request.method", "stringValue", "POST"),
		attribute("url.full", "stringValue", "http://127.0.0.1:8000/mcp"),
		attribute("http.response.status_code", "intValue", fmt.Sprint(e.status)),
		attribute("http.request.body.content", "stringValue", e.request),
	}
	if e.response != "" {
		all = append(all, attribute("http.response.body.content", "stringValue", e.response))
	}
	return all
}

func attribute(name, kind string, value any) object {
	return object{"key": name, "value": object{kind: value}}
}

// parent is the id of the span under which all calls of a trace are made. It is
// never sent.
const parent = "00000000000000ff"

// spans is an OTLP/HTTP request.
func spans(exchanges []exchange) object {
	var all []any
	for _, e := range exchanges {
		span := object{
			"traceId": e.trace, "spanId": e.span, "parentSpanId": parent, "name": "POST", "kind": kindClient,
			"startTimeUnixNano": nanoseconds(e.start), "endTimeUnixNano": nanoseconds(e.start.Add(10 * time.Millisecond)),
			"attributes": e.attributes(),
		}
		if e.status >= 400 {
			span["status"] = object{"code": statusError}
		}
		all = append(all, span)
	}
	return object{"resourceSpans": []any{object{"resource": resource(), "scopeSpans": []any{object{"spans": all}}}}}
}

// records is an OTLP/HTTP request as well.
func records(exchanges []exchange) object {
	var all []any
	for _, e := range exchanges {
		all = append(all, object{
			"traceId": e.trace, "spanId": e.span, "timeUnixNano": nanoseconds(e.start), "attributes": e.attributes(),
		})
	}
	return object{"resourceLogs": []any{object{"resource": resource(), "scopeLogs": []any{object{"logRecords": all}}}}}
}

func resource() object {
	return object{"attributes": []any{attribute("service.name", "stringValue", "agent")}}
}

func nanoseconds(t time.Time) string { return fmt.Sprint(t.UnixNano()) }

var client = http.Client{Timeout: 20 * time.Second}

// post sends an OTLP/HTTP request to the front and returns when it is
// acknowledged.
func post(t *testing.T, address, signal string, body object) {
	t.Helper()
	data, err := json.Marshal(body)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/"+signal, bytes.NewReader(data))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// item is a span or a log record as a worker wrote it.
type item struct {
	TraceID    string     `json:"traceId"`
	SpanID     string     `json:"spanId"`
	Attributes []keyValue `json:"attributes"`
	Links      []struct {
		SpanID string `json:"spanId"`
	} `json:"links"`
}

type keyValue struct {
	Key   string `json:"key"`
	Value struct {
		String string `json:"stringValue"`
	} `json:"value"`
}

func (i *item) attribute(name string) string {
	for _, a := range i.Attributes {
		if a.Key == name {
			return a.Value.String
		}
	}
	return ""
}

// output is what a worker has written so far.
type output struct {
	spans, records []item
}

func read(t *testing.T, file string) (o output) {
	t.Helper()
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return o // not yet
	}
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []item `json:"spans"`
				} `json:"scopeSpans"`
			} `json:"resourceSpans"`
			ResourceLogs []struct {
				ScopeLogs []struct {
					LogRecords []item `json:"logRecords"`
				} `json:"scopeLogs"`
			} `json:"resourceLogs"`
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue // a line that is not written whole, not yet or for good
		}
		for _, r := range line.ResourceSpans {
			for _, s := range r.ScopeSpans {
				o.spans = append(o.spans, s.Spans...)
			}
		}
		for _, r := range line.ResourceLogs {
			for _, s := range r.ScopeLogs {
				o.records = append(o.records, s.LogRecords...)
			}
		}
	}
	require.NoError(t, lines.Err())
	return o
}
