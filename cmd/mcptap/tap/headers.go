package tap

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Only these headers are recorded: what describes a body, what MCP says in
// headers, and what tells of a repeated attempt. Credentials and cookies are
// not among them, and a header that nobody thought of is left out.
var (
	requestHeaders = []string{
		"Accept",
		"Content-Encoding",
		"Content-Type",
		"Last-Event-Id",
		"Mcp-Method",
		"Mcp-Name",
		"Mcp-Protocol-Version",
		"Mcp-Session-Id",

		"Amz-Sdk-Request",
		"Idempotency-Key",
		"Retry-Attempt",
		"X-Envoy-Attempt-Count",
		"X-Envoy-Is-Timeout-Retry",
		"X-Idempotency-Key",
		"X-Retry-Attempt",
		"X-Stainless-Retry-Count",
	}
	responseHeaders = []string{
		"Allow",
		"Content-Encoding",
		"Content-Type",
		"Mcp-Protocol-Version",
		"Mcp-Session-Id",
		"Retry-After",
		"Server",
		"Www-Authenticate",
		"X-Envoy-Attempt-Count",
	}
)

// Bounds on what one header may take, since a client chooses its length.
const (
	maxHeaderValues = 8
	maxStringBytes  = 4096
)

type headerAttribute func(key string, values ...string) attribute.KeyValue

func headerAttributes(h http.Header, names []string, attr headerAttribute) []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, name := range names {
		values := h.Values(name)
		if len(values) == 0 {
			continue
		}
		values = slices.Clone(values[:min(len(values), maxHeaderValues)])
		for i, v := range values {
			if name == "Www-Authenticate" {
				// What follows the scheme may name realms, scopes and
				// addresses, and in some schemes a challenge.
				v, _, _ = strings.Cut(strings.TrimSpace(v), " ")
			}
			values[i] = clean(v)
		}
		out = append(out, attr(strings.ToLower(name), values...))
	}
	return out
}

func requestHeaderAttributes(h http.Header) []attribute.KeyValue {
	return headerAttributes(h, requestHeaders, semconv.HTTPRequestHeader)
}

func responseHeaderAttributes(h http.Header) []attribute.KeyValue {
	return headerAttributes(h, responseHeaders, semconv.HTTPResponseHeader)
}

// clean bounds a string and makes it valid UTF-8: one invalid byte would make
// the whole batch impossible to send.
func clean(s string) string {
	if len(s) > maxStringBytes {
		s = string(trimPartialRune([]byte(s[:maxStringBytes])))
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// secretParameters are query parameters that carry credentials. A name counts
// if one of these is all of it or its last part.
var secretParameters = []string{
	"key", "apikey", "token", "secret", "password", "passwd", "pwd",
	"sig", "signature", "credential", "auth", "code", "awsaccesskeyid",
}

// recordedURL is the address as it may be shown: no user info, no credentials.
func recordedURL(u *url.URL) string {
	shown := *u
	shown.User = nil
	shown.Fragment = ""
	if shown.RawQuery != "" {
		parts := strings.Split(shown.RawQuery, "&")
		for i, part := range parts {
			if name, _, ok := strings.Cut(part, "="); ok && secretParameter(name) {
				parts[i] = name + "=REDACTED"
			}
		}
		shown.RawQuery = strings.Join(parts, "&")
	}
	return clean(shown.String())
}

func secretParameter(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	for _, s := range secretParameters {
		if rest, ok := strings.CutSuffix(name, s); ok && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], "-_.")) {
			return true
		}
	}
	return false
}
