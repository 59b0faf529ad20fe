package retry

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// sequence is what was seen, in the order in which it came, and what one of it
// is to be found to be. What "all" says holds for each that does not say
// otherwise.
type sequence struct {
	Name string
	All  json.RawMessage
	Seen []json.RawMessage

	Judge                              int
	Origin, Evidence, Confidence, Link string
	Continuation, Safety               string
	Attempt                            int
	// Links is the number of the predecessor that is to be linked, -1: none is.
	Links               *int
	Sees                bool
	Recovered, Wasted   bool
	WriteTools, ReadAll []string
}

// seen is one exchange of a sequence. Times are in seconds.
type seen struct {
	At, Side                 string
	Gateway, Modern          bool
	Trace, Span, Parent      string
	From, To                 float64
	Method                   string
	Resumes                  bool
	ID                       json.RawMessage
	Body, Call               string
	NoArguments              bool `json:"no_arguments"`
	Target, Session, Version string
	TraceParent              string
	ToolCall                 string `json:"tool_call"`
	Conversation, Key        string
	State                    string
	Answers                  []string
	Task                     string
	Says                     string
	Header                   []string
	ResendCount              int `json:"resend_count"`
	Ended                    string
	AsksState                string `json:"asks_state"`
	Asks                     []string
	MakesTask                string `json:"makes_task"`
}

// epoch is where the seconds of sequences begin.
const epoch = int64(1_790_000_000_000_000_000)

func nanos(seconds float64) int64 { return epoch + int64(seconds*1e6)*1000 }

func id8(s string) (id [8]byte) {
	if s != "" {
		binary.BigEndian.PutUint64(id[:], stableHash(s))
	}
	return id
}

func id16(s string) (id [16]byte) {
	if s != "" {
		binary.BigEndian.PutUint64(id[:8], stableHash(s))
		binary.BigEndian.PutUint64(id[8:], stableHash(s+"'"))
	}
	return id
}

func stableHash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// endings are the words for how an exchange ended.
var endings = map[string]Result{
	"success":         {Outcome: verdict.ToolSuccess, Class: verdict.Success, Status: 200},
	"tool_error":      {Outcome: verdict.ToolError, Class: verdict.Failure, Status: 200},
	"broken":          {Outcome: verdict.StreamIncomplete, Class: verdict.Failure, Status: 200},
	"deferred":        {Outcome: verdict.StreamDeferred, Class: verdict.Pending, Status: 202},
	"polled":          {Outcome: verdict.StreamDeferred, Class: verdict.Pending, Status: 200},
	"open":            {Outcome: verdict.StreamOpen, Class: verdict.Success, Status: 200},
	"no_answer":       {Outcome: verdict.NoResponse, Class: verdict.Failure},
	"refused":         {Outcome: verdict.NoResponse, Class: verdict.Failure, NotSent: true},
	"timeout":         {Outcome: verdict.NoResponse, Class: verdict.Failure, Reason: verdict.Timeout},
	"gave_up":         {Outcome: verdict.Cancelled, Class: verdict.Neutral, Reason: verdict.Aborted},
	"gave_up_timeout": {Outcome: verdict.Cancelled, Class: verdict.Neutral, Reason: verdict.Aborted, TimedOut: true},
	"input_required":  {Outcome: verdict.InputRequired, Class: verdict.Pending, Status: 200},
	"task":            {Outcome: verdict.TaskCreated, Class: verdict.Pending, Status: 200},
	"task_working":    {Outcome: verdict.RPCSuccess, Class: verdict.Success, Reason: verdict.TaskWorking, Status: 200},
	"not_json":        {Outcome: verdict.MalformedJSON, Class: verdict.Failure, Reason: verdict.NotJSON, Status: 200},
	"undetermined":    {Outcome: verdict.Undetermined, Class: verdict.Unknown, Reason: verdict.BodyAbsent, Status: 200},
	"-32042":          {Outcome: verdict.InputRequired, Class: verdict.Pending, Code: -32042, HasCode: true, Status: 200},
}

func result(t testing.TB, ended string) Result {
	t.Helper()
	if ended == "" {
		return Result{}
	}
	if r, ok := endings[ended]; ok {
		return r
	}
	word, challenge, _ := strings.Cut(ended, " ")
	n, err := strconv.Atoi(word)
	require.NoError(t, err, "no such ending: %s", ended)
	if n < 0 {
		return Result{Outcome: verdict.JSONRPCError, Class: verdict.Failure, Code: int64(n), HasCode: true, Status: 200}
	}
	r := Result{Outcome: verdict.HTTPError, Class: verdict.Failure, Status: n}
	if n < 400 || challenge != "" {
		r.Class = verdict.Pending
	}
	return r
}

