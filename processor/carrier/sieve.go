package carrier

import (
	"math/bits"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// PassesOver reports whether there is certainly nothing on span that Span would
// find: no sign of MCP, and no id of a tool call. That is most spans of most
// pipelines, and costs them one walk over their attributes.
func (c *Carrier) PassesOver(span ptrace.Span) bool {
	return !c.signs.on(span.Attributes()) && (span.Events().Len() == 0 || !hasBodyEvent(span))
}

// PassesOverRecord reports the same of a log record.
func (c *Carrier) PassesOverRecord(record plog.LogRecord) bool {
	return !c.logSigns.on(record.Attributes()) && !mentionsAnywhere(record.Body(), 0)
}

func hasBodyEvent(span ptrace.Span) bool {
	for _, event := range span.Events().All() {
		if isBodyEvent(event) {
			return true
		}
	}
	return false
}

// signs are the names of attributes that make an item worth a closer look.
type signs struct {
	sieve
	table *table
}

// signsOf returns those of the names in lists that are signs.
func (c *Config) signsOf(lists ...[]name) *signs {
	var wanted, others []name
	for _, n := range slices.Concat(lists...) {
		isSign := false
		switch n.field {
		case requestBody, responseBody, requestBase64, responseBase64, fragment, message,
			sessionHeader, versionHeader, methodHeader, nameHeader,
			outcome, outcomeClass, outcomeOther, toolCall:
			isSign = n.name != ""
		case knownMethod:
			isSign = c.InstrumentedSpans
		case urlFull, urlPath, urlTarget:
			isSign = len(c.URLPaths) > 0
		}
		if isSign {
			wanted = append(wanted, n)
		} else {
			others = append(others, n)
		}
	}
	return &signs{sieve: newSieve(wanted, others), table: newTable(wanted)}
}

// on reports whether one of attributes is a sign.
func (s *signs) on(attributes pcommon.Map) bool {
	if s.passesOver(attributes) {
		return false
	}
	for key, value := range attributes.All() {
		if s.mayHave(key) && s.is(key, value) {
			return true
		}
	}
	return false
}

func (s *signs) is(key string, value pcommon.Value) bool {
	n := s.table.find(key)
	if n == nil {
		return false
	}
	switch n.field {
	case requestBody, responseBody:
		return mentions(value)
	case message:
		return mentionsAnywhere(value, 0)
	default:
		return true
	}
}

// sieve tells nearly all keys that are not among its names, at a nanosecond each.
// It knows which lengths the names have and, for each length, one place at which
// they differ from other names and which bytes they have there. Lengths are taken
// modulo 64.
type sieve struct {
	lengths uint64
	rows    [64]sieveRow
}

// sieveRow holds the place, and the bytes as a set of what sieveBits leaves of
// them.
type sieveRow struct{ place, bytes uint32 }

// sieveBits are the bits of a letter that are the same in upper and lower case.
// Where '-' or '_' stands, which are spelled one for the other, all bytes count.
const sieveBits = 31

// newSieve makes a sieve that lets the names in wanted through and, as far as
// possible, not those in others.
func newSieve(wanted, others []name) sieve {
	var s sieve
	for length := range s.rows {
		best := -1
		for place := 0; ; place++ {
			row, ok := rowAt(place, length, wanted)
			if !ok {
				break
			}
			s.lengths |= 1 << length
			passed := bits.OnesCount32(row.bytes)
			for _, n := range others {
				if len(n.name)%len(s.rows) == length && row.mayHave(n.name) {
					passed += 32
				}
			}
			if best < 0 || passed < best {
				best, s.rows[length] = passed, row
			}
		}
	}
	return s
}

// rowAt returns the row with this place for the names of this length, and whether
// there are any and all of them are long enough.
func rowAt(place, length int, wanted []name) (r sieveRow, ok bool) {
	r.place = uint32(place)
	for _, n := range wanted {
		if len(n.name)%len(sieve{}.rows) != length {
			continue
		}
		if place >= len(n.name) {
			return r, false
		}
		ok = true
		if c := n.name[place]; c == '-' || c == '_' {
			r.bytes = 1<<32 - 1
		} else {
			r.bytes |= 1 << (c & sieveBits)
		}
	}
	return r, ok
}

func (r sieveRow) mayHave(key string) bool {
	return int(r.place) < len(key) && r.bytes>>(key[r.place]&sieveBits)&1 != 0
}

// mayHave reports whether key may be one of the names.
func (s *sieve) mayHave(key string) bool { return s.rows[len(key)%len(s.rows)].mayHave(key) }

// passesOver reports whether none of attributes can have one of the names. It
// goes on to the last one in any case: to leave a loop over them costs more than
// it saves.
func (s *sieve) passesOver(attributes pcommon.Map) bool {
	lengths, found := s.lengths, uint32(0)
	for key := range attributes.All() {
		if lengths>>(uint(len(key))%64)&1 == 0 {
			continue
		}
		if r := s.rows[len(key)%len(s.rows)]; int(r.place) < len(key) {
			found |= r.bytes >> (key[r.place] & sieveBits)
		}
	}
	return found&1 == 0
}
