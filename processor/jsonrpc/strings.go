package jsonrpc

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Constants that hold one byte value eight times.
const (
	each01 = 0x0101010101010101
	each80 = 0x80 * each01
)

// word returns the first eight bytes of b, the first one lowest.
func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// special sets the highest bit of the first byte in w that does not simply stand
// for itself in a JSON string: a quote, a backslash, a control character (RFC 8259
// section 7) or a byte that is not ASCII. The highest bits of the bytes behind it
// may be wrong, because the subtractions borrow from them, and all other bits mean
// nothing.
func special(w uint64) uint64 {
	// The XOR moves the quote, 0x22, to 0x20 and control characters among
	// themselves, so that both are below 0x21.
	quoteOrControl := (w ^ 0x02*each01) - 0x21*each01
	// Only a zero byte borrows. What is not ASCII keeps its highest bit, but for
	// 0xdc, which keeps it above.
	backslash := (w ^ '\\'*each01) - each01
	return quoteOrControl | backslash
}

// shortString returns the index of the first special byte from i on. Among the
// last seven bytes of the text it returns an index that may be in front of it.
func shortString(b []byte, i int) int {
	for ; i <= len(b)-8; i += 8 {
		if found := special(word(b[i:i+8])) & each80; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return i
}

// valueString is shortString for strings that may be so long that it is better to
// go on with longString: it stops after 256 bytes too.
func valueString(b []byte, i int) int {
	for last := min(i+256-8, len(b)-8); i <= last; i += 8 {
		if found := special(word(b[i:i+8])) & each80; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return i
}

// longString returns the index of the first special byte from i on, or the
// length of the text.
func longString(b []byte, i int) int {
	for ; i <= len(b)-64; i += 64 {
		s := b[i : i+64]
		found := special(word(s)) | special(word(s[8:])) | special(word(s[16:])) | special(word(s[24:])) |
			special(word(s[32:])) | special(word(s[40:])) | special(word(s[48:])) | special(word(s[56:]))
		if found&each80 != 0 {
			break
		}
	}
	i = shortString(b, i)
	for i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// str reads on inside of a string, up to and including its closing quote, and
// reports whether it met an escape.
func (sc *scanner) str(b []byte, i int) (end int, escaped bool) {
	for uint(i) < uint(len(b)) {
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if uint(i+1) < uint(len(b)) && letterEscapes[b[i+1]] {
				i += 2
			} else if i = sc.rareEscape(b, i); i < 0 {
				return stopped, escaped
			}
		case c < ' ':
			return sc.unexpected(b, i), escaped
		case c >= utf8.RuneSelf:
			if i = sc.notASCII(b, i); i < 0 {
				return stopped, escaped
			}
		default:
			i = longString(b, i)
			continue
		}
		i = valueString(b, i)
	}
	return sc.unexpected(b, i), escaped
}

// letterEscapes are the escapes of a backslash and one more character (RFC 8259
// section 7).
var letterEscapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// rareEscape reads the escape at i, which is a \u escape or wrong.
func (sc *scanner) rareEscape(b []byte, i int) int {
	i++
	if i >= len(b) || b[i] != 'u' {
		return sc.unexpected(b, i)
	}
	for range 4 {
		if i++; i >= len(b) || hexDigit(b[i]) < 0 {
			return sc.unexpected(b, i)
		}
	}
	return i + 1
}

// notASCII reads the characters from i on that are not ASCII. Bytes that are not
// UTF-8 are noted and read over.
func (sc *scanner) notASCII(b []byte, i int) int {
	for {
		for i <= len(b)-8 {
			w := word(b[i : i+8])
			if w&0x80 == 0 {
				return i
			}
			if ofThreeBytes(w) {
				i += 3
				if ofThreeBytes(w >> 24) {
					i += 3
				}
				continue
			}
			size := ofTwoBytes(w)
			if size == 0 {
				break
			}
			i += size
		}
		if i >= len(b) || b[i] < utf8.RuneSelf {
			return i
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			if !utf8.FullRune(b[i:]) {
				return sc.unexpected(b, len(b))
			}
			sc.invalidUTF8 = true
		}
		i += size
	}
}

// ofThreeBytes reports whether w begins with a character of three bytes, 1110xxxx
// 10xxxxxx 10xxxxxx, as the writings of East Asia have. It may not be overlong, E0
// 80..9F, nor a surrogate, ED A0..BF: one bit of the second byte together with the
// first byte tells.
func ofThreeBytes(w uint64) bool {
	half := w & 0x200f
	return w&0xc0c0f0 == 0x8080e0 && half != 0x0000 && half != 0x200d
}

// ofTwoBytes returns the size of up to four characters of two bytes, 110xxxxx
// 10xxxxxx, at the beginning of w, as most alphabets but the Latin have. None may be
// overlong, 1100000x.
func ofTwoBytes(w uint64) int {
	const each = 0x0001_0001_0001_0001
	other := w&(0xc0e0*each) ^ 0x80c0*each
	overlong := (w&(0x001e*each) - each) & (0x8000 * each)
	return bits.TrailingZeros64(other|overlong) / 16 * 2
}

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// nextRune returns the character at s[i] inside of a JSON string, and the index
// behind it. Where there is none to be had, from a lone surrogate, a byte that
// is not UTF-8 or an escape that is broken off, it is U+FFFD.
func nextRune(s string, i int) (r rune, next int) {
	if s[i] != '\\' {
		r, size := utf8.DecodeRuneInString(s[i:])
		return r, i + size
	}
	if i+1 == len(s) {
		return utf8.RuneError, i + 1
	}
	switch c := s[i+1]; c {
	case 'b':
		return '\b', i + 2
	case 'f':
		return '\f', i + 2
	case 'n':
		return '\n', i + 2
	case 'r':
		return '\r', i + 2
	case 't':
		return '\t', i + 2
	case 'u':
		r := codeUnit(s, i)
		if r < 0 {
			return utf8.RuneError, min(i+6, len(s))
		}
		i += 6
		if utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, codeUnit(s, i)); pair != utf8.RuneError {
				return pair, i + 6
			}
			return utf8.RuneError, i
		}
		return r, i
	default:
		return rune(c), i + 2
	}
}

