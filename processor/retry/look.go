package retry

import "github.com/otel-mcp/mcpprocessor/processor/verdict"

// sight is a record and its number in its shard.
type sight struct {
	record *record
	number uint32
}

// sightings is what is remembered that an attempt may be compared with. Of
// several the one that began last counts.
type sightings struct {
	// item is this very item.
	item *record
	// message is the same serialized message, by what evidence; traced is the
	// same where nothing but the trace ties the two together.
	message  sameBytes
	evidence Evidence
	traced   sameBytes
	// lost is the same message in a session that was not found.
	lost sight
	// call is the same call, ended; overlaps: one is under way.
	call     sight
	overlaps bool
	// leg brought the same input before.
	leg sight
	// asked is an answer that asked for the input that this attempt brings, by
	// its keys, and was not followed up yet; told the last one that was. More
	// than one of a kind is none.
	asked, told       sight
	twoAsked, twoTold bool
	// late: an attempt that began later was judged without this one.
	late bool
}

// sameBytes is what was seen of one message.
type sameBytes struct {
	// unanswered, not too long ago.
	unanswered sight
	// unclear: it cannot be told whether it was answered.
	unclear sight
	// reused: it was. This sender uses ids again, and equal bytes are a new
	// message.
	reused bool
}

// resent returns the message that was sent again, unless it is left open whether
// it was answered since.
func (b *sameBytes) resent() sight {
	if p := b.unanswered.record; p == nil || b.reused || b.unclear.record != nil && b.unclear.record.start > p.start {
		return sight{}
	}
	return b.unanswered
}

// note notes p, and reports whether it is the one that counts now.
func (b *sameBytes) note(t *Tracker, p sight, n *record, e Evidence, intermediary bool) bool {
	r := p.record
	switch ended := r.end <= n.start; {
	case ended && r.ending() == answered:
		b.reused = true
	case ended && r.ending() == unclear:
		b.unclear.keepLatest(p)
	case resendable(r, n, e, intermediary) && within(r, n, t.windowAfter(r)):
		return b.unanswered.keepLatest(p)
	}
	return false
}

// maxSteps is how many records are looked at in one chain, the newest first. A
// tool that is polled in one trace or session makes long chains.
const maxSteps = 64

// look finds in s what n, which a is remembered as, may be compared with.
func (t *Tracker) look(s *shard, a *Attempt, n *record, seen *sightings) {
	keys := n.keys()
	for c := range chains {
		t.lookIn(s, a, c, keys[c], n, seen)
		if seen.item != nil {
			return
		}
	}
	if n.session != 0 {
		t.lookIn(s, a, byMessage, n.lostKey(), n, seen)
	}
}

func (t *Tracker) lookIn(s *shard, a *Attempt, c chain, key uint64, n *record, seen *sightings) {
	number := s.find(c, key)
	for range maxSteps {
		if !s.alive(number) {
			return
		}
		p := s.at(number)
		if p.op == n.op {
			if sameItem(p, n) {
				seen.item = p
				return
			}
			t.compare(a, sight{p, number}, n, seen)
		}
		number = p.next[c]
	}
}

// compare notes what p is to n, which a is remembered as. It may be called
// several times for one p.
func (t *Tracker) compare(a *Attempt, p sight, n *record, seen *sightings) {
	r := p.record
	switch {
	case oneExchange(r, n):
		return
	case r.start > n.start:
		seen.late = seen.late || t.missed(n, r)
		return
	case r.start == n.start:
		seen.overlaps = seen.overlaps || sameCall(r, n)
		return
	}
	t.compareMessage(a, p, n, seen)
	if sameCall(r, n) {
		compareCall(p, n, seen)
	}
}

// compareMessage notes p if n may be the same serialized message.
func (t *Tracker) compareMessage(a *Attempt, p sight, n *record, seen *sightings) {
	r := p.record
	if !equalBytes(r, n) {
		return
	}
	if e := sameMessage(r, n); e != NoPredecessor {
		if seen.message.note(t, p, n, e, a.Intermediary) {
			seen.evidence = e
		}
	} else if newSession(r, n) && r.end <= n.start && within(r, n, t.window) {
		seen.lost.keepLatest(p)
	}
	if sameTrace(r, n) && sameEndpoint(r, n) {
		seen.traced.note(t, p, n, SameMessageParent, a.Intermediary)
	}
}

// compareCall notes p, which is the same call as n.
func compareCall(p sight, n *record, seen *sightings) {
	r := p.record
	if r.end > n.start {
		seen.overlaps = true
		return
	}
	seen.call.keepLatest(p)
	if sameLeg(r, n) {
		seen.leg.keepLatest(p)
	}
	if r.outcome == verdict.InputRequired && r.asked != 0 && r.asked == n.leg && !n.has(flagState) && within(r, n, consentTime.Nanoseconds()) {
		if r.has(flagContinued) {
			seen.twoTold = seen.told.isNot(p) || seen.twoTold
			seen.told.keepLatest(p)
		} else {
			seen.twoAsked = seen.asked.isNot(p) || seen.twoAsked
			seen.asked.keepLatest(p)
		}
	}
}

// keepLatest makes p the sight if it began later.
func (s *sight) keepLatest(p sight) bool {
	if s.record != nil && s.record.start >= p.record.start {
		return false
	}
	*s = p
	return true
}

// isNot reports whether s is another record than p.
func (s *sight) isNot(p sight) bool { return s.record != nil && s.record != p.record }

// missed reports whether q, which began after n and was observed before it, was
// found to be no repeat only since n was not seen.
func (t *Tracker) missed(n, q *record) bool {
	if q.evidence != NoPredecessor || q.packed.continuation() != NoContinuation {
		return false
	}
	if e := sameMessage(n, q); e != NoPredecessor && resendable(n, q, e, false) {
		return within(n, q, t.windowAfter(n))
	}
	return n.end <= q.start && n.has(flagFailed) && sameCall(n, q) && within(n, q, t.window)
}
