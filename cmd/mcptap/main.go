// Command mcptap is a recording reverse proxy for MCP servers. It forwards
// everything untouched and exports each exchange, with both bodies, as an
// OpenTelemetry span.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/otel-mcp/mcpprocessor/cmd/mcptap/tap"
)

// version is set by the linker in releases.
var version = ""

// How long a stop waits: first for exchanges to end by themselves, then for
// the spans to be delivered.
const (
	graceForExchanges = 500 * time.Millisecond
	graceForExport    = 5 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, nil)
	stop()
	os.Exit(code)
}

type options struct {
	listen, otlp, service string
	upstream              *url.URL
	maxBody               int
}

var errVersion = errors.New("version asked for")

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("mcptap", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, "mcptap records what passes between an MCP client and its server.\n\n"+
			"  mcptap -upstream http://127.0.0.1:3000 [-listen 127.0.0.1:8080] [-otlp http://127.0.0.1:4318]\n\n"+
			"Then give the client the address of mcptap in place of the server's.\n\n")
		fs.PrintDefaults()
	}
	fs.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address` to listen on")
	upstream := fs.String("upstream", "", "`URL` of the server to forward to (required)")
	fs.StringVar(&o.otlp, "otlp", "http://127.0.0.1:4318", "OTLP/HTTP `endpoint` of the collector")
	fs.StringVar(&o.service, "service", "mcptap", "service.`name` of the spans")
	fs.IntVar(&o.maxBody, "max-body", tap.DefaultMaxBody, "`bytes` kept of each body")
	showVersion := fs.Bool("version", false, "print the version and exit")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if *showVersion {
		return o, errVersion
	}
	fail := func(format string, a ...any) (options, error) {
		err := fmt.Errorf(format, a...)
		fmt.Fprintf(stderr, "mcptap: %v\nRun mcptap -help for the flags.\n", err)
		return o, err
	}
	if fs.NArg() > 0 {
		return fail("unexpected argument %q", fs.Arg(0))
	}
	if *upstream == "" {
		return fail("-upstream is missing, for example -upstream http://127.0.0.1:3000")
	}
	if o.maxBody < 1 {
		return fail("-max-body %d: must be at least 1", o.maxBody)
	}
	var err error
	if o.upstream, err = url.Parse(*upstream); err != nil {
		return fail("-upstream: %v", err)
	}
	return o, nil
}

// run is main without the process. listening, if not nil, is told the address.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, listening func(net.Addr)) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, errVersion):
		fmt.Fprintln(stdout, "mcptap", buildVersion())
		return 0
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	if err := serve(ctx, o, logger, listening); err != nil {
		logger.Error("mcptap ended", "error", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, o options, logger *slog.Logger, listening func(net.Addr)) error {
	exporter, err := tap.NewExporter(ctx, tap.ExportConfig{
		Endpoint: o.otlp, Service: o.service, Version: buildVersion(), MaxBody: o.maxBody,
		OnError: oncePerKind(logger, o.otlp),
	})
	if err != nil {
		return err
	}
	proxy, err := tap.New(tap.Config{Upstream: o.upstream, Tracer: exporter.Tracer(buildVersion()), MaxBody: o.maxBody})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}

	requests, cancelRequests := context.WithCancelCause(context.Background())
	defer cancelRequests(tap.ErrStopped)
	server := &http.Server{
		Handler:           proxy,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	logger.Info("mcptap is recording", "listen", "http://"+listener.Addr().String(), "upstream", o.upstream.String(), "otlp", o.otlp)
	if listening != nil {
		listening(listener.Addr())
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	select {
	case err = <-served:
	case <-ctx.Done():
		err = nil
		stop(server, cancelRequests)
	}

	flush, cancel := context.WithTimeout(context.Background(), graceForExport)
	defer cancel()
	if ferr := exporter.Shutdown(flush); ferr != nil {
		logger.Warn("not everything was delivered", "error", ferr)
	}
	recorded, delivered := exporter.Counts()
	logger.Info("mcptap has stopped", "recorded", recorded, "delivered", delivered, "lost", recorded-delivered)
	return err
}

// stop lets short exchanges end and then ends the streams, which would go on
// for as long as the client likes.
func stop(server *http.Server, cancelRequests context.CancelCauseFunc) {
	grace, cancel := context.WithTimeout(context.Background(), graceForExchanges)
	defer cancel()
	if server.Shutdown(grace) == nil {
		return
	}
	cancelRequests(tap.ErrStopped)
	again, cancelAgain := context.WithTimeout(context.Background(), graceForExchanges)
	defer cancelAgain()
	if server.Shutdown(again) != nil {
		_ = server.Close()
	}
}

// oncePerKind logs the first failure of each kind: a collector that is down
// for an hour is one piece of news.
func oncePerKind(logger *slog.Logger, endpoint string) func(error) {
	var seen sync.Map
	return func(err error) {
		kind := tap.ExportFailureKind(err)
		if _, known := seen.LoadOrStore(kind, true); known {
			return
		}
		logger.Warn("spans could not be delivered; further failures of this kind are not logged",
			"otlp", endpoint, "kind", kind, "error", err)
	}
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
