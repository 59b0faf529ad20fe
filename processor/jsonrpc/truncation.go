package jsonrpc

import "strings"

// truncationMarks are what recorders of bodies write where they cut one, in
// lower case. A mark counts only where the grammar allows nothing that begins
// like it: inside a complete document it means nothing.
var truncationMarks = []string{
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
func truncationMark(b []byte, i int) (at int, found bool) {
	if i > 0 && strings.IndexByte("[{.-", b[i-1]) >= 0 && isTruncationMark(b[i-1:]) {
		return i - 1, true
	}
	i = skipSpace(b, i)
	return i, isTruncationMark(b[i:])
}

// isTruncationMark reports whether b begins with a mark.
func isTruncationMark(b []byte) bool {
	if len(b) < 2 || !secondBytes[b[1]] {
		return false
	}
	for _, mark := range truncationMarks {
		if len(b) >= len(mark) && strings.EqualFold(string(b[:len(mark)]), mark) {
			return true
		}
	}
	return false
}

// secondBytes are those of all marks, by which nearly everything else is told from
// them at once.
var secondBytes = func() (set [256]bool) {
	for _, mark := range truncationMarks {
		set[mark[1]] = true
		set[strings.ToUpper(mark)[1]] = true
	}
	return set
}()
