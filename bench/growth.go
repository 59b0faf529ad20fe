package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// growthTotal is how much is read at each size, as different texts: one short
// text again and again would be learned by heart by the processor's predictors.
const growthTotal = 4 << 20

// measureGrowth reads the same number of bytes as texts of growing size.
func measureGrowth(t *table, e effort) {
	e.rounds = max(5, e.rounds/2)
	sizes := []int{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
	reader := new(jsonrpc.Reader)
	candidates := make([]candidate, len(sizes))
	r := rand.New(rand.NewPCG(3, 4))
	for i, size := range sizes {
		var texts []string
		total := 0
		for total < growthTotal-size/2 {
			text := nestedFrom(r, "19", size)
			texts = append(texts, text)
			total += len(text)
		}
		candidates[i] = candidate{units: total, times: 1, run: func(n int) {
			for range n {
				for _, text := range texts {
					sink += int(readAll(reader, text, jsonrpc.JSON))
				}
			}
		}}
	}
	m := measure(e, candidates...)
	const base = 3 // 64 KiB
	for i, size := range sizes {
		r := row{work: fmt.Sprintf("nested %d KiB", size>>10), of: "of the cost of a byte at 64 KiB", value: ratio(m[i], m[base]).spread(), target: atMost(1.15)}
		if i == base {
			r.target = target{}
		}
		t.add(r)
		t.add(row{work: r.work, of: "CPU time per byte", value: m[i].spread(), unit: "ns"})
	}
	_, bytes := allocations(candidate{run: candidates[len(sizes)-1].run}, 3)
	t.add(row{work: "nested 4 MiB", of: "bytes allocated per text", value: fixed(float64(int(bytes))), target: atMost(0)})

	measureBombs(t, e)
}

// measureBombs reads texts that nest as deep as they can.
func measureBombs(t *table, e effort) {
	reader := new(jsonrpc.Reader)
	read := func(text string) candidate {
		return candidate{units: len(text), run: func(n int) {
			for range n {
				sink += int(readAll(reader, text, jsonrpc.JSON))
			}
		}}
	}
	// Deep, but allowed: as many of these as there is room for.
	deepArrays := func(size int) string {
		const depth = jsonrpc.MaxDepth - 10
		one := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		return `{"a":[` + strings.TrimSuffix(strings.Repeat(one+",", size/len(one)), ",") + `]}`
	}
	small, large := deepArrays(64<<10), deepArrays(4<<20)
	m := measure(e, read(small), read(large))
	t.add(row{work: "arrays nested 9,990 deep, 4 MiB", of: "of the cost of a byte at 64 KiB", value: ratio(m[1], m[0]).spread(), target: atMost(1.15)})

	// Deeper than allowed: refused where the limit is, however long it goes on.
	for _, bomb := range []struct{ name, open string }{{"[[[[...", "["}, {`{"a":{"a":...`, `{"a":`}} {
		shortBomb, longBomb := strings.Repeat(bomb.open, 20_000), strings.Repeat(bomb.open, 4_000_000)
		short, long := read(shortBomb), read(longBomb)
		short.units, long.units = 1, 1
		m := measure(e, short, long)
		t.add(row{work: bomb.name + " 4,000,000 levels", of: "of the cost of 20,000 levels", value: ratio(m[1], m[0]).spread(), ns: m[1], target: atMost(1.15)})
		t.add(row{work: bomb.name + " 4,000,000 levels", of: "growth of the stack", value: fixed(stackGrowth(longBomb)), unit: "B", target: atMost(0)})
	}
}

// stackGrowth returns by how much the stacks grow while text is read by a
// goroutine of its own.
func stackGrowth(text string) float64 {
	reader := new(jsonrpc.Reader)
	texts, done := make(chan string), make(chan struct{})
	defer close(texts)
	go func() {
		for text := range texts {
			readAll(reader, text, jsonrpc.JSON)
			done <- struct{}{}
		}
	}()
	read := func(text string) {
		texts <- text
		<-done
	}
	before, after := memory(func() { read(`{"a":[1]}`) }, func() { read(text) })
	return float64(after.StackInuse) - float64(before.StackInuse)
}
