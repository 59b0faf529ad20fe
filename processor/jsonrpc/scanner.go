package jsonrpc

// stopped is what the methods of scanner return in place of an index when reading
// cannot go on.
const stopped = -1

// scanner reads JSON text as RFC 8259 defines it and finds where values end.
//
// Its methods take the text and the index of the first byte that they read, and
// return the index behind the last one. When the text ends or breaks the grammar
// they return stopped, and state and at say why and where.
//
// The text is a string that is viewed as bytes, for which the compiler makes
// better code. It does not copy the string as long as it can see that nobody keeps
// or changes the bytes; TestReadingDoesNotAllocate sees to that.
type scanner struct {
	state State
	at    int

	// whole says that the end of the text is the end of what was sent, so that
	// a value which is not closed there is malformed and not cut.
	whole bool
	// invalidUTF8 is set by bytes in strings that are not UTF-8.
	invalidUTF8 bool

	// full are the words of nesting that container has filled.
	full [MaxDepth / wordDepth]nesting
}

// unexpected stops at i, where the text ends or holds what the grammar does not
// allow.
func (sc *scanner) unexpected(b []byte, i int) int {
	switch mark, found := truncationMark(b, i); {
	case found:
		sc.state, sc.at = Cut, mark
	case i >= len(b) && !sc.whole:
		sc.state, sc.at = Cut, len(b)
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

// next returns the index of the first byte from i on that is not white space.
func next(b []byte, i int) int {
	if uint(i) < uint(len(b)) && b[i] > ' ' {
		return i
	}
	return skipSpace(b, i)
}

// skipSpace is next for where white space is likely (RFC 8259 section 2).
//
//go:noinline
func skipSpace(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t', '\r':
		case '\n':
			for len(b)-i > 8 && word(b[i+1:]) == ' '*each01 {
				i += 8 // the line is indented
			}
		default:
			return i
		}
	}
	return i
}

// value reads the value that begins at i inside of depth arrays and objects, and
// tells its kind.
func (sc *scanner) value(b []byte, i, depth int) (end int, kind Kind) {
	if i >= len(b) {
		return sc.unexpected(b, i), Absent
	}
	kind = kinds[b[i]]
	switch kind {
	case Absent:
		end = sc.unexpected(b, i)
	case String:
		end, _ = sc.str(b, i+1)
	case Number:
		end = sc.number(b, i)
	case Array, Object:
		end = sc.container(b, i, depth)
	default:
		end = sc.literal(b, i)
	}
	return end, kind
}

// literal reads true, false or null (RFC 8259 section 3).
func (sc *scanner) literal(b []byte, i int) int {
	word := "null"
	switch b[i] {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	}
	for j := range len(word) {
		if i+j >= len(b) || b[i+j] != word[j] {
			if sc.unexpected(b, i+j); sc.state == Malformed {
				sc.unexpected(b, i) // it may be the word of a truncation mark
			}
			return stopped
		}
	}
	return i + len(word)
}

// nesting has a bit for each array and object that is open, 1 for an object, and
// the innermost is the lowest. One more bit stands above the outermost: when it is
// the highest of the word, the word is full.
type nesting uint64

// wordDepth is how many arrays and objects fit in one word.
const wordDepth = 63

// noneOpen returns the nesting in which nothing is open and that is full with room
// more, or with as many as fit.
func noneOpen(room int) nesting { return 1 << (wordDepth - min(room, wordDepth)) }

// container reads the array or object that opens at i inside of depth others.
// There is no recursion, however deep the text nests: a word of nesting is enough
// for nearly all of it, and the rest takes more words.
func (sc *scanner) container(b []byte, i, depth int) int {
	var (
		words = 0 // that are full
		none  = noneOpen(MaxDepth - depth)
		open  = none
		at    = atValue
		why   reason
	)
	for {
		i, open, why = pass(b, i, open, none, at)
		at = afterValue
		switch why {
		case allClosed:
			if words == 0 {
				return i
			}
			words--
			none, open = noneOpen(MaxDepth-depth-words*wordDepth), sc.full[words]
		case wordFull:
			if depth+(words+1)*wordDepth > MaxDepth {
				return sc.tooDeep(i)
			}
			sc.full[words] = open
			words++
			none = noneOpen(MaxDepth - depth - words*wordDepth)
			open, at = none, atValue
		case rareName:
			if i, _ = sc.str(b, i); i < 0 {
				return stopped
			}
			if i = next(b, i); i >= len(b) || b[i] != ':' {
				return sc.unexpected(b, i)
			}
			i++
			at = atValue
		case rareString:
			if i, _ = sc.str(b, i); i < 0 {
				return stopped
			}
		case rareNumber:
			if i = sc.number(b, i); i < 0 {
				return stopped
			}
		case rareLiteral:
			if i = sc.literal(b, i); i < 0 {
				return stopped
			}
		default:
			return sc.unexpected(b, i)
		}
	}
}

