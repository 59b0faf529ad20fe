package jsonrpc

import "strings"

// eventStream splits a text into the events of an event stream as WHATWG HTML
// section 9.2.6 interprets one, except that it also delivers an event that the
// end of the text leaves unfinished.
type eventStream struct {
	text string
	pos  int // where the next line begins
	// lf and cr are where the next LF and CR stand, from pos on.
	lf, cr int

	resumable    bool // an event had an id to resume from, or told when to
	unfinished   bool // the text ended inside a line or between the lines of an event
	unterminated bool // the event last returned was not ended by a blank line
}

// reset makes e read text from pos on.
func (e *eventStream) reset(text string, pos int) {
	*e = eventStream{text: text, pos: pos, lf: -1, cr: -1}
}

// line returns the next line without its end. LF, CR and CR LF end lines and
// nothing else does.
func (e *eventStream) line() (line string, ended bool) {
	if e.lf < e.pos {
		e.lf = indexFrom(e.text, e.pos, '\n')
	}
	if e.cr < e.pos {
		e.cr = indexFrom(e.text, e.pos, '\r')
	}
	end := min(e.lf, e.cr)
	line = e.text[e.pos:end]
	switch {
	case end == len(e.text):
		e.pos = end
		return line, false
	case end == e.cr && e.lf == end+1 && e.lf < len(e.text):
		e.pos = end + 2
	default:
		e.pos = end + 1
	}
	return line, true
}

// indexFrom returns the index of the first c from i on, or the length of s.
func indexFrom(s string, i int, c byte) int {
	if n := strings.IndexByte(s[i:], c); n >= 0 {
		return i + n
	}
	return len(s)
}

// next returns the data of the next event that has any, and whether a blank line
// ended it. Without one the end of the text did.
//
// The data of an event with one data line is a part of the text. Several lines
// are joined in a copy; this is the only place where reading allocates.
func (e *eventStream) next() (data string, ended, ok bool) {
	var (
		fields bool // the block has lines that are not comments
		lines  int  // how many of them are data
		first  int  // where the first of these begins
		size   int  // of the data, with the line feeds that join the lines
	)
	for e.pos < len(e.text) {
		start := e.pos
		line, lineEnded := e.line()
		e.unfinished = !lineEnded
		switch {
		case line == "":
			if size > 0 {
				return e.joined(data, lines, first, size), true, true
			}
			fields, lines = false, 0
			continue
		case line[0] == ':':
			continue
		}
		fields = true
		switch name, value := cutField(line); name {
		case "data":
			if lines == 0 {
				data, first, size = value, start, len(value)
			} else {
				size += len("\n") + len(value)
			}
			lines++
		case "id":
			e.resumable = e.resumable || value != "" && strings.IndexByte(value, 0) < 0
		case "retry":
			e.resumable = e.resumable || allDigits(value)
		}
	}
	e.unfinished = e.unfinished || fields
	if size > 0 {
		return e.joined(data, lines, first, size), false, true
	}
	return "", false, false
}

// joined returns the data of the event whose first data line begins at first, and
// is data if there is no other. The event ends at pos.
func (e *eventStream) joined(data string, lines, first, size int) string {
	if lines == 1 {
		return data
	}
	var (
		again eventStream
		all   strings.Builder
	)
	again.reset(e.text[:e.pos], first)
	all.Grow(size)
	for lines > 0 {
		line, _ := again.line()
		if name, value := cutField(line); name == "data" {
			all.WriteString(value)
			if lines--; lines > 0 {
				all.WriteByte('\n')
			}
		}
	}
	return all.String()
}

// cutField splits a line into the name of the field and its value. One space
// behind the colon does not belong to the value; a line without a colon is a
// name.
func cutField(line string) (name, value string) {
	name, value, _ = strings.Cut(line, ":")
	return name, strings.TrimPrefix(value, " ")
}

func allDigits(s string) bool {
	end, ok := scanDigits([]byte(s), 0)
	return ok && end == len(s)
}

// isFieldLine reports whether an event stream may begin with this line: a field
// that the specification defines, or a comment.
func isFieldLine(line string) bool {
	switch name, _ := cutField(line); name {
	case "", "event", "data", "id", "retry":
		return line != ""
	}
	return false
}

// doneMark is what some servers end a stream with, after the habit of completion
// APIs. It begins like JSON and is none.
const doneMark = "[DONE]"

// isForeign reports whether data is nothing that was meant to be a message, so
// that it is passed over: only objects and arrays are. cut says that data may
// have gone on.
func isForeign(data string, cut bool) bool {
	data = data[skipSpace([]byte(data), 0):]
	if data == "" || data[0] != '{' && data[0] != '[' || isTruncationMark([]byte(data)) {
		return true
	}
	return data == doneMark || cut && len(data) > 1 && strings.HasPrefix(doneMark, data)
}
