// Package tap is a reverse proxy that records what passes through it.
//
// A [Proxy] forwards HTTP exchanges to one upstream server without touching
// them and turns each into one OpenTelemetry span that carries both bodies
// under the names of the semantic conventions. It exists for people whose
// servers, gateways or clients do not capture bodies: the mcp processor judges
// an exchange by what was said in it, and these spans say it.
//
// # Span kind
//
// The spans are of kind CLIENT, although a proxy is a server too. What is
// measured is the leg from here to the upstream server: its address, its
// status, its broken connections. The conventions agree with that reading: a
// 4xx answer is an error on a CLIENT span and none on a SERVER span.
//
// # Bounds
//
// An exchange in flight holds at most [Config].MaxBody bytes of each body.
// What lies beyond is forwarded and counted, not kept.
package tap
