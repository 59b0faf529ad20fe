package retry

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// clockwork is a clock that a test moves.
type clockwork struct{ now time.Duration }

func (c *clockwork) read() time.Duration { return c.now }

// TestTick: time goes on with the ticks, and never back.
func TestTick(t *testing.T) {
	tr := New(Config{Window: time.Minute, MaxTracked: 10})
	start := tr.start
	require.Zero(t, tr.now())
	tr.start = start.Add(-time.Hour)
	require.Zero(t, tr.now(), "not ticked yet")
	tr.Tick()
	require.EqualValues(t, 3600, tr.now())
	tr.start = start.Add(-time.Minute)
	tr.Tick()
	require.EqualValues(t, 3600, tr.now())
}

func tracked(limit int) (*Tracker, *clockwork) {
	tr := New(Config{Window: 2 * time.Minute, MaxTracked: limit})
	c := &clockwork{}
	tr.clock = c.read
	return tr, c
}

// failing is a call that ended with ended, number i of many.
func failing(t *testing.T, tr *Tracker, i int, ended string) *Attempt {
	t.Helper()
	s := seen{At: "agent", Trace: "t", Parent: "p", Span: fmt.Sprint("s", i), ID: []byte(fmt.Sprint(i)), Body: fmt.Sprint("B", i), Call: fmt.Sprint("tool/", i), To: 0.1, Ended: ended}
	return s.attempt(t, tr)
}

// again is the same message, a second after it had ended.
func again(a *Attempt) *Attempt {
	b := *a
	b.Start = a.Result.End + 1e9
	b.Result = Result{End: b.Start + 1e6, Outcome: verdict.ToolSuccess, Class: verdict.Success, Status: 200}
	b.SpanID[0]++
	return &b
}

func TestForgottenByAge(t *testing.T) {
	tr, clock := tracked(1000)
	first := failing(t, tr, 1, "503")
	tr.Observe(first)
	clock.now = 4 * time.Minute // the window, and as long for the repeat to end
	assert.Equal(t, SameMessageParent, tr.Observe(again(first)).Evidence)

	clock.now = 9 * time.Minute
	stats := tr.Stats()
	assert.Equal(t, Stats{Tracked: 0, Limit: 1000, Expired: 2}, stats)
	assert.Equal(t, NoPredecessor, tr.Observe(again(first)).Evidence)
}

func TestALoginMayTakeTenMinutes(t *testing.T) {
	tr, clock := tracked(1000)
	refused, other := failing(t, tr, 1, "401"), failing(t, tr, 2, "503")
	tr.Observe(refused)
	tr.Observe(other)
	for ; clock.now < 10*time.Minute; clock.now += time.Minute {
		tr.Stats()
	}
	assert.Equal(t, 1, tr.Stats().Tracked)
	late := again(refused)
	late.Start = refused.Result.End + 599e9
	late.Result.End = late.Start
	assert.Equal(t, SDK, tr.Observe(late).Origin)
	for ; clock.now < 20*time.Minute; clock.now += time.Minute {
		tr.Stats()
	}
	assert.Zero(t, tr.Stats().Tracked)
	assert.Zero(t, tr.kept.Load())
}

func TestAnAnswerToAQuestionMayTakeAnHour(t *testing.T) {
	tr, clock := tracked(1000)
	s := seen{At: "agent", Trace: "t", Span: "a", ID: []byte("1"), Body: "B", Call: "pay/x", To: 1, Ended: "input_required", AsksState: "s"}
	tr.Observe(s.attempt(t, tr))
	for ; clock.now < 58*time.Minute; clock.now += time.Minute {
		tr.Stats()
	}
	s = seen{At: "agent", Trace: "u", Span: "b", ID: []byte("2"), Body: "C", Call: "pay/x", From: 3500, To: 3501, State: "s", Ended: "success"}
	f := tr.Observe(s.attempt(t, tr))
	assert.Equal(t, Continues, f.Link)
	clock.now = 3 * time.Hour
	assert.Zero(t, tr.Stats().Tracked)
	assert.Zero(t, tr.kept.Load())
}

