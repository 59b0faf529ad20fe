package jsonrpc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ID is the id of a JSON-RPC message with its type. Request ids are strings or
// numbers, and a response must carry the same value with the same type
// (JSON-RPC 2.0 sections 4 and 5; all MCP revisions, "Requests"). It refers to
// the text that it was read from.
//
// The zero ID is that of a message without one.
type ID struct {
	// text is the inside of a JSON string, the text of a number, or the raw
	// JSON of anything else.
	text string
	kind Kind
	open bool
	// encoded says that text is a string that has to be decoded.
	encoded bool
}

// RequestID returns the id of m.
func (m *Message) RequestID() ID { return m.IDOf(m.ID) }

// IDOf returns v read as an id, such as params.requestId of
// notifications/cancelled.
func (m *Message) IDOf(v Value) ID {
	id := ID{text: m.Raw(v), kind: v.Kind, open: v.Open()}
	if v.Kind == String && !id.open {
		id.text = inside(id.text)
		id.encoded = v.flags&flagEscaped != 0 || m.InvalidUTF8 && !utf8.ValidString(id.text)
	}
	return id
}

// StringID returns the ID that is the string s, for ids that do not come from
// JSON text.
func StringID(s string) ID {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	return ID{text: s, kind: String}
}

// NumberID returns the ID that is the number raw, as JSON writes it. Text that
// is not a JSON number makes an ID that is there but not Valid.
func NumberID(raw string) ID {
	if end, ok := scanNumber([]byte(raw), 0); !ok || end != len(raw) {
		return ID{text: raw, kind: Object}
	}
	return ID{text: raw, kind: Number}
}

// Valid reports a string or number that was read to its end: an id that a
// request may have and an answer can be matched by.
func (id ID) Valid() bool { return (id.kind == String || id.kind == Number) && !id.open }

// Present reports whether the message has an id member, be it null.
func (id ID) Present() bool { return id.kind != Absent }

// IsNull reports the id null, which JSON-RPC 2.0 section 5 gives to answers to
// what could not be read.
func (id ID) IsNull() bool { return id.kind == Null && !id.open }

// IsString reports a string, Open or not.
func (id ID) IsString() bool { return id.kind == String }

// IsNumber reports a number, Open or not.
func (id ID) IsNumber() bool { return id.kind == Number }

// Open reports that the text ended before the id had certainly ended: there is
// one, but it is not known which.
func (id ID) Open() bool { return id.open }

// Equal reports whether both are Valid, of the same type and of the same value:
// strings as they decode, numbers exactly, so that 1 equals 1.0 and
// 9007199254740993 does not equal 9007199254740992. Ids that are not Valid equal
// nothing, not even themselves: an answer without id answers nothing in
// particular.
func (id ID) Equal(o ID) bool {
	if id.kind != o.kind || !id.Valid() || !o.Valid() {
		return false
	}
	if id.kind == Number {
		return id.text == o.text || parseDecimal(id.text).equal(parseDecimal(o.text))
	}
	switch {
	case !id.encoded && !o.encoded:
		return id.text == o.text
	case !o.encoded:
		return decodesTo(id.text, o.text)
	case !id.encoded:
		return decodesTo(o.text, id.text)
	}
	return sameDecoded(id.text, o.text)
}

// EqualText is like Equal but takes a string that spells a number for that
// number, so that 7 and "7" are equal. Peers that change the type of ids exist.
func (id ID) EqualText(o ID) bool {
	if id.kind == o.kind {
		return id.Equal(o)
	}
	return id.Valid() && o.Valid() && id.asNumber().Equal(o.asNumber())
}

// asNumber takes a string that spells a number for the number.
func (id ID) asNumber() ID {
	switch {
	case id.kind == Number:
		return id
	case id.encoded:
		// Nobody escapes digits, so it may cost an allocation.
		return NumberID(string(appendDecoded(nil, id.text)))
	default:
		return NumberID(id.text)
	}
}

// String returns the id for display: a string decoded, an integer of up to 20
// digits in plain decimal however it is written, and any other number as it is
// written. It is "" for an id that is not Valid.
func (id ID) String() string {
	switch {
	case !id.Valid():
		return ""
	case id.encoded:
		return string(appendDecoded(make([]byte, 0, len(id.text)), id.text))
	case id.kind == Number:
		return plainInteger(id.text)
	}
	return id.text
}

// plainInteger returns a number as plain decimal if it is an integer of at most
// 20 digits, and as it is otherwise.
func plainInteger(raw string) string {
	if allDigits(strings.TrimPrefix(raw, "-")) && raw != "-0" {
		return raw
	}
	d := parseDecimal(raw)
	switch {
	case d.digits == "":
		return "0"
	case !d.integral() || d.exponent > 20:
		return raw
	}
	var buf [21]byte
	return string(d.appendInteger(buf[:0]))
}

func (d decimal) appendInteger(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	dst = d.appendDigits(dst)
	for range d.exponent - d.count() {
		dst = append(dst, '0')
	}
	return dst
}

func (d decimal) appendDigits(dst []byte) []byte {
	before, after, _ := strings.Cut(d.digits, ".")
	return append(append(dst, before...), after...)
}

// AppendCanonical appends a form of id in which ids that are Equal have the same
// bytes and others do not, to be used as a key or to be hashed. Ids that are not
// Valid append their kind only.
func (id ID) AppendCanonical(dst []byte) []byte {
	if !id.Valid() {
		return append(dst, '?', byte(id.kind))
	}
	if id.kind == String {
		dst = append(dst, 's')
		if id.encoded {
			return appendDecoded(dst, id.text)
		}
		return append(dst, id.text...)
	}
	d := parseDecimal(id.text)
	if d.huge {
		return append(append(dst, 'h'), id.text...)
	}
	dst = append(dst, 'n')
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(d.appendDigits(dst), 'e')
	return strconv.AppendInt(dst, d.exponent, 10)
}
