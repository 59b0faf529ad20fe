package mcpprocessor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"Unknown tool: lookup":             "Unknown tool: lookup",
		"the token has expired":            "the token has expired",
		"invalid bearer token":             "invalid bearer token",
		"proxy wants Basic dXNlcjpwdw==":   "proxy wants Basic ****",
		"Bearer abcdef123456 is not valid": "Bearer **** is not valid",
		"token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln expired": "token **** expired",
		"GET https://user:pass@host.test/a?x=1 failed":            "GET https://****@host.test/a?x=1 failed",
		"see https://host.test/a@b":                               "see https://host.test/a@b",
		`{"password":"hunter2","user":"me"}`:                      `{"password":****,"user":"me"}`,
		`{\"api_key\":\"hunter2\",\"user\":\"me\"}`:               `{\"api_key\":****,\"user\":\"me\"}`,
		"url?access_token=hunter2&user=me":                        "url?access_token=****&user=me",
		"client_secret: 'hunter2', user: 'me'":                    "client_secret: ****, user: 'me'",
		`{"Set-Cookie":"a=hunter2; Path=/","x":1}`:                `{"Set-Cookie":****,"x":1}`,
		`{"sessionId":"hunter2"}`:                                 `{"sessionId":****}`,
	} {
		require.Equal(t, want, mask(text), text)
	}
	require.Less(t, len(mask(strings.Repeat("a", 1<<20))), 1<<12, "what is clamped off needs no look")
}
