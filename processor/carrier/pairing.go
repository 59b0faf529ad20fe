package carrier

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// Pairing remembers requests whose answers are seen elsewhere: in another log
// record, or on another stream. It holds nothing back; it is safe for
// concurrent use.
type Pairing struct {
	window     time.Duration
	maxPending int
	seed       maphash.Seed

	mu      sync.Mutex
	pending map[uint64][]pendingRequest
	order   []pendingKey // a queue, oldest first
	head    int
	size    int
	counts  PairingCounts

	reported int // the size that Counts told last
	numbered uint64
	// clock is only used to forget: items of any age may come at any time.
	clock func() time.Duration
}

// PairingCounts is what happened since the last call of Counts.
type PairingCounts struct {
	// Paired answers found their request. Ambiguous ones could have been those
	// of several. Expired and Evicted requests were dropped, because their
	// window was over or to make room.
	Paired, Ambiguous, Expired, Evicted int64
	// Pending is by how much the number of remembered requests has changed.
	Pending int64
}

type pendingRequest struct {
	asked  verdict.Asked
	time   int64  // of the item, in nanoseconds
	number uint64 // no two requests have the same
	other  uint64 // the other key that it is kept under, 0 if there is none
}

// pendingKey is an entry of the queue in which requests are forgotten.
type pendingKey struct {
	key     uint64
	number  uint64
	arrived time.Duration
}

// NewPairing returns a Pairing that remembers a request for window, and at most
// maxPending of them.
func NewPairing(window time.Duration, maxPending int) *Pairing {
	start := time.Now()
	return &Pairing{
		clock:  func() time.Duration { return time.Since(start) },
		window: window, maxPending: maxPending, seed: maphash.MakeSeed(),
		pending: map[uint64][]pendingRequest{},
	}
}

// Stream tells which messages belong together: those of one vantage, and in it
// of one session or one log. To is the side that the messages are sent to, if
// it is known.
type Stream struct {
	// Vantage is a hash of the resource, the scope and the kind of the item.
	Vantage uint64
	Session string
	Label   string
	// ToServer and ToClient say which way a message went, where it is known.
	ToServer, ToClient bool
	// Time of the item in nanoseconds.
	Time int64
}

// Hash returns a hash of what an item was seen by: the identity of its resource
// and its scope.
func (p *Pairing) Hash(identity []byte, scope string) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	_, _ = h.Write(identity)
	_, _ = h.WriteString(scope)
	return h.Sum64()
}

// AppendIdentity appends what tells the instance of a service that resource
// describes from others.
func AppendIdentity(dst []byte, resource pcommon.Resource) []byte {
	for i, key := range identity {
		if v, ok := resource.Attributes().Get(key); ok {
			dst = append(dst, byte(i))
			dst = append(dst, v.AsString()...)
			dst = append(dst, 0)
		}
	}
	return dst
}

// identity are the resource attributes that tell one instance of a service
// from another (OpenTelemetry semantic conventions, Resource).
var identity = []string{
	"service.namespace", "service.name", "service.instance.id", "host.id", "host.name", "container.id", "k8s.pod.uid", "k8s.pod.name",
}

// key hashes what a request and its answer have in common.
func (p *Pairing) key(s *Stream, session bool, id jsonrpc.ID, fromClient bool) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	var fixed [10]byte
	for i := range 8 {
		fixed[i] = byte(s.Vantage >> (8 * i))
	}
	if fromClient {
		fixed[8] = 1
	}
	if session {
		fixed[9] = 1
	}
	_, _ = h.Write(fixed[:])
	if session {
		_, _ = h.WriteString(s.Session)
	} else {
		_, _ = h.WriteString(s.Label)
	}
	_ = h.WriteByte(0)
	var buf [64]byte
	_, _ = h.Write(id.AppendCanonical(buf[:0]))
	return h.Sum64()
}

// fromServer reports whether only servers send requests with this method.
func fromServer(method string) bool {
	switch verdict.MethodNamed(method) {
	case verdict.SamplingCreateMessage, verdict.RootsList, verdict.ElicitationCreate:
		return true
	default:
		return false
	}
}

// maxAskedBytes is the length to which what is remembered of a request is cut.
// Longer names are not written either.
const maxAskedBytes = 256

// remembered returns a copy of what is to be remembered of a request, which
// keeps nothing of the text alive that it was read from.
func remembered(a verdict.Asked) verdict.Asked {
	for _, s := range [...]*string{&a.Method, &a.Tool, &a.Prompt, &a.URI, &a.Revision} {
		*s = strings.Clone((*s)[:min(len(*s), maxAskedBytes)])
	}
	if len(a.Extensions) > 4*maxAskedBytes {
		// As if the request had been cut before: nothing is concluded from
		// extensions that are not known.
		a.Extensions, a.Complete = "", false
	}
	a.Extensions = strings.Clone(a.Extensions)
	return a
}

// sameCall reports whether two requests ask for the same.
func sameCall(a, b verdict.Asked) bool {
	a.Note = b.Note
	return a == b
}