// position says where in an array or object pass begins.
type position uint8

const (
	atMember   position = iota // a name, or in an array a value
	atValue                    // a value, in an object behind the colon
	afterValue                 // a comma or a closing bracket
)

// reason says why pass returns, and what stands at the index that it returns.
type reason uint8

const (
	unallowed   reason = iota // what the grammar does not allow there, or the end of the text
	allClosed                 // what follows the last closing bracket
	wordFull                  // an array or object that needs another word of nesting
	rareName                  // the inside of a name that is escaped, not ASCII, or near the end
	rareString                // the inside of such a string, or of a long one
	rareNumber                // a number with an exponent, or that is wrong or cut
	rareLiteral               // a literal that is wrong or cut
)

// pass reads on in arrays and objects until all that are open, and those that open
// inside, have closed: none is the nesting then. Most of a body goes through here.
//
// It makes no call but to skip white space, so that what it works with stays in
// registers, and returns wherever something has to be done that is seldom needed.
func pass(b []byte, i int, open, none nesting, at position) (int, nesting, reason) {
	for { // one member or element each turn
		if at != afterValue {
			if open&1 != 0 && at == atMember {
				if uint(i) >= uint(len(b)) || b[i] != '"' {
					if i = skipSpace(b, i); uint(i) >= uint(len(b)) || b[i] != '"' {
						return i, open, unallowed
					}
				}
				if i = shortString(b, i+1); uint(i) >= uint(len(b)) || b[i] != '"' {
					return i, open, rareName
				}
				if i++; uint(i) >= uint(len(b)) || b[i] != ':' {
					if i = skipSpace(b, i); uint(i) >= uint(len(b)) || b[i] != ':' {
						return i, open, unallowed
					}
				}
				i++
			}

			if uint(i) >= uint(len(b)) {
				return i, open, unallowed
			}
			switch c := b[i]; c {
			case '"':
				if i = valueString(b, i+1); uint(i) >= uint(len(b)) || b[i] != '"' {
					return i, open, rareString
				}
				i++
			case '{', '[':
				if open>>wordDepth != 0 {
					return i, open, wordFull
				}
				open <<= 1
				if c == '{' {
					open |= 1
				}
				if i = next(b, i+1); uint(i) >= uint(len(b)) || b[i] != c+2 { // '}' or ']'
					at = atMember
					continue
				}
			case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
				first := i
				if c == '-' {
					if first++; uint(first) >= uint(len(b)) || b[first]-'0' > 9 {
						return i, open, rareNumber
					}
				}
				end := digits(b, first+1)
				if b[first] == '0' && end > first+1 {
					return i, open, rareNumber
				}
				if uint(end) < uint(len(b)) && b[end] == '.' {
					point := end
					if end = manyDigits(b, point+1); end == point+1 {
						return i, open, rareNumber
					}
				}
				if uint(end) >= uint(len(b)) || b[end]|0x20 == 'e' {
					return i, open, rareNumber
				}
				i = end
			case 't':
				if len(b)-i < 4 || string(b[i:i+4]) != "true" {
					return i, open, rareLiteral
				}
				i += 4
			case 'n':
				if len(b)-i < 4 || string(b[i:i+4]) != "null" {
					return i, open, rareLiteral
				}
				i += 4
			case 'f':
				if len(b)-i < 5 || string(b[i:i+5]) != "false" {
					return i, open, rareLiteral
				}
				i += 5
			default:
				before := i
				if i = skipSpace(b, i); i == before {
					return i, open, unallowed
				}
				at = atValue
				continue
			}
		}
		at = atMember

		for { // a comma ends the turn, closing brackets may come before it
			if uint(i) >= uint(len(b)) {
				return i, open, unallowed
			}
			c := b[i]
			if c == ',' {
				i++
				break
			}
			if c == ']'|byte(open&1)<<5 { // '}' has one bit more than ']'
				i++
				if open >>= 1; open == none {
					return i, open, allClosed
				}
				continue
			}
			before := i
			if i = skipSpace(b, i); i == before {
				return i, open, unallowed
			}
		}
	}
}
