package carrier

import (
	"encoding/base64"
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// mediaType reads a content type (RFC 9110 section 8.3).
func mediaType(contentType string) verdict.MediaType {
	switch contentType { // as nearly all spell it
	case "":
		return verdict.NoMediaType
	case "application/json":
		return verdict.MediaJSON
	}
	essence, _, _ := strings.Cut(contentType, ";")
	essence = strings.TrimSpace(essence)
	switch {
	case essence == "":
		return verdict.NoMediaType
	case strings.EqualFold(essence, "application/json"), hasSuffixFold(essence, "+json"):
		return verdict.MediaJSON
	case strings.EqualFold(essence, "text/event-stream"):
		return verdict.MediaEventStream
	case strings.EqualFold(essence, "application/x-www-form-urlencoded"):
		return verdict.MediaForm
	default:
		return verdict.MediaOther
	}
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// headerText undoes the Base64 form that Mcp-Name has where the name is not
// plain ASCII: =?base64?...?= (2026-07-28 streamable-http, Value Encoding).
func headerText(value string) string {
	const before, after = "=?base64?", "?="
	if len(value) < len(before)+len(after) || !strings.EqualFold(value[:len(before)], before) || !strings.HasSuffix(value, after) {
		return value
	}
	decoded, err := base64.StdEncoding.DecodeString(value[len(before) : len(value)-len(after)])
	if err != nil {
		return value
	}
	return string(decoded)
}
