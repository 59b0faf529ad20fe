package jsonrpc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEventStreamsThatAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ids  []string // of the messages, in order
		want Summary  // without Offset
	}{
		"one event":            {"data: {\"id\":1}\n\n", []string{"1"}, Summary{Events: 1}},
		"no space":             {"data:{\"id\":1}\n\n", []string{"1"}, Summary{Events: 1}},
		"all fields":           {"event: message\nid: 7\nretry: 30\ndata: {\"id\":1}\n\n", []string{"1"}, Summary{Events: 1, Resumable: true}},
		"fields behind data":   {"data: {\"id\":1}\nid: 7\nevent: x\n\n", []string{"1"}, Summary{Events: 1, Resumable: true}},
		"LF":                   {"data: {\"id\":1}\n\ndata: {\"id\":2}\n\n", []string{"1", "2"}, Summary{Events: 2}},
		"CR":                   {"data: {\"id\":1}\r\rdata: {\"id\":2}\r\r", []string{"1", "2"}, Summary{Events: 2}},
		"CR LF":                {"data: {\"id\":1}\r\n\r\ndata: {\"id\":2}\r\n\r\n", []string{"1", "2"}, Summary{Events: 2}},
		"mixed":                {"data: {\"id\":1}\r\n\ndata: {\"id\":2}\n\rdata: {\"id\":3}\r\r\ndata: {\"id\":4}\n\r\n", []string{"1", "2", "3", "4"}, Summary{Events: 4}},
		"byte-order mark":      {"\uFEFFdata: {\"id\":1}\n\n", []string{"1"}, Summary{Events: 1}},
		"two byte-order marks": {"\uFEFF\uFEFFdata: {\"id\":1}\n\n", nil, Summary{}},
		"comments":             {": ping\n\n:\ndata: {\"id\":1}\n: x\n\n:\n", []string{"1"}, Summary{Events: 1}},
		"empty data":           {"id: 0\ndata:\n\ndata: \n\ndata\n\n", nil, Summary{Resumable: true}},
		"two empty data lines": {"data\ndata\n\n", nil, Summary{Events: 1, Foreign: 1}},
		"priming":              {"id: 0\nretry: 300\ndata: \n\ndata: {\"id\":1}\n\n", []string{"1"}, Summary{Events: 1, Resumable: true}},
		"two lines":            {"data: {\"id\":\ndata: 1}\n\n", []string{"1"}, Summary{Events: 1}},
		"many lines":           {"data: {\ndata: \"id\"\nid: 9\n: x\ndata:   :\ndata\ndata: 1\ndata: }\n\n", []string{"1"}, Summary{Events: 1, Resumable: true}},
		"two lines, one empty": {"data\ndata: {\"id\":1}\n\n", []string{"1"}, Summary{Events: 1}},
		"string over two":      {"data: {\"id\":\"a\ndata: b\"}\n\n", []string{""}, Summary{Events: 1, Broken: 1}},
		"batch":                {"data: [{\"id\":1},{\"id\":2}]\n\ndata: {\"id\":3}\n\n", []string{"1", "2", "3"}, Summary{Events: 2}},
		"unknown fields":       {"data: {\"id\":1}\nDATA: {}\n data: {}\ndata : {}\nfoo\n\n", []string{"1"}, Summary{Events: 1}},
		"retry with letters":   {"retry: 3s\nretry\nretry: -1\ndata: {\"id\":1}\n\n", []string{"1"}, Summary{Events: 1}},
		"id with NUL":          {"id: a\x00b\ndata: {\"id\":1}\n\n", []string{"1"}, Summary{Events: 1}},
		"id that is empty":     {"id:\nid\ndata: {\"id\":1}\n\n", []string{"1"}, Summary{Events: 1}},
		"id without data":      {"id: 7\n\n", nil, Summary{Resumable: true}},
		"colon in the value":   {"id: a:b\ndata:: {}\n\n", nil, Summary{Events: 1, Foreign: 1, Resumable: true}},
		"foreign":              {"data: [DONE]\n\ndata:  [DONE] \n\ndata: /messages?id=7\n\ndata: ping\n\ndata: \"x\"\n\ndata: 7\n\ndata:  \n\n", nil, Summary{Events: 7, Foreign: 7}},
		"U+0085 and U+2028":    {"data: {\"id\":\"a\u0085b\u2028c\vd\"}\n\n", []string{""}, Summary{Events: 1, Broken: 1}},
		"U+0085 and U+2028, 2": {"data: {\"id\":\"a\u0085b\u2028c\u2029d\"}\n\n", []string{"a\u0085b\u2028c\u2029d"}, Summary{Events: 1}},
		"broken":               {"data: {\"id\"}\n\ndata: {\"id\":2}\n\n", []string{"", "2"}, Summary{Events: 2, Broken: 1}},
		"ends too early":       {"data: {\"id\":1\n\ndata: {\"id\":2}\n\n", []string{"1", "2"}, Summary{Events: 2, Broken: 1}},
		"batch ends too early": {"data: [{\"id\":1},\n\ndata: {\"id\":2}\n\n", []string{"1", "", "2"}, Summary{Events: 2, Broken: 1}},
		"trailing data":        {"data: {\"id\":1} x\n\ndata: [{\"id\":2}] x\n\n", []string{"1", "2", ""}, Summary{Events: 2, Broken: 2}},
		"two values":           {"data: {\"id\":1}\ndata: {\"id\":2}\n\n", []string{"1"}, Summary{Events: 1, Broken: 1}},
		"mark in an event":     {"data: {\"id\":1,...\n\ndata: {\"id\":2}\n\n", []string{"1", "2"}, Summary{Events: 2}},
		"mark behind a value":  {"data: {\"id\":1}...\n\n", []string{"1"}, Summary{Events: 1}},
		"mark as data":         {"data: [truncated]\n\n", nil, Summary{Events: 1, Foreign: 1}},

		"unterminated":               {"data: {\"id\":1}\n", []string{"1"}, Summary{Events: 1, Unterminated: true, State: Cut}},
		"unterminated line":          {"data: {\"id\":1}", []string{"1"}, Summary{Events: 1, Unterminated: true, State: Cut}},
		"unterminated second":        {"data: {\"id\":1}\n\ndata: {\"id\":2}\n", []string{"1", "2"}, Summary{Events: 2, Unterminated: true, State: Cut}},
		"unterminated with id":       {"data: {\"id\":1}\n\nid: 7\n", []string{"1"}, Summary{Events: 1, Resumable: true, State: Cut}},
		"cut in the data":            {"data: {\"id\":1,\"met", []string{"1"}, Summary{Events: 1, Unterminated: true, State: Cut}},
		"cut between lines":          {"data: {\"id\":1,\n", []string{"1"}, Summary{Events: 1, Unterminated: true, State: Cut}},
		"cut in a name":              {"data: {\"id\":1}\n\ndat", []string{"1"}, Summary{Events: 1, State: Cut}},
		"cut in a comment":           {"data: {\"id\":1}\n\n: pi", []string{"1"}, Summary{Events: 1, State: Cut}},
		"cut in the sentinel":        {"data: {\"id\":1}\n\ndata: [DO", []string{"1"}, Summary{Events: 2, Foreign: 1, Unterminated: true, State: Cut}},
		"unterminated and malformed": {"data: {\"id\":1;", []string{"1"}, Summary{Events: 1, Broken: 1, Unterminated: true, State: Cut}},
		"marked":                     {"data: {\"id\":1}\n\n...[truncated]", []string{"1"}, Summary{Events: 1, State: Cut}},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, c.text, EventStream)
			var ids []string
			for i := range got.Messages {
				ids = append(ids, got.Messages[i].RequestID().String())
			}
			assert.Equal(t, c.ids, ids)
			assert.Equal(t, len(c.text), got.Summary.Offset)
			got.Summary.Offset = 0
			assert.Equal(t, c.want, got.Summary)
		})
	}
}

