package retry

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

func TestSafety(t *testing.T) {
	for _, row := range []struct {
		ended, tool string
		keys        [2]string
		want        Safety
	}{
		// What a write may have done, and what it cannot have.
		{"503", "pay", [2]string{}, UnsafeSuspected},
		{"timeout", "pay", [2]string{}, UnsafeSuspected},
		{"no_answer", "pay", [2]string{}, UnsafeSuspected},
		{"broken", "pay", [2]string{}, UnsafeSuspected},
		{"gave_up_timeout", "pay", [2]string{}, UnsafeSuspected},
		{"not_json", "pay", [2]string{}, UnsafeSuspected},
		{"-32603", "pay", [2]string{}, UnsafeSuspected},
		{"tool_error", "pay", [2]string{}, UnsafeSuspected},
		{"408", "pay", [2]string{}, UnsafeSuspected},
		{"input_required", "pay", [2]string{}, UnsafeSuspected},
		{"task", "pay", [2]string{}, UnsafeSuspected},
		{"429", "pay", [2]string{}, UnknownSafety},
		{"400", "pay", [2]string{}, UnknownSafety},
		{"-32602", "pay", [2]string{}, UnknownSafety},
		{"refused", "pay", [2]string{}, NotExecuted},
		{"401", "pay", [2]string{}, NotExecuted},
		{"403", "pay", [2]string{}, NotExecuted},
		{"404", "pay", [2]string{}, NotExecuted},
		{"405", "pay", [2]string{}, NotExecuted},
		{"413", "pay", [2]string{}, NotExecuted},
		{"415", "pay", [2]string{}, NotExecuted},
		{"-32600", "pay", [2]string{}, NotExecuted},
		{"-32601", "pay", [2]string{}, NotExecuted},
		{"-32700", "pay", [2]string{}, NotExecuted},
		{"-32022", "pay", [2]string{}, NotExecuted},

		{"503", "pay", [2]string{"K", "K"}, Keyed},
		{"503", "pay", [2]string{"K", "L"}, UnsafeSuspected},
		{"503", "pay", [2]string{"", "K"}, UnsafeSuspected},
		{"503", "look_up", [2]string{}, ReadOnly},
		{"503", "look_into_and_delete", [2]string{}, UnsafeSuspected}, // in both lists
		{"503", "other", [2]string{}, UnknownSafety},                  // in none
		{"tool_error", "other", [2]string{}, UnknownSafety},
		{"503", "other", [2]string{"K", "K"}, Keyed},
	} {
		t.Run(fmt.Sprint(row.ended, " ", row.tool, " ", row.keys), func(t *testing.T) {
			tr := New(Config{Window: time.Minute, MaxTracked: 10, ReadOnlyTools: []string{"look_*"}, WriteTools: []string{"p?y", "*delete"}})
			first := seen{At: "agent", Trace: "t", Parent: "p", Span: "a", To: 1, ID: []byte("1"), Body: "B1", Call: row.tool + "/x", Key: row.keys[0], Ended: row.ended}
			second := seen{At: "agent", Trace: "t", Parent: "p", Span: "b", From: 2, To: 3, ID: []byte("2"), Body: "B2", Call: row.tool + "/x", Key: row.keys[1], Ended: "success"}
			tr.Observe(first.attempt(t, tr))
			f := tr.Observe(second.attempt(t, tr))
			assert.NotEqual(t, NoOrigin, f.Origin)
			assert.Equal(t, row.want.String(), f.Safety.String())
		})
	}
}

func TestSafetyWithoutAPredecessor(t *testing.T) {
	tr := New(Config{Window: time.Minute, MaxTracked: 10, ReadOnlyTools: []string{"look_*"}, WriteTools: []string{"pay"}})
	for call, want := range map[string]Safety{"pay/x": UnknownSafety, "look_up/x": ReadOnly} {
		s := seen{At: "agent", Trace: "t", Span: call, ID: []byte("1"), Body: "B", Call: call, Key: "K", Header: []string{"x-envoy-attempt-count", "2"}, Ended: "success"}
		assert.Equal(t, want, tr.Observe(s.attempt(t, tr)).Safety)
	}
}

func TestMethodsThatOnlyReadAreReadOnly(t *testing.T) {
	for _, method := range []string{"resources/read", "prompts/get", "completion/complete"} {
		tr := New(Config{Window: time.Minute, MaxTracked: 10, WriteTools: []string{"*"}})
		s := seen{At: "agent", Trace: "t", Span: "a", To: 1, Method: method, ID: []byte("1"), Body: "B1", Call: "x/x", Ended: "503"}
		tr.Observe(s.attempt(t, tr))
		s.Span, s.From, s.To, s.ID, s.Body, s.Ended = "b", 2, 3, []byte("2"), "B2", "success"
		assert.Equal(t, ReadOnly, tr.Observe(s.attempt(t, tr)).Safety, method)
	}
}

func TestAnUnansweredWriteSentAgainIsSuspected(t *testing.T) {
	tr := New(Config{Window: time.Minute, MaxTracked: 10, WriteTools: []string{"pay"}, Intermediaries: []string{"gw"}})
	assert.True(t, tr.IsIntermediary("gw"))
	assert.False(t, tr.IsIntermediary(""))
	first := seen{At: "gw", Gateway: true, Trace: "t", Parent: "p", Span: "a", To: 9, ID: []byte("1"), Body: "B", Call: "pay/x", Ended: "success"}
	hedge := seen{At: "gw", Gateway: true, Trace: "t", Parent: "p", Span: "b", From: 1, To: 2, ID: []byte("1"), Body: "B", Call: "pay/x", Ended: "success"}
	tr.Observe(first.attempt(t, tr))
	f := tr.Observe(hedge.attempt(t, tr))
	assert.Equal(t, Gateway, f.Origin)
	assert.Equal(t, UnsafeSuspected, f.Safety)
	assert.Equal(t, verdict.NoClass, f.PreviousClass, "it was under way")
}

func TestPatterns(t *testing.T) {
	for _, row := range []struct {
		pattern, name string
		want          bool
	}{
		{"pay", "pay", true},
		{"pay", "Pay", false},
		{"pay", "payment", false},
		{"pay*", "pay", true},
		{"*", "anything/at:all", true},
		{"*", "", false}, // an unknown tool is in no list
		{"*_delete", "db_delete", true},
		{"*_delete", "db_delete_all", false},
		{"a*b*c", "a-bb-b-c", true},
		{"a*b*c", "a-b-d", false},
		{"p?y", "pay", true},
		{"p?y", "py", false},
		{"[ab]", "[ab]", true},
		{"[ab]", "a", false},
		{"github/*", "github/create/issue", true},
		{"", "x", false},
		{"***x", "yx", true},
		{"*aaaaaaaaab", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
	} {
		assert.Equal(t, row.want, anyMatch([]string{row.pattern}, row.name), "%s %s", row.pattern, row.name)
	}
	assert.False(t, anyMatch(nil, "x"))
}

func TestExecutedStatusOfAnUnknownStatus(t *testing.T) {
	assert.Equal(t, ranMaybe, executed(&Result{Outcome: verdict.HTTPError}))
	assert.Equal(t, ranNot, executed(&Result{Outcome: verdict.HTTPError, Status: 307}))
	assert.Equal(t, ranHardly, executed(&Result{Outcome: verdict.HTTPError, Status: 418}))
	assert.Equal(t, ranMaybe, executed(&Result{Outcome: verdict.HTTPError, Status: 499}))
}