// attempt makes what the processor would give of s.
func (s *seen) attempt(t testing.TB, tr *Tracker) *Attempt {
	t.Helper()
	kind := 3
	a := &Attempt{
		Intermediary: s.Gateway, Modern: s.Modern,
		TraceID: id16(s.Trace), SpanID: id8(s.Span), ParentID: id8(s.Parent),
		Start:  nanos(s.From),
		Target: tr.Target(s.Target), Session: tr.Digest(s.Session), Version: tr.Digest(s.Version),
		TraceParent: tr.Digest(s.TraceParent), ToolCall: tr.Digest(s.ToolCall),
		Conversation: tr.Digest(s.Conversation), IdempotencyKey: tr.Digest(s.Key),
		Continues: s.State != "" || s.Answers != nil, RequestState: tr.Digest(s.State), InputKeys: keys(tr, s.Answers),
		TaskID: tr.Digest(s.Task), Asserted: Asserted(s.Says), ResendCount: s.ResendCount,
		NoArguments: s.NoArguments, HTTPMethod: "POST",
	}
	if s.Side == "server" {
		a.Side, kind = verdict.Server, 2
	}
	a.Vantage = tr.Vantage(tr.Digest(s.At), kind, "scope")
	if s.ID != nil {
		id := jsonrpc.NumberID(string(s.ID))
		if s.ID[0] == '"' {
			id = jsonrpc.StringID(strings.Trim(string(s.ID), `"`))
		}
		a.ID, a.RandomID = tr.ID(id)
		require.NotZero(t, a.ID)
	}
	if s.Resumes {
		a.HTTPMethod, a.LastEventID = "GET", true
	} else {
		a.Method = verdict.ToolsCall
		if s.Method != "" {
			a.Method = verdict.MethodNamed(s.Method)
			require.NotEqual(t, verdict.OtherMethod, a.Method)
		}
		if s.Body != "" && s.Call != "" {
			a.Whole, a.Body = true, tr.Digest(s.Body)
			tool, arguments, _ := strings.Cut(s.Call, "/")
			a.Tool = tool
			a.Operation = tr.Operation(a.Method, tool, id16(arguments))
		}
	}
	if len(s.Header) == 2 {
		switch who, n := ParseResends(s.Header[0], s.Header[1]); who {
		case GatewaySender:
			a.GatewayResends = n
		case ClientSender:
			a.ClientResends = n
		default:
			t.Fatalf("no such header: %v", s.Header)
		}
	}
	if s.Ended == "" {
		a.Open = true
		return a
	}
	a.Result = result(t, s.Ended)
	a.Result.End = nanos(s.To)
	a.Result.RequestState, a.Result.InputKeys, a.Result.TaskID = tr.Digest(s.AsksState), keys(tr, s.Asks), tr.Digest(s.MakesTask)
	return a
}

func keys(tr *Tracker, names []string) (set Digest) {
	for _, name := range names {
		set = tr.Keys(set, name)
	}
	return set
}

// still is a clock that stands, so that nothing is forgotten for its age.
func still() time.Duration { return time.Second }

func newTracker() *Tracker {
	tr := New(Config{Window: 2 * time.Minute, MaxTracked: 100_000})
	tr.clock = still
	return tr
}

// attempts makes the attempts of all that is seen in s.
func (s *sequence) attempts(t testing.TB, tr *Tracker) []*Attempt {
	t.Helper()
	var list []*Attempt
	for _, raw := range s.Seen {
		var one seen
		if s.All != nil {
			require.NoError(t, json.Unmarshal(s.All, &one))
		}
		require.NoError(t, json.Unmarshal(raw, &one))
		list = append(list, one.attempt(t, tr))
	}
	return list
}

// sequences are those of both files: the worked ones, and those that were
// rebuilt from recorded traffic.
func sequences(t testing.TB) (list []sequence) {
	t.Helper()
	for _, file := range []string{"sequences.json", "traffic.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		require.NoError(t, err)
		var part []sequence
		require.NoError(t, json.Unmarshal(text, &part))
		list = append(list, part...)
	}
	return list
}

