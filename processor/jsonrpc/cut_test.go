package jsonrpc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cutBodies are bodies to be cut everywhere.
func cutBodies() []string {
	return append(oddMessages(), recordedMessages()...)
}

// requirePartOf fails the test if the message of a cut text claims anything that
// the whole one does not say.
// The cut is at n.
func requirePartOf(t *testing.T, whole, cut *Message, n int, text string) {
	t.Helper()
	for _, member := range members {
		v, full := member.value(cut), member.value(whole)
		if !v.Present() || secondIsCutOff(whole, cut, member.path) {
			continue
		}
		require.Equal(t, full.Kind, v.Kind, "kind of %s in %q", member.path, text)
		there, want := cut.Raw(v), whole.Raw(full)
		if v.Open() {
			there = there[:min(len(there), n-int(v.start))] // without the mark
			require.True(t, strings.HasPrefix(want, there), "%s in %q", member.path, text)
			continue
		}
		require.Equal(t, want, there, "%s in %q", member.path, text)
	}
}

// secondIsCutOff reports whether a member, or an object that it is in, stands
// twice and only the first one is in front of the cut.
func secondIsCutOff(whole, cut *Message, path []string) bool {
	for _, member := range members {
		if slices.Equal(member.path, path[:min(len(path), len(member.path))]) &&
			member.value(whole).Twice() && !member.value(cut).Twice() {
			return true
		}
	}
	return false
}

func TestEveryCutOfJSON(t *testing.T) {
	for _, body := range cutBodies() {
		whole := read(t, body, JSON)
		require.Equal(t, Complete, whole.Summary.State, body)
		end := len(strings.TrimRight(body, " \n"))
		for n := range end {
			text := body[:n]
			got := read(t, text, JSON)
			if got.Summary.Empty {
				require.Empty(t, strings.TrimSpace(text))
				continue
			}
			require.Equal(t, Cut, got.Summary.State, "%q", text)
			require.Equal(t, n, got.Summary.Offset, "%q", text)
			for i := range got.Messages {
				m := &got.Messages[i]
				switch {
				case m.Kind == Array && !m.InBatch: // between two elements
					require.Equal(t, Cut, m.State, "%q", text)
				case m.State == Complete:
					require.Less(t, i, len(whole.Messages), "%q", text)
					requireSameMessage(t, &whole.Messages[i], m, text)
				default:
					require.Equal(t, Cut, m.State, "%q", text)
					require.Equal(t, len(got.Messages)-1, i, "a message behind a cut one: %q", text)
					requirePartOf(t, &whole.Messages[i], m, n, text)
				}
			}
		}
	}
}

func requireSameMessage(t *testing.T, want, got *Message, text string) {
	t.Helper()
	w, g := *want, *got
	w.text, g.text = "", ""
	if w != g {
		require.Equal(t, w, g, "%q", text)
	}
}

func TestEveryCutWithAMark(t *testing.T) {
	marks := append([]string{"...[123 chars truncated]", " ... ", "[TRUNCATED]", "…[Truncated 5 bytes]"}, truncationMarks[:]...)
	for _, body := range append(oddMessages(), recordedMessages()[:4]...) {
		whole := read(t, body, JSON)
		end := len(strings.TrimRight(body, " \n"))
		for n := range end {
			for _, mark := range marks {
				text := body[:n] + mark
				got := read(t, text, JSON)
				require.Equal(t, Cut, got.Summary.State, "%q", text)
				for i := range got.Messages {
					if m := &got.Messages[i]; m.State != Complete && m.Kind == Object {
						require.Equal(t, Cut, m.State, "%q", text)
						requirePartOf(t, &whole.Messages[i], m, n, text)
					}
				}
			}
		}
	}
}

func TestEveryCutOfAnEventStream(t *testing.T) {
	for _, body := range append(oddMessages(), recordedMessages()[:10]...) {
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, []byte(body)))
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, []byte(body), "", " "))
		lines := "data:" + strings.ReplaceAll(indented.String(), "\n", "\ndata:")
		for _, stream := range []string{
			": ping\n\nevent: message\nid: 7\ndata: " + compact.String() + "\n\n",
			lines + "\nretry: 5\n\n",
		} {
			whole := read(t, stream, EventStream)
			require.Equal(t, Complete, whole.Summary.State)
			for _, end := range []string{"\n", "\r", "\r\n"} {
				stream := strings.ReplaceAll(stream, "\n", end)
				requireSameReading(t, whole, read(t, stream, EventStream), stream)
				for n := range len(stream) {
					text := stream[:n]
					got := read(t, text, EventStream)
					require.Zero(t, got.Summary.Broken, "%q", text)
					if !endsBetweenEvents(text) {
						require.Equal(t, Cut, got.Summary.State, "%q", text)
					}
					for i := range got.Messages {
						m := &got.Messages[i]
						require.NotEqual(t, Malformed, m.State, "%q", text)
						if m.Kind == Object {
							requirePartOf(t, &whole.Messages[i], m, n, text)
						}
					}
				}
			}
		}
	}
}

// endsBetweenEvents reports whether a stream ends where nothing is missing: behind
// a blank line, or behind a comment that follows one.
func endsBetweenEvents(text string) bool {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return text == "" || strings.HasSuffix(text, "\n\n") || text == ": ping\n"
}

func requireSameReading(t *testing.T, want, got reading, text string) {
	t.Helper()
	got.Summary.Offset = want.Summary.Offset
	require.Equal(t, want.Summary, got.Summary, "%q", text)
	require.Len(t, got.Messages, len(want.Messages), "%q", text)
	for i := range got.Messages {
		requireSameMessage(t, &want.Messages[i], &got.Messages[i], text)
	}
}

func TestNumberAtTheEndIsOpen(t *testing.T) {
	for text, open := range map[string]bool{
		`{"id":12`:            true,
		`{"id":12 `:           false,
		`{"id":12,`:           false,
		`{"id":-`:             true,
		`{"id":1.`:            true,
		`{"id":1e`:            true,
		`{"id":12...`:         true,
		`{"id":12.5...`:       true,
		`{"id":12…`:           true,
		`{"id":12[truncated]`: true,
		`{"id":12 ...`:        true,
		`{"id":true`:          false,
		`{"id":tru`:           true,
		`{"id":"a"`:           false,
		`{"id":"a`:            true,
		`{"id":[]`:            false,
		`{"id":[`:             true,
	} {
		m := readOne(t, text)
		require.Equal(t, Cut, m.State, text)
		require.True(t, m.ID.Present(), text)
		require.Equal(t, open, m.ID.Open(), text)
		require.Equal(t, open, m.RequestID().Open(), text)
		require.Equal(t, !open && m.ID.Kind == Number, m.Integer(m.ID).Integral, text)
		require.False(t, open && m.RequestID().Valid(), text)
	}
	require.Equal(t, Complete, readOne(t, `12`).State, "at the top nothing says that it goes on")
	require.Equal(t, Cut, readOne(t, `12...`).State)
	require.Equal(t, Cut, readOne(t, `12 ...`).State)
	require.Equal(t, Complete, readOne(t, `12 x`).State)
	require.Equal(t, Cut, read(t, `[12`, JSON).Messages[0].State)
}
