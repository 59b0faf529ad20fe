package retry

import (
	"math"
	"strconv"
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// Sender is who counts attempts in a header or attribute.
type Sender uint8

// The senders. NoSender: the name is none of those that count attempts.
const (
	NoSender Sender = iota
	ClientSender
	GatewaySender
)

// counters are the request headers, and the attributes that proxies write on
// their own spans and log records, which count attempts. They do not all begin
// at the same number. A response header of the same name counts what happened
// behind the exchange and says nothing of the exchange.
var counters = [...]struct {
	name   string
	sender Sender
	first  int // what the first attempt has, where it has any
}{
	{"x-envoy-attempt-count", GatewaySender, 1},     // Envoy, include_request_attempt_count; Istio
	{"x-envoy-is-timeout-retry", GatewaySender, 0},  // Envoy: there on a retry after a per-try timeout only
	{"x-retry-attempt", GatewaySender, 0},           // agentgateway, from the first retry on
	{"retry.attempt", GatewaySender, 0},             // agentgateway's log records
	{"retry.count", GatewaySender, 0},               // Envoy's upstream spans
	{"retry-attempt", ClientSender, 0},              // kiota, from the first retry on
	{"x-stainless-retry-count", ClientSender, 0},    // SDKs made by Stainless, on every request
	{"amz-sdk-request", ClientSender, 1},            // AWS SDKs: "attempt=1; max=3"
	{"grpc-previous-rpc-attempts", ClientSender, 0}, // gRPC A6, from the first retry on
}

// ParseResends reads a request header or attribute that counts attempts. It
// returns who counts and how many attempts there were before this one, and
// NoSender for any other name and for what is no number. Names are compared
// without case.
func ParseResends(name, value string) (Sender, int) {
	for i := range counters {
		c := &counters[i]
		if len(c.name) != len(name) || !strings.EqualFold(c.name, name) {
			continue
		}
		n, ok := count(value)
		if !ok {
			return NoSender, 0
		}
		return c.sender, max(n-c.first, 0)
	}
	return NoSender, 0
}

// count reads "2", "attempt=2; max=3" and, for a header that is only there on a
// retry, "true".
func count(value string) (int, bool) {
	value = strings.TrimSpace(value)
	if strings.EqualFold(value, "true") {
		return 1, true
	}
	for part := range strings.SplitSeq(value, ";") {
		if n, ok := strings.CutPrefix(strings.TrimSpace(part), "attempt="); ok {
			value = n
			break
		}
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > math.MaxUint16 {
		return 0, false
	}
	return n, true
}

// neverSent is the closed list of what HTTP clients call a connection that was
// not made: refused, not found, not secured, or not ready in time. Words that
// some clients also use for a connection that broke later are left out.
var neverSent = []string{
	"econnrefused", "connection refused", "connectionrefused", "connection_refused", "actively refused",
	"enotfound", "eai_again", "eai_noname", "getaddrinfo", "no such host", "name or service not known",
	"name resolution", "nameresolution", "name_resolution", "unknownhost", "unresolvedaddress",
	"ehostunreach", "enetunreach", "no route to host", "noroutetohost", "network is unreachable",
	"und_err_connect_timeout", "connecttimeout", "connect timeout", "connect timed out", "connection_timeout",
	"x509:", "certificate verify failed", "self-signed certificate", "self signed certificate", "cert_has_expired",
	"err_tls_cert_altname_invalid", "unable_to_verify_leaf_signature", "sslhandshake", "tls handshake", "secure_connection_error",
}

// NeverSent reports whether words in which an item tells of its failure,
// error.type and the like, say that no connection was made, so that nothing of
// the request reached anybody.
func NeverSent(words ...string) bool {
	for _, w := range words {
		for _, known := range neverSent {
			if verdict.ContainsFold(w, known) {
				return true
			}
		}
	}
	return false
}
