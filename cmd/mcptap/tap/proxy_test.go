package tap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

const (
	callBody   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}`
	answerBody = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
)

func TestExchangeIsRecorded(t *testing.T) {
	var seen *http.Request
	r := newRig(t, 0, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen = req
		answer("application/json", answerBody)(w, req)
	}))
	before := time.Now()
	res := post(t, r.url+"/mcp?session_id=7&api_key=hidden", callBody, http.Header{
		"Mcp-Session-Id": {"s1"}, "X-Forwarded-For": {"192.0.2.1"}, "Authorization": {"Bearer hidden"},
	})
	if got := readAll(t, res.Body); got != answerBody {
		t.Errorf("the client got %q", got)
	}
	if seen.Header.Get("X-Forwarded-For") != "192.0.2.1" || seen.Header.Get("Authorization") != "Bearer hidden" || seen.URL.RawQuery != "session_id=7&api_key=hidden" {
		t.Errorf("the request was changed: %v %v", seen.URL, seen.Header)
	}
	if seen.Header.Get("Accept-Encoding") != "" || seen.Header.Get("Traceparent") != "" {
		t.Errorf("headers were added: %v", seen.Header)
	}

	span := r.span(t)
	if span.Name() != "POST" || span.SpanKind() != trace.SpanKindClient || span.Status().Code != codes.Unset {
		t.Errorf("name %q, kind %v, status %v", span.Name(), span.SpanKind(), span.Status())
	}
	if span.StartTime().Before(before) || !span.EndTime().After(span.StartTime()) || span.EndTime().After(time.Now()) {
		t.Errorf("times %v to %v", span.StartTime(), span.EndTime())
	}
	host := seen.Host
	_, port, _ := net.SplitHostPort(host)
	span.want(t, "http.request.method", "POST")
	span.want(t, "url.full", "http://"+host+"/mcp?session_id=7&api_key=REDACTED")
	span.want(t, "server.address", "127.0.0.1")
	if fmt.Sprint(span.attrs["server.port"].AsInt64()) != port {
		t.Errorf("server.port = %v, want %s", span.attrs["server.port"].String(), port)
	}
	span.want(t, "http.response.status_code", 200)
	span.want(t, "http.request.header.mcp-session-id", []string{"s1"})
	span.want(t, "http.response.header.content-type", []string{"application/json"})
	span.want(t, "http.request.body.content", callBody)
	span.want(t, "http.response.body.content", answerBody)
	span.want(t, "http.request.body.size", len(callBody))
	span.want(t, "http.response.body.size", len(answerBody))
	span.want(t, "http.request.body.content.truncated", nil)
	span.want(t, "http.response.body.content.truncated", nil)
	span.want(t, "error.type", nil)
}

func TestSecretsAreNotRecorded(t *testing.T) {
	r := newRig(t, 0, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "id=hidden")
		w.Header().Set("Www-Authenticate", `Bearer resource_metadata="https://hidden.example", error="hidden"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	header := http.Header{}
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key"} {
		header.Set(name, "hidden")
	}
	post(t, strings.Replace(r.url, "http://", "http://user:hidden@", 1)+"/mcp?access_token=hidden&client-secret=hidden", callBody, header)
	span := r.span(t)
	for key, value := range span.attrs {
		if strings.Contains(value.String(), "hidden") {
			t.Errorf("%s = %s", key, value.String())
		}
	}
	span.want(t, "http.response.header.www-authenticate", []string{"Bearer"})
	span.want(t, "error.type", "401")
	span.want(t, "http.response.body.content", "")
	if span.Status().Code != codes.Error {
		t.Error("401 is an error on a CLIENT span")
	}
}

