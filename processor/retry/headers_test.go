package retry

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseResends(t *testing.T) {
	for _, row := range []struct {
		name, value string
		sender      Sender
		resends     int
	}{
		// The first attempt and the first retry of each.
		{"x-envoy-attempt-count", "1", GatewaySender, 0},
		{"x-envoy-attempt-count", "2", GatewaySender, 1},
		{"X-Envoy-Attempt-Count", " 3 ", GatewaySender, 2},
		{"x-envoy-attempt-count", "0", GatewaySender, 0},
		{"x-envoy-is-timeout-retry", "true", GatewaySender, 1},
		{"x-retry-attempt", "1", GatewaySender, 1},
		{"retry.attempt", "2", GatewaySender, 2},
		{"retry.count", "1", GatewaySender, 1},
		{"retry-attempt", "1", ClientSender, 1},
		{"x-stainless-retry-count", "0", ClientSender, 0},
		{"x-stainless-retry-count", "1", ClientSender, 1},
		{"amz-sdk-request", "attempt=1; max=3", ClientSender, 0},
		{"amz-sdk-request", "ttl=20260801T000000Z; attempt=2; max=3", ClientSender, 1},
		{"grpc-previous-rpc-attempts", "1", ClientSender, 1},
		// What says nothing.
		{"x-envoy-attempt-count", "", NoSender, 0},
		{"x-envoy-attempt-count", "many", NoSender, 0},
		{"x-envoy-attempt-count", "-1", NoSender, 0},
		{"x-envoy-attempt-count", "99999999999999999999", NoSender, 0},
		{"amz-sdk-request", "max=3", NoSender, 0},
		{"retry-after", "1", NoSender, 0},
		{"http.request.resend_count", "1", NoSender, 0},
		{"", "1", NoSender, 0},
	} {
		sender, resends := ParseResends(row.name, row.value)
		assert.Equal(t, row.sender, sender, "%s: %s", row.name, row.value)
		assert.Equal(t, row.resends, resends, "%s: %s", row.name, row.value)
	}
}

func TestNeverSent(t *testing.T) {
	for _, word := range []string{
		"ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:80", "dial tcp 127.0.0.1:80: connect: connection refused", "java.net.UnknownHostException",
		"ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT", "httpx.ConnectTimeout", "name_resolution_error", "tls: failed to verify certificate: x509: certificate signed by unknown authority",
	} {
		assert.True(t, NeverSent("", word), word)
	}
	for _, word := range []string{
		"", "ECONNRESET", "ETIMEDOUT", "timeout", "context deadline exceeded", "socket hang up", "ConnectionError", "fetch failed", "ReadTimeout", "500",
	} {
		assert.False(t, NeverSent(word), word)
	}
}
