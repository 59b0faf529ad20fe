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

	resumable  bool // an event had an id to resume from, or told when to
	unfinished bool // the text ended inside a line or between the lines of an event
}

// reset makes e read text from pos on.
func (e *eventStream) reset(text string, pos int) {
	*e = eventStream{text: text, pos: pos, lf: -1, cr: -1}
}

// line returns the next line, of which there must be one, without its end. LF, CR and CR LF end lines and
// nothing else does.
func (e *eventStream) line() (line string, ended bool) {
	start := e.pos
	if e.lf < start {
		e.lf = indexFrom(e.text, start, '\n')
	}
	if e.cr < start {
		e.cr = indexFrom(e.text, start, '\r')
	}
	end := min(e.lf, e.cr)
	e.pos = end
	if end == len(e.text) {
		return e.text[start:], false
	}
	e.pos++
	if end == e.cr && e.lf == e.pos && e.lf < len(e.text) {
		e.pos++
	}
	return e.text[start:end], true
}

// indexFrom returns where c stands in text from i on, or the length of text.
func indexFrom(text string, i int, c byte) int {
	if n := strings.IndexByte(text[i:], c); n >= 0 {
		return i + n
	}
	return len(text)
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
		var (
			start     = e.pos
			line      string
			lineEnded = true
		)
		if e.text[start] == '\n' {
			e.pos++ // as behind every event
		} else {
			line, lineEnded = e.line()
		}
		e.unfinished = !lineEnded
		if line == "" {
			if size > 0 {
				return e.data(data, lines, first, size), true, true
			}
			fields, lines = false, 0
			continue
		}
		switch c := line[0]; {
		case c == ':':
			continue
		case c == 'd':
			if value, ok := cutField(line, "data"); ok {
				if lines == 0 {
					data, first, size = value, start, len(value)
				} else {
					size += len("\n") + len(value)
				}
				lines++
			}
		case e.resumable:
		case c == 'i':
			value, ok := cutField(line, "id")
			e.resumable = ok && value != "" && strings.IndexByte(value, 0) < 0
		case c == 'r':
			value, ok := cutField(line, "retry")
			e.resumable = ok && allDigits(value)
		}
		fields = true
	}
	e.unfinished = e.unfinished || fields
	if size > 0 {
		return e.data(data, lines, first, size), false, true
	}
	return "", false, false
}

// data returns the data of the event that ends at pos: the value of its only data
// line, or those of all lines.
func (e *eventStream) data(value string, lines, first, size int) string {
	if lines == 1 {
		return value
	}
	return e.joined(lines, first, size)
}

// joined joins the values of so many data lines, of which the first begins there
// and which are of that size together.
func (e *eventStream) joined(lines, first, size int) string {
	var (
		again eventStream
		all   strings.Builder
	)
	again.reset(e.text[:e.pos], first)
	all.Grow(size)
	for lines > 0 {
		line, _ := again.line()
		if value, ok := cutField(line, "data"); ok {
			all.WriteString(value)
			if lines--; lines > 0 {
				all.WriteByte('\n')
			}
		}
	}
	return all.String()
}

// cutField returns the value of a field if the line is one of that name. One space
// behind the colon does not belong to the value; a line without a colon is a name
// alone.
func cutField(line, name string) (value string, ok bool) {
	if !strings.HasPrefix(line, name) {
		return "", false
	}
	value = line[len(name):]
	if value == "" {
		return "", true
	}
	if len(value) > 1 && value[1] == ' ' {
		return value[2:], value[0] == ':'
	}
	return value[1:], value[0] == ':'
}

func allDigits(s string) bool {
	return s != "" && digits([]byte(s), 0) == len(s)
}

// isFieldLine reports whether an event stream may begin with this line: a field
// that the specification defines, or a comment.
func isFieldLine(line string) bool {
	for _, name := range [...]string{"", "event", "data", "id", "retry"} {
		if _, ok := cutField(line, name); ok {
			return line != ""
		}
	}
	return false
}

// doneMark is what some servers end a stream with, after the habit of completion
// APIs. It begins like JSON and is none.
const doneMark = "[DONE]"

// isForeign reports whether data, of which the first byte is not white space, is
// nothing that was meant to be a message, so that it is passed over: only objects
// and arrays are. cut says that data may have gone on.
func isForeign(data string, cut bool) bool {
	switch data[0] {
	case '{':
		return false
	case '[':
		return strings.TrimRight(data, " \t\r\n") == doneMark ||
			cut && len(data) > 1 && strings.HasPrefix(doneMark, data) ||
			isTruncationMark([]byte(data))
	}
	return true
}