func TestTheOldestMakeRoom(t *testing.T) {
	const limit = 200
	tr, clock := tracked(limit)
	var list []*Attempt
	for i := range 3 * limit {
		list = append(list, failing(t, tr, i, "503"))
		tr.Observe(list[i])
		if i%10 == 9 {
			clock.now += time.Second
		}
		require.LessOrEqual(t, tr.tracked.Load(), int64(limit))
	}
	stats := tr.Stats()
	assert.Equal(t, limit, stats.Tracked)
	assert.EqualValues(t, 2*limit, stats.Evicted)
	assert.Zero(t, stats.Expired)
	// The shards do not know of each other which one holds the oldest, and the
	// hashes that spread the records over them differ from run to run. But nearly
	// all of the newest half is there, and hardly any of what should have gone.
	known := func(part []*Attempt) (n int) {
		for _, a := range part {
			s := tr.shard(mix(uint64(a.Vantage), uint64(a.Operation)))
			for i := range s.count {
				if s.at(s.oldest+i).span == a.SpanID {
					n++
				}
			}
		}
		return n
	}
	assert.GreaterOrEqual(t, known(list[len(list)-limit/2:]), limit/2-limit/20)
	assert.LessOrEqual(t, known(list[:limit]), limit/10)
}

func TestOneBusyOperationMayUseAllRoom(t *testing.T) {
	const limit = 5000
	tr, _ := tracked(limit)
	s := seen{At: "agent", Call: "poll/x", Body: "B", ID: []byte("0"), Ended: "success"}
	for i := range limit {
		s.Trace, s.Span = fmt.Sprint(i), fmt.Sprint(i)
		tr.Observe(s.attempt(t, tr))
	}
	assert.Equal(t, Stats{Tracked: limit, Limit: limit}, tr.Stats())
	// And gives it back to others.
	for i := range limit {
		tr.Observe(failing(t, tr, i, "503"))
	}
	assert.Equal(t, limit, tr.Stats().Tracked)
}

func TestWhatIsKeptLongerHasASmallShare(t *testing.T) {
	const limit = 800
	tr, clock := tracked(limit)
	for i := range limit {
		tr.Observe(failing(t, tr, i, "401"))
	}
	clock.now = 5 * time.Minute
	assert.Equal(t, limit/keptShare, tr.Stats().Tracked)
	// They outlive what comes after them, but not for ever.
	for i := range limit - limit/keptShare {
		tr.Observe(failing(t, tr, limit+i, "503"))
	}
	for i := range limit {
		tr.Observe(failing(t, tr, 2*limit+i, "503"))
	}
	assert.Equal(t, limit, tr.Stats().Tracked)
	assert.Positive(t, tr.kept.Load())
	clock.now = 30 * time.Minute
	assert.Zero(t, tr.Stats().Tracked)
	assert.Zero(t, tr.kept.Load())
}

func TestALimitOfOne(t *testing.T) {
	for _, limit := range []int{-1, 0, 1} {
		tr, _ := tracked(limit)
		for i := range 10 {
			a := failing(t, tr, i, "503")
			tr.Observe(a)
			assert.Equal(t, 1, tr.Stats().Tracked)
			assert.Equal(t, SDK, tr.Observe(again(a)).Origin)
		}
	}
}

func TestNumbersStartAgain(t *testing.T) {
	var s shard
	s.init()
	s.oldest = 1<<32 - 1000
	var r record
	find := func(i int) *record {
		var want record
		want.op, want.trace[0] = uint64(i), 1
		for n := s.find(byTrace, want.keys()[byTrace]); s.alive(n); n = s.at(n).next[byTrace] {
			if s.at(n).op == want.op {
				return s.at(n)
			}
		}
		return nil
	}
	for i := range 3000 {
		r.op, r.trace[0], r.start = uint64(i), 1, int64(i)
		n := s.add(&r)
		if i >= 500 {
			s.forget()
			require.Nil(t, find(i-500), "forgotten: %d", i-500)
		}
		for _, j := range []int{i, i - 1, i - 63, i - 64, i - 499} {
			if number := n - uint32(i-j); j >= 0 && number != 0 && number <= n { // 0 names none
				require.NotNil(t, find(j), "%d of %d", j, i)
				require.EqualValues(t, j, find(j).start)
			}
		}
	}
	assert.EqualValues(t, 500, s.count)
	assert.Len(t, s.ring, 16, "a ring for what is remembered, whatever came before")
	for s.count > 0 {
		s.forget()
	}
	chunks := 0
	for _, c := range s.ring {
		if c != nil {
			chunks++
		}
	}
	assert.LessOrEqual(t, chunks, 1)
}

