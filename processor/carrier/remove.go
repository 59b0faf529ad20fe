package carrier

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Removed stands in place of a body that was taken out of a log record, where
// the place cannot be left empty.
const Removed = "[MCP body removed]"

// RemoveFromSpan takes all bodies out of span.
func (c *Carrier) RemoveFromSpan(span ptrace.Span) {
	c.removeAttributes(span.Attributes())
	for _, event := range span.Events().All() {
		c.removeAttributes(event.Attributes())
	}
}

// RemoveFromRecord takes all bodies out of record, in which it was found.
func (c *Carrier) RemoveFromRecord(record plog.LogRecord, it *Item) {
	c.removeAttributes(record.Attributes())
	place := &it.Text
	switch {
	case place.Attribute != "":
		if value, ok := record.Attributes().Get(place.Attribute); ok {
			it.remove(value)
		}
	case place.OnBody:
		it.remove(record.Body())
	}
	// Recorders often keep the same message in a second place.
	c.RemoveUnread(record)
}

// RemoveUnread takes out of record everything that may hold a message, read or
// not.
func (c *Carrier) RemoveUnread(record plog.LogRecord) {
	c.removeAttributes(record.Attributes())
	record.Attributes().RemoveIf(func(key string, value pcommon.Value) bool {
		n := c.logTable.find(key)
		return n != nil && n.field == message && mentionsAnywhere(value, 0)
	})
	scrub(record.Body())
}

// scrub replaces in v each text and each map that mentions a message.
func scrub(v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeStr, pcommon.ValueTypeBytes:
		if mentionsAnywhere(v, 0) {
			v.SetStr(Removed)
		}
	case pcommon.ValueTypeMap:
		if _, ok := v.Map().Get(sweepWord); ok {
			v.SetStr(Removed)
			return
		}
		for _, inner := range v.Map().All() {
			scrub(inner)
		}
	case pcommon.ValueTypeSlice:
		for _, inner := range v.Slice().All() {
			scrub(inner)
		}
	}
}

func (c *Carrier) removeAttributes(attributes pcommon.Map) {
	attributes.RemoveIf(func(key string, _ pcommon.Value) bool { return c.IsBody(key) })
}

// remove takes the messages out of the text or structure v. Of what cannot be
// taken out by itself nothing is left.
func (it *Item) remove(v pcommon.Value) {
	place, f := &it.Text, &it.found
	switch {
	case place.Members[0] == rawMember || place.Members[1] == rawMember:
		// What is parsed of it stands beside the raw message.
	case place.Structured:
		done := false
		for _, path := range place.Members {
			if path != "" && removeMember(v, path) {
				done = true
			}
		}
		if done {
			return
		}
	case f.both && v.Type() == pcommon.ValueTypeStr:
		text, done := v.Str(), false
		for _, raw := range [...]string{f.request, f.response} {
			if raw != "" && strings.Contains(text, raw) {
				text, done = strings.Replace(text, raw, `"`+Removed+`"`, 1), true
			}
		}
		if done && !strings.Contains(text, sweepWord) {
			v.SetStr(text)
			return
		}
	case place.End > place.Start && v.Type() == pcommon.ValueTypeStr && place.End <= len(v.Str()):
		text := v.Str()
		rest := text[place.End:]
		if strings.Contains(rest, sweepWord) {
			rest = ""
		}
		v.SetStr(text[:place.Start] + Removed + rest)
		return
	}
	v.SetStr(Removed)
}

// rawMember is the member in which MCPSpy keeps a message, beside its parts.
const rawMember = "raw"

// removeMember replaces the value at the dotted path in v, and reports whether
// there was one.
func removeMember(v pcommon.Value, path string) bool {
	if v.Type() != pcommon.ValueTypeMap {
		return false
	}
	if before, after, ok := strings.Cut(path, "[*]"); ok {
		done := false
		visitMember(v, before, func(array pcommon.Value) {
			if array.Type() != pcommon.ValueTypeSlice {
				return
			}
			for _, element := range array.Slice().All() {
				done = removeMember(element, strings.TrimPrefix(after, ".")) || done
			}
		})
		return done
	}
	done := false
	visitMember(v, path, func(value pcommon.Value) {
		value.SetStr(Removed)
		done = true
	})
	return done
}

// visitMember calls visit with the value at the dotted path in v, nested or
// with the dots in the names.
func visitMember(v pcommon.Value, path string, visit func(pcommon.Value)) {
	if v.Type() != pcommon.ValueTypeMap {
		return
	}
	if value, ok := v.Map().Get(path); ok {
		visit(value)
		return
	}
	for i := range len(path) {
		if path[i] == '.' {
			if inner, ok := v.Map().Get(path[:i]); ok {
				visitMember(inner, path[i+1:], visit)
			}
		}
	}
}
