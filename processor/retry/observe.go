package retry

import (
	"math"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// Ref names an attempt that was observed open, for [Tracker.Settle]. The zero
// Ref names none.
type Ref struct {
	op      uint64
	vantage Digest
	start   int64
	number  uint32
}

// Observe says what a is, in the light of what was observed before, and
// remembers it. Of the items of a batch the one that began first comes first.
func (t *Tracker) Observe(a *Attempt) (f Finding) {
	if a.HTTPMethod == "GET" {
		return t.observeStream(a)
	}
	switch {
	case !a.Method.IsCall():
		f = t.observeOther(a)
	case a.Whole && a.ID == 0:
		f.Evidence = NotACall // a notification, which nobody answers
	default:
		t.observeCall(a, &f)
	}
	if !f.Duplicate {
		t.markStream(a)
	}
	return f
}

// observeCall observes a call and sets f, which is empty. To hand that up as a
// value would take more of the stack at each step, for which the stack of most
// callers has to grow.
func (t *Tracker) observeCall(a *Attempt, f *Finding) {
	var n record
	if !a.Whole || a.Operation == 0 {
		// Equal or not, it cannot be compared: only what a sender says counts.
		n.of(a, 0)
		d := t.decide(a, &n, &sightings{})
		d.note(&n)
		n.tell(f)
		return
	}
	n.of(a, mix(uint64(a.Vantage), uint64(a.Operation)))
	number := t.observeComparable(a, &n, f)
	switch {
	case f.Duplicate:
	case a.Open:
		f.Ref = Ref{op: n.op, vantage: a.Vantage, start: n.start, number: number}
	default:
		t.markResult(a.Vantage, &n, &a.Result)
	}
}

// observeComparable observes n, which is what is to be remembered of a, sets f and
// returns the number of n.
func (t *Tracker) observeComparable(a *Attempt, n *record, f *Finding) uint32 {
	s := t.shard(n.op)
	s.mu.Lock()
	defer s.mu.Unlock()
	var seen sightings
	t.look(s, a, n, &seen)
	if seen.item != nil {
		s.tell(seen.item, f)
		if f.Continuation == WithInput && f.Link == NoLink && a.RequestState != 0 {
			if mark, ok := t.askedBy(a, seen.item); ok {
				f.link(seen.item, &mark)
			}
		}
		f.Duplicate = true
		return 0
	}
	d := t.decide(a, n, &seen)
	d.note(n)
	n.tell(f)
	f.LatePredecessor = seen.late
	if p := d.previous.record; p != nil {
		f.link(n, p)
	}
	return t.remember(s, n)
}

// Settle brings the result of an attempt that was observed open. It returns the
// finding of then, with what the result adds to it, and false if the attempt is
// not remembered any more or has a result already.
func (t *Tracker) Settle(ref Ref, res *Result) (f Finding, ok bool) {
	var n record
	if ok = t.settle(ref, res, &n, &f); ok {
		t.markResult(ref.vantage, &n, res)
	}
	return f, ok
}

// settle sets settled to what is remembered now, and f.
func (t *Tracker) settle(ref Ref, res *Result, settled *record, f *Finding) bool {
	s := t.shard(ref.op)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.alive(ref.number) {
		return false
	}
	n := s.at(ref.number)
	if n.kind != call || n.op != ref.op || n.start != ref.start || !n.has(flagNotSettled) {
		return false
	}
	n.settle(res)
	*settled = *n
	s.tell(n, f)
	return true
}

// note notes in n what was decided.
func (d *decision) note(n *record) {
	n.origin, n.evidence = d.origin, d.evidence
	n.packed = pack(d.continuation, d.safety, n.packed.execution())
	n.attempt = uint16(min(d.attempt, math.MaxUint16))
	p := d.previous.record
	if p == nil {
		return
	}
	n.flags |= flagSeen
	if d.repeats {
		n.flags |= flagRepeats
	}
	n.previous = d.previous.number
	if p.end <= n.start {
		n.previousClass = p.class
	}
}

// tell sets f to what was found out about r, without the ids of its predecessor.
func (r *record) tell(f *Finding) {
	f.Origin, f.Evidence, f.Attempt = r.origin, r.evidence, int(r.attempt)
	f.Continuation, f.Safety = r.packed.continuation(), r.packed.safety()
	f.Seen, f.PreviousClass = r.has(flagSeen), r.previousClass
	if r.origin == NoOrigin {
		return
	}
	f.Confidence = r.evidence.confidence()
	f.Recovered = r.class == verdict.Success
	f.Wasted = r.class == verdict.Failure
}

// tell sets f to what was found out about n, which is in s.
func (s *shard) tell(n *record, f *Finding) {
	n.tell(f)
	if n.has(flagSeen) && s.alive(n.previous) {
		if p := s.at(n.previous); p.op == n.op && p.start < n.start {
			f.link(n, p)
		}
	}
}

// link refers to p, the predecessor of n.
func (f *Finding) link(n, p *record) {
	if !p.traced() {
		return // nothing to refer to it by
	}
	f.PreviousTraceID, f.PreviousSpanID = p.trace, p.span
	switch {
	case n.has(flagRepeats):
		f.Link = RetryOf
	case n.packed.continuation() == OfStream:
		f.Link = Resumes
	case n.packed.continuation() != NoContinuation:
		f.Link = Continues
	}
}
