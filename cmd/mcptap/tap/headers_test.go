package tap

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRecordedURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://u:p@h/mcp?sessionId=1":                         "http://h/mcp?sessionId=1",
		"http://h/mcp?api_key=x&apikey=x&KEY=x&access_token=x": "http://h/mcp?api_key=REDACTED&apikey=REDACTED&KEY=REDACTED&access_token=REDACTED",
		"http://h/?monkey=x&token_type=x&code=x":               "http://h/?monkey=x&token_type=x&code=REDACTED",
		"http://h/?X%2DGoog%2DSignature=x&a":                   "http://h/?X%2DGoog%2DSignature=REDACTED&a",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := recordedURL(u); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestNoCredentialHeaderIsOnAList(t *testing.T) {
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Proxy-Authenticate"} {
		if slices.Contains(requestHeaders, name) || slices.Contains(responseHeaders, name) {
			t.Errorf("%s is recorded", name)
		}
	}
	for _, name := range slices.Concat(requestHeaders, responseHeaders) {
		if name != http.CanonicalHeaderKey(name) {
			t.Errorf("%s is not in canonical form and is never found", name)
		}
	}
}

func TestHeaderValuesAreBounded(t *testing.T) {
	h := http.Header{}
	for range 100 {
		h.Add("Mcp-Name", "\xff"+strings.Repeat("é", maxStringBytes))
	}
	values := requestHeaderAttributes(h)[0].Value.AsStringSlice()
	if len(values) != maxHeaderValues {
		t.Errorf("%d values", len(values))
	}
	if v := values[0]; !utf8.ValidString(v) || len(v) > maxStringBytes+2 {
		t.Errorf("%d bytes, valid %v", len(v), utf8.ValidString(v))
	}
}
