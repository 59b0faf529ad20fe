package retry

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// maxEntry is what an entry may cost, all told.
const maxEntry = 160

// traffic makes attempts that look like those of many agents: each calls three
// times under one span, the second time after a failure, in a session.
type traffic struct {
	n uint64
	a Attempt
	h [4]Digest
}

func newTraffic(tr *Tracker, worker int) *traffic {
	g := &traffic{n: uint64(worker) << 40}
	g.h = [4]Digest{tr.Vantage(tr.Digest("agent"), 3, "http"), tr.Target("https://mcp.test/mcp"), tr.Digest("2025-11-25"), tr.Digest("conversation")}
	return g
}

func (g *traffic) next() *Attempt {
	g.n++
	undertaking := g.n / 3
	a := &g.a
	*a = Attempt{
		Vantage: g.h[0], Method: verdict.ToolsCall, HTTPMethod: "POST", Whole: true, Tool: "lookup",
		Start: epoch + int64(g.n)*1e6,
		ID:    Digest(g.n*0x9E3779B97F4A7C15 | 1), Body: Digest(g.n*0xD1B54A32D192ED03 | 1),
		Operation: Digest(undertaking*0xA0761D6478BD642F | 1), Target: g.h[1], Version: g.h[2],
		Session: Digest(undertaking/10*0xE7037ED1A0B428DB | 1),
		Result:  Result{End: epoch + int64(g.n)*1e6 + 5e5, Outcome: verdict.ToolSuccess, Class: verdict.Success, Status: 200},
	}
	if g.n%3 == 0 {
		a.Result = Result{End: a.Result.End, Outcome: verdict.ToolError, Class: verdict.Failure, Status: 200}
	}
	binary.LittleEndian.PutUint64(a.TraceID[:], undertaking*0x8EBC6AF09C88C6E3)
	binary.LittleEndian.PutUint64(a.TraceID[8:], undertaking|1<<63)
	binary.LittleEndian.PutUint64(a.SpanID[:], g.n*0x589965CC75374CC3)
	binary.LittleEndian.PutUint64(a.ParentID[:], undertaking*0x1D8E4E27C47D124F|1)
	return a
}

// rich adds all that an attempt can be found by.
func (g *traffic) rich() *Attempt {
	a := g.next()
	a.Conversation, a.ToolCall = g.h[3], Digest(g.n|1)
	a.IdempotencyKey, a.TraceParent = Digest(g.n*0xEB44ACCAB455D165|1), Digest(g.n|1)
	return a
}

func BenchmarkObserve(b *testing.B) {
	const tracked = 100_000
	for _, bm := range []struct {
		name string
		next func(*traffic) *Attempt
	}{
		{"plain", (*traffic).next},
		{"rich", (*traffic).rich},
	} {
		b.Run(bm.name, func(b *testing.B) {
			tr := New(Config{Window: 2 * time.Minute, MaxTracked: tracked})
			g := newTraffic(tr, 0)
			for range tracked {
				tr.Observe(bm.next(g))
			}
			b.ReportAllocs()
			for b.Loop() {
				tr.Observe(bm.next(g))
			}
			b.ReportMetric(float64(tr.tracked.Load()), "tracked")
		})
	}
	b.Run("parallel", func(b *testing.B) {
		tr := New(Config{Window: 2 * time.Minute, MaxTracked: tracked})
		g := newTraffic(tr, 0)
		for range tracked {
			tr.Observe(g.next())
		}
		workers := make(chan int, 1000)
		for i := range cap(workers) {
			workers <- i + 1
		}
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			g := newTraffic(tr, <-workers)
			for pb.Next() {
				tr.Observe(g.next())
			}
		})
	})
}

// BenchmarkDigests is what it costs to make the digests of one call.
func BenchmarkDigests(b *testing.B) {
	tr := newTracker()
	body := string(make([]byte, 500))
	b.ReportAllocs()
	for b.Loop() {
		tr.Vantage(1, 3, "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp")
		tr.Target("https://mcp.example.test/mcp")
		tr.Digest("31f519cd-c3b7-45e4-999e-b235ee33e6ca")
		tr.Digest(body)
		tr.Operation(verdict.ToolsCall, "lookup", [16]byte{1})
	}
}

func TestEntrySize(t *testing.T) {
	assert.Equal(t, uintptr(128), unsafe.Sizeof(record{}))
	assert.Equal(t, uintptr(64), unsafe.Offsetof(record{}.trace), "the first line ends here")
	assert.Zero(t, unsafe.Sizeof(shard{})%64, "a whole number of cache lines")
}

// heap is the live heap in bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestMemoryOfAFullTracker(t *testing.T) {
	if raceDetector {
		t.Skip("measured without the race detector")
	}
	const tracked = 100_000
	for _, kind := range []struct {
		name string
		next func(*traffic) *Attempt
	}{
		{"plain", (*traffic).next},
		{"rich", (*traffic).rich},
	} {
		t.Run(kind.name, func(t *testing.T) {
			before := heap()
			tr := New(Config{Window: 2 * time.Minute, MaxTracked: tracked})
			tr.clock = still
			g := newTraffic(tr, 0)
			for range tracked {
				tr.Observe(kind.next(g))
			}
			full := heap() - before
			for range 2 * tracked {
				tr.Observe(kind.next(g))
			}
			turned := heap() - before
			assert.Equal(t, tracked, tr.Stats().Tracked)
			t.Logf("%d entries: %.2f MiB, %.1f bytes an entry; after three times as many: %.2f MiB, %.1f bytes",
				tracked, float64(full)/(1<<20), float64(full)/tracked, float64(turned)/(1<<20), float64(turned)/tracked)
			// What the test itself and the runtime hold is less than the slack.
			const slack = 256 << 10
			assert.Less(t, full, uint64(tracked*maxEntry+slack))
			assert.Less(t, turned, uint64(tracked*maxEntry+slack))
			assert.Less(t, turned, uint64(16<<20))
		})
	}
}

func TestObserveAllocatesNothing(t *testing.T) {
	tr := New(Config{Window: 2 * time.Minute, MaxTracked: 10_000})
	tr.clock = still
	g := newTraffic(tr, 0)
	for range 50_000 {
		tr.Observe(g.next())
	}
	assert.Zero(t, testing.AllocsPerRun(10_000, func() { tr.Observe(g.next()) }))
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		tr.Vantage(1, 3, "scope")
		tr.Target("https://user:secret@mcp.example.test/mcp?sessionId=1")
		tr.Operation(verdict.ToolsCall, "lookup", [16]byte{1})
		tr.Keys(0, "name")
	}))
}
