package retry

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// world makes what the vantages see of some clients. Every client counts its
// ids from 0, so that the bytes of different clients are equal; none uses an id
// twice, as the specification demands within a session.
type world struct {
	r    *rand.Rand
	tr   *Tracker
	list []*Attempt
	span int
	now  int64
}

func newWorld(tr *Tracker, seed uint64) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 1)), tr: tr, now: epoch}
	for client := range 1 + w.r.IntN(4) {
		w.client(client)
	}
	// Those who began first come first, as in a batch.
	slices.SortStableFunc(w.list, func(a, b *Attempt) int { return int(a.Start - b.Start) })
	return w
}

func (w *world) pick(words ...string) string { return words[w.r.IntN(len(words))] }

func (w *world) step(most time.Duration) int64 {
	w.now += 1000 + w.r.Int64N(int64(most))
	return w.now
}

// client makes some undertakings, each of one call or several.
func (w *world) client(number int) {
	w.now = epoch + w.r.Int64N(3e9)
	sessions := w.r.IntN(2) == 0
	session := 0
	traced := w.r.IntN(3) > 0
	trace := fmt.Sprint("trace", number)
	id := 0
	for undertaking := range 1 + w.r.IntN(4) {
		parent := ""
		if traced {
			parent = fmt.Sprint("parent", number, undertaking)
			if w.r.IntN(2) == 0 {
				trace = fmt.Sprint("trace", number, undertaking)
			}
		}
		call := w.pick("pay/1", "pay/2", "list/")
		for range 1 + w.r.IntN(3) { // the caller itself repeats
			w.message(number, sessions, &session, trace, parent, id, call)
			id++
			w.step(3 * time.Second)
		}
	}
}

// message sends one message, again after what makes some layer do so.
func (w *world) message(client int, sessions bool, session *int, trace, parent string, id int, call string) {
	target := "https://mcp.test/mcp"
	for range 4 {
		one := seen{
			At: fmt.Sprint("agent", client), Trace: trace, Parent: parent,
			ID: []byte(fmt.Sprint(id)), Body: fmt.Sprint(id, call), Call: call, Target: target, NoArguments: call == "list/",
		}
		if sessions {
			one.Session = fmt.Sprint("session", client, *session)
		}
		one.Ended = w.pick("success", "success", "success", "tool_error", "503", "no_answer", "401", "307", "404", "broken", "-32603", "input_required")
		start := w.step(time.Second)
		end := w.step(time.Second)
		w.exchange(&one, start, end)
		switch one.Ended {
		case "503", "no_answer", "401", "broken":
			if w.r.IntN(2) == 0 {
				return // nobody does
			}
		case "307":
			target += "/"
		case "404":
			if !sessions || w.r.IntN(2) == 0 {
				return
			}
			*session++
			open := one
			open.Method, open.Call, open.Body, open.ID = "initialize", "initialize/", "I", []byte(`"reinit"`)
			open.Session, open.Ended = fmt.Sprint("session", client, *session), "success"
			w.exchange(&open, w.step(1e6), w.step(1e6))
		default:
			return
		}
	}
}

// exchange is seen by the client and by the server, and by a gateway between.
func (w *world) exchange(one *seen, start, end int64) {
	w.span++
	parent := one.Parent
	var spans []*Attempt
	for i, v := range []struct{ at, side string }{{one.At, "client"}, {"gw", "server"}, {"gw", "client"}, {"srv", "server"}} {
		s := *one
		s.At, s.Side, s.Parent = v.at, v.side, parent
		s.Span = fmt.Sprint("span", w.span, v)
		s.Gateway = v.at == "gw"
		if s.Trace == "" || one.Parent == "" {
			s.Trace = fmt.Sprint("root", w.span)
		}
		a := s.attempt(&fatal{}, w.tr)
		inside := int64(i) * 100
		a.Start, a.Result.End = start+inside, end-inside
		spans = append(spans, a)
		parent = s.Span
	}
	w.list = append(w.list, spans...)
}

// fatal is a testing.TB for helpers that cannot fail.
type fatal struct{ testing.TB }

func (*fatal) Helper()                   {}
func (*fatal) Errorf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (*fatal) FailNow()                  { panic("failed") }

type item struct {
	trace [16]byte
	span  [8]byte
}

func itemOf(a *Attempt) item { return item{a.TraceID, a.SpanID} }

// observe gives list to tr and returns what was found, by item.
func observe(tr *Tracker, list []*Attempt) map[item]Finding {
	found := map[item]Finding{}
	for _, a := range list {
		f := tr.Observe(a)
		if a.Method.IsCall() {
			found[itemOf(a)] = f
		}
	}
	return found
}

