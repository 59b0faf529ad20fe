package mcpprocessor

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// TestSpansDoNotDependOnTheirBatch: what a span gets is the same alone and among
// others, of which some at a time are found, judged and written.
func TestSpansDoNotDependOnTheirBatch(t *testing.T) {
	var alone []ptrace.ResourceSpans
	add := func(td ptrace.Traces) {
		for _, rs := range td.ResourceSpans().All() {
			alone = append(alone, rs)
		}
	}
	for _, c := range loadCases(t) {
		if !c.isLog() {
			add(c.makeTraces(t))
		}
	}
	for range 20 {
		td, span := newSpan()
		span.Attributes().PutStr("url.path", "/api/orders")
		add(td)
	}
	for _, size := range []int{maxHeld / 20, maxHeld / 3, 2 * maxHeld} {
		for _, body := range []string{successBody, failureBody, "[" + failureBody + "," + successBody + "]"} {
			td, span := newSpan()
			post(span, callBody, compressed(body+strings.Repeat(" ", size)), 200)
			add(td)
		}
	}

	const settings = "retry: {enabled: false}\npairing: {enabled: false}\n"
	for _, keep := range []string{"always", "failures", "never"} {
		in := start(t, settings+"bodies: {keep: "+keep+"}\n"+allAttributes())
		want := make([][]byte, len(alone))
		for i, rs := range alone {
			td := ptrace.NewTraces()
			rs.CopyTo(td.ResourceSpans().AppendEmpty())
			want[i] = marshalTraces(t, in.processTraces(td))
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 10 {
			order := r.Perm(len(alone))
			td := ptrace.NewTraces()
			for _, i := range order {
				alone[i].CopyTo(td.ResourceSpans().AppendEmpty())
			}
			out := in.processTraces(td)
			for n, i := range order {
				one := ptrace.NewTraces()
				out.ResourceSpans().At(n).CopyTo(one.ResourceSpans().AppendEmpty())
				require.Equal(t, want[i], marshalTraces(t, one), "keep: %s", keep)
			}
		}
		in.requireQuiet(warnsOfAbsentBodies)
	}
}

// TestBodiesDoNotStayInMemory: a name that was taken from a body keeps all of it in
// memory, unless it is copied. That matters where the body itself is not on the
// span: when it was removed, or is there in compressed form.
func TestBodiesDoNotStayInMemory(t *testing.T) {
	const size, count = 256 << 10, 100
	request := strings.Replace(callBody, `"arguments":{}`, `"arguments":{"x":"`+strings.Repeat("x", size)+`"}`, 1)
	for name, c := range map[string]struct {
		keep string
		body func() string
	}{
		"removed":    {"never", func() string { return strings.Clone(request) }},
		"compressed": {"always", func() string { return compressed(request) }},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t, "bodies: {keep: "+c.keep+"}")
			var kept []ptrace.Traces
			before := heapInUse()
			for range count {
				td, span := newSpan()
				post(span, c.body(), successBody, 200)
				td = in.processTraces(td)
				require.Equal(t, "lookup", attr(spans(td)[0].Attributes(), "gen_ai.tool.name"))
				kept = append(kept, td)
			}
			in.tracesOut.Reset()
			require.Less(t, heapInUse()-before, int64(count*size/4))
			runtime.KeepAlive(kept)
		})
	}
}

// TestOneLargeBodyAtATime: bodies of one batch that are decompressed are not all in
// memory at a time.
func TestOneLargeBodyAtATime(t *testing.T) {
	const size, count = 4 << 20, 24
	in := start(t, "")
	request := compressed(strings.Replace(callBody, `"arguments":{}`, `"arguments":{"x":"`+strings.Repeat("x", size-200)+`"}`, 1))
	td := ptrace.NewTraces()
	service := newService(td, "s")
	for range count {
		post(service.AppendEmpty(), request, successBody, 200)
	}
	heapInUse() // collects what others left
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	system := m.HeapSys
	for _, span := range spans(in.processTraces(td)) {
		require.Equal(t, "lookup", attr(span.Attributes(), "gen_ai.tool.name"))
	}
	runtime.ReadMemStats(&m)
	require.Less(t, m.HeapSys-system, uint64(count*size))
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
