package retry

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// Digest stands for a value without telling it. It is keyed by a key that a
// Tracker makes when it starts and never shows, since arguments are easily
// guessed from a plain digest. 0 stands for a value that is not there.
type Digest uint64

// Digest returns the digest of s, 0 for "".
func (t *Tracker) Digest(s string) Digest {
	if s == "" {
		return 0
	}
	return present(maphash.String(t.seed, s))
}

// DigestBytes returns the digest of b, 0 if it is empty.
func (t *Tracker) DigestBytes(b []byte) Digest {
	if len(b) == 0 {
		return 0
	}
	return present(maphash.Bytes(t.seed, b))
}

// Combine returns the digest of several values in their order, each of which
// may be absent.
func (t *Tracker) Combine(values ...Digest) Digest {
	h := t.salt
	for _, v := range values {
		h = mix(h, uint64(v))
	}
	return present(h)
}

// Vantage returns where an item was seen from: the identity of its resource
// (service.namespace, service.name, service.instance.id or what else tells
// processes apart), the kind of the span, and the scope that made it.
func (t *Tracker) Vantage(resource Digest, kind int, scope string) Digest {
	return t.Combine(resource, Digest(kind), t.Digest(scope))
}

// Operation returns what is called: the method, the name of the tool or prompt,
// or the URI of the resource, and a digest of the arguments in canonical form,
// for completion/complete that of its ref, argument and context.
func (t *Tracker) Operation(method verdict.Method, name string, arguments [16]byte) Digest {
	return t.Combine(Digest(method), t.Digest(name),
		Digest(binary.LittleEndian.Uint64(arguments[:8])), Digest(binary.LittleEndian.Uint64(arguments[8:])))
}

// Target returns the endpoint that url names. User info, query and fragment do
// not tell endpoints apart: credentials change, and HTTP+SSE puts the session
// in the query.
func (t *Tracker) Target(url string) Digest {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return t.Digest(url)
	}
	path := strings.IndexByte(rest, '/')
	if path < 0 {
		path = len(rest)
	}
	return t.Combine(t.Digest(scheme), t.Digest(rest[strings.LastIndexByte(rest[:path], '@')+1:]))
}

// ID returns the digest of an id with its type, so that 7 and "7" differ and 1
// and 1.0 do not, and whether it is random. It returns 0 for an id that no
// request may have.
func (t *Tracker) ID(id jsonrpc.ID) (digest Digest, random bool) {
	if !id.Valid() {
		return 0, false
	}
	var buf [64]byte
	canonical := id.AppendCanonical(buf[:0])
	return t.DigestBytes(canonical), id.IsString() && isRandom(canonical[1:])
}

// Keys returns the digest of a set of keys, one of which is key, in any order:
// it is called for each with what the call before returned, first with 0.
func (t *Tracker) Keys(set Digest, key string) Digest {
	return present(uint64(set) + mix(t.salt, maphash.String(t.seed, key)))
}

// isRandom reports an id with at least 64 bits that no counter makes: a UUID or
// a long hexadecimal number with many different digits. Kotlin's SDK makes a
// UUID for every request. A prefix that is made once for a client and followed
// by a counter is not taken for random: dates and names look the same.
func isRandom(id []byte) bool {
	const letters = 0b111111 << 10 // a to f
	var digits int
	var seen uint16
	for _, c := range id {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		case c == '-':
			continue
		default:
			return false
		}
		digits++
		seen |= 1 << c
	}
	return digits >= 16 && bits.OnesCount16(seen) >= 7 && seen&letters != 0 && seen&^letters != 0
}

// mix folds v into h.
func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9E3779B97F4A7C15, v^0xD1B54A32D192ED03)
	return hi ^ lo ^ bits.RotateLeft64(h, 29)
}

func present(h uint64) Digest {
	if h == 0 {
		return 1
	}
	return Digest(h)
}

// short is d in half the space, 0 for 0. Short digests are only compared between
// attempts of one operation.
func (d Digest) short() uint32 {
	if d == 0 {
		return 0
	}
	return max(uint32(d>>32)^uint32(d), 1)
}
