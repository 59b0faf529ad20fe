package tap

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// ScopeName is the instrumentation scope of the recorded spans.
const ScopeName = "github.com/otel-mcp/mcpprocessor/cmd/mcptap"

// ExportConfig says where spans go.
type ExportConfig struct {
	// Endpoint is the OTLP/HTTP endpoint; /v1/traces is added to its path.
	Endpoint string
	// Service is the service.name, Version the version of the recorder.
	Service, Version string
	// MaxBody is that of the proxy. It decides how many spans may wait.
	MaxBody int
	// OnError hears of each batch that could not be delivered.
	OnError func(error)
}

// Exporter makes spans and sends them to a collector.
type Exporter struct {
	provider  *sdktrace.TracerProvider
	recorded  atomic.Int64
	delivered atomic.Int64
}

// Spans wait for their export with their bodies, so the queue is bounded by
// what it may weigh, and a batch by what a collector accepts in one request
// (20 MiB unless configured otherwise).
const (
	queueBytes = 64 << 20
	batchBytes = 8 << 20
)

// NewExporter connects to nothing yet: a collector may be started later.
func NewExporter(ctx context.Context, cfg ExportConfig) (*Exporter, error) {
	endpoint, err := tracesEndpoint(cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	client, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint))
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
		resource.WithAttributes(semconv.ServiceName(cfg.Service), semconv.ServiceVersion(cfg.Version)),
	)
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("resource: %w", err)
	}

	perSpan := 2 * cfg.MaxBody
	if perSpan <= 0 {
		perSpan = 2 * DefaultMaxBody
	}
	e := &Exporter{}
	e.provider = sdktrace.NewTracerProvider(
		sdktrace.WithResource(res),
		// A recorder records, whatever was decided about the caller's trace.
		sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithRawSpanLimits(spanLimits()),
		sdktrace.WithSpanProcessor(counting{to: e}),
		sdktrace.WithBatcher(&reporting{SpanExporter: client, to: e, onError: cfg.OnError},
			sdktrace.WithBatchTimeout(time.Second),
			sdktrace.WithMaxQueueSize(min(max(queueBytes/perSpan, 16), 2048)),
			sdktrace.WithMaxExportBatchSize(min(max(batchBytes/perSpan, 1), 256)),
		),
	)
	return e, nil
}

// spanLimits overrides the limits that OTEL_SPAN_* variables may set: they cut
// values without leaving a mark, and a body without its end would be taken for
// a broken one.
func spanLimits() sdktrace.SpanLimits {
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = -1
	limits.AttributeCountLimit = -1
	return limits
}

func tracesEndpoint(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", fmt.Errorf("otlp: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", fmt.Errorf("otlp: %q is not an http:// or https:// address", u.Redacted())
	}
	if path := strings.TrimRight(u.Path, "/"); strings.HasSuffix(path, "/v1/traces") {
		u.Path = path
	} else {
		u.Path = path + "/v1/traces"
	}
	return u.String(), nil
}

// Tracer returns the tracer for a [Proxy].
func (e *Exporter) Tracer(version string) trace.Tracer {
	return e.provider.Tracer(ScopeName, trace.WithInstrumentationVersion(version), trace.WithSchemaURL(semconv.SchemaURL))
}

// Flush sends what waits.
func (e *Exporter) Flush(ctx context.Context) error { return e.provider.ForceFlush(ctx) }

// Shutdown sends what waits and stops.
func (e *Exporter) Shutdown(ctx context.Context) error { return e.provider.Shutdown(ctx) }

// Counts tells how many exchanges were recorded and how many of them a
// collector has accepted. What lies between waits or, after [Exporter.Shutdown],
// is lost.
func (e *Exporter) Counts() (recorded, delivered int64) {
	return e.recorded.Load(), e.delivered.Load()
}

// counting sees every span, also those that a full queue drops.
type counting struct{ to *Exporter }

func (counting) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (c counting) OnEnd(sdktrace.ReadOnlySpan)                   { c.to.recorded.Add(1) }
func (counting) Shutdown(context.Context) error                  { return nil }
func (counting) ForceFlush(context.Context) error                { return nil }

// reporting keeps the errors of one exporter apart from the SDK's global
// handler, so that a program that embeds a tap hears of the tap's alone.
type reporting struct {
	sdktrace.SpanExporter
	to      *Exporter
	onError func(error)
}

func (r *reporting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		r.to.delivered.Add(int64(len(spans)))
		return nil
	}
	if r.onError != nil {
		r.onError(err)
	}
	return nil
}
