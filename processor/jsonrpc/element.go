package jsonrpc

// IDOf returns the member v read as an id, such as params.requestId of
// notifications/cancelled.
func (m *Message) IDOf(v Value) ID { return m.id(v) }

// FirstElement returns the JSON text of the first element of the array raw, ""
// if there is none.
func FirstElement(raw string) string {
	if raw == "" || raw[0] != '[' {
		return ""
	}
	start := skipSpace(raw, 1)
	if start >= len(raw) || raw[start] == ']' {
		return ""
	}
	end, _ := endOfValue(raw, start)
	return raw[start:end]
}
