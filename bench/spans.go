package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const spansPerBatch = 100

// sweepWord is what the processor looks for in bodies before it reads them. It
// has no quotes, which JSON is full of and which would make the sweep, and so
// what the processor is compared with, several times slower.
const sweepWord = "jsonrpc"

// spanBatch returns spans as the instrumentation of an HTTP client makes them:
// twelve attributes, and the bodies if there are any.
func spanBatch(path, request, response string) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "agent")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("http")
	for i := range spansPerBatch {
		span := ss.Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1, byte(i)})
		span.SetSpanID(pcommon.SpanID{1, byte(i)})
		span.SetName("POST")
		span.SetKind(ptrace.SpanKindClient)
		span.SetStartTimestamp(pcommon.Timestamp(1_764_411_300_000_000_000 + 1_000_000*i))
		span.SetEndTimestamp(span.StartTimestamp() + 17_000_000)
		a := span.Attributes()
		a.PutStr("http.request.method", "POST")
		a.PutStr("url.full", "https://api.example.com"+path)
		a.PutStr("url.path", path)
		a.PutStr("server.address", "api.example.com")
		a.PutInt("server.port", 443)
		a.PutStr("network.protocol.version", "1.1")
		a.PutStr("network.peer.address", "10.0.0.7")
		a.PutInt("http.response.status_code", 200)
		a.PutStr("user_agent.original", "agent/1.0")
		a.PutInt("http.request.body.size", int64(len(request)))
		a.PutInt("http.response.body.size", int64(len(response)))
		a.PutEmptySlice("http.response.header.content-type").AppendEmpty().SetStr("application/json")
		if request != "" {
			a.PutStr("http.request.body.content", request)
		}
		if response != "" {
			a.PutStr("http.response.body.content", response)
		}
	}
	return td
}

// repeating sends the same batches to p again and again, which leaves them as
// they are.
func repeating(p consumer.Traces, batches []ptrace.Traces) candidate {
	return candidate{units: len(batches) * spansPerBatch, run: func(n int) {
		for range n {
			for _, td := range batches {
				must(0, p.ConsumeTraces(context.Background(), td))
			}
		}
	}}
}

// queued is how many batches are held behind the processor, as the queue of an
// exporter holds them. It makes the heap some ten MiB large: in a tiny one the
// garbage collector would run all the time, in which every write of a pointer
// costs more.
const queued = 64

// copying sends copies of a batch to the processor that build makes. The cost of
// copying is in it: that of the processor is what is left after taking off the
// same with a processor that does nothing.
func copying(build func(next consumer.Traces) consumer.Traces, batch ptrace.Traces, batches int) candidate {
	var queue [queued]ptrace.Traces
	at := 0
	hold := must(consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error {
		queue[at%len(queue)] = td
		at++
		return nil
	}))
	p := build(hold)
	return candidate{units: spansPerBatch, times: batches, collect: true, run: func(n int) {
		for range n {
			td := ptrace.NewTraces()
			batch.CopyTo(td)
			must(0, p.ConsumeTraces(context.Background(), td))
		}
	}}
}

// measureFresh sends batches to each of the processors that were decoded a moment
// before, as a receiver does it: no other span, key or value is as near in the
// caches. The time is that on the clock, since it is too short for that of the
// CPU, and of some batches that of the lower quarter, see measure.
func measureFresh(e effort, batch ptrace.Traces, processors ...consumer.Traces) []series {
	const batches = 24
	wire := must(new(ptrace.ProtoMarshaler).MarshalTraces(batch))
	var decoder ptrace.ProtoUnmarshaler
	results := make([]series, len(processors))
	for round := range e.rounds {
		for i := range processors {
			k := (i + round) % len(processors)
			took := make(series, batches)
			for n := range took {
				td := must(decoder.UnmarshalTraces(wire))
				start := time.Now()
				must(0, processors[k].ConsumeTraces(context.Background(), td))
				took[n] = float64(time.Since(start)) / spansPerBatch
			}
			slices.Sort(took)
			results[k] = append(results[k], took[batches/4])
		}
	}
	return results
}

// copies returns n batches that share no memory but strings.
func copies(batch ptrace.Traces, n int) []ptrace.Traces {
	all := make([]ptrace.Traces, n)
	for i := range all {
		all[i] = ptrace.NewTraces()
		batch.CopyTo(all[i])
	}
	return all
}