func TestLoginBodiesAreNotRecorded(t *testing.T) {
	for name, c := range map[string]struct{ contentType, request, response string }{
		"token by form":        {"application/x-www-form-urlencoded; charset=utf-8", "code=x&client_secret=y", `{"token_type":"bearer"}`},
		"client registration":  {"application/json", `{"redirect_uris":[]}`, `{"client_id":"x","client_secret":"y"}`},
		"token answer to JSON": {"application/json", `{"grant_type":"x"}`, `{"access_token":"y"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 0, answer("application/json", c.response))
			readAll(t, post(t, r.url+"/token", c.request, http.Header{"Content-Type": {c.contentType}}).Body)
			span := r.span(t)
			span.want(t, "http.request.body.content", nil)
			span.want(t, "http.response.body.content", nil)
			span.want(t, "http.response.status_code", 200)
		})
	}
}

func TestEventsPassBeforeTheStreamEnds(t *testing.T) {
	more := make(chan struct{})
	r := newRig(t, 0, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Trailer", "X-Checksum")
		w.(http.Flusher).Flush()
		for i := range 3 {
			<-more
			fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
		}
		<-more
		w.Header().Set("X-Checksum", "abc")
	}))
	res := post(t, r.url, callBody, nil) // the head comes before the first event
	lines := bufio.NewReader(res.Body)
	for i := range 3 {
		more <- struct{}{}
		got, err := lines.ReadString('\n')
		if want := fmt.Sprintf("data: %d\n", i); err != nil || got != want {
			t.Fatalf("event %d: %q, %v", i, got, err)
		}
		_, _ = lines.ReadString('\n')
		if len(r.recorder.Ended()) != 0 {
			t.Fatal("the span ended before the stream")
		}
	}
	last := time.Now()
	more <- struct{}{}
	readAll(t, lines)
	if res.Trailer.Get("X-Checksum") != "abc" {
		t.Errorf("trailers: %v", res.Trailer)
	}
	span := r.span(t)
	span.want(t, "http.response.body.content", "data: 0\n\ndata: 1\n\ndata: 2\n\n")
	span.want(t, "error.type", nil)
	if span.EndTime().Before(last) {
		t.Error("the span ends before the stream ended")
	}
}

// rawUpstream answers one request with bytes of the test's choice and then
// closes or resets the connection.
func rawUpstream(t *testing.T, response string, reset bool) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		_, _ = io.WriteString(conn, response)
		if reset {
			time.Sleep(50 * time.Millisecond) // a reset overtakes what is still on its way
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestBrokenStream(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	for name, c := range map[string]struct {
		response string
		reset    bool
		want     string
	}{
		"closed in a chunked body": {head + "Transfer-Encoding: chunked\r\n\r\n10\r\ndata: {\"jsonrpc\"\r\n", false, "unexpected_EOF"},
		"closed before the length": {head + "Content-Length: 99\r\n\r\ndata: {\"jsonrpc\"", false, "unexpected_EOF"},
		"reset":                    {head + "Transfer-Encoding: chunked\r\n\r\n10\r\ndata: {\"jsonrpc\"\r\n", true, "ECONNRESET"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigTo(t, 0, rawUpstream(t, c.response, c.reset))
			res := post(t, r.url, callBody, nil)
			if _, err := io.ReadAll(res.Body); err == nil {
				t.Error("the client saw a clean end")
			}
			span := r.span(t)
			span.want(t, "http.response.status_code", 200)
			span.want(t, "http.response.body.content", `data: {"jsonrpc"`)
			span.want(t, "http.response.body.content.truncated", nil)
			span.want(t, "error.type", c.want)
			if span.Status().Code != codes.Error {
				t.Error("status is not Error")
			}
		})
	}
}

func TestAnswerThatIsNotHTTP(t *testing.T) {
	r := newRigTo(t, 0, rawUpstream(t, "SSH-2.0-x\r\n", false))
	if res := post(t, r.url, callBody, nil); res.StatusCode != http.StatusBadGateway {
		t.Errorf("status %d", res.StatusCode)
	}
	r.span(t).want(t, "error.type", "malformed_response")
}

func TestCutCapture(t *testing.T) {
	body := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("é", 40) + `"}`
	r := newRig(t, 40, answer("application/json", body))
	request := strings.Repeat("x", 41)
	res := post(t, r.url, request, nil)
	if got := readAll(t, res.Body); got != body {
		t.Errorf("the client got %q", got)
	}
	span := r.span(t)
	// 34 bytes of ASCII, then two-byte characters: byte 40 is inside none, so
	// shift by one to hit the middle.
	got := span.attrs["http.response.body.content"].AsString()
	if !strings.HasPrefix(body, got) || len(got) > 40 || len(got) < 39 || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("captured %q", got)
	}
	span.want(t, "http.response.body.content.truncated", true)
	span.want(t, "http.response.body.size", len(body))
	span.want(t, "http.request.body.content", request[:40])
	span.want(t, "http.request.body.content.truncated", true)
	span.want(t, "http.request.body.size", 41)
}

func TestCutKeepsCharactersWhole(t *testing.T) {
	for limit := 1; limit <= 12; limit++ {
		body := "a€😀é€"
		r := newRig(t, limit, answer("text/plain", body))
		readAll(t, post(t, r.url, "{}", nil).Body)
		span := r.span(t)
		got, ok := span.attrs["http.response.body.content"]
		if ok && (got.AsString() == "" || !strings.HasPrefix(body, got.AsString())) {
			t.Errorf("limit %d: %v %q", limit, got.Type(), got.String())
		}
	}
}

func TestGzip(t *testing.T) {
	plain := strings.Repeat(answerBody, 20)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, plain)
	_ = z.Close()
	r := newRig(t, 0, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		answer("application/json", packed.String())(w, req)
	}))
	res := post(t, r.url, callBody, http.Header{"Accept-Encoding": {"gzip"}})
	if got := readAll(t, res.Body); got != packed.String() || res.Header.Get("Content-Encoding") != "gzip" {
		t.Error("the client did not get the original bytes")
	}
	span := r.span(t)
	span.want(t, "http.response.body.content", plain)
	span.want(t, "http.response.body.content.truncated", false)
	span.want(t, "http.response.body.size", packed.Len())
	span.want(t, "http.response.header.content-encoding", []string{"gzip"})
}

