package tap

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// rig is a tap between a client and an upstream server, all on loopback.
type rig struct {
	url      string
	recorder *tracetest.SpanRecorder
}

func newRig(t *testing.T, maxBody int, upstream http.Handler) *rig {
	t.Helper()
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	return newRigTo(t, maxBody, server.URL)
}

func newRigTo(t *testing.T, maxBody int, upstream string) *rig {
	t.Helper()
	return newRigIn(context.Background(), t, maxBody, upstream)
}

// newRigIn has base as the parent of all requests' contexts.
func newRigIn(base context.Context, t *testing.T, maxBody int, upstream string) *rig {
	t.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder), sdktrace.WithSampler(sdktrace.AlwaysSample()))
	proxy, err := New(Config{Upstream: u, Tracer: provider.Tracer("test"), MaxBody: maxBody})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(proxy)
	front.Config.BaseContext = func(net.Listener) context.Context { return base }
	front.Start()
	t.Cleanup(front.Close)
	return &rig{url: front.URL, recorder: recorder}
}

// span waits for the one span of an exchange. The client may have its answer a
// moment before the proxy's handler returns.
func (r *rig) span(t *testing.T) recorded {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if spans := r.recorder.Ended(); len(spans) > 0 {
			if len(spans) > 1 {
				t.Fatalf("%d spans for one exchange", len(spans))
			}
			out := recorded{ReadOnlySpan: spans[0], attrs: map[string]attribute.Value{}}
			for _, kv := range spans[0].Attributes() {
				out.attrs[string(kv.Key)] = kv.Value
			}
			return out
		}
	}
	t.Fatal("no span was recorded")
	return recorded{}
}

type recorded struct {
	sdktrace.ReadOnlySpan
	attrs map[string]attribute.Value
}

func (r recorded) want(t *testing.T, key string, want any) {
	t.Helper()
	got, ok := r.attrs[key]
	switch want := want.(type) {
	case nil:
		if ok {
			t.Errorf("%s = %v, want it absent", key, got.String())
		}
	case string:
		if !ok || got.Type() != attribute.STRING || got.AsString() != want {
			t.Errorf("%s = %q (%v), want the string %q", key, got.String(), got.Type(), want)
		}
	case []byte:
		if !ok || got.Type() != attribute.BYTESLICE || string(got.AsByteSlice()) != string(want) {
			t.Errorf("%s = %q (%v), want the bytes %q", key, got.String(), got.Type(), want)
		}
	case int:
		if !ok || got.Type() != attribute.INT64 || got.AsInt64() != int64(want) {
			t.Errorf("%s = %v, want %d", key, got.String(), want)
		}
	case bool:
		if !ok || got.Type() != attribute.BOOL || got.AsBool() != want {
			t.Errorf("%s = %v, want %v", key, got.String(), want)
		}
	case []string:
		if !ok || got.Type() != attribute.STRINGSLICE || strings.Join(got.AsStringSlice(), "|") != strings.Join(want, "|") {
			t.Errorf("%s = %v, want %v", key, got.String(), want)
		}
	default:
		t.Fatalf("want of type %T", want)
	}
}

func post(t *testing.T, url, body string, header http.Header) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header[k] = v
	}
	res, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func answer(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}
