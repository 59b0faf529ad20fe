package mcpprocessor

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// recorded is one line of a file in testdata/traffic: an exchange as a recording
// proxy between real SDKs and servers saw it, with what it is labelled as.
type recorded struct {
	Seq             int                 `json:"seq"`
	Scenario        string              `json:"scenario"`
	Client          string              `json:"client"`
	Start           time.Time           `json:"start"`
	EndTime         time.Time           `json:"end_time"`
	Method          string              `json:"method"`
	Path            string              `json:"path"`
	Status          int                 `json:"status"`
	End             string              `json:"end"`
	RequestHeaders  map[string]oneOrAll `json:"request_headers"`
	ResponseHeaders map[string]oneOrAll `json:"response_headers"`
	RequestBody     *string             `json:"request_body"`
	ResponseBody    *string             `json:"response_body"`
	ResponseBase64  []byte              `json:"response_body_b64"`
	// Resent is set where the request was sent again.
	Resent   any `json:"resent"`
	Expected struct {
		// Outcome is nil if the exchange is not one of MCP or nothing says so.
		Outcome *string `json:"outcome"`
		// Accept are all outcomes that are right, if there are several.
		Accept []*string `json:"accept"`
		Code   *int64    `json:"code"`
		Tool   string    `json:"tool"`
		Batch  any       `json:"batch"`
	} `json:"expected"`
}

// brokenBy is the error.type that an HTTP client gives for how a recorded
// exchange ended.
var brokenBy = map[string]string{
	"cut_by_proxy_rst": "ECONNRESET",
	"cut_by_server":    "ECONNRESET",
	"no_response":      "ECONNRESET",
	"client_closed":    "AbortError",
}

// fill makes span the exchange, recorded to the file called name.
func (r *recorded) fill(t testing.TB, span ptrace.Span, name string) {
	t.Helper()
	ex := exchange{
		Request:  &side{Method: r.Method, URL: "https://mcp.example.test" + r.Path, Headers: r.RequestHeaders, Body: r.RequestBody},
		Response: &side{Status: r.Status, Headers: r.ResponseHeaders, Body: r.ResponseBody, BodyBase64: r.ResponseBase64},
	}
	ex.fill(t, span, name, r.Seq)
	if word, ok := brokenBy[r.End]; ok && r.Method == http.MethodPost {
		span.Status().SetCode(ptrace.StatusCodeError)
		span.Attributes().PutStr("error.type", word)
	}
	// Instrumentations put every try of a call under the span of the caller. The
	// scripted driver has no caller.
	trace := name + "/" + r.Scenario
	if r.scripted() {
		trace += fmt.Sprintf("/%d", r.Seq)
	} else {
		span.SetParentSpanID(pcommon.SpanID(digest(trace + "/caller")[:8]))
	}
	end := r.EndTime
	if end.Before(r.Start) {
		end = r.Start
	}
	identify(span, trace, fmt.Sprintf("%s/%d", name, r.Seq), r.Start.UnixNano(), end.UnixNano())
}

// scripted reports whether no SDK sent the request but a script.
func (r *recorded) scripted() bool { return strings.HasPrefix(r.Client, "raw-driver") }

// problems says what is wrong with the attributes a of the exchange.
func (r *recorded) problems(a pcommon.Map) (wrong []string) {
	want := r.Expected
	accept := want.Accept
	if accept == nil {
		accept = []*string{want.Outcome}
	}
	got := outcomeOf(a)
	if !slices.ContainsFunc(accept, func(o *string) bool { return o == nil && got == "" || o != nil && *o == got }) {
		return []string{fmt.Sprintf("outcome: want %s, got %q", marshal(accept), got)}
	}
	if got != "" && want.Code != nil && want.Batch == nil && attr(a, "jsonrpc.error.code") != *want.Code {
		wrong = append(wrong, fmt.Sprintf("code: want %d, got %v", *want.Code, attr(a, "jsonrpc.error.code")))
	}
	if want.Outcome != nil && want.Tool != "" && attr(a, "gen_ai.tool.name") != want.Tool {
		wrong = append(wrong, fmt.Sprintf("tool: want %q, got %v", want.Tool, attr(a, "gen_ai.tool.name")))
	}
	if origin := attr(a, "mcp.retry_origin"); !r.scripted() && want.Outcome != nil && r.Resent == nil && origin != nil && origin != "none" {
		wrong = append(wrong, fmt.Sprintf("a retry is claimed that was none: %v", origin))
	}
	return wrong
}

func marshal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// loadTraffic reads a file of testdata/traffic.
func loadTraffic(t testing.TB, file string) (lines []*recorded) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		line := new(recorded)
		require.NoError(t, json.Unmarshal(scanner.Bytes(), line))
		lines = append(lines, line)
	}
	require.NoError(t, scanner.Err())
	return lines
}

func TestTraffic(t *testing.T) {
	const batch = 40
	in := start(t, "")
	files, err := filepath.Glob(filepath.Join("testdata", "traffic", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			for lines := range slices.Chunk(loadTraffic(t, file), batch) {
				td := ptrace.NewTraces()
				service := newService(td, name)
				for _, line := range lines {
					line.fill(t, service.AppendEmpty(), name)
				}
				for i, span := range spans(in.processTraces(td)) {
					for _, problem := range lines[i].problems(span.Attributes()) {
						t.Errorf("%d %s %d %s: %s", lines[i].Seq, lines[i].Method, lines[i].Status, lines[i].End, problem)
					}
				}
			}
		})
	}
	in.requireQuiet(warnsOfAbsentBodies)
}
