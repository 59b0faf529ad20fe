package jsonrpc

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// DigestKey is the key of digests. Each process makes its own, since short
// arguments could be guessed from a digest whose key is known.
type DigestKey struct{ seed maphash.Seed }

// NewDigestKey returns a new key.
func NewDigestKey() DigestKey { return DigestKey{maphash.MakeSeed()} }

// Digest returns a digest of the JSON value raw in canonical form: equal values
// have equal digests, whatever the order of the members of an object, white
// space and escapes. The order of an array counts, and so does the text of a
// number: senders write the same number the same way, and 1.0 may be another
// argument than 1. raw must be JSON; of anything else the digest means nothing.
// It does not allocate unless raw nests deeper than any arguments do.
func Digest(raw string, key DigestKey) uint64 {
	b := []byte(raw)
	var few [16]level // more than arguments need, and no more of the stack than that
	stack := few[:0]
	for i := skipSpace(b, 0); i < len(b); {
		var value uint64
		switch c := b[i]; {
		case c == '{' || c == '[':
			l := level{sum: markArray}
			if c == '{' {
				l = level{sum: markObject, object: true}
			}
			stack = append(stack, l)
			i = key.member(stack, raw, b, skipSpace(b, i+1))
			continue
		case (c == '}' || c == ']') && len(stack) > 0:
			value = fold(stack[len(stack)-1].sum, uint64(c))
			stack = stack[:len(stack)-1]
			i++
		case c == '"':
			value, i = key.text(raw, b, i)
		default:
			end, _ := endOfValue(b, i)
			if end == i {
				return 0
			}
			value = maphash.String(key.seed, raw[i:end])
			i = end
		}
		if len(stack) == 0 {
			return value
		}
		top := &stack[len(stack)-1]
		if top.object {
			// Members may come in any order.
			top.sum += fold(top.name, value)
		} else {
			top.sum = fold(top.sum, value)
		}
		if i = skipSpace(b, i); i < len(b) && b[i] == ',' {
			i = key.member(stack, raw, b, skipSpace(b, i+1))
		}
	}
	return 0
}

// level is an array or object that is being read.
type level struct {
	sum    uint64 // of what was read of it
	name   uint64 // of the member whose value comes next
	object bool
}

// Marks that make values of different kinds differ.
const (
	markArray  = 0x9e3779b97f4a7c15
	markObject = 0xc2b2ae3d27d4eb4f
	markString = 0x165667b19e3779f9
)

// member reads the name of a member at i, if an object is being read, and
// returns where its value begins.
func (key DigestKey) member(stack []level, raw string, b []byte, i int) int {
	top := &stack[len(stack)-1]
	if !top.object || i >= len(b) || b[i] != '"' {
		return i
	}
	top.name, i = key.text(raw, b, i)
	if i = skipSpace(b, i); i < len(b) && b[i] == ':' {
		i = skipSpace(b, i+1)
	}
	return i
}

// chunk is the number of bytes of a text that are hashed at a time. Decoded or
// not, the text is cut at the same places.
const chunk = 256

// text returns the digest of what the string at i stands for, and the index behind
// it.
func (key DigestKey) text(raw string, b []byte, i int) (digest uint64, end int) {
	if end = shortString(b, i+1); end < len(b) && b[end] == '"' && end-i <= chunk {
		return fold(markString, maphash.String(key.seed, raw[i+1:end])), end + 1
	}
	end, _ = endOfString(b, i)
	return key.longText(inside(raw[i:end])), end
}

// longText is text for the inside of any string.
func (key DigestKey) longText(s string) uint64 {
	h := uint64(markString)
	if strings.IndexByte(s, '\\') < 0 && utf8.ValidString(s) {
		for len(s) > chunk {
			h = fold(h, maphash.String(key.seed, s[:chunk]))
			s = s[chunk:]
		}
		return fold(h, maphash.String(key.seed, s))
	}
	var buf [chunk + utf8.UTFMax]byte
	n := 0
	for i := 0; i < len(s); {
		var r rune
		r, i = nextRune(s, i)
		n += utf8.EncodeRune(buf[n:], r)
		if n > chunk {
			h = fold(h, maphash.Bytes(key.seed, buf[:chunk]))
			n = copy(buf[:], buf[chunk:n])
		}
	}
	return fold(h, maphash.Bytes(key.seed, buf[:n]))
}

// fold folds v into h.
func fold(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^0xa0761d6478bd642f, v^0xe7037ed1a0b428db)
	return hi ^ lo ^ bits.RotateLeft64(h, 23)
}