func TestTraceIsContinued(t *testing.T) {
	const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	var forwarded, state string
	r := newRig(t, 0, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		forwarded, state = req.Header.Get("Traceparent"), req.Header.Get("Tracestate")
	}))
	post(t, r.url, callBody, http.Header{"Traceparent": {"00-" + traceID + "-00f067aa0ba902b7-00"}, "Tracestate": {"a=1"}})
	span := r.span(t)
	if span.SpanContext().TraceID().String() != traceID || span.Parent().SpanID().String() != "00f067aa0ba902b7" {
		t.Errorf("trace %v, parent %v", span.SpanContext().TraceID(), span.Parent().SpanID())
	}
	if want := "00-" + traceID + "-" + span.SpanContext().SpanID().String() + "-00"; forwarded != want || state != "a=1" {
		t.Errorf("forwarded %q and %q, want %q", forwarded, state, want)
	}
}

func TestRefusedUpstream(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	r := newRigTo(t, 0, "http://"+address)
	res := post(t, r.url, callBody, nil)
	if got := readAll(t, res.Body); res.StatusCode != http.StatusBadGateway || !strings.Contains(got, "ECONNREFUSED") {
		t.Errorf("%d %q", res.StatusCode, got)
	}
	span := r.span(t)
	span.want(t, "http.response.status_code", nil)
	span.want(t, "http.response.body.content", nil)
	span.want(t, "http.response.body.size", nil)
	span.want(t, "error.type", "ECONNREFUSED")
	span.want(t, "http.request.body.content", callBody)
	if span.Status().Code != codes.Error {
		t.Error("status is not Error")
	}
}

func TestNoAnswer(t *testing.T) {
	r := newRig(t, 0, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		panic(http.ErrAbortHandler)
	}))
	if res := post(t, r.url, callBody, nil); res.StatusCode != http.StatusBadGateway {
		t.Errorf("status %d", res.StatusCode)
	}
	span := r.span(t)
	span.want(t, "http.response.status_code", nil)
	span.want(t, "error.type", "unexpected_EOF")
	span.want(t, "http.request.body.content", callBody)
}

func TestClientGoesAway(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		t.Run(fmt.Sprintf("streaming=%v", streaming), func(t *testing.T) {
			cancelled := make(chan struct{})
			r := newRig(t, 0, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				_, _ = io.Copy(io.Discard, req.Body)
				if streaming {
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, "data: 1\n\n")
					w.(http.Flusher).Flush()
				}
				<-req.Context().Done()
				close(cancelled)
			}))
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			req, _ := http.NewRequestWithContext(ctx, http.MethodPost, r.url, strings.NewReader(callBody))
			if res, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.ReadAll(res.Body)
				res.Body.Close()
			}
			select {
			case <-cancelled:
			case <-time.After(5 * time.Second):
				t.Fatal("the upstream request was not cancelled")
			}
			span := r.span(t)
			span.want(t, "error.type", "context canceled")
			span.want(t, "http.response.body.content.truncated", nil)
			if span.Status().Code != codes.Unset {
				t.Errorf("the conventions leave the status of a cancelled request unset, got %v", span.Status())
			}
			if streaming {
				span.want(t, "http.response.body.content", "data: 1\n\n")
			}
		})
	}
}

func TestStoppedTapBlamesNobody(t *testing.T) {
	base, stop := context.WithCancelCause(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-req.Context().Done()
	}))
	t.Cleanup(server.Close)
	r := newRigIn(base, t, 0, server.URL)
	res := post(t, r.url, callBody, nil)
	_, _ = bufio.NewReader(res.Body).ReadString('\n')
	stop(ErrStopped)
	span := r.span(t)
	span.want(t, "error.type", nil)
	span.want(t, "http.response.body.content.truncated", true)
	if span.Status().Code != codes.Unset {
		t.Error("status is set")
	}
}

