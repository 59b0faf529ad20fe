package retry

import (
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
)

// Config holds the settings of a [Tracker].
type Config struct {
	// Window is how long after the end of an attempt a repeat of it may begin.
	Window time.Duration
	// MaxTracked is the number of entries that are remembered: one for each
	// call, and one for each session, task, request for input and broken stream
	// that a later exchange may refer to.
	MaxTracked int
	// Intermediaries are the names of the services that are gateways.
	Intermediaries []string
	// ReadOnlyTools and WriteTools are patterns of names of tools that change
	// nothing, and of those that change something: * stands for any text, ? for
	// one byte. A tool in both lists is a write.
	ReadOnlyTools, WriteTools []string
}

// Tracker remembers attempts and says which one is a repeat of which. It is safe
// for concurrent use.
type Tracker struct {
	window         int64
	intermediaries []string
	readOnlyTools  []string
	writeTools     []string

	// seed and salt are the key of the digests.
	seed maphash.Seed
	salt uint64

	// shards remember calls, by operation; marks what other exchanges refer to.
	// While a shard is locked a mark may be locked, but not the other way.
	shards [shardCount]shard
	marks  [shardCount]shard
	budget

	// clock is only used to forget: it is how long ago the tracker was made, as of
	// the last Tick.
	clock  func() time.Duration
	start  time.Time
	ticked atomic.Int64
}

// shardCount is the number of shards, a power of two.
const shardCount = 16

// New makes a Tracker.
func New(cfg Config) *Tracker {
	t := &Tracker{
		start:          time.Now(),
		window:         cfg.Window.Nanoseconds(),
		intermediaries: slices.Clone(cfg.Intermediaries),
		readOnlyTools:  slices.Clone(cfg.ReadOnlyTools),
		writeTools:     slices.Clone(cfg.WriteTools),
		seed:           maphash.MakeSeed(),
		salt:           rand.Uint64(),
	}
	t.clock = func() time.Duration { return time.Duration(t.ticked.Load()) }
	t.budget.init(cfg)
	for i := range shardCount {
		t.shards[i].init()
		t.marks[i].init()
	}
	return t
}

// Tick reads the clock, by which attempts are forgotten. It is to be called before
// the attempts of each batch: to read it for each attempt would cost a good part of
// what it takes to observe one.
func (t *Tracker) Tick() {
	now := int64(time.Since(t.start))
	for last := t.ticked.Load(); last < now && !t.ticked.CompareAndSwap(last, now); last = t.ticked.Load() {
		continue // it never goes back
	}
}

// IsIntermediary reports whether the settings name service as a gateway.
func (t *Tracker) IsIntermediary(service string) bool {
	return slices.Contains(t.intermediaries, service)
}

func (t *Tracker) shard(op uint64) *shard { return &t.shards[op>>32%shardCount] }

func (t *Tracker) markShard(key uint64) *shard { return &t.marks[key>>32%shardCount] }

// Stats says how much is remembered and how much was forgotten.
type Stats struct {
	// Tracked is the number of entries that are remembered now, of at most
	// Limit.
	Tracked, Limit int
	// Expired counts entries that were forgotten since their time was over.
	Expired uint64
	// Evicted counts entries that had to go before, to make room.
	Evicted uint64
}

// Stats forgets what is out of date, so that what is remembered goes back when
// traffic ends, and returns the figures.
func (t *Tracker) Stats() Stats {
	t.Tick()
	for i := range shardCount {
		t.expireAll(&t.shards[i])
		t.expireAll(&t.marks[i])
	}
	return Stats{
		Tracked: int(t.tracked.Load()), Limit: int(t.limit),
		Expired: t.expired.Load(), Evicted: t.evicted.Load(),
	}
}
