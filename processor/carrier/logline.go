package carrier

import (
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

// The limits of the search for JSON in a line of text: what stands before it
// may have braces of its own. Together they keep the search linear.
const (
	maxCandidates = 32
	maxReread     = 2 // times the length of the text
)

// findLine looks for JSON-RPC messages in a text that is more than JSON: lines
// of a log with something before and behind. positions says whether places in
// text are places in the value that is on the record.
func (it *Item) findLine(text string, positions bool, c *Carrier) bool {
	s := lineSearch{item: it, text: text, budget: maxReread*len(text) + 1<<10, mark: -1}
	var start, end int
	for {
		var ok bool
		if start, end, ok = s.next(end); !ok {
			return false
		}
		if s.wrapper == "" {
			break
		}
		if c.findMembers(it, s.wrapper) {
			it.readPrefix(text[:start])
			it.placed(positions, start, end)
			return true
		}
		s.wrapper = "" // an object of the line's own
	}
	it.readPrefix(text[:start])
	it.found.messages = text[start:end]
	last := end
	if more := s.more(end); len(more) > 0 {
		// Several lines in one record: what stands between is left out.
		var all strings.Builder
		all.WriteString(it.found.messages)
		for _, place := range more {
			all.WriteByte('\n')
			all.WriteString(text[place[0]:place[1]])
			last = place[1]
		}
		it.found.messages = all.String()
	}
	if s.cut {
		it.found.capture = verdict.Cut
		last = len(text)
	}
	it.placed(positions, start, last)
	return true
}

// placed notes where in the value on the record the messages are, if that can
// be said.
func (it *Item) placed(positions bool, start, end int) {
	if positions {
		it.Text.Start, it.Text.End = start, end
	}
}

// lineSearch searches one text.
type lineSearch struct {
	item   *Item
	text   string
	budget int
	cut    bool // the last message goes on beyond what was recorded
	// wrapper is an object that has messages in it and is none itself.
	wrapper string
	mark    int // where the next middleMark is that was looked for
}

// middleMark is how clients tell that they cut the middle out of a message.
const middleMark = "chars truncated]"

// next returns the place of the next JSON-RPC message from i on. It stops at
// the first object that has one as a direct member, and leaves it as wrapper.
func (s *lineSearch) next(i int) (start, end int, ok bool) {
	for candidates := 0; candidates < maxCandidates && s.budget > 0; candidates++ {
		word := strings.Index(s.text[i:], sweepWord)
		if word < 0 {
			return 0, 0, false
		}
		brace := strings.IndexByte(s.text[i:], '{')
		if brace < 0 || brace > word {
			// The word stands in prose, or in what was skipped.
			i += word + len(sweepWord)
			continue
		}
		at := i + brace
		if j := len(strings.TrimRight(s.text[:at], " \t\r\n")); j > 0 && s.text[j-1] == '[' && j-1 >= i {
			if n, found := s.read(j - 1); found {
				return j - 1, j - 1 + n, true
			}
		}
		n, found := s.read(at)
		if found {
			return at, at + n, true
		}
		i = at + max(n, 1)
	}
	return 0, 0, false
}

// more returns the places of the messages behind the first one, which ended at
// end.
func (s *lineSearch) more(end int) (places [][2]int) {
	for !s.cut {
		start, next, ok := s.next(end)
		if !ok || s.wrapper != "" {
			s.wrapper = ""
			break
		}
		places = append(places, [2]int{start, next})
		end = next
	}
	return places
}

// read reads the value at i. It returns how long it is and whether it is a
// JSON-RPC message, a batch, or an object with messages in it.
func (s *lineSearch) read(i int) (n int, found bool) {
	n, found, broken := s.readText(s.text[i:])
	if !broken {
		return n, found
	}
	if s.mark < i {
		s.mark = len(s.text)
		if at := strings.Index(s.text[i:], middleMark); at >= 0 {
			s.mark = i + at
		}
	}
	if s.mark == len(s.text) {
		return n, found
	}
	// What stands behind the mark goes on somewhere else in the message.
	n, found, _ = s.readText(s.text[i:s.mark])
	return n, found
}

// readText is read for the beginning of text, and reports what is malformed.
func (s *lineSearch) readText(text string) (n int, found, broken bool) {
	r := s.item.reader
	r.Reset(text, jsonrpc.Values)
	for r.Next() {
		m := r.Message()
		s.budget -= m.Offset
		switch {
		case m.State == jsonrpc.Malformed || m.State == jsonrpc.TooDeep || m.Kind != jsonrpc.Object:
			return 0, found, !found
		case m.JSONRPC.Present():
			found = true
			n = m.Offset
			s.cut = m.State == jsonrpc.Cut
			if s.cut {
				return len(text), true, false
			}
		case m.State == jsonrpc.Cut:
			return len(text), false, false
		case strings.Contains(text[:m.Offset], sweepWord):
			if !found {
				s.wrapper = text[:m.Offset]
			}
			return m.Offset, true, false
		default:
			return m.Offset, found, false
		}
		if !m.InBatch {
			// A message cannot end before the object that it is in does: its
			// middle was cut out, and what is left happens to close.
			rest := strings.TrimLeft(text[n:], " \t\r\n")
			return n, true, strings.HasPrefix(rest, "}") || strings.HasPrefix(rest, "]}")
		}
	}
	// The end of the array.
	return n + max(strings.IndexByte(text[n:], ']')+1, 0), found, false
}

// What clients and proxies of MCP write before a message, and the direction
// that it tells: Claude Desktop, VS Code in both its generations,
// mcp-server-logger, supergateway, mcp-use, the C# SDK.
var prefixes = []struct {
	text     string
	sign     bool // nobody but MCP software writes it
	toServer bool
	toClient bool
}{
	{"Message from client:", true, true, false},
	{"Message from server:", true, false, true},
	{"[Client Says]", true, true, false},
	{"[Server Says]", true, false, true},
	{"[editor -> server]", true, true, false},
	{"[server -> editor]", true, false, true},
	{"[STDIN]", false, true, false},
	{"[STDOUT]", false, false, true},
	{"[supergateway]", true, false, false},
	{"[MCP]", true, false, false},
	{"→ Child", false, true, false},
	{"Child →", false, false, true},
	{"transport received message", true, false, false},
	{"transport sending message", true, false, false},
}

// readPrefix reads what stands before a message in a line: whether it is a
// sign of MCP, the direction, and what tells several servers in one log apart.
func (it *Item) readPrefix(prefix string) {
	// Of several lines only the last belongs to the message.
	if line := strings.LastIndexByte(strings.TrimRight(prefix, " \t\r\n"), '\n'); line >= 0 {
		prefix = prefix[line+1:]
	}
	const longest = 256
	prefix = prefix[max(0, len(prefix)-longest):]
	for i := range prefixes {
		p := &prefixes[i]
		if !strings.Contains(prefix, p.text) {
			continue
		}
		ex := &it.Exchange
		ex.LogPrefix = ex.LogPrefix || p.sign
		it.ToServer = it.ToServer || p.toServer
		it.ToClient = it.ToClient || p.toClient
	}
	it.Stream = streamLabel(prefix)
}

// streamLabel returns the first word in brackets that is neither a level nor a
// direction: the name of the server whose log it is.
func streamLabel(prefix string) string {
	for {
		_, rest, ok := strings.Cut(prefix, "[")
		if !ok {
			return ""
		}
		label, after, ok := strings.Cut(rest, "]")
		if !ok {
			return ""
		}
		prefix = after
		switch strings.ToLower(label) {
		case "trace", "debug", "info", "warn", "warning", "error", "client says", "server says",
			"editor -> server", "server -> editor", "stdin", "stdout", "stderr", "mcp", "supergateway":
			continue
		}
		return label
	}
}
