package jsonrpc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireAgreesWithStandardLibrary reads text as JSON and compares with what
// encoding/json says.
func requireAgreesWithStandardLibrary(t *testing.T, text string) {
	t.Helper()
	got := read(t, text, JSON)
	plain := strings.TrimPrefix(text, byteOrderMark)
	valid := json.Valid([]byte(plain))
	accepted := got.Summary.State == Complete && !got.Summary.Empty
	require.Equal(t, valid, accepted, "%q", text)
	if !valid {
		requireReasonable(t, got, text)
		return
	}
	for i := range got.Messages {
		require.Equal(t, Complete, got.Messages[i].State, "%q", text)
	}
	if !got.Summary.Batch {
		require.Len(t, got.Messages, 1, "%q", text)
		requireSameMembers(t, &got.Messages[0], []byte(plain))
		return
	}
	var elements []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(plain), &elements))
	require.Len(t, got.Messages, len(elements), "%q", text)
	for i := range got.Messages {
		requireSameMembers(t, &got.Messages[i], elements[i])
	}
}

// requireReasonable checks what has to hold of any reading that did not succeed.
func requireReasonable(t *testing.T, got reading, text string) {
	t.Helper()
	require.LessOrEqual(t, got.Summary.Offset, len(text), "%q", text)
	require.Equal(t, got.Summary.State == Malformed, got.Summary.Cause != NoCause, "%q", text)
	for i := range got.Messages {
		m := &got.Messages[i]
		require.Equal(t, m.State == Malformed, m.Cause != NoCause, "%q", text)
		require.LessOrEqual(t, m.Offset, len(m.text), "%q", text)
		for _, member := range members {
			v := member.value(m)
			require.True(t, m.State != Complete || !v.Open(), "%q", text)
			_, _, _, _ = m.Raw(v), m.Text(v), m.Integer(v), m.IDOf(v).String()
		}
	}
}

// requireSameMembers compares the tracked members with those that encoding/json
// finds, which also takes the last one of two.
func requireSameMembers(t *testing.T, m *Message, text []byte) {
	t.Helper()
	for _, member := range members {
		raw, found := json.RawMessage(text), true
		for _, name := range member.path {
			var object map[string]json.RawMessage
			if json.Unmarshal(raw, &object) != nil {
				found = false
				break
			}
			if raw, found = object[name]; !found {
				break
			}
		}
		v := member.value(m)
		if member.path[len(member.path)-1] == "idempotency-key" {
			continue // has two names
		}
		require.Equal(t, found, v.Present(), "%s in %q", member.path, text)
		if !found {
			continue
		}
		require.Equal(t, strings.Trim(string(raw), " \t\r\n"), m.Raw(v), "%s in %q", member.path, text)
		if v.Kind == String {
			var want string
			require.NoError(t, json.Unmarshal(raw, &want))
			require.Equal(t, want, m.Text(v), "%s in %q", member.path, text)
			require.True(t, m.Is(v, want), "%s in %q", member.path, text)
		}
	}
}

func readerSeeds() []string {
	seeds := slices.Concat(oddMessages(), recordedMessages()[:20], eventStreamSeeds(), truncationMarks[:])
	for _, value := range slices.Concat(validValues, invalidValues) {
		seeds = append(seeds, value, fmt.Sprintf(`{"result":{"content":%s},"id":1}`, value))
	}
	return seeds
}

func FuzzReader(f *testing.F) {
	for _, seed := range readerSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		requireAgreesWithStandardLibrary(t, text)
		requireReasonable(t, read(t, text, Values), text)
		requireReasonable(t, read(t, text, EventStream), text)
		requireReasonable(t, read(t, "data: "+text+"\n\n", EventStream), "data: "+text+"\n\n")
		_, _ = Sniff(text)
		_, _ = Lookup(text, "a", "b")
		Members(text, func(_, value string, _ Kind) bool { return value != "" })
		result := ReadResult(text)
		require.Equal(t, json.Valid([]byte(text)), result.State == Complete, "%q", text)
		_, _ = DecodeString(text), FirstElement(text)
	})
}

// Small changes of valid texts, many of which are valid or nearly so.
func TestMutationsAgainstStandardLibrary(t *testing.T) {
	const inserted = `{}[]",:\0-.eE19 tu` + "\n\x00\xff"
	for _, body := range slices.Concat(oddMessages(), recordedMessages()[:3]) {
		for i := range body {
			requireAgreesWithStandardLibrary(t, body[:i]+body[i+1:])
			if i%13 == 0 {
				for _, c := range []byte(inserted) {
					requireAgreesWithStandardLibrary(t, body[:i]+string([]byte{c})+body[i:])
					requireAgreesWithStandardLibrary(t, body[:i]+string([]byte{c})+body[i+1:])
				}
			}
		}
	}
}
