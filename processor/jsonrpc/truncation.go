package jsonrpc

import "strings"

// truncationMarks are what recorders of bodies write where they cut one, in
// lower case. A mark counts only where the grammar allows nothing that begins
// like it: inside a complete document it means nothing.
var truncationMarks = [...]string{
	"...", // also "...[123 chars truncated]"
	"…",
	"[...",
	"[…",
	"<...",
	"<…",
	"[truncated",
	"<truncated",
	"(truncated",
	"{truncated",
	"truncated]",
	"[body truncated",
	"<body truncated",
	"--truncated",
}

// truncationMark looks for a mark at i, where reading stopped, and returns where
// the mark begins. White space may stand in front of it. Its first byte may have
// been read just before as the bracket of an array or object, or as the point or
// sign of a number.
func truncationMark(s string, i int) (at int, found bool) {
	if i > 0 && strings.IndexByte("[{.-", s[i-1]) >= 0 && isTruncationMark(s[i-1:]) {
		return i - 1, true
	}
	i = skipSpace(s, i)
	return i, isTruncationMark(s[i:])
}

func isTruncationMark(s string) bool {
	for _, mark := range truncationMarks {
		if len(s) >= len(mark) && s[0]|0x20 == mark[0]|0x20 && strings.EqualFold(s[:len(mark)], mark) {
			return true
		}
	}
	return false
}