// Remember keeps the request with this id, seen on the stream s.
func (p *Pairing) Remember(s *Stream, id jsonrpc.ID, asked verdict.Asked) {
	fromClient := s.ToServer || !s.ToClient && !fromServer(asked.Method)
	asked = remembered(asked)
	byLabel, bySession := p.key(s, false, id, fromClient), uint64(0)
	if s.Session != "" {
		bySession = p.key(s, true, id, fromClient)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	p.expire(now)
	p.numbered++
	r := pendingRequest{asked: asked, time: s.Time, number: p.numbered, other: bySession}
	p.add(byLabel, r, now)
	if s.Session != "" {
		r.other = byLabel
		p.add(bySession, r, now)
	}
}

func (p *Pairing) add(key uint64, r pendingRequest, now time.Duration) {
	for _, known := range p.pending[key] {
		if known.time == r.time && sameCall(known.asked, r.asked) {
			return // delivered twice
		}
	}
	for p.size >= p.maxPending && p.head < len(p.order) {
		if p.dropOldest() {
			p.counts.Evicted++
		}
	}
	p.pending[key] = append(p.pending[key], r)
	p.order = append(p.order, pendingKey{key, r.number, now})
	p.size++
}

// expire drops the requests that came longer ago than the window.
func (p *Pairing) expire(now time.Duration) {
	for p.head < len(p.order) && now-p.order[p.head].arrived > p.window {
		if p.dropOldest() {
			p.counts.Expired++
		}
	}
	const slack = 1024
	if p.head > slack && p.head > len(p.order)/2 {
		p.order = append(p.order[:0], p.order[p.head:]...)
		p.head = 0
	}
	if len(p.order)-p.head > 2*p.maxPending+slack {
		// Most have been answered and are still queued.
		alive := p.order[:0]
		for _, k := range p.order[p.head:] {
			if slices.ContainsFunc(p.pending[k.key], func(r pendingRequest) bool { return r.number == k.number }) {
				alive = append(alive, k)
			}
		}
		p.order, p.head = alive, 0
	}
}

// dropOldest takes the oldest entry off the queue, which must not be empty. It
// reports whether its request was still remembered.
func (p *Pairing) dropOldest() bool {
	k := p.order[p.head]
	p.head++
	return p.drop(k.key, k.number)
}

func (p *Pairing) drop(key, number uint64) bool {
	list := p.pending[key]
	for i := range list {
		if list[i].number != number {
			continue
		}
		list = append(list[:i], list[i+1:]...)
		if len(list) == 0 {
			delete(p.pending, key)
		} else {
			p.pending[key] = list
		}
		p.size--
		return true
	}
	return false
}

// Counts returns what happened since the last call.
func (p *Pairing) Counts() PairingCounts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counts
	c.Pending = int64(p.size - p.reported)
	p.counts, p.reported = PairingCounts{}, p.size
	return c
}

// PairingAsker finds the requests that the responses on one stream answer.
type PairingAsker struct {
	pairing *Pairing
	stream  *Stream
}

// Reset makes the Asker one for the stream s.
func (a *PairingAsker) Reset(p *Pairing, s *Stream) { a.pairing, a.stream = p, s }

// Asked returns the one request with this id that was seen on the stream within
// the window before the response, and has no answer yet. If there are several
// that ask for different things none is returned: a wrong request would be
// worse than none.
func (a *PairingAsker) Asked(id jsonrpc.ID) (verdict.Asked, bool) {
	p, s := a.pairing, a.stream
	p.mu.Lock()
	defer p.mu.Unlock()
	found, n := p.lookup(s, id, s.Session != "", false)
	if n == 0 && s.Session != "" {
		// The session may have begun with this response.
		found, n = p.lookup(s, id, false, true)
	}
	switch n {
	case 0:
		return verdict.Asked{}, false
	case 1:
		p.counts.Paired++
		return found, true
	default:
		p.counts.Ambiguous++
		return verdict.Asked{}, false
	}
}

// lookup returns the latest request that a response on s may answer, and how
// many different ones there are. If there is one it is forgotten.
func (p *Pairing) lookup(s *Stream, id jsonrpc.ID, session, withoutSession bool) (asked verdict.Asked, different int) {
	var latest pendingRequest
	for _, fromClient := range [...]bool{true, false} {
		// What goes to the client answers a request of the client.
		if fromClient && s.ToServer || !fromClient && s.ToClient {
			continue
		}
		for _, r := range p.pending[p.key(s, session, id, fromClient)] {
			if age := s.Time - r.time; age < 0 || age > int64(p.window) || withoutSession && r.other != 0 {
				continue
			}
			if different == 0 || !sameCall(r.asked, latest.asked) {
				different++
			}
			if different == 1 && r.time >= latest.time || latest.number == 0 {
				latest = r
			}
		}
	}
	if different != 1 {
		return verdict.Asked{}, different
	}
	for _, fromClient := range [...]bool{true, false} {
		key := p.key(s, session, id, fromClient)
		for i := 0; i < len(p.pending[key]); {
			r := p.pending[key][i]
			if age := s.Time - r.time; age < 0 || !sameCall(r.asked, latest.asked) {
				i++
				continue
			}
			p.drop(key, r.number)
			p.drop(r.other, r.number)
		}
	}
	return latest.asked, 1
}