// sibling is a tracker like tr, with nothing in it: digests stay the same.
func sibling(tr *Tracker) *Tracker {
	other := newTracker()
	other.seed, other.salt = tr.seed, tr.salt
	return other
}

func ofSameMessage(f Finding) bool {
	return f.Evidence >= SameMessageParent && f.Evidence <= SameMessageReinit
}

// noneAdded checks that every claim of the same-message rows in less is one in
// full as well.
func noneAdded(t *testing.T, full, less map[item]Finding, what string, args ...any) {
	t.Helper()
	for i, f := range less {
		if ofSameMessage(f) {
			require.True(t, ofSameMessage(full[i]), "%s: %v claimed, %v with all seen in order", fmt.Sprintf(what, args...), f, full[i])
		}
	}
}

const worlds = 60

func TestSameMessageRowsNeverClaimMoreForSeeingLess(t *testing.T) {
	claims := 0
	for seed := range uint64(worlds) {
		tr := newTracker()
		w := newWorld(tr, seed)
		full := observe(tr, w.list)
		for _, f := range full {
			if ofSameMessage(f) {
				claims++
			}
		}
		for range 5 {
			list := slices.Clone(w.list)
			w.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			noneAdded(t, full, observe(sibling(tr), list), "world %d, shuffled", seed)
		}
		for range 15 {
			i := w.r.IntN(len(w.list))
			noneAdded(t, full, observe(sibling(tr), slices.Delete(slices.Clone(w.list), i, i+1)), "world %d, without %d", seed, i)
		}
		replicas := []*Tracker{sibling(tr), sibling(tr), sibling(tr)}
		for _, replica := range replicas {
			var part []*Attempt
			for _, a := range w.list {
				if w.r.IntN(len(replicas)) == 0 {
					part = append(part, a)
				}
			}
			noneAdded(t, full, observe(replica, part), "world %d, a replica", seed)
		}
	}
	assert.Greater(t, claims, worlds, "the worlds have something to claim")
}

func TestEveryClaimNamesAPredecessorThatWasSeen(t *testing.T) {
	for seed := range uint64(worlds) {
		tr := newTracker()
		w := newWorld(tr, seed)
		list := slices.Clone(w.list)
		if seed%2 == 1 {
			w.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		before := map[item]*Attempt{}
		for _, a := range list {
			f := tr.Observe(a)
			checkShape(t, f)
			if f.Origin != NoOrigin {
				p := before[item{f.PreviousTraceID, f.PreviousSpanID}]
				require.NotNil(t, p, "world %d: %v", seed, f)
				assert.Equal(t, a.Vantage, p.Vantage)
				assert.Equal(t, a.Operation, p.Operation)
				assert.Less(t, p.Start, a.Start)
				assert.Equal(t, RetryOf, f.Link)
			}
			before[itemOf(a)] = a
		}
	}
}

func TestOneExchangeFromSeveralVantagesIsOneAttempt(t *testing.T) {
	for seed := range uint64(worlds) {
		tr := newTracker()
		w := newWorld(tr, seed)
		all := observe(tr, w.list)
		byVantage := map[Digest][]*Attempt{}
		for _, a := range w.list {
			byVantage[a.Vantage] = append(byVantage[a.Vantage], a)
		}
		for _, list := range byVantage {
			for i, f := range observe(sibling(tr), list) {
				require.Equal(t, f, all[i], "world %d: other vantages change nothing", seed)
			}
		}
	}
}

func TestDeliveredTwiceIsJudgedOnce(t *testing.T) {
	for seed := range uint64(worlds) {
		tr := newTracker()
		w := newWorld(tr, seed)
		first := observe(tr, w.list)
		tracked := tr.Stats().Tracked
		w.r.Shuffle(len(w.list), func(i, j int) { w.list[i], w.list[j] = w.list[j], w.list[i] })
		for i, f := range observe(tr, w.list) {
			require.True(t, f.Duplicate)
			f.Duplicate = false
			want := first[i]
			want.LatePredecessor = false
			require.Equal(t, want, f, "world %d", seed)
		}
		marks := tr.Stats().Tracked - tracked
		assert.LessOrEqual(t, marks, len(w.list)/4, "only what other exchanges refer to is noted again")
	}
}

func TestWhatIsNeverARetry(t *testing.T) {
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 2))
		tr := newTracker()
		start := epoch
		next := func() int64 { start += r.Int64N(5e9); return start }
		clients := []string{"one", "two", "three"}
		for i := range 30 {
			client := clients[r.IntN(len(clients))]
			s := seen{At: "srv", Side: "server", Trace: fmt.Sprint(client, i), Span: fmt.Sprint(i), ID: []byte("0"), Body: "B", Call: "list/x", Ended: "503"}
			switch seed % 3 {
			case 0: // byte-identical bodies of clients without sessions, all refused
			case 1: // polling: equal arguments, one session, successes
				s.ID, s.Body, s.Session, s.Trace, s.Ended = []byte(fmt.Sprint(i)), fmt.Sprint("B", i), client, client, "success"
			case 2: // corrected arguments after a tool error
				s.ID, s.Body, s.Session, s.Trace = []byte(fmt.Sprint(i)), fmt.Sprint("B", i), client, client
				s.Call, s.Ended = fmt.Sprint("list/", i), "tool_error"
			}
			a := s.attempt(t, tr)
			a.Start = next()
			a.Result.End = a.Start + 1e8
			f := tr.Observe(a)
			require.Equal(t, NoOrigin, f.Origin, "%d: %v", seed%3, f)
		}
	}
}

