package jsonrpc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// summary is what of a reading a table compares: of each message the state, and
// how the text ended.
type summary struct {
	messages []State
	Summary
}

func summarize(got reading) summary {
	s := summary{Summary: got.Summary}
	for i := range got.Messages {
		s.messages = append(s.messages, got.Messages[i].State)
	}
	return s
}

func TestTextsThatAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		format Format
		want   summary
	}{
		"one object":                {`{"id":1}`, JSON, summary{[]State{Complete}, Summary{Offset: 8}}},
		"byte-order mark":           {"\uFEFF{}", JSON, summary{[]State{Complete}, Summary{Offset: 5}}},
		"empty":                     {"", JSON, summary{nil, Summary{Empty: true}}},
		"white space only":          {" \r\n\t", JSON, summary{nil, Summary{Empty: true, Offset: 4}}},
		"byte-order mark only":      {"\uFEFF", JSON, summary{nil, Summary{Empty: true, Offset: 3}}},
		"literal":                   {` true `, JSON, summary{[]State{Complete}, Summary{Offset: 6}}},
		"string":                    {`"Accepted"`, JSON, summary{[]State{Complete}, Summary{Offset: 10}}},
		"batch":                     {`[{},{},1]`, JSON, summary{[]State{Complete, Complete, Complete}, Summary{Batch: true, Offset: 9}}},
		"empty batch":               {` [ ] `, JSON, summary{nil, Summary{Batch: true, Offset: 5}}},
		"values":                    {"{}\n{}\r\n{}{}", Values, summary{[]State{Complete, Complete, Complete, Complete}, Summary{Offset: 11}}},
		"values with a batch":       {`{} [{},{}] {}`, Values, summary{[]State{Complete, Complete, Complete, Complete}, Summary{Batch: true, Offset: 13}}},
		"values, empty":             {"\n\n", Values, summary{nil, Summary{Empty: true, Offset: 2}}},
		"event stream":              {"data: {}\n\n", EventStream, summary{[]State{Complete}, Summary{Events: 1, Offset: 10}}},
		"event stream, empty":       {"", EventStream, summary{nil, Summary{Empty: true}}},
		"event stream, blank lines": {"\n\n", EventStream, summary{nil, Summary{Offset: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, summarize(read(t, c.text, c.format)))
		})
	}
}

