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
func (t *Tracker) Observe(a *Attempt) Finding {
	if a.HTTPMethod == "GET" {
		return t.observeStream(a)
	}
	var f Finding
	switch {
	case !a.Method.IsCall():
		f = t.observeOther(a)
	case a.Whole && a.ID == 0:
		f = Finding{Evidence: NotACall} // a notification, which nobody answers
	default:
		f = t.observeCall(a)
	}
	if !f.Duplicate {
		t.markStream(a)
	}
	return f
}

// observeCall observes a call.
func (t *Tracker) observeCall(a *Attempt) Finding {
	if !a.Whole || a.Operation == 0 {
		// Equal or not, it cannot be compared: only what a sender says counts.
		var n record
		n.of(a, 0)
		d := t.decide(a, &n, &sightings{})
		d.note(&n)
		return n.finding()
	}
	op := mix(uint64(a.Vantage), uint64(a.Operation))
	var n record
	n.of(a, op)
	f, number := t.observeComparable(a, &n)
	if f.Duplicate {
		return f
	}
	if a.Open {
		f.Ref = Ref{op: op, vantage: a.Vantage, start: n.start, number: number}
	} else {
		t.markResult(a.Vantage, &n, &a.Result)
	}
	return f
}

// observeComparable observes n, which is what is to be remembered of a.
func (t *Tracker) observeComparable(a *Attempt, n *record) (Finding, uint32) {
	s := t.shard(n.op)
	s.mu.Lock()
	defer s.mu.Unlock()
	var seen sightings
	t.look(s, a, n, &seen)
	if seen.item != nil {
		f := s.finding(seen.item)
		if f.Continuation == WithInput && f.Link == NoLink && a.RequestState != 0 {
			if mark, ok := t.askedBy(a, seen.item); ok {
				f.link(seen.item, &mark)
			}
		}
		f.Duplicate = true
		return f, 0
	}
	d := t.decide(a, n, &seen)
	d.note(n)
	f := n.finding()
	f.LatePredecessor = seen.late
	if p := d.previous.record; p != nil {
		f.link(n, p)
	}
	return f, t.remember(s, n)
}

// Settle brings the result of an attempt that was observed open. It returns the
// finding of then, with what the result adds to it, and false if the attempt is
// not remembered any more or has a result already.
func (t *Tracker) Settle(ref Ref, res *Result) (Finding, bool) {
	n, f, ok := t.settle(ref, res)
	if ok {
		t.markResult(ref.vantage, &n, res)
	}
	return f, ok
}

func (t *Tracker) settle(ref Ref, res *Result) (record, Finding, bool) {
	s := t.shard(ref.op)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.alive(ref.number) {
		return record{}, Finding{}, false
	}
	n := s.at(ref.number)
	if n.kind != call || n.op != ref.op || n.start != ref.start || !n.has(flagNotSettled) {
		return record{}, Finding{}, false
	}
	n.settle(res)
	return *n, s.finding(n), true
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

// finding is what was found out about r, without the ids of its predecessor.
func (r *record) finding() Finding {
	f := Finding{
		Origin: r.origin, Evidence: r.evidence, Continuation: r.packed.continuation(), Safety: r.packed.safety(),
		Attempt: int(r.attempt), Seen: r.has(flagSeen), PreviousClass: r.previousClass,
	}
	if r.origin == NoOrigin {
		return f
	}
	f.Confidence = r.evidence.confidence()
	f.Recovered = r.class == verdict.Success
	f.Wasted = r.class == verdict.Failure
	return f
}

// finding is what was found out about n, which is in s.
func (s *shard) finding(n *record) Finding {
	f := n.finding()
	if n.has(flagSeen) && s.alive(n.previous) {
		if p := s.at(n.previous); p.op == n.op && p.start < n.start {
			f.link(n, p)
		}
	}
	return f
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
