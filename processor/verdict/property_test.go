package verdict

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rewriter writes JSON values another way that means the same.
type rewriter struct{ rand *rand.Rand }

func (r rewriter) space() string { return strings.Repeat(" ", r.rand.IntN(3)) }

func (r rewriter) text(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		if c < 0x80 && r.rand.IntN(4) == 0 || c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (r rewriter) value(v any) string {
	switch v := v.(type) {
	case map[string]any:
		members := make([]string, 0, len(v))
		for name, value := range v {
			members = append(members, r.space()+r.text(name)+r.space()+":"+r.space()+r.value(value)+r.space())
		}
		r.rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + r.space() + strings.Join(members, ",") + "}"
	case []any:
		elements := make([]string, len(v))
		for i, value := range v {
			elements[i] = r.space() + r.value(value) + r.space()
		}
		return "[" + r.space() + strings.Join(elements, ",") + "]"
	case string:
		return r.text(v)
	case json.Number:
		return v.String()
	default:
		return fmt.Sprint(map[any]string{nil: "null", true: "true", false: "false"}[v])
	}
}

// document rewrites one JSON document. It leaves alone what is none, and what
// has a member twice, since that cannot be put in another order.
func (r rewriter) document(text string) (string, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || strings.TrimSpace(text[d.InputOffset():]) != "" {
		return text, false
	}
	again, err := json.Marshal(v)
	if err != nil || len(again) < len(strings.Join(strings.Fields(text), ""))-12 {
		return text, false
	}
	return r.value(v), true
}

// stream rewrites an event stream: other line ends, comments, and the data of
// an event in several lines.
func (r rewriter) stream(text string) string {
	end := []string{"\n", "\r\n", "\r"}[r.rand.IntN(3)]
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		data, isData := strings.CutPrefix(line, "data: ")
		if rewritten, ok := r.document(data); isData && ok {
			if r.rand.IntN(3) == 0 {
				b.WriteString(": ping" + end)
			}
			// Between tokens, white space may be a line end.
			for part := range strings.SplitSeq(strings.ReplaceAll(rewritten, "{ ", "{\n"), "\n") {
				b.WriteString("data: " + part + end)
			}
			continue
		}
		b.WriteString(line + end)
	}
	return b.String()
}

// White space, the order of members, escapes and the form of a stream never
// change a verdict.
func TestFormDoesNotMatter(t *testing.T) {
	r := rewriter{rand.New(rand.NewPCG(1, 2))}
	j := NewJudge(Settings{})
	rewritten := 0
	for _, row := range rows {
		if strings.Contains(row.name, "twice") {
			continue
		}
		for range 20 {
			ex := row.ex
			var ok bool
			if ex.Response.Media == MediaEventStream && ex.Response.Capture == Whole && ex.Response.Text != "" {
				ex.Response.Text, ok = r.stream(ex.Response.Text), true
			} else if text, done := r.document(ex.Response.Text); done {
				ex.Response.Text, ok = text, true
			}
			if text, done := r.document(ex.Request.Text); done && !ex.Messages {
				ex.Request.Text, ok = text, true
			}
			if !ok || ex.Messages || ex.Response.Entire {
				continue
			}
			rewritten++
			var v Verdict
			j.Judge(&ex, &v)
			require.Equal(t, row.want, said(&v), "%s: %q %q", row.name, ex.Request.Text, ex.Response.Text)
		}
	}
	require.Greater(t, rewritten, 2000)
}

// No prefix of a response is a success, but for what needs no answer.
func TestPrefixIsNoSuccess(t *testing.T) {
	j := NewJudge(Settings{})
	for _, row := range rows {
		var whole Verdict
		j.Judge(&row.ex, &whole)
		if row.ex.Response.Capture != Whole || whole.Class != Success || whole.Outcome.Layer() == Transport || row.ex.Messages ||
			whole.Reason == DuplicateResponse || strings.Contains(row.ex.Response.Text, "truncated") {
			continue
		}
		for n := range len(row.ex.Response.Text) {
			ex := row.ex
			ex.Response.Text = ex.Response.Text[:n]
			var v Verdict
			j.Judge(&ex, &v)
			if v.Class == Success && v.Outcome != StreamOpen {
				// The answers of a batch close before the batch does.
				require.Equal(t, strings.TrimRight(row.ex.Response.Text, "\n]"), strings.TrimRight(ex.Response.Text, "\n]"), row.name)
			}
		}
	}
}