// codeUnit returns the UTF-16 code unit of the \u escape at s[i], or -1.
func codeUnit(s string, i int) rune {
	if len(s)-i < 6 || s[i] != '\\' || s[i+1] != 'u' {
		return -1
	}
	r := rune(0)
	for _, c := range []byte(s[i+2 : i+6]) {
		d := hexDigit(c)
		if d < 0 {
			return -1
		}
		r = r<<4 | d
	}
	return r
}

// appendDecoded appends what the inside of a JSON string stands for.
func appendDecoded(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		var r rune
		r, i = nextRune(s, i)
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// decodesTo reports whether the inside of a JSON string stands for text.
func decodesTo(s, text string) bool {
	for i := 0; i < len(s); {
		var r rune
		r, i = nextRune(s, i)
		t, size := utf8.DecodeRuneInString(text)
		if r != t || size == 0 {
			return false
		}
		text = text[size:]
	}
	return text == ""
}

// sameDecoded reports whether the insides of two JSON strings stand for the same
// text.
func sameDecoded(a, b string) bool {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		var r, t rune
		r, i = nextRune(a, i)
		t, j = nextRune(b, j)
		if r != t {
			return false
		}
	}
	return i == len(a) && j == len(b)
}

// DecodeString returns the text that a JSON string stands for (RFC 8259 section
// 7). Lone surrogates and bytes that are not UTF-8 become U+FFFD. Of a string that
// is cut it returns what is there, without a character or escape that is broken
// off at the end.
func DecodeString(raw string) string {
	s := inside(raw)
	if strings.IndexByte(s, '\\') < 0 && utf8.ValidString(s) {
		return s
	}
	closed := len(raw) > 1 && raw[len(raw)-1] == '"'
	decoded := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, end := nextRune(s, i)
		if r == utf8.RuneError && isBrokenOff(s[i:], closed) {
			break
		}
		decoded = utf8.AppendRune(decoded, r)
		i = end
	}
	return string(decoded)
}

// isBrokenOff reports whether s, the rest of the inside of a string, is only a
// part of a character. In a string that seems closed but ends like this, the
// closing quote is that of an escape.
func isBrokenOff(s string, closed bool) bool {
	if isPartOfEscape(s) {
		return true
	}
	if closed {
		return false
	}
	if r := codeUnit(s, 0); utf16.IsSurrogate(r) {
		return s[6:] == "" || isPartOfEscape(s[6:])
	}
	return s[0] >= utf8.RuneSelf && !utf8.FullRuneInString(s)
}

func isPartOfEscape(s string) bool {
	return s == `\` || len(s) < len(`\u0000`) && strings.HasPrefix(s, `\u`)
}

// inside returns a JSON string without its quotes.
func inside(raw string) string {
	raw = strings.TrimPrefix(raw, `"`)
	return strings.TrimSuffix(raw, `"`)
}
