package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func showStatus(status int) string {
	if status < 0 {
		return "-"
	}
	return strconv.Itoa(status)
}

// printTable writes what the collector said of each call, in the order of the
// script, and then of the exchanges around them.
func printTable(out io.Writer, rows []row, rest []exchange) error {
	lines := [][]string{{"CALL", "HTTP", "LAYER", "OUTCOME", "CODE", "REASON"}}
	for _, r := range rows {
		if r.found {
			lines = append(lines, verdict(r.want.Name, r.got))
		} else {
			lines = append(lines, []string{r.want.Name, "?", "?", "?"})
		}
	}
	if len(rest) > 0 {
		lines = append(lines, nil, []string{"AROUND THEM"})
		for _, g := range groups(rest) {
			lines = append(lines, verdict(fmt.Sprintf("%d x %s", g.n, g.exchange.what()), g.exchange))
		}
	}
	return align(out, lines)
}

// align pads the cells of each column to the same width. The tabwriter package
// would not: it ends a column where a line has no more cells.
func align(out io.Writer, lines [][]string) error {
	var widths []int
	for _, cells := range lines {
		for i, cell := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, cells := range lines {
		var line strings.Builder
		for i, cell := range cells {
			fmt.Fprintf(&line, "%-*s", widths[i]+2, cell)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func verdict(name string, e exchange) []string {
	return []string{name, showStatus(e.status()), e.layer(), cmp.Or(e.outcome(), "(not MCP)"), e.code(), e.reason()}
}

type group struct {
	n        int
	exchange exchange
}

// groups counts exchanges that read the same, in the order in which they were
// first seen.
func groups(exchanges []exchange) []group {
	var all []group
	for _, e := range exchanges {
		same := func(g group) bool {
			return slices.Equal(verdict(g.exchange.what(), g.exchange), verdict(e.what(), e))
		}
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].n++
			continue
		}
		all = append(all, group{1, e})
	}
	return all
}

// summary compares what the verdicts tell with what HTTP alone would have told.
func summary(rows []row) string {
	var failed, visible int
	layers := map[string]int{}
	for _, r := range rows {
		if r.got.class() != "failure" {
			continue
		}
		failed++
		layers[r.got.layer()]++
		if status := r.got.status(); status < 0 || status >= 400 {
			visible++
		}
	}
	var parts []string
	for _, layer := range []string{"transport", "protocol", "interaction", "application"} {
		if n := layers[layer]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, layer))
		}
	}
	return fmt.Sprintf("%d of %d exchanges failed: %s. %d of the failures have a good HTTP status.", failed, len(rows), strings.Join(parts, ", "), failed-visible)
}
