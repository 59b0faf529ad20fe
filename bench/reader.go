package main

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// sink keeps the compiler from leaving out work whose result nobody needs.
var sink int

// readAll reads text as the processor does.
func readAll(r *jsonrpc.Reader, text string, f jsonrpc.Format) jsonrpc.State {
	r.Reset(text, f)
	state := jsonrpc.Complete
	for r.Next() {
		m := r.Message()
		state = max(state, m.State)
		sink += int(m.Kind)
	}
	return max(state, r.Summary().State)
}

func reading(b body) candidate {
	r := new(jsonrpc.Reader)
	return candidate{run: func(n int) {
		for range n {
			sink += int(readAll(r, b.text, b.format))
		}
	}}
}

// validating is json.Valid or gjson.Valid over the data lines of b.
func validating[T string | []byte](b body, valid func(T) bool) candidate {
	var texts []T
	for _, line := range dataLines(b) {
		texts = append(texts, T(line))
	}
	return candidate{run: func(n int) {
		for range n {
			for _, text := range texts {
				if valid(text) {
					sink++
				}
			}
		}
	}}
}

// validTargets are what the prototype of the reader reached against json.Valid
// of Go 1.26. For bodies that are not listed there is no target.
var validTargets = map[string]target{
	"request 180 B":       atLeast(4.2),
	"result 500 B":        atLeast(5.4),
	"escapes 4 KiB":       atLeast(7.1),
	"nested 64 KiB":       atLeast(5.8),
	"tools/list 256 KiB":  atLeast(7.7),
	"image 1 MiB":         atLeast(31),
	"stream of 20 events": atLeast(4.0),
}

func measureReader(t *table, e effort) {
	var againstGJSON []row
	for _, b := range wholeTexts {
		m := measure(e, reading(b), validating(b, json.Valid), validating(b, gjson.Valid))
		t.add(row{work: b.name, of: "times faster than json.Valid", value: ratio(m[1], m[0]).spread(), ns: m[0], target: validTargets[b.name]})
		againstGJSON = append(againstGJSON, row{work: b.name, of: "times faster than gjson.Valid", value: ratio(m[2], m[0]).spread(), ns: m[0], target: atLeast(1.3)})
	}
	t.rows = append(t.rows, againstGJSON...)
	for _, percent := range []int{50, 90} {
		cuts, wholes := cutBodies(percent)
		for i, b := range cuts {
			cut, whole := reading(b), reading(wholes[i])
			cut.units, whole.units = len(b.text), len(wholes[i].text)
			m := measure(e, cut, whole, validating(b, gjson.Valid))
			m[2] = ratio(m[2], repeated(float64(len(b.text)), len(m[2])))
			t.add(row{work: b.name, of: "of the cost of a byte of the whole", value: ratio(m[0], m[1]).spread(), target: atMost(1.15)})
			t.add(row{work: b.name, of: "times faster than gjson.Valid", value: ratio(m[2], m[0]).spread(), target: atLeast(1.3)})
		}
	}
	for _, b := range notJSON {
		m := measure(e, reading(b), validating(b, gjson.Valid))
		t.add(row{work: b.name, of: "CPU time", value: m[0].spread(), unit: "ns", target: atMost(25)})
		t.add(row{work: b.name, of: "times faster than gjson.Valid", value: ratio(m[1], m[0]).spread(), ns: m[0]})
	}
	objects, bytes := readerAllocations()
	t.add(row{work: "all of these", of: "objects allocated per text", value: fixed(objects), target: atMost(0)})
	t.add(row{work: "all of these", of: "bytes allocated per text", value: fixed(bytes), target: atMost(0)})
	told, cuts := cutsTold()
	t.add(row{work: "every cut of 500 B, 1,000 cuts of each larger body", of: "share told from malformed", value: fixed(float64(told) / float64(cuts)), target: atLeast(1)})
}

func repeated(v float64, n int) series {
	s := make(series, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// allTexts are all bodies of the reader's section.
func allTexts() []body {
	all := append([]body{}, wholeTexts...)
	for _, percent := range []int{50, 90} {
		cuts, _ := cutBodies(percent)
		all = append(all, cuts...)
	}
	return append(all, notJSON...)
}

func readerAllocations() (objects, bytes float64) {
	for _, b := range allTexts() {
		// A hundred times, so that what the runtime itself allocates at some
		// time rounds to nothing.
		o, n := allocations(reading(b), 100)
		objects, bytes = max(objects, float64(int(o))), max(bytes, float64(int(n)))
	}
	return objects, bytes
}

// cutsTold counts the places at which a body can be cut, and at how many of them
// the reader says that it is cut.
func cutsTold() (told, cuts int) {
	r := new(jsonrpc.Reader)
	for _, b := range wholeTexts {
		if b.format == jsonrpc.EventStream {
			continue // between two events nothing tells a cut from an end
		}
		text := strings.TrimSpace(b.text)
		step := 1
		if len(text) > 1<<10 {
			step = len(text)/1000 + 1
		}
		for n := 1; n < len(text); n += step {
			cuts++
			if readAll(r, text[:n], b.format) == jsonrpc.Cut {
				told++
			}
		}
	}
	return told, cuts
}