func TestALongChainIsNotWalkedToItsEnd(t *testing.T) {
	tr := newTracker()
	s := seen{At: "agent", Trace: "t", Parent: "p", Call: "poll/x", Ended: "503"}
	for i := range 1000 {
		s.Span, s.ID, s.Body = fmt.Sprint(i), []byte(fmt.Sprint(i)), fmt.Sprint(i)
		s.From = float64(i)
		s.To = s.From + 0.5
		f := tr.Observe(s.attempt(t, tr))
		if i > 0 {
			require.Equal(t, i, f.Attempt)
		}
	}
}

func TestSettle(t *testing.T) {
	tr := newTracker()
	logs := func(id int, from float64, ended string) *Attempt {
		s := seen{At: "logs", Session: "S", ID: []byte(fmt.Sprint(id)), Body: fmt.Sprint("B", id), Call: "echo/x", From: from, To: from + 0.1, Ended: ended}
		a := s.attempt(t, tr)
		a.HTTPMethod = ""
		return a
	}
	first := tr.Observe(logs(1, 0, ""))
	assert.Equal(t, NoOrigin, first.Origin)
	assert.NotEqual(t, Ref{}, first.Ref)
	assert.True(t, tr.Observe(logs(1, 0, "")).Duplicate, "the record, delivered twice")

	// While it is unanswered an equal call is a parallel one.
	assert.Equal(t, Concurrent, tr.Observe(logs(9, 0.05, "")).Evidence)

	failed := result(t, "tool_error")
	failed.End = nanos(0.1)
	f, ok := tr.Settle(first.Ref, &failed)
	require.True(t, ok)
	assert.Equal(t, NoOrigin, f.Origin)
	_, ok = tr.Settle(first.Ref, &failed)
	assert.False(t, ok, "settled already")
	_, ok = tr.Settle(Ref{}, &failed)
	assert.False(t, ok, "none")

	tr = newTracker()
	first = tr.Observe(logs(1, 0, ""))
	tr.Settle(first.Ref, &failed)
	second := tr.Observe(logs(2, 1, ""))
	assert.Equal(t, UnknownOrigin, second.Origin)
	assert.Equal(t, NewIDAfterFailure, second.Evidence)
	assert.Equal(t, verdict.Failure, second.PreviousClass)
	assert.True(t, second.Seen)
	assert.Equal(t, NoLink, second.Link, "log records without a trace have no ids to link to")
	assert.False(t, second.Recovered || second.Wasted)
	success := result(t, "success")
	success.End = nanos(1.1)
	f, ok = tr.Settle(second.Ref, &success)
	require.True(t, ok)
	assert.True(t, f.Recovered)
	assert.Equal(t, 1, f.Attempt)

	// A task and a state that the settled answer tells of.
	third := tr.Observe(logs(3, 2, ""))
	task := result(t, "task")
	task.End, task.TaskID = nanos(2.1), tr.Digest("T")
	_, ok = tr.Settle(third.Ref, &task)
	require.True(t, ok)
	s := seen{At: "logs", Session: "S", Method: "tasks/get", Task: "T", ID: []byte("4"), From: 3, To: 3.1, Ended: "task_working"}
	get := s.attempt(t, tr)
	assert.True(t, tr.Observe(get).Seen)

	// Forgotten meanwhile.
	small, _ := tracked(1)
	ref := small.Observe(logs(5, 5, "")).Ref
	small.Observe(logs(6, 500, ""))
	_, ok = small.Settle(ref, &failed)
	assert.False(t, ok)
}

