package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"

	"github.com/otel-mcp/mcpprocessor"
)

// configuration is that of a collector which does nothing but receive, judge and
// send on, all by default. Its own metrics are counted, as in any collector.
const configuration = `
receivers:
  otlp:
    protocols:
      grpc:
        endpoint: %s
processors:
  mcp: %s
exporters:
  otlp_grpc:
    endpoint: %s
    tls: {insecure: true}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [mcp], exporters: [otlp_grpc]}
  telemetry:
    logs: {level: error}
    metrics:
      level: normal
      readers:
        - pull: {exporter: {prometheus: {host: 127.0.0.1, port: %d}}}
`

// collector is a collector in this process.
type collector struct {
	col  *otelcol.Collector
	done chan error
}

// startCollector starts a collector between two addresses, with watch on its
// processor.
func startCollector(ctx context.Context, in, out, settings string, watch *stopwatch) (*collector, error) {
	metrics, err := freePort()
	if err != nil {
		return nil, err
	}
	if settings == "" {
		settings = "{}"
	}
	col, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.NewDefaultBuildInfo(),
		Factories: func() (otelcol.Factories, error) { return factories(watch) },
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs:              []string{"yaml:" + fmt.Sprintf(configuration, in, settings, out, metrics)},
			ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
		DisableGracefulShutdown: true,
	})
	if err != nil {
		return nil, err
	}
	c := &collector{col: col, done: make(chan error, 1)}
	go func() { c.done <- col.Run(ctx) }()
	for col.GetState() != otelcol.StateRunning {
		select {
		case err := <-c.done:
			return nil, fmt.Errorf("the collector did not start: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return c, nil
}

func (c *collector) shutdown() error {
	c.col.Shutdown()
	return <-c.done
}

func factories(watch *stopwatch) (f otelcol.Factories, err error) {
	f.Telemetry = otelconftelemetry.NewFactory()
	if f.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory()); err != nil {
		return f, err
	}
	if f.Processors, err = otelcol.MakeFactoryMap[processor.Factory](watch.timed(mcpprocessor.NewFactory())); err != nil {
		return f, err
	}
	f.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](otlpexporter.NewFactory())
	return f, err
}

// freePort returns a port of the loopback interface that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func freeAddress() (string, error) {
	port, err := freePort()
	return fmt.Sprintf("127.0.0.1:%d", port), err
}
