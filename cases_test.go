package mcpprocessor

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// notYet are the cases of testdata/not_yet.json, which do not come out right yet:
// what is wrong and what they wait for. One that passes has to be taken out.
type notYet map[string]struct{ Wrong, Reason string }

func loadNotYet(t *testing.T) (known notYet) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "not_yet.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &known))
	return known
}

func TestCases(t *testing.T) {
	in := start(t, "")
	waiting := loadNotYet(t)
	for _, c := range loadCases(t) {
		known, waits := waiting[c.ID]
		delete(waiting, c.ID)
		t.Run(c.ID, func(t *testing.T) {
			var items []pcommon.Map
			if c.isLog() {
				for _, record := range records(in.processLogs(c.makeLogs(t))) {
					items = append(items, record.Attributes())
				}
			} else {
				for _, span := range spans(in.processTraces(c.makeTraces(t))) {
					items = append(items, span.Attributes())
				}
			}
			wrong := map[string]string{}
			for i, want := range c.expectations() {
				for what, problem := range want.problems(items[i]) {
					wrong[what] += fmt.Sprintf("record %d: %s. ", i, problem)
				}
			}
			if waits {
				require.Equal(t, known.Wrong, strings.Join(slices.Sorted(maps.Keys(wrong)), " "),
					"other than what testdata/not_yet.json says (%s): %v", known.Reason, wrong)
				return
			}
			require.Empty(t, wrong)
		})
	}
	require.Empty(t, waiting, "testdata/not_yet.json names what is no case")
	in.requireQuiet(warnsOfAbsentBodies)
}

// problems says what is wrong with the attributes a of a record, by what it is
// about.
func (want *expectation) problems(a pcommon.Map) map[string]string {
	wrong := map[string]string{}
	compare := func(what, expected string, got any) {
		if text := textOf(got); text != expected {
			wrong[what] = fmt.Sprintf("want %q, got %q", expected, text)
		}
	}
	got := outcomeOf(a)
	if want.Outcome == nil {
		// Not MCP, or one side of which no outcome is due.
		compare("outcome", "", attr(a, "mcp.outcome"))
		return wrong
	}
	compare("outcome", *want.Outcome, got)
	layer := ""
	if want.Layer != nil {
		layer = *want.Layer
	}
	compare("layer", layer, attr(a, "mcp.layer"))
	if class := textOf(attr(a, "mcp.outcome_class")); got == *want.Outcome && !slices.Contains(classesOf(got), class) {
		wrong["class"] = fmt.Sprintf("want %q, got %q", classesOf(got), class)
	}
	code := ""
	if want.Code != nil {
		code = fmt.Sprint(*want.Code)
	}
	compare("code", code, attr(a, "jsonrpc.error.code"))
	if want.Tool != "" {
		compare("tool", want.Tool, attr(a, "gen_ai.tool.name"))
	}
	if want.Method != "" {
		compare("method", want.Method, attr(a, "mcp.method.name"))
	}
	retry := textOf(attr(a, "mcp.retry_origin"))
	switch {
	case want.Retry == nil, slices.Equal(want.Retry, oneOrAll{"none"}) && (retry == "" || retry == "none"):
	case !slices.Contains(want.Retry, retry):
		wrong["retry"] = fmt.Sprintf("want %q, got %q", want.Retry, retry)
	}
	return wrong
}

// textOf returns what an attribute holds as text, "" if there is none.
func textOf(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// classesOf are the classes that an outcome may have. They stand here a second
// time on purpose: what users count by must not change unnoticed.
func classesOf(outcome string) []string {
	switch outcome {
	case "HTTP_ERROR":
		return []string{"failure", "pending"}
	case "MALFORMED_JSON", "INVALID_ENVELOPE", "JSONRPC_ERROR", "INVALID_TOOL_RESULT", "INVALID_RESULT", "TOOL_ERROR", "NO_RESPONSE", "STREAM_INCOMPLETE":
		return []string{"failure"}
	case "INPUT_REQUIRED", "TASK_CREATED", "STREAM_DEFERRED":
		return []string{"pending"}
	case "CANCELLED":
		return []string{"neutral"}
	case "UNDETERMINED":
		return []string{"unknown"}
	default:
		return []string{"success"}
	}
}
