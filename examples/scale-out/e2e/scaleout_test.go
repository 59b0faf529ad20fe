// Package e2e has the tests of the example: a broker, a front and two workers, of
// which one is killed.
package e2e

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// limit is how long a test may take.
	limit      = 45 * time.Second
	partitions = 6
	// Each request to the front begins so many traces, and ends those that
	// were begun some requests before and are still open.
	requests    = 100
	perRequest  = 4
	openFor     = 8
	betweenThem = 30 * time.Millisecond
	// autocommit is the interval in worker.yaml after which Kafka is told.
	autocommit = time.Second
)

// kind says what a span is in this test.
type kind int

const (
	first    kind = iota // a call that fails, the first attempt
	resent               // the same message again
	repeated             // the same call again, with a new id
	other                // another call
)

// What each kind is found to be, the origin if the worker saw the first attempt.
var (
	outcome = [...]string{first: "HTTP_ERROR", resent: "TOOL_SUCCESS", repeated: "TOOL_SUCCESS", other: "TOOL_SUCCESS"}
	origin  = [...]string{first: "none", resent: "sdk", repeated: "unknown", other: "none"}
)

type sentSpan struct {
	kind  kind
	first string // the span id of the first attempt
}

// TestWorkerDies kills one of two workers while spans and log records arrive,
// and asserts that all that was acknowledged comes out, each item with its
// verdict, and each repeat with its origin where the worker saw both attempts.
func TestWorkerDies(t *testing.T) {
	ctx, s := startAll(t)
	settled := s.broker.output.String()
	work := plan(requests)
	half := len(work) / 2
	sent := s.send(t, work[:half])
	// What came out by now is marked as done in Kafka, so it has to be written.
	time.Sleep(3 * autocommit / 2)
	one, two := read(t, s.workers[0].file), read(t, s.workers[1].file)
	require.NotEmpty(t, one.spans, "the first worker has had nothing to do")
	require.NotEmpty(t, two.spans, "the second worker has had nothing to do")
	if settled == s.broker.output.String() { // or else partitions have moved already
		require.Empty(t, common(one.spans, two.spans), "traces that both workers have")
		require.Empty(t, common(one.records, two.records), "traces that both workers have")
	}
	// What comes now is not yet.
	maps.Copy(sent, s.send(t, work[half:half+openFor]))
	s.workers[0].kill(t)
	maps.Copy(sent, s.send(t, work[half+openFor:]))
	s.front.kill(t) // it has nothing that only it has
	s.waitForAll(ctx, t, sent)
	s.stop(ctx, t)

	for _, w := range s.workers {
		found := check(t, w, sent)
		require.NotZero(t, found, "%s saw no repeat", w.name)
	}
}

// TestWorkerCannotWrite: what a worker could not write is not marked as done, so
// that the other worker has it when the first one is gone.
func TestWorkerCannotWrite(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("There is no device here that is always full.")
	}
	ctx, s := startAll(t, "--set=exporters.file.path="+full)
	sent := s.send(t, plan(requests/5))
	time.Sleep(3 * autocommit / 2)
	require.Contains(t, s.workers[0].output.String(), "no space left on device", "the first worker has had nothing to do")
	s.workers[0].kill(t)
	s.waitForAll(ctx, t, sent)
	s.front.stop(t)
	s.stop(ctx, t)

	found := check(t, s.workers[1], sent)
	require.Equal(t, requests/5*perRequest, found, "repeats, of which all attempts came out here")
}

// acknowledged is what was sent and acknowledged, by span id.
type acknowledged map[string]sentSpan

// send sends requests to the front, each exchange as a span and as a log record.
func (s *setUp) send(t *testing.T, work []request) acknowledged {
	t.Helper()
	sent := acknowledged{}
	for _, r := range work {
		time.Sleep(betweenThem)
		exchanges := r.exchanges()
		post(t, s.otlp, "traces", spans(exchanges))
		post(t, s.otlp, "logs", records(exchanges))
		for i, e := range exchanges {
			sent[e.span] = r[i].sentSpan
		}
	}
	return sent
}

// waitForAll waits until all that was acknowledged came out.
func (s *setUp) waitForAll(ctx context.Context, t *testing.T, sent acknowledged) {
	t.Helper()
	missing := func() (spans, records int) {
		one, two := read(t, s.workers[0].file), read(t, s.workers[1].file)
		return sent.without(one.spans, two.spans), sent.without(one.records, two.records)
	}
	spans, records := missing()
	t.Logf("acknowledged: %d spans and as many log records; not yet out when all is sent: %d and %d", len(sent), spans, records)
	wait(ctx, t, "something that was acknowledged did not come out", func() bool {
		spans, records = missing()
		return spans+records == 0
	})
}

