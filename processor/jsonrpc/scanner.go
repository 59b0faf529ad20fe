package jsonrpc

import "strings"

// stopped is returned by the methods of scanner in place of an index when
// reading cannot go on.
const stopped = -1

// scanner reads JSON text as RFC 8259 defines it and finds where values end.
//
// Its methods take the index of the first byte that they read and return the
// index behind the last one. When the text ends or breaks the grammar they
// return stopped, and state and at say why and where.
type scanner struct {
	state State
	at    int

	// whole says that the end of the text is the end of what was sent, so that
	// a value which is not closed there is malformed and not cut.
	whole bool
	// invalidUTF8 is set by bytes in strings that are not UTF-8.
	invalidUTF8 bool

	// levels keeps what container has no room for in one word.
	levels      [MaxDepth / 63]uint64
	depth, full int
}

// unexpected stops at i, where the text ends or holds what the grammar does not
// allow.
func (sc *scanner) unexpected(s string, i int) int {
	switch mark, found := truncationMark(s, i); {
	case found:
		sc.state, sc.at = Cut, mark
	case i >= len(s) && !sc.whole:
		sc.state, sc.at = Cut, len(s)
	default:
		sc.state, sc.at = Malformed, i
	}
	return stopped
}

// tooDeep stops at the array or object at i.
func (sc *scanner) tooDeep(i int) int {
	sc.state, sc.at = TooDeep, i
	return stopped
}

// kinds tells the kind of a value by its first byte.
var kinds = [256]Kind{
	'n': Null, 'f': False, 't': True,
	'-': Number, '0': Number, '1': Number, '2': Number, '3': Number, '4': Number,
	'5': Number, '6': Number, '7': Number, '8': Number, '9': Number,
	'"': String, '[': Array, '{': Object,
}

// spaces has the bit of each byte that is white space (RFC 8259 section 2).
const spaces = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'

// skipSpace returns the index of the first byte from i on that is not white
// space.
func skipSpace(s string, i int) int {
	for uint(i) < uint(len(s)) && s[i] <= ' ' && spaces>>s[i]&1 != 0 {
		i++
	}
	return i
}

// value reads the value that begins at i inside of depth arrays and objects,
// and tells its kind.
func (sc *scanner) value(s string, i, depth int) (int, Kind) {
	if uint(i) >= uint(len(s)) {
		return sc.unexpected(s, i), Absent
	}
	kind := kinds[s[i]]
	switch kind {
	case Absent:
		return sc.unexpected(s, i), Absent
	case String:
		end, _ := sc.str(s, i+1)
		return end, String
	case Number:
		return sc.number(s, i), Number
	case Array, Object:
		return sc.container(s, i, depth), kind
	default:
		return sc.literal(s, i), kind
	}
}

// literal reads true, false or null (RFC 8259 section 3).
func (sc *scanner) literal(s string, i int) int {
	var word string
	switch s[i] {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	default:
		word = "null"
	}
	if strings.HasPrefix(s[i:], word) {
		return i + len(word)
	}
	j := i + 1
	for j < len(s) && s[j] == word[j-i] {
		j++
	}
	if sc.unexpected(s, j); sc.state == Malformed {
		sc.unexpected(s, i)
	}
	return stopped
}

// container reads the array or object that opens at i inside of depth others.
// Nothing in it is tracked, so this is where most of a body passes through.
//
// The open arrays and objects are kept as one bit each, so that there is no
// recursion, however deep the text nests: in a word at first, and when that is
// full in further ones.
func (sc *scanner) container(s string, i, depth int) int {
	// The innermost has the lowest bit of level, 1 for an object. Above the
	// outermost stands a bit that reaches the top when the word is full.
	sc.depth, sc.full = depth, 0
	empty := sc.emptyLevel()
	level := empty
	for first := true; ; { // one member or element each turn
		if level&1 != 0 && !first {
			if i = skipSpace(s, i); uint(i) >= uint(len(s)) || s[i] != '"' {
				return sc.unexpected(s, i)
			}
			if i = shortString(s, i+1); uint(i) < uint(len(s)) && s[i] == '"' {
				i++
			} else if i, _ = sc.str(s, i); i < 0 {
				return stopped
			}
			if i = skipSpace(s, i); uint(i) >= uint(len(s)) || s[i] != ':' {
				return sc.unexpected(s, i)
			}
			i++
		}
		first = false

		if i = skipSpace(s, i); uint(i) >= uint(len(s)) {
			return sc.unexpected(s, i)
		}
		switch c := s[i]; c {
		case '"':
			if i = shortString(s, i+1); uint(i) < uint(len(s)) && s[i] == '"' {
				i++
			} else if i, _ = sc.str(s, i); i < 0 {
				return stopped
			}
		case '{', '[':
			if level>>63 != 0 {
				if !sc.push(level) {
					return sc.tooDeep(i)
				}
				empty = sc.emptyLevel()
				level = empty
			}
			level <<= 1
			if c == '{' {
				level |= 1
			}
			i = skipSpace(s, i+1)
			if uint(i) >= uint(len(s)) || s[i] != c+2 { // '}' or ']'
				continue
			}
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			if i = sc.number(s, i); i < 0 {
				return stopped
			}
		case 't', 'f', 'n':
			if i = sc.literal(s, i); i < 0 {
				return stopped
			}
		default:
			return sc.unexpected(s, i)
		}

		for { // what follows a value: commas and closing brackets
			if i = skipSpace(s, i); uint(i) >= uint(len(s)) {
				return sc.unexpected(s, i)
			}
			c := s[i]
			if c == ',' {
				i++
				break
			}
			if c != ']'|byte(level&1)<<5 { // '}' has one bit more than ']'
				return sc.unexpected(s, i)
			}
			i++
			if level >>= 1; level == empty {
				if sc.full == 0 {
					return i
				}
				level = sc.pop()
				empty = sc.emptyLevel()
			}
		}
	}
}

func (sc *scanner) emptyLevel() uint64 {
	return 1 << (63 - min(63, MaxDepth-sc.depth-63*sc.full))
}

func (sc *scanner) push(level uint64) bool {
	if sc.depth+63*(sc.full+1) > MaxDepth {
		return false
	}
	sc.levels[sc.full] = level
	sc.full++
	return true
}

func (sc *scanner) pop() uint64 {
	sc.full--
	return sc.levels[sc.full]
}