func TestSequences(t *testing.T) {
	for _, s := range sequences(t) {
		t.Run(s.Name, func(t *testing.T) {
			tr := newTracker()
			list := s.attempts(t, tr)
			var findings []Finding
			for _, a := range list {
				findings = append(findings, tr.Observe(a))
			}
			f := findings[s.Judge]
			assert.Equal(t, s.Origin, f.Origin.String(), "origin")
			assert.Equal(t, s.Evidence, f.Evidence.String(), "evidence")
			assert.Equal(t, s.Continuation, f.Continuation.String(), "continuation")
			if s.Confidence != "" {
				assert.Equal(t, s.Confidence, f.Confidence.String(), "confidence")
			}
			if s.Safety != "" {
				assert.Equal(t, s.Safety, f.Safety.String(), "safety")
			}
			if s.Attempt != 0 {
				assert.Equal(t, s.Attempt, f.Attempt, "attempt")
			}
			if s.Link != "" {
				assert.Equal(t, s.Link, f.Link.String(), "link")
			}
			if s.Sees {
				assert.True(t, f.Seen, "a predecessor was seen")
			}
			assert.True(t, f.Recovered || !s.Recovered, "recovered")
			assert.True(t, f.Wasted || !s.Wasted, "wasted")
			if s.Links != nil {
				linksTo(t, f, list, *s.Links)
			}
			checkShape(t, f)
			for i := range findings {
				if i != s.Judge {
					checkShape(t, findings[i])
				}
			}
			// Delivered again, it is what it was.
			for i, a := range list {
				again := tr.Observe(a)
				want := findings[i]
				if a.Whole && a.ID != 0 && a.Method.IsCall() && (want.Evidence != NoPredecessor || again.Duplicate) {
					assert.True(t, again.Duplicate, "delivered again: %d", i)
					want.Duplicate, want.LatePredecessor, want.Ref = true, false, Ref{}
					assert.Equal(t, want, again, "delivered again: %d", i)
				}
			}
		})
	}
}

func linksTo(t *testing.T, f Finding, list []*Attempt, number int) {
	t.Helper()
	if number < 0 {
		assert.Equal(t, NoLink, f.Link, "link")
		assert.Zero(t, f.PreviousSpanID)
		return
	}
	assert.NotEqual(t, NoLink, f.Link, "link")
	assert.Equal(t, list[number].TraceID, f.PreviousTraceID)
	assert.Equal(t, list[number].SpanID, f.PreviousSpanID)
}

// checkShape holds what is true of every finding.
func checkShape(t *testing.T, f Finding) {
	t.Helper()
	if f.Origin == NoOrigin {
		assert.Less(t, f.Evidence, Explicit)
		assert.Equal(t, NoConfidence, f.Confidence)
		assert.Equal(t, NoSafety, f.Safety)
		assert.Zero(t, f.Attempt)
		assert.NotEqual(t, RetryOf, f.Link)
		assert.False(t, f.Recovered || f.Wasted)
	} else {
		assert.GreaterOrEqual(t, f.Evidence, Explicit)
		assert.NotEqual(t, NoConfidence, f.Confidence)
		assert.NotEqual(t, NoSafety, f.Safety)
		assert.Positive(t, f.Attempt)
		assert.True(t, f.Seen || f.Confidence == StatedBySender, "rests on what was seen or stated")
		assert.NotEqual(t, UnsafeSuspected, f.Safety, "no tool is named as a write")
	}
	assert.Equal(t, f.Link != NoLink, f.PreviousSpanID != [8]byte{}, "link %v", f.Link)
	assert.True(t, f.Seen || f.Link == NoLink)
}

func TestNamesAreAClosedList(t *testing.T) {
	names := map[string]bool{}
	for e := range EvidenceCount {
		name := e.String()
		assert.Regexp(t, "^[a-z0-9_]+$", name)
		assert.False(t, names[name], "twice: %s", name)
		names[name] = true
	}
	for o := NoOrigin; o <= UnknownOrigin; o++ {
		if o != NoOrigin {
			assert.Equal(t, o, Asserted(o.String()))
		}
	}
	assert.Equal(t, NoOrigin, Asserted(""))
	assert.Equal(t, NoOrigin, Asserted("none"))
	assert.Equal(t, UnknownOrigin, Asserted("SDK"))
	assert.Equal(t, "asserted observed inferred", fmt.Sprint(StatedBySender, " ", Observed, " ", Inferred))
	assert.Equal(t, "input_response task stream_resume", fmt.Sprint(WithInput, " ", OfTask, " ", OfStream))
	assert.Equal(t, "retry_of continues resumes", fmt.Sprint(RetryOf, " ", Continues, " ", Resumes))
	assert.Equal(t, "not_executed read_only keyed unsafe_suspected unknown",
		fmt.Sprint(NotExecuted, " ", ReadOnly, " ", Keyed, " ", UnsafeSuspected, " ", UnknownSafety))
}