// without counts what was sent and did not come out.
func (a acknowledged) without(outputs ...[]item) (missing int) {
	out := map[string]bool{}
	for _, items := range outputs {
		for _, i := range items {
			out[i.SpanID] = true
		}
	}
	for id := range a {
		if !out[id] {
			missing++
		}
	}
	return missing
}

// check asserts that what a worker wrote has the right verdicts, and returns how
// many repeats were found to be some.
func check(t *testing.T, w *worker, sent acknowledged) (found int) {
	t.Helper()
	out := read(t, w.file)
	for _, items := range [...][]item{out.spans, out.records} {
		for _, i := range items {
			is, ok := sent[i.SpanID]
			require.True(t, ok, "%s was never sent", i.SpanID)
			require.Equal(t, outcome[is.kind], i.attribute("mcp.outcome"), i.SpanID)
		}
	}
	here := map[string]bool{}
	for _, span := range out.spans {
		here[span.SpanID] = true
	}
	alone := 0
	for _, span := range out.spans {
		is := sent[span.SpanID]
		switch isRepeat := is.kind == resent || is.kind == repeated; {
		case isRepeat && !here[is.first]:
			// The other worker had the first attempt. Nothing is claimed.
			alone++
			require.Equal(t, "none", span.attribute("mcp.retry_origin"), "span %s", span.SpanID)
		case isRepeat:
			found++
			require.Equal(t, origin[is.kind], span.attribute("mcp.retry_origin"), "span %s", span.SpanID)
			require.Len(t, span.Links, 1, "span %s", span.SpanID)
			require.Equal(t, is.first, span.Links[0].SpanID, "span %s", span.SpanID)
		default:
			require.Equal(t, origin[is.kind], span.attribute("mcp.retry_origin"), "span %s", span.SpanID)
		}
	}
	t.Logf("%s: %d spans (%d of them again) and %d log records; %d repeats found, %d without their first attempt",
		w.name, len(out.spans), len(out.spans)-len(here), len(out.records), found, alone)
	return found
}

// planned is an exchange of a request to the front.
type planned struct {
	exchange
	sentSpan
}

type request []planned

func (r request) exchanges() (all []exchange) {
	now := time.Now()
	for _, p := range r {
		// All in one request happened one after the other.
		p.start = now
		now = now.Add(20 * time.Millisecond)
		all = append(all, p.exchange)
	}
	return all
}

// plan says what is sent. Each trace has a call that fails, its repeat, and a
// call of another tool. Every second trace is in one request, and the other ones
// wait for their repeat.
func plan(requests int) []request {
	work := make([]request, requests+openFor)
	for n := range requests * perRequest {
		trace, at := fmt.Sprintf("%032x", n+1), n/perRequest
		span := func(i int) string { return fmt.Sprintf("%015x%d", n+1, i) }
		again, id := resent, 1
		if n%4 >= 2 {
			again, id = repeated, 3
		}
		attempt := planned{
			exchange{trace: trace, span: span(1), request: call(1, "store", n), status: 503},
			sentSpan{kind: first},
		}
		another := planned{
			exchange{trace: trace, span: span(2), request: call(2, "look", n), status: 200, response: fmt.Sprintf(answer, 2)},
			sentSpan{kind: other},
		}
		repeat := planned{
			exchange{trace: trace, span: span(3), request: call(id, "store", n), status: 200, response: fmt.Sprintf(answer, id)},
			sentSpan{kind: again, first: attempt.span},
		}
		work[at] = append(work[at], attempt, another)
		if n%2 == 1 {
			at += openFor
		}
		work[at] = append(work[at], repeat)
	}
	return work
}

// setUp is what runs.
type setUp struct {
	broker, front *process
	otlp          string // the address of the front
	workers       [2]*worker
}

type worker struct {
	*process
	file string
}

// built returns the path of the collector.
func built(t *testing.T) string {
	t.Helper()
	binary := os.Getenv("MCP_SCALE_OUT_COLLECTOR")
	named := binary != ""
	if !named {
		binary = filepath.Join("..", "build", "otelcol-mcp-scale-out")
	}
	binary, err := filepath.Abs(binary)
	require.NoError(t, err)
	if _, err := os.Stat(binary); err != nil {
		if named {
			t.Fatalf("There is no collector to test: %v", err)
		}
		t.Skipf("There is no collector to test: %v. Build it with `make build-scale-out`.", err)
	}
	return binary
}

