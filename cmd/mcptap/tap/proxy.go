package tap

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// DefaultMaxBody is how much of each body is kept unless it is set otherwise.
const DefaultMaxBody = 64 << 10

// Config says what a [Proxy] forwards to and how it records.
type Config struct {
	// Upstream is the server that requests go to. Its path is put in front of
	// the path of each request; a request for "/" goes to that path exactly.
	Upstream *url.URL
	// Tracer makes the spans.
	Tracer trace.Tracer
	// MaxBody bounds how much of each body is kept. Zero means
	// [DefaultMaxBody].
	MaxBody int
}

// Proxy is a recording reverse proxy.
type Proxy struct {
	upstream         *url.URL
	tracer           trace.Tracer
	maxBody          int
	serverAttributes []attribute.KeyValue
	reverse          *httputil.ReverseProxy
}

// New makes a Proxy.
func New(cfg Config) (*Proxy, error) {
	u := cfg.Upstream
	switch {
	case u == nil:
		return nil, errors.New("upstream: missing")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("upstream: %q is not an http:// or https:// address", u.Redacted())
	case u.Hostname() == "":
		return nil, fmt.Errorf("upstream: %q names no host", u.Redacted())
	case u.User != nil:
		return nil, errors.New("upstream: user info is not supported; let the client send its own Authorization header")
	case cfg.MaxBody < 0:
		return nil, fmt.Errorf("max body: %d is negative", cfg.MaxBody)
	case cfg.Tracer == nil:
		return nil, errors.New("tracer: missing")
	}
	p := &Proxy{upstream: u, tracer: cfg.Tracer, maxBody: cfg.MaxBody}
	if p.maxBody == 0 {
		p.maxBody = DefaultMaxBody
	}
	p.serverAttributes = []attribute.KeyValue{semconv.ServerAddress(u.Hostname())}
	if port := portOf(u); port != 0 {
		p.serverAttributes = append(p.serverAttributes, semconv.ServerPort(port))
	}
	p.reverse = &httputil.ReverseProxy{
		Transport:      newTransport(),
		Rewrite:        p.rewrite,
		ModifyResponse: modifyResponse,
		ErrorHandler:   badGateway,
		// Each write goes to the client at once: an event that waits in a
		// buffer here would look like a slow server there.
		FlushInterval: -1,
		// Failures are in the spans; a line per request would repeat them.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return p, nil
}

func portOf(u *url.URL) int {
	if port := u.Port(); port != "" {
		n, _ := strconv.Atoi(port)
		return n
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	// The transport would otherwise ask for gzip on its own and unpack it, and
	// the client would not get the bytes that the server sent.
	t.DisableCompression = true
	t.MaxIdleConnsPerHost = 64
	// Node closes idle connections after five seconds. A POST that meets such
	// a close cannot be repeated safely, so let go of them first.
	t.IdleConnTimeout = 4 * time.Second
	return t
}

// ServeHTTP forwards one request and records it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ex, ctx := p.begin(w, r)
	defer ex.end()
	out := r.WithContext(ctx)
	if out.Body != nil && out.Body != http.NoBody {
		out.Body = ex.request.tee(out.Body, out.ContentLength)
		ex.body = out.Body
	}
	// Without this an HTTP/1 server swallows what is left of a request as soon
	// as its answer begins, and the upstream would wait for it. HTTP/2 refuses
	// the call because it is always so.
	_ = http.NewResponseController(w).EnableFullDuplex()
	p.reverse.ServeHTTP(w, out)
}

// rewrite addresses the request to the upstream and puts back what
// ReverseProxy takes out, since nothing else is to change.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	ex := exchangeOf(r.In.Context())

	r.Out.URL.RawQuery = r.In.URL.RawQuery
	r.SetURL(p.upstream)
	if r.In.URL.Path == "" || r.In.URL.Path == "/" {
		r.Out.URL.Path, r.Out.URL.RawPath = p.upstream.Path, p.upstream.RawPath
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = v
		}
	}
	ex.passTrace(r.Out.Header)
	ex.sent(r.Out.URL)
}

func modifyResponse(res *http.Response) error {
	ex := exchangeOf(res.Request.Context())
	ex.answered(res)
	if ex.upgraded {
		return nil // from here on it is not HTTP
	}
	res.Body = ex.response.tee(res.Body, -1)
	if _, ok := res.Header["Content-Type"]; !ok {
		// A nil value keeps net/http from guessing one.
		ex.w.Header()["Content-Type"] = nil
	}
	return nil
}

func badGateway(w http.ResponseWriter, r *http.Request, err error) {
	exchangeOf(r.Context()).failed(err)
	http.Error(w, "mcptap: no response from the upstream server: "+FailureWord(err), http.StatusBadGateway)
}

// passTrace makes the recorded span the parent of what the server does, in a
// request that came with a trace. The caller's sampling decision is kept: the
// tap records everything, but that is no reason for the server to. A request
// without a trace stays without.
func (ex *exchange) passTrace(h http.Header) {
	if sc := ex.span.SpanContext(); ex.caller.IsValid() && sc.IsValid() {
		h.Set("Traceparent", fmt.Sprintf("00-%s-%s-%s", sc.TraceID(), sc.SpanID(), ex.caller.TraceFlags()))
	}
}
