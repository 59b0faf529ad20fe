package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// expectation is what is expected of one span or log record.
type expectation struct {
	Outcome *string `json:"outcome"`
	Layer   *string `json:"layer"`
	Code    *int64  `json:"jsonrpc_error_code"`
	Tool    string  `json:"tool"`
	Method  string  `json:"method"`
	// Retry is a string or a list of them.
	Retry any `json:"retry_origin"`
}

type testCase struct {
	ID       string `json:"id"`
	Input    object `json:"input"`
	Expected struct {
		expectation
		Records []expectation `json:"records"`
	} `json:"expected"`
}

// TestCollector starts the collector, sends it the cases of testdata/cases, reads
// what it exports and stops it.
func TestCollector(t *testing.T) {
	c := startCollector(t)
	cases := loadCases(t)
	sent := 0
	for _, tc := range cases {
		signal, body, items := request(tc.ID, tc.Input)
		c.send(t, signal, body)
		sent += items
	}
	require.Eventually(t, func() bool { return len(c.received()) >= sent }, 20*time.Second, 100*time.Millisecond, "not all items came out")
	c.stop(t)

	received := c.received()
	require.Len(t, received, sent)
	var notYet object // what does not come out right yet
	readJSON(t, filepath.Join("..", "testdata", "not_yet.json"), &notYet)
	for _, tc := range cases {
		t.Run(tc.ID, func(t *testing.T) {
			expected := tc.Expected.Records
			if expected == nil {
				expected = []expectation{tc.Expected.expectation}
			}
			var wrong []string
			for i, want := range expected {
				got := received[fmt.Sprintf("%s %d", tc.ID, i)]
				require.NotNil(t, got, "item %d", i)
				wrong = append(wrong, want.problems(got)...)
			}
			if reason, waits := notYet[tc.ID]; waits {
				require.NotEmpty(t, wrong, "passes: take it out of testdata/not_yet.json (%v)", reason)
			} else {
				require.Empty(t, wrong)
			}
		})
	}
}

// problems says what is wrong with the attributes got.
func (want *expectation) problems(got map[string]string) (wrong []string) {
	compare := func(name, value string) {
		if got[name] != value {
			wrong = append(wrong, fmt.Sprintf("%s: want %q, got %q", name, value, got[name]))
		}
	}
	if want.Outcome == nil {
		compare("mcp.outcome", "")
		return wrong
	}
	compare("mcp.outcome", *want.Outcome)
	layer, code := "", ""
	if want.Layer != nil {
		layer = *want.Layer
	}
	if want.Code != nil {
		code = fmt.Sprint(*want.Code)
	}
	compare("mcp.layer", layer)
	compare("jsonrpc.error.code", code)
	if want.Tool != "" {
		compare("gen_ai.tool.name", want.Tool)
	}
	if want.Method != "" {
		compare("mcp.method.name", want.Method)
	}
	retry := cmp.Or(got["mcp.retry_origin"], "none")
	if allowed, isList := want.Retry.([]any); isList && !slices.Contains(allowed, any(retry)) || !isList && want.Retry != nil && want.Retry != retry {
		wrong = append(wrong, fmt.Sprintf("mcp.retry_origin: want %v, got %q", want.Retry, retry))
	}
	if !slices.Contains([]string{"success", "failure", "pending", "neutral", "unknown"}, got["mcp.outcome_class"]) {
		wrong = append(wrong, "no class")
	}
	return wrong
}

func loadCases(t *testing.T) (cases []testCase) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "cases", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		var tc testCase
		readJSON(t, file, &tc)
		cases = append(cases, tc)
	}
	return cases
}

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(v), file)
}

const config = `
receivers:
  otlp: {protocols: {http: {endpoint: %[1]q}}}
processors:
  mcp:
exporters:
  file/traces: {path: %[2]q, flush_interval: 100ms}
  file/logs: {path: %[3]q, flush_interval: 100ms}
service:
  telemetry: {logs: {level: warn}, metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], processors: [mcp], exporters: [file/traces]}
    logs: {receivers: [otlp], processors: [mcp], exporters: [file/logs]}
`

// collector is a running collector.
type collector struct {
	address string
	files   []string // what it exports
	command *exec.Cmd
	log     *bytes.Buffer
	ended   chan error
}

