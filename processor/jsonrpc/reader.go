package jsonrpc

import (
	"math"
	"strings"
)

// Format says what a text is made of.
type Format uint8

// The formats of a text.
const (
	// JSON is one JSON value, which is the whole text: a body of type
	// application/json.
	JSON Format = iota
	// Values is one JSON value after the other, as in newline-delimited JSON and
	// in log records.
	Values
	// EventStream is what a body of type text/event-stream holds (WHATWG HTML
	// section 9.2).
	EventStream
)

// MaxText is the length up to which a text is read. A longer one is taken as Cut
// there: that is a limit of this reader, for the sake of small offsets.
const MaxText = math.MaxInt32

// byteOrderMark may precede a text and is ignored (RFC 8259 section 8.1, WHATWG
// HTML section 9.2.5).
const byteOrderMark = "\uFEFF"

// Sniff tells the format of a text whose type is not known, or not to be
// trusted, by how it begins. It says JSON for an object or an array; whether more
// values may follow is for the caller to know.
func Sniff(text string) (f Format, ok bool) {
	text = strings.TrimPrefix(text, byteOrderMark)
	text = text[next([]byte(text), 0):]
	if text == "" {
		return JSON, false
	}
	if text[0] == '{' || text[0] == '[' {
		return JSON, true
	}
	const longest = len("event:") // of the names, with what has to follow
	line := text[:min(len(text), longest)]
	if end := strings.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	if isFieldLine(line) {
		return EventStream, true
	}
	return JSON, false
}

// Reader finds the messages of one text after the other. It copies and allocates
// nothing (with one exception, see Next), and nothing that a text holds makes it
// slower than linear, or panic. The zero Reader is ready for Reset.
//
//	r.Reset(body, jsonrpc.JSON)
//	for r.Next() {
//		m := r.Message()
//		...
//	}
//	s := r.Summary()
//
// A Reader is not safe for concurrent use. It is large, to be kept and reused.
type Reader struct {
	format  Format
	phase   phase
	clipped bool // the text is longer than MaxText

	text   string // what values are read from: the body, or the data of one event
	pos    int    // where reading goes on in it
	first  bool   // no value, or no element of the array, has been read yet
	stream eventStream

	message Message
	summary Summary

	scanner scanner
	depth   int   // how many arrays are open around the message
	ignored Value // takes the values of members that are not tracked
}

// phase says what a Reader expects next.
type phase uint8

const (
	finished    phase = iota // nothing
	beforeValue              // a value, or the end of the text
	inArray                  // an element of a top-level array, or its end
	beforeEvent              // an event
	behindArray              // the end of the data of an event
)

// Summary says how a text as a whole was.
type Summary struct {
	// State, Cause and Offset say how the text ended. A message that closed
	// before stands. An event stream is Cut if its end stands inside a line or
	// before the blank line of an event; events that are malformed do not count
	// here but in Broken.
	State  State
	Cause  Cause
	Offset int
	// Empty reports a text without a byte, or in formats other than EventStream
	// of white space only. Its State is Complete.
	Empty bool
	// Batch reports that a top-level value was an array. In event streams see
	// Message.InBatch.
	Batch bool
	// InvalidUTF8 reports a message with InvalidUTF8.
	InvalidUTF8 bool

	// The rest is about event streams only.

	// Events counts the events with data.
	Events int
	// Resumable reports an `id` to resume the stream from or a `retry` time, in
	// whatever event, be it unfinished. Since revision 2025-11-25 ("Sending
	// Messages to the Server") that is how a server announces that it may end the
	// stream before the answer.
	Resumable bool
	// Unterminated reports that the last event with data was not ended by a blank
	// line. WHATWG discards such an event; here it is read.
	Unterminated bool
	// Foreign counts the events whose data was never meant to be a message:
	// anything but an object or array, and "[DONE]".
	Foreign int
	// Broken counts the events whose data began like a message and is malformed.
	Broken int
}

// Reset makes r read a text from its beginning.
func (r *Reader) Reset(text string, f Format) {
	r.reset(text, f, MaxText)
}

