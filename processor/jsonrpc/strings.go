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

// specials sets the highest bit of the first byte in w that does not simply
// stand for itself in a JSON string: a quote, a backslash, a control character
// (RFC 8259 section 7) or a byte that is not ASCII. Behind the first one bits
// may be wrong, because a subtraction borrows from the byte above.
func specials(w uint64) uint64 {
	// The XOR moves the quote, 0x22, to 0x20 and the others below 0x20 among
	// themselves.
	quoteOrControl := (w ^ 0x02*each01) - 0x21*each01
	backslash := (w ^ '\\'*each01) - each01
	return (quoteOrControl | backslash | w) & each80
}

// shortString returns the index of the first special byte from i on if it comes
// within four words, which it does in most strings. Otherwise it returns an index
// in front of it.
func shortString(b []byte, i int) int {
	for far := i + 32; i < far && len(b)-i >= 8; i += 8 {
		if found := specials(binary.LittleEndian.Uint64(b[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return i
}

// longString returns the index of the first special byte from i on, or the
// length of the text.
func longString(b []byte, i int) int {
	for len(b)-i >= 8 {
		if found := specials(binary.LittleEndian.Uint64(b[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
		i += 8
	}
	for i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// str reads on inside of a string, up to and including its closing quote, and
// reports whether it met an escape.
func (sc *scanner) str(b []byte, i int) (end int, escaped bool) {
	for {
		if i = longString(b, i); i >= len(b) {
			return sc.unexpected(b, i), escaped
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = sc.escape(b, i); i < 0 {
				return stopped, escaped
			}
		case c < ' ':
			return sc.unexpected(b, i), escaped
		default:
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size == 1 {
				if !utf8.FullRune(b[i:]) {
					return sc.unexpected(b, len(b)), escaped
				}
				sc.invalidUTF8 = true
			}
			i += size
		}
	}
}

// escape reads the escape that begins at i.
func (sc *scanner) escape(b []byte, i int) int {
	i++
	if i >= len(b) {
		return sc.unexpected(b, i)
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for end := i + 5; ; {
			if i++; i == end {
				return i
			}
			if i >= len(b) || hexDigit(b[i]) < 0 {
				break
			}
		}
	}
	return sc.unexpected(b, i)
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
// 7). Lone surrogates and bytes that are not UTF-8 become U+FFFD. Quotes that
// are missing, as in a cut text, are not missed.
func DecodeString(raw string) string {
	raw = inside(raw)
	if strings.IndexByte(raw, '\\') < 0 && utf8.ValidString(raw) {
		return raw
	}
	return string(appendDecoded(make([]byte, 0, len(raw)), raw))
}

// inside returns a JSON string without its quotes.
func inside(raw string) string {
	raw = strings.TrimPrefix(raw, `"`)
	return strings.TrimSuffix(raw, `"`)
}
