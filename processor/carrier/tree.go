package carrier

import (
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// node is a JSON object of which some members are looked up. It is read once,
// however many paths lead through it, and keeps only members whose names stand
// in a path.
type node struct {
	names   map[string]bool
	raw     string
	read    bool
	members []*node
	name    string // of the member whose value this is
}

// tree returns the root of the JSON object raw.
func (c *Carrier) tree(raw string) *node { return &node{names: c.pathNames, raw: raw} }

// namesIn returns all names of members that paths may mean: their parts, and
// what several parts make with the dots between them.
func namesIn(paths ...string) map[string]bool {
	names := map[string]bool{}
	for _, path := range paths {
		parts := strings.Split(strings.ReplaceAll(path, "[*]", ""), ".")
		for from := range parts {
			for to := from + 1; to <= len(parts); to++ {
				names[strings.Join(parts[from:to], ".")] = true
			}
		}
	}
	return names
}

// find returns the JSON of the value at the dotted path, "" if there is none.
// Those of several elements of an array make a batch.
func (n *node) find(path string) string {
	if before, after, ok := strings.Cut(path, "[*]"); ok {
		return n.findEach(n.find(before), strings.TrimPrefix(after, "."))
	}
	if m := n.member(path); m != nil {
		return m.raw
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if m := n.member(path[:i]); m != nil {
			if value := m.find(path[i+1:]); value != "" {
				return value
			}
		}
	}
	return ""
}

func (n *node) findEach(array, path string) string {
	var values []string
	jsonrpc.Elements(array, func(element string) bool {
		value := element
		if path != "" {
			value = (&node{names: n.names, raw: element}).find(path)
		}
		if strings.HasPrefix(value, `"`) {
			value = jsonrpc.DecodeString(value)
		}
		if f, ok := jsonrpc.Sniff(value); ok && f == jsonrpc.JSON {
			values = append(values, value)
		}
		return true
	})
	if len(values) == 1 {
		return values[0]
	}
	return "[" + strings.Join(values, ",") + "]"
}

// member returns the last member called name.
func (n *node) member(name string) *node {
	if !n.read {
		n.read = true
		jsonrpc.Members(n.raw, func(name, value string, _ jsonrpc.Kind) bool {
			if n.names[name] {
				n.members = append(n.members, &node{names: n.names, raw: value, name: name})
			}
			return true
		})
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].name == name {
			return n.members[i]
		}
	}
	return nil
}
