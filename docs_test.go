package mcpprocessor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// TestAttributesAreDocumented holds docs/attributes.md against the code: each
// attribute, each outcome with its layer and class, and each reason is in it, in
// backticks.
func TestAttributesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "attributes.md"))
	require.NoError(t, err)
	page := string(text)
	requireNamed := func(what, name string) {
		if !strings.Contains(page, "`"+name+"`") { // without printing the page
			t.Errorf("%s %s is not documented", what, name)
		}
	}
	for _, name := range attributeNames() {
		requireNamed("attribute", name)
	}
	rows := strings.Split(page, "\n")
	for o := verdict.NoOutcome + 1; o < verdict.OutcomeCount; o++ {
		requireNamed("outcome", o.String())
		words := []string{"`" + o.String() + "`", o.Layer().String(), o.Class().String()}
		if o == verdict.HTTPError {
			words = append(words, verdict.Pending.String())
		}
		assert.True(t, slices.ContainsFunc(rows, func(row string) bool {
			for _, word := range words {
				if !strings.Contains(row, word) {
					return false
				}
			}
			return true
		}), "no line of docs/attributes.md has all of %q", words)
	}
	for r := verdict.NoReason + 1; r < verdict.ReasonCount; r++ {
		requireNamed("reason", r.String())
	}
}