func (r *Reader) reset(text string, f Format, limit int) {
	if r.clipped = len(text) > limit; r.clipped {
		text = text[:limit]
	}
	r.format, r.first = f, true
	r.summary = Summary{}
	r.scanner.whole = false
	r.pos = 0
	if strings.HasPrefix(text, byteOrderMark) {
		r.pos = len(byteOrderMark)
	}
	if f == EventStream {
		r.phase = beforeEvent
		r.stream.reset(text, r.pos)
		r.summary.Empty = r.pos == len(text)
		return
	}
	r.phase = beforeValue
	r.text = text
}

// Summary returns what is known of the text so far, which is all once Next has
// returned false.
func (r *Reader) Summary() Summary { return r.summary }

// Message returns what the last call of Next found. It is valid until Next or
// Reset is called. A copy of the Message stays valid.
func (r *Reader) Message() *Message { return &r.message }

// Next advances to the next value that may be a message and reports whether
// there is one: each top-level value, and instead of an array each of its
// elements. Values that are cut, malformed or too deep are among them, as their
// State says; what follows one in the same text or event is not read. An array
// that ends in this way between two elements is itself such a value, of Kind
// Array. Text that does not begin like JSON holds no value at all.
//
// The data of an event that was ended by a blank line is whole: JSON that wants
// more there is Malformed. So is a value, or an array after its elements, that
// other data follows. Events of which the data is no object or array are passed
// over.
//
// Next allocates only for events that have several lines of data, to join them.
func (r *Reader) Next() bool {
	for {
		switch r.phase {
		case beforeValue:
			if r.nextValue() {
				return true
			}
		case inArray:
			if r.nextElement() {
				return true
			}
		case beforeEvent:
			if r.nextEvent() {
				return true
			}
		case behindArray:
			if r.endData(true) {
				return true
			}
		default:
			return false
		}
	}
}

// nextValue reads a top-level value of a text that is no event stream.
func (r *Reader) nextValue() bool {
	b := []byte(r.text)
	i := next(b, r.pos)
	if i == len(b) {
		r.summary.Empty = r.first
		r.end(Complete, NoCause, i)
		return false
	}
	if (r.first || r.format == Values) && (b[i] == '{' || beginsLikeJSON(b[i:])) {
		return r.topLevel(i)
	}
	if _, cut := truncationMark(b, i); cut || strings.HasPrefix(byteOrderMark, r.text) {
		r.end(Cut, NoCause, i)
	} else if r.first {
		r.end(Malformed, NotJSON, i)
	} else {
		r.end(Malformed, TrailingData, i)
	}
	return false
}

// beginsLikeJSON reports whether a text begins with a JSON value, or with what
// may be one that is cut or malformed further on.
func beginsLikeJSON(b []byte) bool {
	switch kinds[b[0]] {
	case String, Object:
		return true
	case Array:
		return !isTruncationMark(b)
	case Number:
		return b[0] != '-' || len(b) == 1 || b[1]-'0' <= 9
	case True:
		return beginsLike(b, "true")
	case False:
		return beginsLike(b, "false")
	case Null:
		return beginsLike(b, "null")
	}
	return false
}

func beginsLike(b []byte, word string) bool {
	n := min(len(b), len(word))
	return string(b[:n]) == word[:n]
}

// topLevel reads the value at i.
func (r *Reader) topLevel(i int) bool {
	if r.text[i] == '[' {
		r.summary.Batch = r.format != EventStream
		r.phase, r.first, r.pos = inArray, true, i+1
		return false
	}
	r.first = false
	found := r.read(i, 0)
	if r.format == JSON && r.pos == len(r.text) {
		r.end(Complete, NoCause, r.pos) // as it most often does, without another turn
	}
	return found
}

