// Command demo shows what the mcp processor makes of real MCP traffic.
//
// It starts the collector, an MCP server and an MCP client made with the
// official Go SDK, and mcptap between them; plays a script of calls that end in
// every common way; prints what the collector wrote about each; and stops
// everything again. It fails if a verdict is not the expected one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/otel-mcp/mcpprocessor/cmd/mcptap/tap"
)

func main() {
	collector := flag.String("collector", "../build/otelcol-mcp", "the collector `binary` to run")
	keep := flag.Bool("keep", false, "keep the folder with the collector's configuration and output")
	timeout := flag.Duration("timeout", 30*time.Second, "give up after this `time`")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, options{collector: *collector, keep: *keep, timeout: *timeout})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

type options struct {
	collector string
	keep      bool
	timeout   time.Duration
}

func run(ctx context.Context, out io.Writer, o options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("it took longer than %v", o.timeout))
	defer cancel()

	binary, err := filepath.Abs(o.collector)
	if err != nil {
		return err
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("there is no collector at %s; build it with `make build` in the root of the repository", o.collector)
	}
	dir, err := os.MkdirTemp("", "mcp-demo-")
	if err != nil {
		return err
	}
	if o.keep {
		defer fmt.Fprintf(out, "\nThe collector's configuration and what it wrote are in %s\n", dir)
	} else {
		defer os.RemoveAll(dir)
	}

	steps, exchanges, err := record(ctx, binary, dir)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
		return err
	}
	rows, rest := join(steps, exchanges)

	fmt.Fprint(out, "A real MCP client and server talked through mcptap; this is what the collector wrote about it.\n\n")
	if err := printTable(out, rows, rest); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n", summary(rows))

	var failures []error
	for _, r := range rows {
		if p := r.problem(); p != "" {
			failures = append(failures, fmt.Errorf("%q: %s", r.want.Name, p))
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("the collector did not say what was expected:\n%w", errors.Join(failures...))
	}
	fmt.Fprint(out, next)
	return nil
}

// next names sections of the README in the root of the repository.
const next = `
Next: ` + "`make run`" + ` starts the same collector for your own traffic, and mcptap records it.
README.md says how to go on: "Use it in your collector", "Attributes and outcomes", "Where bodies come from".
`

// record plays the script and returns its steps and what the collector wrote.
func record(ctx context.Context, binary, dir string) (steps []step, exchanges []exchange, err error) {
	collector, err := startCollector(ctx, binary, dir)
	if err != nil {
		return nil, nil, err
	}
	defer collector.stop()

	mcpServer := newServer()
	server, err := listen(withFaults(serverHandler(mcpServer)))
	if err != nil {
		return nil, nil, err
	}
	defer server.close()

	var lost error
	exporter, err := tap.NewExporter(ctx, tap.ExportConfig{
		Endpoint: collector.endpoint, Service: "demo", Version: "demo", MaxBody: tap.DefaultMaxBody,
		OnError: func(err error) { lost = err },
	})
	if err != nil {
		return nil, nil, err
	}
	proxy, err := tap.New(tap.Config{Upstream: server.url, Tracer: exporter.Tracer("demo")})
	if err != nil {
		return nil, nil, err
	}
	between, err := listen(proxy)
	if err != nil {
		return nil, nil, err
	}
	defer between.close()

	client := newClient(between.url.String())
	defer client.close()
	steps, err = play(ctx, &stage{server: mcpServer, client: client})
	if err != nil {
		return nil, nil, err
	}
	// The sessions are closed. When the last handler has returned, the last
	// span has ended.
	if err := between.drain(ctx); err != nil {
		return nil, nil, fmt.Errorf("an exchange does not end: %w", err)
	}
	if err := exporter.Shutdown(ctx); err != nil {
		return nil, nil, err
	}
	if lost != nil {
		return nil, nil, fmt.Errorf("the collector did not take the spans: %w", lost)
	}
	recorded, _ := exporter.Counts()
	exchanges, err = waitForExchanges(ctx, collector.output, int(recorded))
	if err != nil {
		return nil, nil, fmt.Errorf("%w; the collector's log:\n%s", err, collector.logAfterStop())
	}
	return steps, exchanges, nil
}

// waitForExchanges reads the collector's output until all are there.
func waitForExchanges(ctx context.Context, path string, n int) ([]exchange, error) {
	for {
		exchanges, err := readExchanges(path)
		if err != nil || len(exchanges) >= n {
			return exchanges, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the collector wrote %d of %d exchanges: %w", len(exchanges), n, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// listener is an HTTP server on a loopback port of its own.
type listener struct {
	url    *url.URL
	server *http.Server
}

func listen(h http.Handler) (*listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &listener{
		url:    &url.URL{Scheme: "http", Host: l.Addr().String()},
		server: &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second},
	}
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

func (l *listener) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return l.server.Shutdown(ctx)
}

func (l *listener) close() { _ = l.server.Close() }