// startAll starts the broker, the front and the workers, the first of them with
// these arguments, and waits until both workers have partitions of both topics.
// Nothing of it outlives the context that it returns.
func startAll(t *testing.T, arguments ...string) (context.Context, *setUp) {
	t.Helper()
	collector, folder := built(t), t.TempDir()
	broker := filepath.Join(folder, "broker")
	build, err := exec.CommandContext(t.Context(), "go", "build", "-o", broker, "../broker").CombinedOutput()
	require.NoError(t, err, "%s", build)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)

	var config [2]string
	for i, name := range [...]string{"front.yaml", "worker.yaml"} {
		path, err := filepath.Abs(filepath.Join("..", name))
		require.NoError(t, err)
		config[i] = path
	}
	free := ports(t, 8)
	port := func(i int) string {
		_, port, err := net.SplitHostPort(free[i])
		require.NoError(t, err)
		return port
	}

	s := &setUp{otlp: free[0]}
	s.broker = start(ctx, t, "broker", folder, nil, broker, "-port", "0", "-partitions", fmt.Sprint(partitions))
	var kafka string
	wait(ctx, t, "the broker is not up", func() bool {
		s.broker.running(t)
		line, _, whole := strings.Cut(s.broker.output.String(), ",")
		kafka = strings.TrimPrefix(line, "broker ")
		return whole
	})
	s.front = start(ctx, t, "front", folder, []string{
		"KAFKA=" + kafka, "OTLP_HTTP=" + free[0], "OTLP_GRPC=" + free[1], "HEALTH=" + free[2], "METRICS_PORT=" + port(3),
	}, collector, "--config", config[0])
	for i := range s.workers {
		number, health := fmt.Sprint(i+1), free[4+i]
		s.workers[i] = &worker{
			process: start(ctx, t, "worker-"+number, folder, []string{
				"KAFKA=" + kafka, "WORKER=" + number, "HEALTH=" + health, "METRICS_PORT=" + port(6+i),
			}, collector, append(arguments, "--config", config[1])...),
			file: filepath.Join(folder, "out-worker-"+number+".jsonl"),
		}
		s.workers[i].healthy(ctx, t, health)
		arguments = nil
	}
	s.front.healthy(ctx, t, free[2])
	s.waitForOwners(ctx, t, len(s.workers))
	return ctx, s
}

// stop asserts that the second worker has taken over, and ends all that runs.
func (s *setUp) stop(ctx context.Context, t *testing.T) {
	t.Helper()
	s.waitForOwners(ctx, t, 1)
	s.workers[1].stop(t)
	s.broker.stop(t)
}

var owned = regexp.MustCompile(`(worker-\d):\[([\d ]+)\]`)

// waitForOwners waits until so many workers have all partitions between them.
func (s *setUp) waitForOwners(ctx context.Context, t *testing.T, workers int) {
	t.Helper()
	wait(ctx, t, fmt.Sprintf("the partitions are not with %d workers", workers), func() bool {
		now := map[string]string{} // by group
		for line := range strings.Lines(s.broker.output.String()) {
			group, owners, _ := strings.Cut(line, " ")
			now[group] = owners
		}
		for _, group := range [...]string{"mcp-traces", "mcp-logs"} {
			sum := 0
			members := owned.FindAllStringSubmatch(now[group], -1)
			for _, m := range members {
				sum += len(strings.Fields(m[2]))
			}
			if len(members) != workers || sum != partitions {
				return false
			}
		}
		return true
	})
}

// common returns the traces that are in both.
func common(one, two []item) (traces []string) {
	in := map[string]bool{}
	for _, i := range one {
		in[i.TraceID] = true
	}
	for _, i := range two {
		if in[i.TraceID] {
			traces = append(traces, i.TraceID)
		}
	}
	return traces
}

// TestVersions: what both collectors consist of has the same version in both.
func TestVersions(t *testing.T) {
	component := regexp.MustCompile(`(?m)^ *- gomod: (\S+) (\S+)$`)
	read := func(path ...string) map[string]string {
		data, err := os.ReadFile(filepath.Join(path...))
		require.NoError(t, err)
		versions := map[string]string{}
		for _, m := range component.FindAllStringSubmatch(string(data), -1) {
			versions[m[1]] = m[2]
		}
		require.NotEmpty(t, versions)
		return versions
	}
	main := read("..", "..", "..", "builder-config.yaml")
	for module, version := range read("..", "builder-config.yaml") {
		if expected, isInBoth := main[module]; isInBoth {
			require.Equal(t, expected, version, module)
		}
	}
}