func TestTextsThatAreNotReadToTheEnd(t *testing.T) {
	malformed := func(cause Cause, offset int) Summary {
		return Summary{State: Malformed, Cause: cause, Offset: offset}
	}
	cut := func(offset int) Summary { return Summary{State: Cut, Offset: offset} }
	batch := func(s Summary) Summary { s.Batch = true; return s }

	for name, c := range map[string]struct {
		text   string
		format Format
		want   summary
	}{
		"HTML":                         {"<html>", JSON, summary{nil, malformed(NotJSON, 0)}},
		"text":                         {"  Accepted", JSON, summary{nil, malformed(NotJSON, 2)}},
		"text like a literal":          {"no healthy upstream", JSON, summary{nil, malformed(NotJSON, 0)}},
		"text like a number":           {"--boundary", JSON, summary{nil, malformed(NotJSON, 0)}},
		"event stream as JSON":         {"data: {}\n\n", JSON, summary{nil, malformed(NotJSON, 0)}},
		"two byte-order marks":         {"\uFEFF\uFEFF{}", JSON, summary{nil, malformed(NotJSON, 3)}},
		"part of a byte-order mark":    {"\xef\xbb", JSON, summary{nil, cut(0)}},
		"part of a literal":            {"tru", JSON, summary{[]State{Cut}, cut(3)}},
		"syntax":                       {`{"id":x}`, JSON, summary{[]State{Malformed}, malformed(Syntax, 6)}},
		"trailing text":                {`{"id":1} x`, JSON, summary{[]State{Complete}, malformed(TrailingData, 9)}},
		"trailing value":               {"{}\n{}", JSON, summary{[]State{Complete}, malformed(TrailingData, 3)}},
		"trailing bracket":             {`{}}`, JSON, summary{[]State{Complete}, malformed(TrailingData, 2)}},
		"trailing mark":                {`{} ... [truncated]`, JSON, summary{[]State{Complete}, cut(3)}},
		"trailing array that is cut":   {`{}[truncated]`, JSON, summary{[]State{Complete}, cut(2)}},
		"mark alone":                   {`[truncated]`, JSON, summary{nil, cut(0)}},
		"cut":                          {`{"id":1,`, JSON, summary{[]State{Cut}, cut(8)}},
		"cut by a mark":                {`{"id":1,...`, JSON, summary{[]State{Cut}, cut(8)}},
		"cut in place of a value":      {`{"id":{truncated}`, JSON, summary{[]State{Cut}, cut(6)}},
		"mark inside of a string":      {`{"id":"a...[truncated]"}`, JSON, summary{[]State{Complete}, Summary{Offset: 24}}},
		"batch cut in an element":      {`[{"id":1},{"id"`, JSON, summary{[]State{Complete, Cut}, batch(cut(15))}},
		"batch cut between":            {`[{"id":1},`, JSON, summary{[]State{Complete, Cut}, batch(cut(10))}},
		"batch cut at once":            {`[`, JSON, summary{[]State{Cut}, batch(cut(1))}},
		"batch malformed in one":       {`[{"id":1},{"id"},{}]`, JSON, summary{[]State{Complete, Malformed}, batch(malformed(Syntax, 15))}},
		"batch malformed between":      {`[{"id":1};{}]`, JSON, summary{[]State{Complete, Malformed}, batch(malformed(Syntax, 9))}},
		"batch with a comma at end":    {`[{},]`, JSON, summary{[]State{Complete, Malformed}, batch(malformed(Syntax, 4))}},
		"batch and more":               {`[{}] {}`, JSON, summary{[]State{Complete}, batch(malformed(TrailingData, 5))}},
		"values and text":              {"{}\n{} done", Values, summary{[]State{Complete, Complete}, malformed(TrailingData, 6)}},
		"values and text like JSON":    {"{} nothing", Values, summary{[]State{Complete}, malformed(TrailingData, 3)}},
		"values, first is text":        {"INFO {}", Values, summary{nil, malformed(NotJSON, 0)}},
		"values, second cut":           {"{}\n{", Values, summary{[]State{Complete, Cut}, cut(4)}},
		"values, second malformed":     {"{}\n{x}\n{}", Values, summary{[]State{Complete, Malformed}, malformed(Syntax, 4)}},
		"values, second cut by a mark": {"{}\n...", Values, summary{[]State{Complete}, cut(3)}},
		"too deep":                     {strings.Repeat("[", MaxDepth+1), JSON, summary{[]State{TooDeep}, batch(Summary{State: TooDeep, Offset: MaxDepth})}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, summarize(read(t, c.text, c.format)))
		})
	}
}

func TestMessageOfAnArray(t *testing.T) {
	for _, text := range []string{`[`, `[{},`, `[{};`} {
		got := read(t, text, JSON)
		last := got.Messages[len(got.Messages)-1]
		assert.Equal(t, Array, last.Kind, text)
		assert.False(t, last.InBatch, text)
	}
	for _, m := range read(t, `[{},[],1]`, JSON).Messages {
		assert.True(t, m.InBatch)
	}
	assert.False(t, readOne(t, `{}`).InBatch)
}

func TestTextOfMoreThanTheLimit(t *testing.T) {
	text := `{"id":1,"method":"ping"}`
	for limit := range len(text) + 3 {
		var r Reader
		r.reset(text+"  ", JSON, limit)
		for r.Next() {
			assert.Equal(t, limit < len(text), r.Message().State == Cut)
		}
		assert.Equal(t, limit < len(text)+2, r.Summary().State == Cut, limit)
	}
}

