package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// collector takes OTLP/HTTP JSON and keeps the attributes of the spans.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []map[string]string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	// The SDK's exporter speaks JSON too, which spares the test a protobuf.
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		type attributes []struct {
			Key   string
			Value struct{ StringValue string }
		}
		var in struct {
			ResourceSpans []struct {
				Resource   struct{ Attributes attributes }
				ScopeSpans []struct {
					Spans []struct{ Attributes attributes }
				}
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, rs := range in.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					m := map[string]string{"path": r.URL.Path}
					for _, a := range append(rs.Resource.Attributes, s.Attributes...) {
						m[a.Key] = a.Value.StringValue
					}
					c.spans = append(c.spans, m)
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// start runs mcptap until stop is called, which returns its exit code.
func start(t *testing.T, log io.Writer, args ...string) (url string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	address, code := make(chan net.Addr, 1), make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"-listen", "127.0.0.1:0"}, args...), io.Discard, log, func(a net.Addr) { address <- a })
	}()
	select {
	case a := <-address:
		return "http://" + a.String(), func() int { cancel(); return <-code }
	case c := <-code:
		cancel()
		t.Fatalf("ended with %d", c)
		return "", nil
	}
}

func TestRecordsUntilItIsStopped(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {}\n\n")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/open" {
			<-r.Context().Done()
		}
	}))
	defer upstream.Close()
	c := newCollector(t)
	var log bytes.Buffer
	url, stop := start(t, &log, "-upstream", upstream.URL, "-otlp", c.URL, "-service", "shop")

	for range 3 {
		res, err := http.Post(url+"/mcp", "application/json", strings.NewReader(`{"id":1}`))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(res.Body)
		res.Body.Close()
	}
	res, err := http.Get(url + "/open")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = bufio.NewReader(res.Body).ReadString('\n')

	began := time.Now()
	if code := stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("stopping took %v", took)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.spans) != 4 {
		t.Fatalf("%d spans arrived", len(c.spans))
	}
	for _, s := range c.spans {
		if s["path"] != "/v1/traces" || s["service.name"] != "shop" || s["http.response.body.content"] != "data: {}\n\n" || s["error.type"] != "" {
			t.Errorf("%v", s)
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "recorded=4 delivered=4 lost=0") {
		t.Errorf("log:\n%s", log.String())
	}
}

func TestExportFailureIsLoggedOnce(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	otlp := httptest.NewServer(http.NotFoundHandler())
	defer otlp.Close()
	var log bytes.Buffer
	// A batch holds one span with bodies of this size.
	url, stop := start(t, &log, "-upstream", upstream.URL, "-otlp", otlp.URL, "-max-body", "8388608")
	for range 3 {
		res, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	if code := stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(log.String(), "404 Not Found"); n == 0 || strings.Count(log.String(), "could not be delivered") != 1 || !strings.Contains(log.String(), "lost=3") {
		t.Errorf("log:\n%s", log.String())
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, 2, "-upstream is missing"},
		{[]string{"-upstream", "localhost:3000"}, 1, "not an http:// or https:// address"},
		{[]string{"-upstream", "http://u:p@h"}, 1, "user info"},
		{[]string{"-upstream", "http://h", "-max-body", "0"}, 2, "at least 1"},
		{[]string{"-upstream", "http://h", "-otlp", "localhost:4317"}, 1, "not an http:// or https:// address"},
		{[]string{"-upstream", "http://h", "extra"}, 2, "unexpected argument"},
		{[]string{"-upstream", "http://h", "-listen", "nowhere"}, 1, "missing port"},
		{[]string{"-help"}, 0, "-max-body"},
		{[]string{"-version"}, 0, "mcptap "},
	} {
		var out bytes.Buffer
		if code := run(context.Background(), c.args, &out, &out, nil); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v: code %d, output %s", c.args, code, out.String())
		}
	}
}
