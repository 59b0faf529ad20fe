package jsonrpc

// usualStart is how nearly all messages begin.
const usualStart = `{"jsonrpc":"2.0",`

// envelope reads the object at i, which may be a message.
func (r *Reader) envelope(b []byte, i int) int {
	if end := i + len(usualStart); end <= len(b) && string(b[i:end]) == usualStart {
		const name, value = len(`{"jsonrpc":`), len(`"2.0"`)
		r.message.JSONRPC = Value{start: uint32(i + name), end: uint32(i + name + value), Kind: String}
		return r.object(b, end, inEnvelope, true)
	}
	return r.object(b, i+1, inEnvelope, false)
}

// object reads the rest of an object whose members are tracked, behind its brace or,
// if it has begun, from a member on, and notes them in the message.
func (r *Reader) object(b []byte, i int, in place, begun bool) int {
	if i = next(b, i); !begun && i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if uint(i) >= uint(len(b)) || b[i] != '"' {
			if i = skipSpace(b, i); uint(i) >= uint(len(b)) || b[i] != '"' {
				return r.scanner.unexpected(b, i)
			}
		}
		var (
			v     *Value
			inner place
		)
		start := i + 1
		if i = shortString(b, start); uint(i) < uint(len(b)) && b[i] == '"' {
			v, inner = r.message.member(in, b[start:i:i])
			i++
		} else {
			var escaped bool
			if i, escaped = r.scanner.str(b, i); i < 0 {
				return stopped
			}
			if escaped {
				v, inner = r.message.escapedMember(in, r.message.text[start:i-1])
			} else {
				v, inner = r.message.member(in, b[start:i-1])
			}
		}
		if v == nil {
			v = &r.ignored
		}
		if uint(i) >= uint(len(b)) || b[i] != ':' {
			if i = skipSpace(b, i); uint(i) >= uint(len(b)) || b[i] != ':' {
				return r.scanner.unexpected(b, i)
			}
		}
		if i = next(b, i+1); uint(i) >= uint(len(b)) {
			return r.scanner.unexpected(b, i)
		}

		flags := uint8(0)
		if v.Present() {
			flags = flagTwice
			if inner != untracked {
				r.message.forget(inner)
			}
		}
		start = i
		kind := kinds[b[i]]
		switch kind {
		case Absent:
			i = r.scanner.unexpected(b, i)
		case String:
			if i = shortString(b, i+1); uint(i) < uint(len(b)) && b[i] == '"' {
				i++
			} else {
				var escaped bool
				if i, escaped = r.scanner.str(b, i); escaped {
					flags |= flagEscaped
				}
			}
		case Number:
			i = r.scanner.number(b, i)
		case Object:
			if inner != untracked {
				i = r.object(b, i+1, inner, false)
			} else {
				i = r.scanner.container(b, i, r.depth+depthOf[in])
			}
		case Array:
			i = r.scanner.container(b, i, r.depth+depthOf[in])
		default:
			i = r.scanner.literal(b, i)
		}
		if i < 0 {
			if r.scanner.at <= start {
				*v = Value{} // a truncation mark stands in its place
			} else {
				*v = Value{uint32(start), uint32(r.scanner.at), kind, flags | flagOpen}
			}
			return stopped
		}
		if kind >= Array && isEmpty(b, start, i) {
			flags |= flagEmpty
		}
		*v = Value{uint32(start), uint32(i), kind, flags}

		end := i
		if i = next(b, i); uint(i) < uint(len(b)) {
			switch b[i] {
			case ',':
				i++
				continue
			case '}':
				return i + 1
			}
		}
		if kind == Number && r.scanner.mayGoOn(b, end) {
			v.flags |= flagOpen
		}
		return r.scanner.unexpected(b, i)
	}
}

// isEmpty reports whether nothing but white space is in the array or object from
// start to end.
func isEmpty(b []byte, start, end int) bool { return next(b, start+1) == end-1 }

// longestName is no shorter than the longest name that is tracked.
const longestName = 48

// escapedMember is member for the inside of a name with escapes.
func (m *Message) escapedMember(in place, name string) (*Value, place) {
	const longestEscape = len(`\u0000`)
	if len(name) > longestEscape*longestName {
		return nil, untracked
	}
	var decoded [longestEscape * longestName]byte
	return m.member(in, appendDecoded(decoded[:0], name))
}
