package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The pipeline of the demonstration: the processor as it comes, with two
// attributes more than it writes by default.
const collectorConfig = `receivers:
  otlp:
    protocols:
      http:
        endpoint: %s
processors:
  mcp:
    attributes:
      mcp.protocol.version:
        enabled: true
      error.type:
        enabled: true
exporters:
  file:
    path: %q
    flush_interval: 100ms
service:
  telemetry:
    metrics:
      level: none
    logs:
      level: warn
  pipelines:
    traces:
      receivers: [otlp]
      processors: [mcp]
      exporters: [file]
`

// collector is the process that judges.
type collector struct {
	endpoint string // OTLP/HTTP
	output   string // the file that it writes
	cmd      *exec.Cmd
	log      bytes.Buffer
	exited   chan struct{}
}

// startCollector starts the binary and waits until it listens.
func startCollector(ctx context.Context, binary, dir string) (*collector, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	c := &collector{endpoint: "http://" + address, output: filepath.Join(dir, "spans.jsonl"), exited: make(chan struct{})}
	config := filepath.Join(dir, "collector.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, collectorConfig, address, c.output), 0o600); err != nil {
		return nil, err
	}
	c.cmd = exec.Command(binary, "--config", config)
	c.cmd.Dir = dir
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the collector: %w", err)
	}
	go func() {
		_ = c.cmd.Wait()
		close(c.exited)
	}()
	if err := c.waitUntilItListens(ctx, address); err != nil {
		if log := c.logAfterStop(); log != "" {
			err = fmt.Errorf("%w; its log:\n%s", err, log)
		}
		return nil, err
	}
	return c, nil
}

func (c *collector) waitUntilItListens(ctx context.Context, address string) error {
	for {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			_ = conn.Close()
			return nil
		}
		select {
		case <-c.exited:
			return errors.New("the collector ended before it listened")
		case <-ctx.Done():
			return fmt.Errorf("the collector does not listen: %w", context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stop ends the process, gently at first. It may be called twice.
func (c *collector) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.exited:
	case <-time.After(5 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.exited
	}
}

// freeAddress finds a port on the loopback interface that nobody uses.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// logAfterStop stops the collector, since its log may be read only then.
func (c *collector) logAfterStop() string {
	c.stop()
	return lastLines(c.log.String(), 15)
}
