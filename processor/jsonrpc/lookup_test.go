package jsonrpc

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLookup(t *testing.T) {
	const raw = ` { "a" : { "b" : [ 1 , "]" ] , "c" : "x\"}" } , "n" : -1.5 , "t":true,"a/b":{"\u0063":null},"twice":1,"twice":{"x":2},"e":{}, "last" : "\\" } `
	require.True(t, json.Valid([]byte(raw)))
	for _, c := range []struct {
		path []string
		want string
		kind Kind
	}{
		{[]string{"a"}, `{ "b" : [ 1 , "]" ] , "c" : "x\"}" }`, Object},
		{[]string{"a", "b"}, `[ 1 , "]" ]`, Array},
		{[]string{"a", "c"}, `"x\"}"`, String},
		{[]string{"n"}, `-1.5`, Number},
		{[]string{"t"}, `true`, True},
		{[]string{"a/b", "c"}, `null`, Null},
		{[]string{"twice"}, `{"x":2}`, Object},
		{[]string{"twice", "x"}, `2`, Number},
		{[]string{"e"}, `{}`, Object},
		{[]string{"last"}, `"\\"`, String},
		{[]string{"x"}, ``, Absent},
		{[]string{"a", "x"}, ``, Absent},
		{[]string{"a", "b", "c"}, ``, Absent},
		{[]string{"n", "x"}, ``, Absent},
		{[]string{"A"}, ``, Absent},
		{[]string{""}, ``, Absent},
	} {
		value, kind := Lookup(raw, c.path...)
		assert.Equal(t, c.want, value, c.path)
		assert.Equal(t, c.kind, kind, c.path)
	}
	value, kind := Lookup(` [1]`)
	assert.Equal(t, `[1]`, value)
	assert.Equal(t, Array, kind)

	m := readComplete(t, `{"params":{"clientInfo":{"name":"x","version":"1"}}}`)
	value, kind = m.Member(m.Params.ClientInfo, "version")
	assert.Equal(t, `"1"`, value)
	assert.Equal(t, String, kind)
	_, kind = m.Member(m.Params.Name, "version")
	assert.Equal(t, Absent, kind)
}

func TestLookupInCutText(t *testing.T) {
	const raw = `{"a":{"b":"text","c":12,"d":[1,2],"e":true},"a2":0}`
	for n := range len(raw) {
		for _, path := range [][]string{{"a"}, {"a", "b"}, {"a", "c"}, {"a", "d"}, {"a", "e"}, {"a2"}} {
			value, kind := Lookup(raw[:n], path...)
			if kind != Absent {
				want, _ := Lookup(raw, path...)
				assert.Equal(t, want, value, "%s in %s", path, raw[:n])
			}
		}
	}
}

func TestLookupOfEveryMember(t *testing.T) {
	for _, text := range recordedMessages() {
		got := read(t, text, JSON)
		for i := range got.Messages {
			m := &got.Messages[i]
			for _, member := range members {
				v := member.value(m)
				value, kind := Lookup(text, member.path...)
				if !m.InBatch {
					assert.Equal(t, m.Raw(v), value, "%s in %s", member.path, text)
					assert.Equal(t, v.Kind, kind, "%s in %s", member.path, text)
				}
			}
		}
	}
}

func TestMembers(t *testing.T) {
	type pair struct {
		name, value string
		kind        Kind
	}
	collect := func(raw string, most int) (got []pair) {
		Members(raw, func(name, value string, kind Kind) bool {
			got = append(got, pair{name, value, kind})
			return len(got) < most
		})
		return got
	}
	const raw = `{"a":1, "\u0062\/" : [ {} ] ,"a":"x"}`
	want := []pair{{"a", `1`, Number}, {"b/", `[ {} ]`, Array}, {"a", `"x"`, String}}
	assert.Equal(t, want, collect(raw, 9))
	assert.Equal(t, want[:2], collect(raw, 2))
	assert.Equal(t, want[:2], collect(raw[:len(raw)-2], 9), "only what is closed")
	for _, raw := range []string{``, `{}`, ` { } `, `[]`, `7`, `"a"`, `{`, `{"a"`, `{"a":`, `{"a":}`, `{a:1}`, `{"a" 1}`, `null`} {
		assert.Empty(t, collect(raw, 9), raw)
	}
}

func TestReadResult(t *testing.T) {
	for _, text := range recordedMessages() {
		m := read(t, text, JSON).Messages
		if len(m) != 1 || !m[0].ResultValue.Present() {
			continue
		}
		got := ReadResult(m[0].Raw(m[0].ResultValue))
		assert.Equal(t, Complete, got.State)
		assert.Equal(t, m[0].ResultValue.Kind, got.ResultValue.Kind)
		assert.Equal(t, m[0].Raw(m[0].ResultValue), got.Raw(got.ResultValue))
		for _, member := range members {
			if member.path[0] == "result" {
				assert.Equal(t, m[0].Raw(member.value(&m[0])), got.Raw(member.value(&got)), "%s in %s", member.path, text)
			}
		}
	}

	got := ReadResult(` { "content" : [] , "isError" : true } `)
	assert.Equal(t, Complete, got.State)
	assert.Equal(t, True, got.Result.IsError.Kind)
	assert.True(t, got.Result.Content.Empty())
	got = ReadError(`{"code":-1,"message":"x"}`)
	assert.Equal(t, Complete, got.State)
	assert.Equal(t, Integer{-1, true, true}, got.Integer(got.Error.Code))
	assert.Equal(t, "x", got.Text(got.Error.Message))
	assert.Equal(t, Object, got.ErrorValue.Kind)

	for raw, want := range map[string]struct {
		State
		Cause
		Kind
	}{
		`{}`:              {Complete, NoCause, Object},
		`null`:            {Complete, NoCause, Null},
		`"x"`:             {Complete, NoCause, String},
		`[1]`:             {Complete, NoCause, Array},
		`{"content":[`:    {Cut, NoCause, Object},
		`{"content":[...`: {Cut, NoCause, Object},
		`{"content":[}`:   {Malformed, Syntax, Object},
		`{} x`:            {Malformed, TrailingData, Object},
		``:                {Cut, NoCause, Absent},
		`x`:               {Malformed, Syntax, Absent},
	} {
		got := ReadResult(raw)
		assert.Equal(t, want.State, got.State, raw)
		assert.Equal(t, want.Cause, got.Cause, raw)
		assert.Equal(t, want.Kind, got.ResultValue.Kind, raw)
	}
}

func TestFirstElement(t *testing.T) {
	for raw, want := range map[string]string{
		`[1]`: `1`, `[ "a]" , 2]`: `"a]"`, ` [{"a":[1]},2] `: `{"a":[1]}`, `[[],1]`: `[]`, `[1`: `1`, `["a`: `"a`, `[{"a":1}`: `{"a":1}`,
		`[]`: ``, `[ ]`: ``, `[`: ``, ``: ``, `{}`: ``, `{"a":1}`: ``, `1`: ``, `"[1]"`: ``,
	} {
		assert.Equal(t, want, FirstElement(raw), raw)
	}
}

func TestIDOf(t *testing.T) {
	m := readComplete(t, `{"id":1,"params":{"requestId":"a"}}`)
	assert.True(t, m.IDOf(m.Params.RequestID).Equal(StringID("a")))
	assert.False(t, m.IDOf(m.Params.TaskID).Present())
}
