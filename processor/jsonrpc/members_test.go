package jsonrpc

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var sampleValues = map[string]Kind{
	`null`: Null, `true`: True, `false`: False, `-1.5e3`: Number, `"text"`: String, `"\u0074ext that is longer than a word"`: String,
	`[]`: Array, `[ 1, {"name":2} ]`: Array, `{}`: Object, `{ "x": {"content":[]} }`: Object,
}

func TestEveryMemberIsFound(t *testing.T) {
	require.Len(t, members, 56, "a member was added or removed: see that its path is right")
	for _, member := range members {
		for value, kind := range sampleValues {
			text := build(member.path, value)
			m := readComplete(t, text)
			v := member.value(m)
			assert.Equal(t, kind, v.Kind, text)
			assert.Equal(t, value, m.Raw(v), text)
			assert.False(t, v.Twice() || v.Open(), text)
			assert.Equal(t, value == `[]` || value == `{}`, v.Empty(), text)
		}
		text := build(append(slices.Clone(member.path[:len(member.path)-1]), member.path[len(member.path)-1]+"x"), `{"content":1}`)
		assert.Zero(t, member.value(readComplete(t, text)), "%s is another name", text)
	}
}

func TestMembersAreFoundOnlyWhereTheyBelong(t *testing.T) {
	for _, member := range members {
		for _, wrong := range [][]string{{"x"}, {"x", "y"}, {"params", "arguments"}, {"result", "structuredContent"}, {"error", "data"}, {"params", "_meta", "x"}} {
			path := append(slices.Clone(wrong), member.path...)
			m := readComplete(t, build(path, `"text"`))
			assert.False(t, m.Is(member.value(m), "text"), path)
		}
		text := strings.ToUpper(build(member.path, `1`))
		assert.Zero(t, member.value(readComplete(t, text)), "names are case-sensitive: %s", text)
	}
	m := readComplete(t, `{"params":[{"name":1}],"result":[{"content":1}],"error":"code"}`)
	assert.Equal(t, Array, m.ParamsValue.Kind)
	assert.Equal(t, Params{}, m.Params)
	assert.Equal(t, Result{}, m.Result)
	assert.Equal(t, ErrorObject{}, m.Error)
}

// escaped writes a name with escapes for some of its characters.
func escaped(name string, r *rand.Rand) string {
	var sb strings.Builder
	for _, c := range name {
		switch {
		case c == '/' && r.IntN(2) == 0:
			sb.WriteString(`\/`)
		case r.IntN(3) == 0:
			fmt.Fprintf(&sb, `\u%04x`, c)
		case r.IntN(3) == 0:
			fmt.Fprintf(&sb, `\u%04X`, c)
		default:
			sb.WriteRune(c)
		}
	}
	return sb.String()
}

func TestEscapedNamesMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, member := range members {
		for range 8 {
			text := `"text"`
			for i := len(member.path) - 1; i >= 0; i-- {
				text = `{"` + escaped(member.path[i], r) + `":` + text + `}`
			}
			m := readComplete(t, text)
			assert.Equal(t, String, member.value(m).Kind, text)
		}
	}
	assert.Zero(t, readComplete(t, `{"id\u0000":1}`).ID)
	assert.Zero(t, readComplete(t, `{"\u0069d\ud800":1}`).ID)
	assert.Zero(t, readComplete(t, `{"`+strings.Repeat(`\u0069`, 1000)+`":1}`).ID)
}

func TestMemberThatStandsTwice(t *testing.T) {
	for _, member := range members {
		parent, name := member.path[:len(member.path)-1], member.path[len(member.path)-1]
		members := build(nil, fmt.Sprintf(`{%q:[],"x":1,%q:"last"}`, name, name))
		m := readComplete(t, build(parent, members))
		v := member.value(m)
		assert.True(t, v.Twice(), member.path)
		assert.True(t, m.Is(v, "last"), member.path)

		m = readComplete(t, build(parent, fmt.Sprintf(`{%q:[],"x":{%q:1}}`, name, name)))
		assert.False(t, member.value(m).Twice(), member.path)
	}
}