func TestParallelIdenticalCallsAreNeverARetry(t *testing.T) {
	for _, ended := range []string{"success", "tool_error", "503", "timeout"} {
		tr := newTracker()
		for i := range 10 {
			s := seen{At: "agent", Trace: "t", Parent: "p", Session: "S", Span: fmt.Sprint(i), ID: []byte(fmt.Sprint(i)), Body: fmt.Sprint("B", i), Call: "list/x", Ended: ended}
			a := s.attempt(t, tr)
			a.Start, a.Result.End = epoch+int64(i)*1e6, epoch+1e9+int64(i)*1e6
			f := tr.Observe(a)
			assert.Equal(t, NoOrigin, f.Origin)
			if i > 0 {
				assert.Equal(t, Concurrent, f.Evidence)
			}
		}
	}
}

func TestAnythingAtAllIsSurvived(t *testing.T) {
	tr := New(Config{Window: time.Minute, MaxTracked: 500})
	tr.clock = still
	r := rand.New(rand.NewPCG(1, 3))
	few := func() Digest { return Digest(r.IntN(3)) }
	id := func() (id [8]byte) { id[0] = byte(r.IntN(4)); return id }
	times := []int64{0, 1, 2, 3, 1e9, 2e9, never, -never, -1, 61e9}
	when := func() int64 { return times[r.IntN(len(times))] }
	for range 30_000 {
		a := &Attempt{
			Vantage: few(), Side: verdict.Side(r.IntN(2)), Intermediary: r.IntN(4) == 0, SpanID: id(), ParentID: id(), Start: when(),
			Method: verdict.Method(r.IntN(int(verdict.MethodCount))), LastEventID: r.IntN(2) == 0, Modern: r.IntN(4) == 0,
			ID: few(), RandomID: r.IntN(8) == 0, Whole: r.IntN(4) > 0, Body: few(), Operation: few(), NoArguments: r.IntN(2) == 0, Tool: "x",
			Target: few(), Session: few(), TraceParent: few(), ToolCall: few(), Conversation: few(), IdempotencyKey: few(), Version: few(),
			Continues: r.IntN(4) == 0, RequestState: few(), InputKeys: few(), TaskID: few(),
			Asserted: Origin(r.IntN(12)), ClientResends: r.IntN(3) - 1, GatewayResends: r.IntN(3) - 1, ResendCount: r.IntN(3) - 1,
			Open: r.IntN(4) == 0,
			Result: Result{
				End: when(), Outcome: verdict.Outcome(r.IntN(int(verdict.OutcomeCount))), Class: verdict.Class(r.IntN(6)),
				Reason: verdict.Reason(r.IntN(int(verdict.ReasonCount))), HasCode: r.IntN(4) == 0, Code: []int64{-32020, -32022, -32042, 0}[r.IntN(4)],
				Status: []int{0, 200, 307, 401, 404, 503}[r.IntN(6)], RequestState: few(), InputKeys: few(), TaskID: few(),
			},
		}
		if a.Asserted > UnknownOrigin {
			a.Asserted = NoOrigin
		}
		if r.IntN(3) == 0 {
			a.Method = verdict.ToolsCall
		}
		a.TraceID[3] = byte(r.IntN(3))
		if r.IntN(8) == 0 {
			a.HTTPMethod = "GET"
		}
		f := tr.Observe(a)
		if f.Link == NoLink { // ids here may be zero
			checkShape(t, f)
		}
		if f.Ref != (Ref{}) && r.IntN(2) == 0 {
			tr.Settle(f.Ref, &a.Result)
		}
		require.LessOrEqual(t, tr.tracked.Load(), int64(500))
	}
}