func TestMessagesOfAnEventStream(t *testing.T) {
	got := read(t, "id: 1\ndata: {\"id\":1}x\n\ndata: [1,{\"id\":2}\n\ndata: {\"id\":3,\n", EventStream).Messages
	require.Len(t, got, 5)
	type outline struct {
		State
		Cause
		Kind
		InBatch bool
		Offset  int
	}
	for i, want := range []outline{
		{Malformed, TrailingData, Object, false, 8},
		{Complete, NoCause, Number, true, 2},
		{Complete, NoCause, Object, true, 11},
		{Malformed, Syntax, Array, false, 11},
		{Cut, NoCause, Object, false, 8},
	} {
		m := got[i]
		assert.Equal(t, want, outline{m.State, m.Cause, m.Kind, m.InBatch, m.Offset}, i)
	}
}

// referenceEvent is an event as the reference parser sees it.
type referenceEvent struct {
	data  string
	ended bool
}

// referenceEvents interprets a stream as WHATWG HTML section 9.2.6 says, word for
// word, and adds the event that the end of the text leaves unfinished.
func referenceEvents(text string) (events []referenceEvent, resumable, unfinished bool) {
	text = strings.TrimPrefix(text, "\uFEFF")
	var lines []string
	line, partial := "", false
	for i := 0; i < len(text); i++ {
		partial = false
		switch text[i] {
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			lines, line = append(lines, line), ""
		case '\n':
			lines, line = append(lines, line), ""
		default:
			line += string([]byte{text[i]})
			partial = true
		}
	}
	if partial {
		lines = append(lines, line)
	}

	buffer, fields := "", false
	dispatch := func(ended bool) {
		if data := strings.TrimSuffix(buffer, "\n"); data != "" {
			events = append(events, referenceEvent{data, ended})
		}
		buffer, fields = "", false
	}
	for _, line := range lines {
		if line == "" {
			dispatch(true)
			continue
		}
		if line[0] == ':' {
			continue
		}
		fields = true
		name, value := line, ""
		if colon := strings.Index(line, ":"); colon >= 0 {
			name, value = line[:colon], line[colon+1:]
			if len(value) > 0 && value[0] == ' ' {
				value = value[1:]
			}
		}
		switch name {
		case "data":
			buffer += value + "\n"
		case "id":
			if !strings.Contains(value, "\x00") && value != "" {
				resumable = true
			}
		case "retry":
			if value != "" && strings.Trim(value, "0123456789") == "" {
				resumable = true
			}
		}
	}
	unfinished = partial || fields
	dispatch(false)
	return events, resumable, unfinished
}

