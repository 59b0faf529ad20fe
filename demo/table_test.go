package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func made(traceID string, start uint64, pairs ...string) exchange {
	e := exchange{TraceID: traceID, Start: start, Attrs: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		e.Attrs[pairs[i]] = pairs[i+1]
	}
	return e
}

var (
	steps = []step{
		{trace{traceID: "a"}, []want{{"good", 200, "application", "TOOL_SUCCESS", "", ""}}},
		{trace{traceID: "b"}, []want{
			{"question", 200, "interaction", "INPUT_REQUIRED", "", ""},
			{"answer", 200, "application", "TOOL_SUCCESS", "", ""},
		}},
		{trace{traceID: "c"}, []want{{"unknown tool", 200, "protocol", "JSONRPC_ERROR", "-32602", "invalid_params"}}},
		{trace{traceID: "d"}, []want{{"lost", 200, "protocol", "RPC_SUCCESS", "", ""}}},
		{trace{traceID: "e"}, []want{{"reset", -1, "transport", "NO_RESPONSE", "", ""}}},
	}
	written = []exchange{
		made("x", 1, "http.request.method", "POST", "mcp.method.name", "initialize", "http.response.status_code", "200", "mcp.layer", "protocol", "mcp.outcome", "RPC_SUCCESS"),
		made("a", 2, "http.response.status_code", "200", "mcp.layer", "application", "mcp.outcome", "TOOL_SUCCESS"),
		made("b", 3, "http.response.status_code", "200", "mcp.layer", "interaction", "mcp.outcome", "INPUT_REQUIRED"),
		made("b", 4, "http.response.status_code", "200", "mcp.layer", "application", "mcp.outcome", "TOOL_SUCCESS"),
		made("b", 5, "http.request.method", "DELETE", "http.response.status_code", "204"),
		made("c", 6, "http.response.status_code", "400", "mcp.layer", "protocol", "mcp.outcome", "JSONRPC_ERROR", "mcp.outcome_class", "failure", "jsonrpc.error.code", "-32602", "mcp.outcome_reason", "invalid_params"),
		made("x", 7, "http.request.method", "POST", "mcp.method.name", "initialize", "http.response.status_code", "200", "mcp.layer", "protocol", "mcp.outcome", "RPC_SUCCESS"),
		made("e", 8, "mcp.layer", "transport", "mcp.outcome", "NO_RESPONSE", "mcp.outcome_class", "failure"),
	}
)

func TestTable(t *testing.T) {
	rows, rest := join(steps, written)
	var b strings.Builder
	if err := printTable(&b, rows, rest); err != nil {
		t.Fatal(err)
	}
	const want = `
CALL            HTTP  LAYER        OUTCOME         CODE    REASON
good            200   application  TOOL_SUCCESS
question        200   interaction  INPUT_REQUIRED
answer          200   application  TOOL_SUCCESS
unknown tool    400   protocol     JSONRPC_ERROR   -32602  invalid_params
lost            ?     ?            ?
reset           -     transport    NO_RESPONSE

AROUND THEM
2 x initialize  200   protocol     RPC_SUCCESS
1 x DELETE      204                (not MCP)
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
	if got, want := summary(rows), "2 of 6 exchanges failed: 1 transport, 1 protocol. 0 of the failures have a good HTTP status."; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestProblems(t *testing.T) {
	rows, _ := join(steps, written)
	for i, want := range []string{
		"", "", "",
		"HTTP status is 400, expected 200",
		"the collector wrote nothing about it",
		"",
	} {
		if got := rows[i].problem(); got != want {
			t.Errorf("%s: %q, want %q", rows[i].want.Name, got, want)
		}
	}
	r := row{found: true, want: want{HTTP: -1, Layer: "transport", Outcome: "NO_RESPONSE", Code: "1", Reason: "x"}, got: made("", 0, "http.response.status_code", "200")}
	if got, want := r.problem(), "HTTP status is 200, expected -; layer is missing, expected transport; outcome is missing, expected NO_RESPONSE; code is missing, expected 1; reason is missing, expected x"; got != want {
		t.Errorf("%q", got)
	}
}

func TestReadExchanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	if got, err := readExchanges(path); got != nil || err != nil {
		t.Errorf("a file that is not there yet: %v %v", got, err)
	}
	line := func(id, start string) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"` + id + `","startTimeUnixNano":"` + start + `","attributes":[` +
			`{"key":"mcp.outcome","value":{"stringValue":"X"}},{"key":"jsonrpc.error.code","value":{"intValue":"-32602"}},` +
			`{"key":"b","value":{"boolValue":true}},{"key":"l","value":{"arrayValue":{}}}]}]}]}]}`
	}
	if err := os.WriteFile(path, []byte(line("AB", "2")+"\n"+line("cd", "1")+"\n"+line("ef", "3")[:40]), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readExchanges(path)
	if err != nil || len(got) != 2 || got[0].TraceID != "cd" || got[1].TraceID != "ab" {
		t.Fatalf("%v %v", got, err)
	}
	if a := got[0].Attrs; a["mcp.outcome"] != "X" || a["jsonrpc.error.code"] != "-32602" || a["b"] != "true" || len(a) != 3 {
		t.Errorf("%v", a)
	}
	if err := os.WriteFile(path, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readExchanges(path); err == nil {
		t.Error("a broken line was accepted")
	}
}

func TestScriptNamesEveryCallOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range script() {
		for _, w := range c.wants {
			if seen[w.Name] || w.Layer == "" || w.Outcome == "" {
				t.Errorf("%+v", w)
			}
			seen[w.Name] = true
		}
	}
}

func TestNextNamesSectionsOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(next, -1) {
		if !strings.Contains(string(readme), "\n## "+m[1]+"\n") {
			t.Errorf("README.md has no section %q", m[1])
		}
	}
}