// startCollector starts the collector and waits until it listens.
func startCollector(t *testing.T) *collector {
	t.Helper()
	binary := os.Getenv("MCP_COLLECTOR")
	if binary == "" {
		binary = filepath.Join("..", "build", "otelcol-mcp")
	}
	if _, err := os.Stat(binary); err != nil {
		t.Fatalf("There is no collector to test: %v. Build it with `make build`, or name one in MCP_COLLECTOR.", err)
	}
	folder := t.TempDir()
	c := &collector{
		address: freeAddress(t),
		files:   []string{filepath.Join(folder, "traces.json"), filepath.Join(folder, "logs.json")},
		log:     new(bytes.Buffer),
		ended:   make(chan error, 1),
	}
	settings := filepath.Join(folder, "config.yaml")
	require.NoError(t, os.WriteFile(settings, fmt.Appendf(nil, config, c.address, c.files[0], c.files[1]), 0o600))
	c.command = exec.Command(binary, "--config", settings)
	c.command.Stdout, c.command.Stderr = c.log, c.log
	require.NoError(t, c.command.Start())
	go func() { c.ended <- c.command.Wait() }()
	t.Cleanup(func() {
		_ = c.command.Process.Kill() // in case the test has failed
	})

	deadline := time.After(30 * time.Second)
	for {
		connection, err := net.DialTimeout("tcp", c.address, time.Second)
		if err == nil {
			require.NoError(t, connection.Close())
			return c
		}
		select {
		case err := <-c.ended:
			t.Fatalf("The collector has ended: %v\n%s", err, c.log)
		case <-deadline:
			t.Fatalf("The collector does not listen on %s: %v", c.address, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// send sends an OTLP/HTTP request.
func (c *collector) send(t *testing.T, signal string, body object) {
	t.Helper()
	data, err := json.Marshal(body)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+"/v1/"+signal, bytes.NewReader(data))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// received returns the attributes of what was exported so far, by case and number
// of the item.
func (c *collector) received() map[string]map[string]string {
	type item struct {
		Attributes []keyValue `json:"attributes"`
	}
	type resourceItems struct {
		Resource   item `json:"resource"`
		ScopeSpans []struct {
			Spans []item `json:"spans"`
		} `json:"scopeSpans"`
		ScopeLogs []struct {
			LogRecords []item `json:"logRecords"`
		} `json:"scopeLogs"`
	}
	all := map[string]map[string]string{}
	for _, file := range c.files {
		f, err := os.Open(file)
		if err != nil {
			continue // not yet
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var line struct {
				ResourceSpans []resourceItems `json:"resourceSpans"`
				ResourceLogs  []resourceItems `json:"resourceLogs"`
			}
			if json.Unmarshal(lines.Bytes(), &line) != nil {
				continue // a line that is not yet written whole
			}
			for _, r := range append(line.ResourceSpans, line.ResourceLogs...) {
				var items []item
				for _, s := range r.ScopeSpans {
					items = append(items, s.Spans...)
				}
				for _, s := range r.ScopeLogs {
					items = append(items, s.LogRecords...)
				}
				for _, it := range items {
					a := texts(it.Attributes)
					id, _, _ := strings.Cut(texts(r.Resource.Attributes)["service.name"], "/")
					all[id+" "+a[number]] = a
				}
			}
		}
		f.Close()
	}
	return all
}

type keyValue struct {
	Key   string                     `json:"key"`
	Value map[string]json.RawMessage `json:"value"`
}

// texts returns attributes by name, strings and integers as their text.
func texts(attributes []keyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		for _, raw := range a.Value {
			var s string
			if json.Unmarshal(raw, &s) == nil {
				all[a.Key] = s
			}
		}
	}
	return all
}

// stop stops the collector as an orchestrator would. It ends by itself and has
// nothing to say.
func (c *collector) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, c.command.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-c.ended:
		require.NoError(t, err, "exit code\n%s", c.log)
	case <-time.After(15 * time.Second):
		t.Fatal("The collector does not stop.")
	}
	for line := range strings.Lines(c.log.String()) {
		require.Contains(t, line, "MCP exchanges arrive without their bodies", "a line in the log")
	}
}
