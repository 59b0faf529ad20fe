package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test binary plays a collector when it is started as one: it writes down
// what it gets and judges nothing.
func TestMain(m *testing.M) {
	switch os.Getenv("DEMO_TEST_COLLECTOR") {
	case "":
		os.Exit(m.Run())
	case "fake":
		fakeCollector(os.Args[len(os.Args)-1])
	case "broken":
		_, _ = os.Stderr.WriteString("no such processor\n")
		os.Exit(1)
	}
}

func fakeCollector(config string) {
	text, err := os.ReadFile(config)
	if err != nil {
		panic(err)
	}
	setting := func(key string) string {
		return strings.Trim(string(regexp.MustCompile(key + `: (\S+)`).FindSubmatch(text)[1]), `"`)
	}
	file, err := os.Create(setting("path"))
	if err != nil {
		panic(err)
	}
	err = http.ListenAndServe(setting("endpoint"), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var line bytes.Buffer
		body, _ := io.ReadAll(r.Body)
		if err := json.Compact(&line, body); err != nil {
			panic(err)
		}
		line.WriteByte('\n')
		_, _ = file.Write(line.Bytes())
	}))
	panic(err)
}

// TestScript plays the script and looks at what was recorded, without a
// processor.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Setenv("DEMO_TEST_COLLECTOR", "fake")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json") // so that the fake need not know protobuf
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	steps, exchanges, err := record(ctx, os.Args[0], t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rows, rest := join(steps, exchanges)
	for _, r := range rows {
		if !r.found {
			t.Errorf("%s: no exchange", r.want.Name)
			continue
		}
		if r.want.HTTP != 0 && r.got.status() != r.want.HTTP {
			t.Errorf("%s: status %d, want %d", r.want.Name, r.got.status(), r.want.HTTP)
		}
		if !strings.Contains(r.got.Attrs["http.request.body.content"], `"jsonrpc":"2.0"`) {
			t.Errorf("%s: request body %q", r.want.Name, r.got.Attrs["http.request.body.content"])
		}
	}
	if len(rest) < 7 {
		t.Errorf("only %d exchanges around the calls", len(rest))
	}
	errorType := func(name string) string {
		i := slices.IndexFunc(rows, func(r row) bool { return r.want.Name == name })
		return rows[i].got.Attrs["error.type"]
	}
	for name, want := range map[string]string{
		"tool call": "", "tool reports an error": "", "gateway overloaded": "503",
		"stream breaks": "unexpected_EOF", "caller gives up": "context canceled",
	} {
		if got := errorType(name); got != want {
			t.Errorf("%s: error.type %q, want %q", name, got, want)
		}
	}
	if got := errorType("connection reset"); got != "ECONNRESET" && got != "unexpected_EOF" && got != "EPIPE" {
		t.Errorf("connection reset: error.type %q", got)
	}
}

// TestDemo is the demonstration itself, with the real collector.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the collector")
	}
	binary := cmp.Or(os.Getenv("MCP_COLLECTOR"), filepath.Join("..", "build", "otelcol-mcp"))
	if _, err := os.Stat(binary); err != nil {
		t.Skipf("there is no collector at %s: run `make build` or set MCP_COLLECTOR", binary)
	}
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	if err := run(t.Context(), &out, options{collector: binary, timeout: time.Minute}); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

func TestCollectorThatIsNotThere(t *testing.T) {
	err := run(t.Context(), io.Discard, options{collector: "no/such/file", timeout: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("%v", err)
	}
}

func TestCollectorThatDoesNotStart(t *testing.T) {
	t.Setenv("DEMO_TEST_COLLECTOR", "broken")
	_, err := startCollector(t.Context(), os.Args[0], t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "no such processor") {
		t.Errorf("%v", err)
	}
}

func TestInterruptStopsTheCollector(t *testing.T) {
	t.Setenv("DEMO_TEST_COLLECTOR", "fake")
	c, err := startCollector(t.Context(), os.Args[0], t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.stop()
	select {
	case <-c.exited:
	default:
		t.Error("it is still running")
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if _, _, err := record(ctx, os.Args[0], t.TempDir()); err == nil {
		t.Error("no error")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v to stop", took)
	}
}