func doingNothing(next consumer.Traces) consumer.Traces { return plainTraces(next, nil) }

// missedGet looks one attribute up that is not there.
func missedGet(span ptrace.Span) {
	if _, ok := span.Attributes().Get("mcp.method.name"); ok {
		sink++
	}
}

// mcpExchanges are the exchanges that are judged, with how many batches of them
// the other candidates and OTTL get in one round.
var mcpExchanges = []struct {
	body
	batches, ottlBatches int
	target               target
}{
	{error150, 100, 20, atLeast(10)},
	{result500, 100, 20, atLeast(20)},
	{escapes4k, 100, 20, atLeast(8)},
	{nested64k, 20, 1, atLeast(50)},
}

// measureJudged measures whole verdicts with all that is written.
func measureJudged(t *table, e effort) {
	for _, x := range mcpExchanges {
		batch := spanBatch("/mcp", x.request, x.text)
		added := addedAttributes(batch)
		writing := func(next consumer.Traces) consumer.Traces {
			return plainTraces(next, func(span ptrace.Span) { writeAttributes(span.Attributes(), added) })
		}
		rounds := e
		rounds.rounds *= 2 // differences of large figures
		if len(x.text) > 10_000 {
			rounds.rounds = max(5, e.rounds/2)
		}
		candidates := []candidate{
			copying(doingNothing, batch, x.batches),
			copying(mcpTraces, batch, x.batches),
			copying(writing, batch, x.batches),
			copying(func(next consumer.Traces) consumer.Traces { return ottlTraces(ottlSettings(0), next) }, batch, x.ottlBatches),
		}
		short := x.name == result500.name
		if short {
			candidates = append(candidates, copying(func(next consumer.Traces) consumer.Traces { return ottlTraces(ottlSettings(4), next) }, batch, x.ottlBatches))
		}
		m := measure(rounds, candidates...)
		mcp, floor, ottl := minus(m[1], m[0]), minus(m[2], m[0]), minus(m[3], m[0])
		t.add(row{work: "MCP, " + x.name, of: "times faster than OTTL", value: ratio(ottl, mcp).spread(), ns: mcp, target: x.target})
		if short {
			t.add(row{work: "MCP, " + x.name, of: "times faster than OTTL without its last 4 statements", value: ratio(minus(m[4], m[0]), mcp).spread()})
		}
		r := row{work: "MCP, " + x.name, of: "of the cost of making room and putting the attributes", value: ratio(mcp, floor).spread(), ns: floor}
		if short {
			r.target = atMost(2)
		}
		t.add(r)
		mcpObjects, mcpBytes := allocations(candidates[1], 100)
		floorObjects, floorBytes := allocations(candidates[2], 100)
		t.add(row{work: "MCP, " + x.name, of: "objects allocated per span beyond those of the attributes", value: fixed(hundredths(mcpObjects - floorObjects)), target: atMost(0)})
		t.add(row{work: "MCP, " + x.name, of: "bytes allocated per span beyond those of the attributes", value: fixed(float64(int(mcpBytes - floorBytes))), target: atMost(0)})
	}
}

// hundredths rounds to them, so that what is allocated per batch and not per span
// counts from one object in a batch on.
func hundredths(v float64) float64 { return float64(int(v*100+0.5)) / 100 }

// How the caches stand to the spans of a row.
const (
	fresh = ", fresh from the wire"
	again = ", again and again"
)