func TestCopyOfAMessageOutlivesTheReading(t *testing.T) {
	var r Reader
	r.Reset("data: {\"id\":\"one\",\ndata: \"params\":{\"name\":\"a\"}}\n\ndata: {\"id\":\"two\"}\n\n", EventStream)
	require.True(t, r.Next())
	one := *r.Message()
	require.True(t, r.Next())
	two := *r.Message()
	require.False(t, r.Next())
	r.Reset(`{"id":"three"}`, JSON)
	require.True(t, r.Next())

	assert.Equal(t, "one", one.Text(one.ID))
	assert.Equal(t, "a", one.Text(one.Params.Name))
	assert.Equal(t, "two", two.Text(two.ID))
	assert.Equal(t, Value{}, two.Params.Name)
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]Format{
		`{`: JSON, ` [1]`: JSON, "\uFEFF{}": JSON, "\r\n\t {": JSON,
		"event: message\n": EventStream, "data: {}": EventStream, "data:{}": EventStream, "id: 7\n": EventStream, "id\n": EventStream,
		"retry: 5": EventStream, "retry": EventStream, "event\r\n": EventStream, "data": EventStream, ": ping": EventStream, ":": EventStream, ":\n": EventStream,
		"\n\ndata: x": EventStream, "\uFEFF: x": EventStream,
	} {
		f, ok := Sniff(text)
		assert.True(t, ok, "%q", text)
		assert.Equal(t, want, f, "%q", text)
	}
	for _, text := range []string{
		"", " ", "\uFEFF", "<html>", "Accepted", "database", "data\tx", "data :", "ident: 1", "identity", "events: 1", "retry5:", "Data: {}", "INFO data: {}", "1", `"a"`, "null", "\uFEFF\uFEFF{}",
	} {
		_, ok := Sniff(text)
		assert.False(t, ok, "%q", text)
	}
}

func TestNextAndMessageBeforeReset(t *testing.T) {
	var r Reader
	assert.False(t, r.Next())
	assert.Equal(t, Summary{}, r.Summary())
	assert.Equal(t, Absent, r.Message().Kind)
}

// What would take a reader that is not linear minutes.
func TestReadingIsLinear(t *testing.T) {
	const n = 1 << 19
	for name, c := range map[string]struct {
		text   string
		format Format
	}{
		"brackets":        {strings.Repeat("[", n), JSON},
		"braces":          {strings.Repeat(`{"a":`, n), JSON},
		"both":            {strings.Repeat(`[{"a":`, n), JSON},
		"empty arrays":    {"[" + strings.Repeat("[],", n), JSON},
		"quotes":          {`{"a":[` + strings.Repeat(`"",`, n), JSON},
		"escapes":         {`"` + strings.Repeat(`\\`, n), JSON},
		"names":           {"{" + strings.Repeat(`"result":{},`, n), JSON},
		"escaped names":   {"{" + strings.Repeat(`"\u0072esult":{"content":0},`, n), JSON},
		"numbers":         {strings.Repeat("1 ", n), Values},
		"values":          {strings.Repeat("{}", n), Values},
		"dots":            {strings.Repeat(".", n), JSON},
		"spaces":          {`{"a":` + strings.Repeat(" ", n), JSON},
		"carriage return": {strings.Repeat("data: {}\r\r", n), EventStream},
		"line feed":       {strings.Repeat("data: {}\n\n", n), EventStream},
		"mixed ends":      {strings.Repeat("data: {}\r\n\r\n", n) + strings.Repeat("\r", n), EventStream},
		"one event":       {strings.Repeat("data: [\n", n), EventStream},
		"ids":             {strings.Repeat("id\n", n), EventStream},
		"one line":        {strings.Repeat("data", n), EventStream},
	} {
		t.Run(name, func(*testing.T) {
			var r Reader
			r.Reset(c.text, c.format)
			for r.Next() {
				_ = r.Message()
			}
		})
	}
}