func TestUploadCutShort(t *testing.T) {
	r := newRig(t, 0, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	body, size := io.Reader(strings.NewReader(strings.Repeat("x", 8<<20))), 8<<20
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, body)
	req.ContentLength = int64(size)
	if res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req); err == nil {
		res.Body.Close()
	}
	span := r.span(t)
	span.want(t, "http.request.body.content.truncated", true)
	span.want(t, "http.request.body.size", size)
	if n := len(span.attrs["http.request.body.content"].AsString()); n > DefaultMaxBody {
		t.Errorf("captured %d bytes", n)
	}
}

func TestNoContentTypeIsInvented(t *testing.T) {
	r := newRig(t, 0, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		_, _ = io.WriteString(w, answerBody)
	}))
	res := post(t, r.url, callBody, nil)
	if v, ok := res.Header["Content-Type"]; ok {
		t.Errorf("Content-Type: %v", v)
	}
	readAll(t, res.Body)
	r.span(t).want(t, "http.response.body.content", answerBody)
}

func TestUpgradePasses(t *testing.T) {
	r := newRig(t, 0, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := bufio.NewReader(conn).ReadString('\n')
		fmt.Fprint(conn, line)
	}))
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v %v", res, err)
	}
	fmt.Fprint(conn, "hello\n")
	if line, err := in.ReadString('\n'); line != "hello\n" {
		t.Fatalf("%q %v", line, err)
	}
	conn.Close()
	span := r.span(t)
	span.want(t, "http.response.status_code", 101)
	span.want(t, "http.response.body.content", nil)
	span.want(t, "error.type", nil)
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ upstream, request, want string }{
		{"", "/mcp", "/mcp"},
		{"", "/a%2Fb?x=%zz;y", "/a%2Fb?x=%zz;y"},
		{"/base", "/mcp", "/base/mcp"},
		{"/mcp", "/", "/mcp"},
		{"/mcp", "/?a=1", "/mcp?a=1"},
	} {
		var got string
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { got = req.RequestURI }))
		r := newRigTo(t, 0, server.URL+c.upstream)
		post(t, r.url+c.request, "{}", nil)
		if got != c.want {
			t.Errorf("%q + %q: got %q, want %q", c.upstream, c.request, got, c.want)
		}
		server.Close()
	}
}

func TestNewRefuses(t *testing.T) {
	for _, upstream := range []string{"", "ftp://x", "http://", "http://u:p@x", "localhost:3000"} {
		u, err := url.Parse(upstream)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(Config{Upstream: u, Tracer: noop.NewTracerProvider().Tracer("")}); err == nil {
			t.Errorf("%q was accepted", upstream)
		}
	}
}

// A transport that finds the request body closed after the answer has begun
// drops the connection, and the proxy would break streams of its own accord.
func TestAnswerThatBeginsAtOnceIsNotBroken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 2 {
			fmt.Fprint(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(2 * time.Millisecond)
		}
	}))
	t.Cleanup(server.Close)
	r := newRigTo(t, 0, server.URL)
	for range 100 {
		readAll(t, post(t, r.url, callBody, nil).Body)
	}
	for _, span := range r.recorder.Ended() {
		if span.Status().Code != codes.Unset {
			t.Error(span.Status())
		}
	}
}

func TestAnswerDuringTheUpload(t *testing.T) {
	r := newRig(t, 0, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		in := bufio.NewReader(req.Body)
		for {
			line, err := in.ReadString('\n')
			_, _ = io.WriteString(w, line)
			w.(http.Flusher).Flush()
			if err != nil {
				return
			}
		}
	}))
	body, upload := io.Pipe()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, body)
	go fmt.Fprint(upload, "one\n")
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	echo := bufio.NewReader(res.Body)
	for _, want := range []string{"one\n", "two\n"} {
		if got, err := echo.ReadString('\n'); got != want {
			t.Fatalf("%q, %v", got, err)
		}
		if want == "one\n" {
			fmt.Fprint(upload, "two\n")
		}
	}
	_ = upload.Close()
	readAll(t, echo)
	span := r.span(t)
	span.want(t, "http.request.body.content", "one\ntwo\n") // no content type, and text
	span.want(t, "http.request.body.content.truncated", nil)
	span.want(t, "error.type", nil)
}
