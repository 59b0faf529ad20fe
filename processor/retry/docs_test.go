package retry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestValuesAreDocumented holds docs/retries.md against the constants: each value
// of each attribute is in it, in backticks, and each kind of evidence has a row.
func TestValuesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "retries.md"))
	require.NoError(t, err)
	page := string(text)
	named := func(name string) bool { return name == "" || strings.Contains(page, "`"+name+"`") }
	for o := NoOrigin; o <= UnknownOrigin; o++ {
		assert.True(t, named(o.String()), "origin %s", o)
	}
	for e := Explicit; e < EvidenceCount; e++ {
		assert.Contains(t, page, "\n| `"+e.String()+"` | ", "evidence %s", e)
	}
	for c := NoConfidence; c <= Inferred; c++ {
		assert.True(t, named(c.String()), "confidence %s", c)
	}
	for c := NoContinuation; c <= OfStream; c++ {
		assert.True(t, named(c.String()), "continuation %s", c)
	}
	for l := NoLink; l <= Resumes; l++ {
		assert.True(t, named(l.String()), "link %s", l)
	}
	for s := NoSafety; s <= UnknownSafety; s++ {
		assert.True(t, named(s.String()), "safety %s", s)
	}
	for i := range counters {
		assert.True(t, named(counters[i].name), "header %s", counters[i].name)
	}
}