func TestALatePredecessorRelabelsNothing(t *testing.T) {
	for _, row := range []struct {
		name          string
		first, second seen
	}{
		{
			"the server goes on with an abandoned attempt",
			seen{At: "srv", Side: "server", Trace: "t", Span: "a", Parent: "c1", To: 40, Session: "S", ID: []byte("1"), Body: "B", Call: "create/x", Ended: "500"},
			seen{At: "srv", Side: "server", Trace: "t", Span: "b", Parent: "c2", From: 31, To: 41, Session: "S", ID: []byte("1"), Body: "B", Call: "create/x", Ended: "success"},
		},
		{
			"a failed call comes late",
			seen{At: "agent", Trace: "t", Span: "a", To: 1, ID: []byte("1"), Body: "B1", Call: "create/x", Ended: "503"},
			seen{At: "agent", Trace: "t", Span: "b", From: 2, To: 3, ID: []byte("2"), Body: "B2", Call: "create/x", Ended: "success"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			tr := newTracker()
			second := row.second.attempt(t, tr)
			f := tr.Observe(second)
			assert.Equal(t, NoOrigin, f.Origin)
			late := tr.Observe(row.first.attempt(t, tr))
			assert.Equal(t, NoOrigin, late.Origin)
			assert.True(t, late.LatePredecessor)
			again := tr.Observe(second)
			assert.True(t, again.Duplicate)
			assert.Equal(t, NoOrigin, again.Origin)

			// In order it is a repeat.
			tr = newTracker()
			tr.Observe(row.first.attempt(t, tr))
			assert.Equal(t, UnknownOrigin, tr.Observe(row.second.attempt(t, tr)).Origin)
		})
	}
}

func TestAResumptionDeliveredTwiceIsTheSame(t *testing.T) {
	tr := newTracker()
	post := seen{At: "agent", Trace: "t", Span: "a", Session: "S", To: 1, ID: []byte("1"), Body: "B", Call: "slow/x", Ended: "broken"}
	get := seen{At: "agent", Trace: "t", Span: "b", Session: "S", From: 2, To: 3, Resumes: true, Ended: "success"}
	other := seen{At: "agent", Trace: "t", Span: "c", Session: "S", From: 4, To: 5, Resumes: true, Ended: "success"}
	tr.Observe(post.attempt(t, tr))
	first := tr.Observe(get.attempt(t, tr))
	assert.Equal(t, Resumes, first.Link)
	assert.Equal(t, first, tr.Observe(get.attempt(t, tr)))
	assert.Equal(t, NoLink, tr.Observe(other.attempt(t, tr)).Link, "it was resumed to its end")
}

func TestConcurrentUse(t *testing.T) {
	const limit, workers = 2000, 8
	tr, _ := tracked(limit)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			g := newTraffic(tr, worker+1)
			for i := range 5000 {
				a := g.rich()
				// All meet in some operations, sessions and marks.
				if i%3 == 0 {
					a.Operation, a.Session = Digest(i%5+1), Digest(i%7+1)
					binary.LittleEndian.PutUint64(a.TraceID[:], uint64(i%11))
				}
				switch i % 50 {
				case 1:
					a.Method = verdict.ToolsList
				case 2:
					a.Method = verdict.Initialize
				case 3:
					a.Result = Result{End: a.Result.End, Outcome: verdict.InputRequired, RequestState: Digest(i%13 + 1)}
				case 4:
					a.Continues, a.RequestState = true, Digest(i%13+1)
				case 5:
					a.Result = Result{End: a.Result.End, Outcome: verdict.TaskCreated, TaskID: Digest(i%13 + 1)}
				case 6:
					a.Method, a.TaskID = verdict.TasksResult, Digest(i%13+1)
				case 7:
					a.Result.Outcome = verdict.StreamIncomplete
				case 8:
					a.HTTPMethod, a.LastEventID = "GET", true
				case 9:
					a.Open = true
				}
				f := tr.Observe(a)
				if a.Open {
					tr.Settle(f.Ref, &a.Result)
				}
				if i%500 == 0 {
					tr.Stats()
				}
			}
		})
	}
	wg.Wait()
	// One too many for each that found all shards at work.
	assert.LessOrEqual(t, tr.Stats().Tracked, limit+workers)
	var count uint32
	var kept int64
	for _, shards := range [][]shard{tr.shards[:], tr.marks[:]} {
		for i := range shards {
			count += shards[i].count
			for n := range shards[i].count {
				if shards[i].at(shards[i].oldest + n).has(flagKept) {
					kept++
				}
			}
		}
	}
	assert.EqualValues(t, tr.Stats().Tracked, count)
	assert.Equal(t, tr.kept.Load(), kept)
}
