package mcpprocessor

import "regexp"

// masked stands in place of what looks like a credential.
const masked = "****"

// maxMaskedBytes of an error text are looked at; the rest is clamped off.
const maxMaskedBytes = 4 * maxValueBytes

// What looks like a credential in an error text. This is a net, not a
// guarantee: for more put the redaction processor behind.
var credentials = []struct {
	pattern *regexp.Regexp
	with    string
}{
	// JSON Web Tokens.
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]*)?`), masked},
	// Authorization schemes with their credentials.
	{regexp.MustCompile(`(?i)\b(bearer|basic|digest|negotiate|token)(\s+|%20)[A-Za-z0-9._~+/=-]{6,}`), "$1 " + masked},
	// User info in URLs.
	{regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)[^/\s@"'\\]+@`), "${1}" + masked + "@"},
	// Members and parameters named like secrets, also inside of a JSON string.
	{regexp.MustCompile(`(?i)(` + secretNames + `\\?["']?\s*[:=]\s*)(` + secretValues + `)`), "${1}" + masked},
}

const (
	// secretNames ends in token without an s: max_tokens is no secret.
	secretNames = `(?:(?:pass(?:word|wd|phrase)?|secret|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|authorization|cookie|session[_-]?id)[a-z0-9_-]*|token)`
	// secretValues are an array, an object, a string, one inside of a JSON
	// string, and a word. One that is not closed reaches to the end.
	secretValues = `\[[^\]]*\]?|\{[^}]*\}?|"(?:[^"\\]|\\.)*"?|\\"(?:[^"\\]|\\\\.|\\[^"])*(?:\\"|$)|'[^']*'?|[^\s,;&}"'\]]+`
)

// mask replaces what looks like a credential in an error text.
func mask(s string) string {
	if s == "" {
		return ""
	}
	if len(s) > maxMaskedBytes {
		s = s[:maxMaskedBytes]
	}
	for _, c := range credentials {
		s = c.pattern.ReplaceAllString(s, c.with)
	}
	return s
}
