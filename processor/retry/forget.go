package retry

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// budget bounds what is remembered in all shards together. Times are in seconds
// of the tracker: when something is forgotten goes by arrival, since an item
// with a wrong clock must not make others go.
type budget struct {
	limit   int64
	tracked atomic.Int64
	// kept is how many records are kept longer than others, of at most
	// limit/keptShare.
	kept             atomic.Int64
	expired, evicted atomic.Uint64
	// neighbour is the shard that is looked at next for what may go.
	neighbour atomic.Uint32

	window, lifetime seconds
}

// seconds of the tracker. They start again after 18 hours: what was not looked at
// for so long may live for another lifetime.
type seconds uint16

const (
	keptShare = 8
	// What a person may be the reason of is remembered for longer: a login, and
	// an answer to a question or the end of a task.
	consentTime = 10 * time.Minute
	inputTime   = time.Hour
)

func (b *budget) init(cfg Config) {
	b.limit = max(int64(cfg.MaxTracked), 1)
	window := min(max(cfg.Window, 0), inputTime)
	b.window = seconds(window / time.Second)
	// A repeat arrives when it has ended, which may be long after it began: an
	// attempt is remembered for the window and as long again.
	b.lifetime = seconds(2*window/time.Second) + 1
}

// now is the time of the tracker in seconds.
func (t *Tracker) now() seconds { return seconds(t.clock() / time.Second) }

// lives is how many lifetimes r is kept beyond the first.
func (b *budget) lives(r *record) seconds {
	lifetime := consentTime
	switch {
	case r.kind == markInput, r.kind == markTask:
		lifetime = inputTime
	case r.kind != call, !r.has(flagUnauthorized) && r.outcome != verdict.InputRequired:
		return 0
	}
	return min(seconds(lifetime/time.Second)/b.lifetime, math.MaxUint8)
}

// remember stores r in s, which is locked, and returns its number. What is out
// of date goes first, then what is oldest.
func (t *Tracker) remember(s *shard, r *record) uint32 {
	r.arrived = t.now()
	t.expire(s, r.arrived, 4)
	for t.tracked.Load() >= t.limit && t.evict(s, r.arrived) {
	}
	t.tracked.Add(1)
	return s.add(r)
}

// expire looks at up to most of the oldest records of s and forgets those whose
// time is over. It returns how many those were.
func (t *Tracker) expire(s *shard, now seconds, most int) (gone int) {
	for ; most > 0 && s.count > 0; most-- {
		r := s.at(s.oldest)
		if now-r.arrived <= t.lifetime {
			break
		}
		if lived := seconds(r.lives) + (now-r.arrived)/t.lifetime; lived <= t.lives(r) && t.keep(s, now, uint8(lived)) {
			continue
		}
		t.expired.Add(1)
		t.forget(s)
		gone++
	}
	return gone
}

// expireAll locks s and forgets all that is out of date.
func (t *Tracker) expireAll(s *shard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.expire(s, t.now(), int(s.count))
}

// keep stores the oldest record of s again, if there is room for such.
func (t *Tracker) keep(s *shard, arrived seconds, lives uint8) bool {
	again := *s.at(s.oldest)
	if !again.has(flagKept) {
		if t.kept.Add(1) > t.limit/keptShare {
			t.kept.Add(-1)
			return false
		}
		again.flags |= flagKept
	}
	again.arrived, again.lives = arrived, lives
	s.forget()
	s.add(&again)
	return true
}

// evict forgets one record before its time, of s or of another shard, and
// reports whether there was one. s is locked.
func (t *Tracker) evict(s *shard, now seconds) bool {
	// One other shard is looked at for each record that has to go, so that those
	// with little traffic do not hold what is older.
	if other := t.nextShard(); other != s && other.mu.TryLock() {
		now = t.now() // again: what is in other may have come since
		gone := t.expire(other, now, 4) > 0
		if !gone && other.count > 0 && (s.count == 0 || now-other.at(other.oldest).arrived > now-s.at(s.oldest).arrived) {
			t.evictOldest(other, now)
			gone = true
		}
		other.mu.Unlock()
		if gone {
			return true
		}
	}
	if s.count > 0 {
		t.evictOldest(s, now)
		return true
	}
	for range shardCount * 2 {
		other := t.nextShard()
		if other == s || !other.mu.TryLock() {
			continue
		}
		some := other.count > 0
		if some {
			t.evictOldest(other, t.now())
		}
		other.mu.Unlock()
		if some {
			return true
		}
	}
	return false // all others are at work: one too many, until the next comes
}

// evictOldest forgets the oldest record of s, passing over a few that are kept
// longer.
func (t *Tracker) evictOldest(s *shard, now seconds) {
	for range min(s.count-1, 4) {
		r := s.at(s.oldest)
		if t.lives(r) == 0 || !t.keep(s, r.arrived, r.lives) {
			break
		}
	}
	if now-s.at(s.oldest).arrived > t.budget.window {
		t.expired.Add(1)
	} else {
		t.evicted.Add(1)
	}
	t.forget(s)
}

// forget forgets the oldest record of s.
func (t *Tracker) forget(s *shard) {
	if s.at(s.oldest).has(flagKept) {
		t.kept.Add(-1)
	}
	t.tracked.Add(-1)
	s.forget()
}

func (t *Tracker) nextShard() *shard {
	i := t.neighbour.Add(1) % (2 * shardCount)
	if i < shardCount {
		return &t.shards[i]
	}
	return &t.marks[i-shardCount]
}
