package jsonrpc

// ReadResult reads raw, a JSON value, as if it stood under "result": the
// returned Message has the Value and, if it is an object, its members. State
// tells whether it could be read. The Message refers to raw.
//
// This is for results inside of other values, such as that of a finished task in
// tasks/get.
func ReadResult(raw string) Message { return readAs(raw, inResult) }

// ReadError is ReadResult for "error".
func ReadError(raw string) Message { return readAs(raw, inError) }

func readAs(raw string, in place) Message {
	var r Reader
	m, sc := &r.message, &r.scanner
	v := &m.ResultValue
	if in == inError {
		v = &m.ErrorValue
	}
	m.text = raw[:min(len(raw), MaxText)]
	b := []byte(m.text)
	start := next(b, 0)
	i := start
	if i < len(b) && b[i] == '{' {
		r.depth = 1 - depthOf[in] // the envelope is not there
		m.Kind = Object
		i = r.object(b, i+1, in, false)
	} else {
		i, m.Kind = sc.value(b, i, 0)
	}
	m.InvalidUTF8 = sc.invalidUTF8
	if i < 0 {
		m.stopped(sc)
		*v = Value{uint32(start), uint32(max(sc.at, start)), m.Kind, flagOpen}
		return *m
	}
	*v = Value{uint32(start), uint32(i), m.Kind, 0}
	if m.Kind >= Array && isEmpty(b, start, i) {
		v.flags = flagEmpty
	}
	if m.Offset = next(b, i); m.Offset < len(b) {
		m.State, m.Cause = Malformed, TrailingData
	}
	return *m
}

// Member returns the member at path inside of v. See Lookup.
func (m *Message) Member(v Value, path ...string) (raw string, kind Kind) {
	return Lookup(m.Raw(v), path...)
}

// Lookup walks down from the JSON object raw along the names in path and returns
// the raw JSON of the member at its end, and its kind. Names are compared as
// they decode; of members with the same name the last one counts. It returns ""
// and Absent if there is no such member.
//
// Raw is expected to have been read by a Reader. Other text does no harm, but
// what is found in it means nothing. In text that is cut, only what is closed is
// found.
func Lookup(raw string, path ...string) (value string, kind Kind) {
	value = raw
	for depth, name := range path {
		found := ""
		last := depth == len(path)-1
		eachMember(value, func(n, v string, closed bool) bool {
			if decodesTo(n, name) {
				found = ""
				if closed || !last {
					found = v
				}
			}
			return true
		})
		if value = found; value == "" {
			return "", Absent
		}
	}
	value = value[next([]byte(value), 0):]
	if value == "" {
		return "", Absent
	}
	return value, kinds[value[0]]
}

// Members calls yield for each member of the JSON object raw in the order of the
// text, with the decoded name, the raw JSON of the value and its kind, until
// yield returns false. What is said of raw at Lookup holds here too.
func Members(raw string, yield func(name, value string, kind Kind) bool) {
	eachMember(raw, func(name, value string, closed bool) bool {
		return !closed || yield(DecodeString(name), value, kinds[value[0]])
	})
}

// eachMember calls yield for each member of an object with the inside of its
// name. A value that is not closed reaches to the end of the text.
func eachMember(s string, yield func(name, value string, closed bool) bool) {
	b := []byte(s)
	i := next(b, 0)
	if i >= len(s) || s[i] != '{' {
		return
	}
	for {
		i = next(b, i+1) // behind the brace or a comma
		if i >= len(s) || s[i] != '"' {
			return
		}
		end, closed := endOfString(b, i)
		if !closed {
			return
		}
		name := s[i+1 : end-1]
		i = next(b, end)
		if i >= len(s) || s[i] != ':' {
			return
		}
		start := next(b, i+1)
		if start >= len(s) {
			return
		}
		if i, closed = endOfValue(b, start); i == start {
			return
		}
		if !yield(name, s[start:i], closed) {
			return
		}
		if i = next(b, i); i >= len(s) || s[i] != ',' {
			return
		}
	}
}

// EndOfString returns the index behind the JSON string that text begins with, and
// whether it is closed. Escapes are only passed over.
func EndOfString(text string) (end int, closed bool) { return endOfString([]byte(text), 0) }

// endOfString returns the index behind the string at i.
func endOfString(b []byte, i int) (end int, closed bool) {
	for i++; ; i += 2 {
		for {
			if i = longString(b, i); i >= len(b) {
				return len(b), false
			}
			if b[i] == '"' {
				return i + 1, true
			}
			if b[i] == '\\' {
				break
			}
			i++
		}
		if i+2 > len(b) {
			return len(b), false
		}
	}
}

// endOfValue returns the index behind the value at i. It trusts the text to be
// JSON and only counts brackets.
func endOfValue(b []byte, i int) (end int, closed bool) {
	switch b[i] {
	case '"':
		return endOfString(b, i)
	case '{', '[':
	default:
		for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']' {
			i++
		}
		return i, i < len(b)
	}
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i, _ = endOfString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
		i++
	}
	return len(b), false
}
