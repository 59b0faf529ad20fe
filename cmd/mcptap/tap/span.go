package tap

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// The body attributes are newer than the generated constants of the SDK.
const (
	requestBodyKey       = attribute.Key("http.request.body.content")
	responseBodyKey      = attribute.Key("http.response.body.content")
	requestTruncatedKey  = attribute.Key("http.request.body.content.truncated")
	responseTruncatedKey = attribute.Key("http.response.body.content.truncated")
)

// ErrStopped is the cause to cancel the context of requests with when the tap
// itself is stopped. Their exchanges are then recorded as cut by the recorder
// and not as given up by the client.
var ErrStopped = errors.New("mcptap: stopped")

// exchange is one request on its way and what is known of it so far. All of it
// but the captures belongs to the goroutine that serves the request.
type exchange struct {
	span    trace.Span
	limit   int
	method  string
	w       http.ResponseWriter
	inbound *http.Request
	caller  trace.SpanContext // the trace that the request came with, if any
	body    io.Reader         // the inbound body, seen by the capture

	request, response capture

	status         int
	upgraded       bool
	responseHeader http.Header
	failure        error
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	ex, _ := ctx.Value(exchangeKey{}).(*exchange)
	return ex
}

var knownMethods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true,
	http.MethodDelete: true, http.MethodConnect: true, http.MethodOptions: true, http.MethodTrace: true, "QUERY": true,
}

// begin starts the span of a request.
func (p *Proxy) begin(w http.ResponseWriter, r *http.Request) (*exchange, context.Context) {
	name := r.Method
	attrs := append(make([]attribute.KeyValue, 0, 24), p.serverAttributes...)
	if knownMethods[r.Method] {
		attrs = append(attrs, semconv.HTTPRequestMethodKey.String(r.Method))
	} else {
		name = "HTTP"
		attrs = append(attrs, semconv.HTTPRequestMethodOther, semconv.HTTPRequestMethodOriginal(clean(r.Method)))
	}
	if ua := r.UserAgent(); ua != "" {
		attrs = append(attrs, semconv.UserAgentOriginal(clean(ua)))
	}
	attrs = append(attrs, requestHeaderAttributes(r.Header)...)

	parent := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := p.tracer.Start(parent, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	ex := &exchange{
		span: span, limit: p.maxBody, method: r.Method, w: w, inbound: r, caller: trace.SpanContextFromContext(parent),
		request: capture{limit: p.maxBody}, response: capture{limit: p.maxBody},
	}
	return ex, context.WithValue(ctx, exchangeKey{}, ex)
}

// sent records the address that the request goes to.
func (ex *exchange) sent(u *url.URL) {
	ex.span.SetAttributes(semconv.URLFull(recordedURL(u)))
}

// failed records that no answer came. A request that never left has not been
// read either; what it wanted to say is read here, so that the failure can be
// counted for the call that it hit.
func (ex *exchange) failed(err error) {
	ex.failure = err
	if ex.body != nil && ex.request.untouched() && ex.inbound.Context().Err() == nil {
		_, _ = io.CopyN(io.Discard, ex.body, int64(ex.limit)+1)
	}
}

// answered records the head of the response.
func (ex *exchange) answered(res *http.Response) {
	ex.status = res.StatusCode
	ex.responseHeader = res.Header
	ex.upgraded = res.StatusCode == http.StatusSwitchingProtocols
	ex.span.SetAttributes(semconv.HTTPResponseStatusCode(res.StatusCode))
	if version, ok := networkVersion[res.ProtoMajor]; ok {
		ex.span.SetAttributes(semconv.NetworkProtocolVersion(version))
	}
	ex.span.SetAttributes(responseHeaderAttributes(res.Header)...)
}

var networkVersion = map[int]string{1: "1.1", 2: "2", 3: "3"}

// end writes the bodies and how the exchange ended. It runs when the response
// has been passed on or has failed, also when the proxy panics to abort the
// client's connection.
func (ex *exchange) end() {
	now := time.Now()
	request, response := ex.request.seal(), ex.response.seal()
	stopped := errors.Is(context.Cause(ex.inbound.Context()), ErrStopped)

	ex.recordBodies(request, response, stopped)
	ex.recordFailure(response, stopped)
	ex.span.End(trace.WithTimestamp(now))
}

func (ex *exchange) recordBodies(request, response captured, stopped bool) {
	requestContent := render(request, ex.inbound.Header, ex.limit)
	// A request of which the upstream read only a part is known in part only.
	if length := ex.inbound.ContentLength; length > request.size || length < 0 && !request.eof {
		request.size = max(request.size, length)
		requestContent.cut = true
	}
	responseContent := render(response, ex.responseHeader, ex.limit)
	if stopped && !response.eof && ex.status != 0 {
		responseContent.cut = true
	}

	var attrs []attribute.KeyValue
	if ex.sendsBody() || request.size > 0 {
		attrs = append(attrs, semconv.HTTPRequestBodySize(int(request.size)))
	}
	if ex.answersBody() {
		attrs = append(attrs, semconv.HTTPResponseBodySize(int(response.size)))
	}
	if !secret(ex.inbound.Header, requestContent, responseContent) {
		// An empty body that was expected is recorded as one, so that it can
		// be told from a body that was not recorded.
		if len(requestContent.data) > 0 || ex.sendsBody() && !requestContent.cut {
			attrs = append(attrs, requestContent.attributes(requestBodyKey, requestTruncatedKey)...)
		}
		if ex.answersBody() && (len(responseContent.data) > 0 || response.eof && !responseContent.cut) {
			attrs = append(attrs, responseContent.attributes(responseBodyKey, responseTruncatedKey)...)
		}
	}
	ex.span.SetAttributes(attrs...)
}

// sendsBody reports whether a request of this method means something by its
// body.
func (ex *exchange) sendsBody() bool {
	return ex.method == http.MethodPost || ex.method == http.MethodPut || ex.method == http.MethodPatch
}

// answersBody reports whether the response may have a body.
func (ex *exchange) answersBody() bool {
	return ex.status >= 200 && ex.status != http.StatusNoContent && ex.status != http.StatusNotModified && ex.method != http.MethodHead
}

// recordFailure sets error.type and the span status.
func (ex *exchange) recordFailure(response captured, stopped bool) {
	err := ex.failure
	if err == nil {
		err = response.err
	}
	gone := ex.inbound.Context().Err() != nil || errors.Is(err, context.Canceled) ||
		// Nothing failed, and yet the answer was not read to its end: it
		// could not be written to the client any more.
		err == nil && ex.status != 0 && !response.eof && !ex.upgraded

	switch {
	case ex.status >= 400:
		ex.span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(ex.status)))
		ex.span.SetStatus(codes.Error, "")
	case response.eof || ex.upgraded && err == nil:
	case stopped:
		// Neither side failed.
	case gone:
		// A call that was given up on purpose is no error of the exchange, so
		// the conventions leave the status unset.
		ex.span.SetAttributes(semconv.ErrorTypeKey.String(clientGone))
	case err != nil:
		ex.span.SetAttributes(semconv.ErrorTypeKey.String(FailureWord(err)))
		ex.span.SetStatus(codes.Error, clean(err.Error()))
	}
}