// requireAgreesWithReference reads an event stream and compares what can be
// compared without another JSON-RPC reader.
func requireAgreesWithReference(t *testing.T, text string) {
	t.Helper()
	events, resumable, unfinished := referenceEvents(text)
	got := read(t, text, EventStream)

	foreign, broken, messages, known := 0, 0, 0, true
	for _, event := range events {
		var value any
		data := strings.TrimLeft(event.data, " \t\r\n")
		err := json.Unmarshal([]byte(data), &value)
		switch value := value.(type) {
		case map[string]any:
			messages++
		case []any:
			messages += len(value)
		default:
			switch {
			case err == nil || data == "" || isForeign(data, !event.ended):
				foreign++
			case !event.ended || strings.ContainsAny(data, ".…<([{-"):
				known = false // may be cut, by the end or by a mark
			default:
				broken++
			}
		}
	}
	if known {
		require.Equal(t, foreign, got.Summary.Foreign, "%q", text)
	}
	require.Equal(t, len(events), got.Summary.Events, "%q", text)
	require.Equal(t, resumable, got.Summary.Resumable, "%q", text)
	require.Equal(t, unfinished, got.Summary.State == Cut, "%q", text)
	require.Equal(t, len(events) > 0 && !events[len(events)-1].ended, got.Summary.Unterminated, "%q", text)
	if known && broken == 0 {
		require.Equal(t, 0, got.Summary.Broken, "%q", text)
		require.Len(t, got.Messages, messages, "%q", text)
		for _, m := range got.Messages {
			require.Equal(t, Complete, m.State, "%q", text)
		}
	}
	require.GreaterOrEqual(t, len(got.Messages), messages, "%q", text)
}

func eventStreamSeeds() []string {
	return []string{
		"", "\n", "\r", "\r\n", "data", "data:", "data: \n\n", ":\n\n", "\uFEFFdata: {}\n\n",
		"data: {\"id\":1}\n\n", "data: {\"id\":1}\r\rdata:[1,2]\r\n\r\n", "data: {\ndata:}\n\n", "id: 7\nretry: 3\ndata: [DONE]\n\n",
		"data\rdata:[", "event: message\nid: s-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n", "data: {}x\n\ndata: [\n\n", "data: {\"a\":...", "id: a\x00\nretry: x\ndata\ndata\n\n",
	}
}

func TestEventStreamsAgainstReference(t *testing.T) {
	for _, a := range eventStreamSeeds() {
		for _, b := range eventStreamSeeds() {
			for n := range len(b) + 1 {
				requireAgreesWithReference(t, a+b[:n])
			}
		}
	}
}

func FuzzEventStream(f *testing.F) {
	for _, seed := range eventStreamSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			t.Skip("the reference is quadratic")
		}
		requireAgreesWithReference(t, text)
	})
}
