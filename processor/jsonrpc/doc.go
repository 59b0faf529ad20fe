// Package jsonrpc reads the JSON-RPC messages of the Model Context Protocol out of
// captured text: bodies of HTTP requests and responses, event streams, lines of
// logs.
//
// It answers three questions about a text: is it JSON as RFC 8259 defines it, or
// was it cut, by whom ever recorded it; which messages are in it; and which of the
// members that decide how an exchange ended do they have, of which kind and where.
// What these members mean is not its business.
//
// Each byte is read once. Members that are not tracked are checked and passed over.
// Nothing is copied, so a Message is only as good as the text that it was read
// from, and nothing is allocated but where the documentation says so.
//
// Where RFC 8259 leaves room, this reader does as JSON.parse does on a body that
// was decoded as UTF-8, since most peers do: one byte-order mark is skipped, bytes
// that are not UTF-8 are noted and read over, escapes of lone surrogates are
// accepted, and of members with the same name the last one counts, which is noted
// for those that are tracked. Names are case-sensitive and compared as they decode.
//
// Files: reader.go goes from message to message, eventstream.go from event to
// event; object.go reads what is tracked, members.go names it; scanner.go,
// strings.go and numbers.go know the grammar, truncation.go what recorders write
// where they cut; message.go, id.go, lookup.go, elements.go and digest.go are what
// to do with what was found.
package jsonrpc