// read reads the value at i inside of depth arrays into the message and reports
// whether there is one: where a truncation mark stands in its place there is not.
func (r *Reader) read(i, depth int) bool {
	m, sc, b := &r.message, &r.scanner, []byte(r.text)
	m.begin(r.text)
	sc.invalidUTF8 = false
	m.InBatch = depth > 0
	r.depth = depth
	start := i
	if b[i] == '{' {
		m.Kind = Object
		i = r.envelope(b, i)
	} else {
		i, m.Kind = sc.value(b, i, depth)
		if m.Kind == Number && i >= 0 && (m.InBatch || i < len(b)) && sc.mayGoOn(b, i) {
			i = stopped
		}
	}
	m.State, m.Cause, m.Offset = Complete, NoCause, i
	m.InvalidUTF8 = sc.invalidUTF8
	r.summary.InvalidUTF8 = r.summary.InvalidUTF8 || m.InvalidUTF8
	if r.pos = i; i >= 0 {
		return true
	}
	return r.stop(start)
}

// stop notes why the scanner stopped at or behind start, in the message and for
// the text or event, whose reading this ends.
func (r *Reader) stop(start int) bool {
	m := &r.message
	m.stopped(&r.scanner)
	if r.format != EventStream {
		r.end(m.State, m.Cause, m.Offset)
	} else {
		r.phase = beforeEvent
		if m.State == Malformed {
			r.summary.Broken++
		}
	}
	return m.Offset > start || m.State != Cut
}

// stopped notes in m why the scanner stopped.
func (m *Message) stopped(sc *scanner) {
	m.State, m.Cause, m.Offset = sc.state, NoCause, sc.at
	if m.State == Malformed {
		m.Cause = Syntax
	}
}

// end ends the reading of the text.
func (r *Reader) end(s State, c Cause, offset int) {
	if r.clipped && s == Complete {
		s = Cut
	}
	r.summary.State, r.summary.Cause, r.summary.Offset = s, c, offset
	r.phase = finished
}

// nextElement reads an element of a top-level array, or its end.
func (r *Reader) nextElement() bool {
	b := []byte(r.text)
	i := next(b, r.pos)
	if i < len(b) && b[i] == ']' {
		r.pos, r.first = i+1, false
		r.phase = beforeValue
		if r.format == EventStream {
			r.phase = behindArray
		}
		return false
	}
	if !r.first {
		if i >= len(b) || b[i] != ',' {
			return r.brokenArray(i)
		}
		i = next(b, i+1)
	}
	if i >= len(b) || kinds[b[i]] == Absent {
		return r.brokenArray(i)
	}
	r.first = false
	return r.read(i, 1)
}

// brokenArray makes a message of a top-level array that goes wrong at i, between
// its elements.
func (r *Reader) brokenArray(i int) bool {
	m := &r.message
	m.begin(r.text)
	m.Kind, m.InBatch, m.InvalidUTF8 = Array, false, false
	r.scanner.unexpected([]byte(r.text), i)
	return r.stop(stopped)
}

// nextEvent reads the next event that may hold messages.
func (r *Reader) nextEvent() bool {
	data, ended, ok := r.stream.next()
	r.summary.Resumable = r.stream.resumable
	if !ok {
		state := Complete
		if r.stream.unfinished {
			state = Cut
		}
		r.end(state, NoCause, r.stream.pos)
		return false
	}
	r.summary.Events++
	r.summary.Unterminated = !ended
	i := next([]byte(data), 0)
	if i == len(data) || isForeign(data[i:], !ended) {
		r.summary.Foreign++
		return false
	}
	r.text, r.scanner.whole = data, ended
	found := r.topLevel(i)
	if found && r.pos >= 0 && r.pos < len(data) {
		r.endData(false)
	}
	return found
}

// endData reads the end of the data of an event, which nothing may follow. If
// something does, the message is malformed, or the array if the data was one: no
// Summary tells of a single event. It reports whether there is such a message.
func (r *Reader) endData(array bool) bool {
	r.phase = beforeEvent
	b := []byte(r.text)
	i := next(b, r.pos)
	if i == len(b) {
		return false
	}
	if _, cut := truncationMark(b, i); cut {
		return false
	}
	m := &r.message
	if array {
		m.begin(r.text)
		m.Kind, m.InBatch, m.InvalidUTF8 = Array, false, false
	}
	m.State, m.Cause, m.Offset = Malformed, TrailingData, i
	r.summary.Broken++
	return true
}