// measurePassedOver measures what spans cost that are not of MCP.
func measurePassedOver(t *table, e effort) {
	const batches = 10
	nop := consumertest.NewNop()
	mcp, get, nothing := mcpTraces(nop), plainTraces(nop, missedGet), plainTraces(nop, nil)
	ottl, ottlOne := ottlTraces(ottlSettings(0), nop), ottlTraces(ottlFailing, nop)
	batch := spanBatch("/api/orders", "", "")
	bare := copies(batch, batches)
	const work = "not MCP, no body"
	compare := func(how string, m []series) {
		t.add(row{work: work + how, of: "of the cost of one missed Get", value: ratio(m[0], m[1]).spread(), ns: m[0], target: atMost(1.5)})
		t.add(row{work: work + how, of: "times faster than OTTL, whose condition fails", value: ratio(m[2], m[0]).spread(), ns: m[2], target: atLeast(4)})
		t.add(row{work: work + how, of: "times faster than OTTL with one statement that fails", value: ratio(m[3], m[0]).spread(), ns: m[3]})
		t.add(row{work: work + how, of: "CPU time of the missed Get", value: m[1].spread(), unit: "ns"})
		t.add(row{work: work + how, of: "CPU time of a processor that does nothing", value: m[4].spread(), unit: "ns"})
	}
	compare(fresh, measureFresh(e, batch, mcp, get, ottl, ottlOne, nothing))
	compare(again, measure(e, repeating(mcp, bare), repeating(get, bare), repeating(ottl, bare), repeating(ottlOne, bare), repeating(nothing, bare)))
	mine, _ := allocations(repeating(mcp, bare), 10)
	theirs, _ := allocations(repeating(get, bare), 10)
	t.add(row{work: work, of: "objects allocated per span beyond those of the helper", value: fixed(hundredths(mine - theirs)), target: atMost(0)})

	// A body that is not MCP may cost one sweep more.
	const foreignWork = "not MCP, foreign 2 KiB"
	foreignBatch := spanBatch("/v1/chat/completions", "", foreign2k.text)
	foreign := copies(foreignBatch, batches)
	find := plainTraces(nop, func(span ptrace.Span) {
		if v, ok := span.Attributes().Get("http.response.body.content"); ok {
			sink += len(v.Str())
		}
	})
	sweep := plainTraces(nop, func(span ptrace.Span) {
		if v, ok := span.Attributes().Get("http.response.body.content"); ok && strings.Contains(v.Str(), sweepWord) {
			sink++
		}
	})
	compareForeign := func(how string, m []series) {
		swept := minus(m[3], m[2])
		allowed := combine(m[1], swept, func(get, sweep float64) float64 { return 1.5*get + sweep })
		t.add(row{work: foreignWork + how, of: "of the cost of 1.5 missed Gets plus one sweep", value: ratio(m[0], allowed).spread(), ns: m[0], target: atMost(1)})
		t.add(row{work: foreignWork + how, of: "CPU time of the sweep", value: swept.spread(), unit: "ns"})
	}
	compareForeign(fresh, measureFresh(e, foreignBatch, mcp, get, find, sweep))
	compareForeign(again, measure(e, repeating(mcp, foreign), repeating(get, foreign), repeating(find, foreign), repeating(sweep, foreign)))
	mine, _ = allocations(repeating(mcp, foreign), 10)
	theirs, _ = allocations(repeating(get, foreign), 10)
	t.add(row{work: foreignWork, of: "objects allocated per span beyond those of the helper", value: fixed(hundredths(mine - theirs)), target: atMost(0)})
}

// written is an attribute that the processor writes.
type written struct {
	key    string
	text   string
	number int64
	isInt  bool
}

// addedAttributes returns what the processor adds to the first span of batch.
func addedAttributes(batch ptrace.Traces) []written {
	before := firstSpan(batch).Attributes()
	sunk := new(consumertest.TracesSink)
	td := ptrace.NewTraces()
	batch.CopyTo(td)
	must(0, mcpTraces(sunk).ConsumeTraces(context.Background(), td))
	var added []written
	for key, value := range firstSpan(sunk.AllTraces()[0]).Attributes().All() {
		if _, known := before.Get(key); !known {
			w := written{key: key, isInt: value.Type() == pcommon.ValueTypeInt}
			if w.isInt {
				w.number = value.Int()
			} else {
				w.text = value.Str()
			}
			added = append(added, w)
		}
	}
	return added
}

// writeAttributes puts the attributes where they cannot be had for less: room is
// made once.
func writeAttributes(m pcommon.Map, attributes []written) {
	m.EnsureCapacity(m.Len() + len(attributes))
	for i := range attributes {
		if w := &attributes[i]; w.isInt {
			m.PutInt(w.key, w.number)
		} else {
			m.PutStr(w.key, w.text)
		}
	}
}

func firstSpan(td ptrace.Traces) ptrace.Span {
	return td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
}
