//go:generate ./internal/tools/generate.sh

// Package mcpprocessor is an OpenTelemetry Collector processor that reads the
// MCP (Model Context Protocol) JSON-RPC bodies that HTTP spans and log records
// carry, says at which layer each exchange ended and how, and writes that as
// attributes, so that any backend can split failures by layer.
package mcpprocessor