func TestMembersOfTheLastOfTwoObjectsCount(t *testing.T) {
	for _, member := range members {
		for depth := range len(member.path) - 1 {
			parent, name, rest := member.path[:depth], member.path[depth], member.path[depth+1:]
			for _, last := range []string{`{}`, `null`, `[]`, `7`, `"text"`, `{"x":1}`} {
				text := build(parent, fmt.Sprintf(`{%q:%s,%q:%s}`, name, build(rest, `1`), name, last))
				assert.Zero(t, member.value(readComplete(t, text)), text)
				text = build(parent, fmt.Sprintf(`{%q:%s,%q:%s}`, name, last, name, build(rest, `1`)))
				assert.Equal(t, Number, member.value(readComplete(t, text)).Kind, text)
			}
		}
	}
	// What is twice in the first object only is not twice.
	m := readComplete(t, `{"result":{"content":1,"content":2},"result":{"content":3}}`)
	assert.False(t, m.Result.Content.Twice())
	assert.True(t, m.ResultValue.Twice())
}

func TestEmpty(t *testing.T) {
	m := readComplete(t, "{\"params\":{ },\"result\":{\"content\":[\n],\"tools\":[ 0 ],\"structuredContent\":{\"\":0}},\"error\":\"\"}")
	assert.True(t, m.ParamsValue.Empty())
	assert.False(t, m.ResultValue.Empty())
	assert.True(t, m.Result.Content.Empty())
	assert.False(t, m.Result.Tools.Empty())
	assert.False(t, m.Result.StructuredContent.Empty())
	assert.False(t, m.ErrorValue.Empty())
	assert.False(t, readOne(t, `{"params":[`).ParamsValue.Empty())
	assert.False(t, readOne(t, `{"params":{`).ParamsValue.Empty())
}

func TestOpenObjectsAndTheirMembers(t *testing.T) {
	m := readOne(t, `{"id":1,"result":{"content":[],"isError":true,"structuredContent":{"a":`)
	assert.Equal(t, Cut, m.State)
	assert.True(t, m.ResultValue.Open())
	assert.Equal(t, Object, m.ResultValue.Kind)
	assert.False(t, m.ID.Open())
	assert.False(t, m.Result.Content.Open())
	assert.False(t, m.Result.IsError.Open())
	assert.True(t, m.Result.StructuredContent.Open())
	assert.Equal(t, `{"a":`, m.Raw(m.Result.StructuredContent))
	assert.Equal(t, `{"content":[],"isError":true,"structuredContent":{"a":`, m.Raw(m.ResultValue))
}

// document is a JSON value that can be written in several ways.
type document any

// write writes a value with white space, member order and escapes as r wants.
func write(sb *strings.Builder, v document, r *rand.Rand) {
	space := func() {
		for r.IntN(3) == 0 {
			sb.WriteByte(" \t\r\n"[r.IntN(4)])
		}
	}
	space()
	defer space()
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		sb.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				sb.WriteByte(',')
			}
			write(sb, name, r)
			sb.WriteByte(':')
			write(sb, v[name], r)
		}
		if len(names) == 0 {
			space()
		}
		sb.WriteByte('}')
	case []any:
		sb.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				sb.WriteByte(',')
			}
			write(sb, element, r)
		}
		if len(v) == 0 {
			space()
		}
		sb.WriteByte(']')
	case string:
		plain, _ := json.Marshal(v)
		if r.IntN(2) == 0 && !strings.ContainsAny(string(plain), `\`) && isASCII(v) {
			plain = []byte(`"` + escaped(v, r) + `"`)
		}
		sb.Write(plain)
	default:
		plain, _ := json.Marshal(v)
		sb.Write(plain)
	}
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 })
}

// White space, the order of members and escapes change nothing in what is found.
func TestWritingChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, text := range recordedMessages() {
		var doc document
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&doc))
		want := read(t, text, JSON)
		for range 20 {
			var sb strings.Builder
			write(&sb, doc, r)
			got := read(t, sb.String(), JSON)
			require.Equal(t, want.Summary.State, got.Summary.State, sb.String())
			require.Len(t, got.Messages, len(want.Messages))
			for i := range got.Messages {
				requireSameMeaning(t, &want.Messages[i], &got.Messages[i])
			}
		}
	}
}

func requireSameMeaning(t *testing.T, want, got *Message) {
	t.Helper()
	require.Equal(t, want.State, got.State)
	require.Equal(t, want.Kind, got.Kind)
	for _, member := range members {
		w, g := member.value(want), member.value(got)
		require.Equal(t, w.Kind, g.Kind, "%s in %s", member.path, got.text)
		if w.Kind == Absent {
			continue
		}
		require.Equal(t, w.Twice(), g.Twice(), "%s in %s", member.path, got.text)
		require.Equal(t, w.Empty(), g.Empty(), "%s in %s", member.path, got.text)
		require.Equal(t, want.Text(w), got.Text(g), "%s in %s", member.path, got.text)
		require.JSONEq(t, want.Raw(w), got.Raw(g), "%s in %s", member.path, got.text)
	}
}
