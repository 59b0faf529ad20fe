package jsonrpc

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded are messages as SDKs put them on the wire, one a line.
//
//go:embed testdata/messages.ndjson
var recorded string

func recordedMessages() []string {
	return strings.Split(strings.TrimSpace(recorded), "\n")
}

// oddMessages are valid bodies that go where the recorded ones do not.
func oddMessages() []string {
	return []string{
		`{"jsonrpc":"2.0","id":"\u0061\"\\\/\b\f\n\r\t\ud83d\ude00 \ud800","method":"tools/call","params":{"n\u0061me":"a\\b","_meta":{"io.modelcontextprotocol\/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"x":{}}}}}}`,
		`{ "jsonrpc" : "2.0" , "id" : -1.5e+3 , "result" : { "content" : [ ] , "isError" : false , "structuredContent" : { } } } `,
		"{\n  \"jsonrpc\": \"2.0\",\r\n\t\"id\": 9007199254740993,\n  \"error\": {\n    \"code\": -32603.0,\n    \"message\": \"工具调用失败 café \U0001F600\",\n    \"data\": null\n  }\n}\n",
		`{"jsonrpc":"2.0","id":null,"id":7,"result":{"content":[],"content":{}},"result":{"isError":true,"_meta":{}},"error":null}`,
		`{"params":{"name":1,"arguments":[[[[{"a":[{}]}]]],true,false,null,0,-0,0.5,1e5,1E-5,123456789.123456789],"_meta":[]},"params":{"_meta":{"traceparent":"00-1-2-01","idempotency-key":"k"}}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2.5},3,"four",[5],null,{}]`,
		`{"":"","a long name that is not tracked and has more than thirty-two bytes":"a long value that has more than thirty-two bytes as well","jsonrpc":"2.0"}`,
	}
}

// reading is what a Reader said about a text.
type reading struct {
	Messages []Message
	Summary  Summary
}

// used is a Reader that has read other texts before, each time.
var used Reader

// read reads a text with a new Reader and twice with one that is used, and fails
// the test unless all say the same.
func read(t testing.TB, text string, f Format) reading {
	t.Helper()
	var fresh Reader
	want := drain(&fresh, text, f)
	for range 2 {
		if got := drain(&used, text, f); got.Summary != want.Summary || !slices.Equal(got.Messages, want.Messages) {
			require.Equal(t, want, got, "something was carried over from another text")
		}
		drain(&used, `[{"jsonrpc":"2.0","id":1,"params":{"name":"x","_meta":{"traceparent":"t"}},"result":{"tools":[]},"error":{"code":1}},{"a":`, JSON)
	}
	return want
}

func drain(r *Reader, text string, f Format) reading {
	var got reading
	r.Reset(text, f)
	for r.Next() {
		got.Messages = append(got.Messages, *r.Message())
	}
	if r.Next() {
		panic("Next returned true after false")
	}
	got.Summary = r.Summary()
	return got
}

// readOne reads a text that is one JSON message.
func readOne(t testing.TB, text string) *Message {
	t.Helper()
	got := read(t, text, JSON)
	require.Len(t, got.Messages, 1, "messages in %q", text)
	return &got.Messages[0]
}

// readComplete is readOne for a text that has to be Complete.
func readComplete(t testing.TB, text string) *Message {
	t.Helper()
	m := readOne(t, text)
	require.Equal(t, Complete, m.State, "state of %q, stopped at %d", text, m.Offset)
	return m
}

// member is one tracked member by its path in the text.
type member struct {
	path  []string
	value func(*Message) Value
}

// members are all of them. They are found by the names of the Go fields, so that
// none is forgotten.
var members = findMembers()

func findMembers() (found []member) {
	for group, names := range map[string][]string{"": nil, "Params": {"params"}, "Result": {"result"}, "Error": {"error"}} {
		of := reflect.TypeFor[Message]()
		var index []int
		if group != "" {
			field, _ := of.FieldByName(group)
			of, index = field.Type, field.Index
		}
		for field := range of.Fields() {
			if !field.IsExported() || field.Type != reflect.TypeFor[Value]() {
				continue
			}
			index := append(slices.Clone(index), field.Index...)
			found = append(found, member{
				path: append(slices.Clone(names), memberPath(field.Name)...),
				value: func(m *Message) Value {
					return *reflect.ValueOf(m).Elem().FieldByIndex(index).Addr().Interface().(*Value)
				},
			})
		}
	}
	return found
}

// memberPath returns the path that a Go field is read from.
func memberPath(field string) []string {
	const prefix = "io.modelcontextprotocol/"
	switch field {
	case "JSONRPC", "ID", "URI":
		return []string{strings.ToLower(field)}
	case "ProcessID":
		return []string{"processId"}
	case "RootURI":
		return []string{"rootUri"}
	case "TaskID":
		return []string{"taskId"}
	case "RequestID":
		return []string{"requestId"}
	case "ParamsValue", "ResultValue", "ErrorValue":
		return memberPath(strings.TrimSuffix(field, "Value"))
	case "InlineResult", "InlineError":
		return memberPath(strings.TrimPrefix(field, "Inline"))
	case "Meta":
		return []string{"_meta"}
	case "MetaProtocolVersion":
		return []string{"_meta", prefix + "protocolVersion"}
	case "MetaClientInfo":
		return []string{"_meta", prefix + "clientInfo"}
	case "MetaExtensions":
		return []string{"_meta", prefix + "clientCapabilities", "extensions"}
	case "MetaSubscriptionID":
		return []string{"_meta", prefix + "subscriptionId"}
	case "MetaTraceParent":
		return []string{"_meta", "traceparent"}
	case "MetaIdempotencyKey":
		return []string{"_meta", "idempotency-key"}
	}
	return []string{strings.ToLower(field[:1]) + field[1:]}
}

// build writes the JSON text of an object nested along path around value.
func build(path []string, value string) string {
	for i := len(path) - 1; i >= 0; i-- {
		value = fmt.Sprintf("{%q:%s}", path[i], value)
	}
	return value
}
