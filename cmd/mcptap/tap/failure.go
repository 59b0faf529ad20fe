package tap

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"
)

// clientGone is the error.type of an exchange that was given up by the caller.
// It is the text of [context.Canceled], the word that Go programs put there.
const clientGone = "context canceled"

var errnoWords = []struct {
	errno syscall.Errno
	word  string
}{
	{syscall.ECONNREFUSED, "ECONNREFUSED"},
	{syscall.ECONNRESET, "ECONNRESET"},
	{syscall.ECONNABORTED, "ECONNABORTED"},
	{syscall.EPIPE, "EPIPE"},
	{syscall.ETIMEDOUT, "ETIMEDOUT"},
	{syscall.EHOSTUNREACH, "EHOSTUNREACH"},
	{syscall.ENETUNREACH, "ENETUNREACH"},
	{syscall.EADDRNOTAVAIL, "EADDRNOTAVAIL"},
	{syscall.EMFILE, "EMFILE"},
}

// FailureWord names the kind of a network failure in one word of low
// cardinality, fit for error.type. Type names would not do: most errors of the
// net package share one type.
func FailureWord(err error) string {
	if errors.Is(err, context.Canceled) {
		return clientGone
	}
	// Before the timeouts, since ETIMEDOUT is one and says more.
	for _, e := range errnoWords {
		if errors.Is(err, e.errno) {
			return e.word
		}
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return "timeout"
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return "name_not_resolved"
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return "server_certificate_invalid"
	}
	var record tls.RecordHeaderError
	var alert tls.AlertError
	if errors.As(err, &record) || errors.As(err, &alert) {
		return "tls_handshake_failed"
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "unexpected_EOF"
	}
	// net/http keeps the types of these to itself.
	switch text := err.Error(); {
	case strings.Contains(text, "server closed idle connection"):
		return "ECONNRESET"
	case strings.Contains(text, "stream error: stream ID"), strings.Contains(text, "GOAWAY"):
		return "http2_stream_error"
	case strings.Contains(text, "malformed"):
		return "malformed_response"
	}
	return "_OTHER"
}

// ExportFailureKind groups failures to deliver spans: the HTTP status if the
// collector answered, else the network failure.
func ExportFailureKind(err error) string {
	if m := httpStatus.FindString(err.Error()); m != "" {
		return m
	}
	return FailureWord(err)
}

// The exporter of the SDK has the status in its text only: "failed to send to
// URL: 404 Not Found (body: ...)".
var httpStatus = regexp.MustCompile(`\b[45][0-9]{2} [A-Z][A-Za-z-]+( [A-Z][A-Za-z-]+)*`)
