// Command bench measures the processor and its parts against what a user could
// put in their place, and against what cannot be avoided. It prints one table of
// ratios with their spread and says which targets are met.
//
//	go run .              everything, some minutes
//	go run . -short       fewer rounds
//	go run . -only judged one section
//	go run . -check       only that all candidates agree on what they are given
//
// See docs/performance.md for the method.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// section is a part of the table.
type section struct {
	name    string
	title   string
	measure func(*table, effort)
}

var sections = []section{
	{"reader", "Reader alone", measureReader},
	{"growth", "Cost as the body grows", measureGrowth},
	{"passed", "Spans that are not MCP, through the processor", measurePassedOver},
	{"judged", "MCP spans, through the processor", measureJudged},
	{"logs", "Log records through the processor", measureLogs},
	{"retry", "Retry origin", measureRetry},
}

func main() {
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	short := flag.Bool("short", false, "fewer rounds, for a first look")
	only := flag.String("only", "", "comma separated sections: "+strings.Join(names, ", "))
	checkOnly := flag.Bool("check", false, "only check that the candidates agree")
	flag.Parse()
	wanted := names
	if *only != "" {
		wanted = strings.Split(*only, ",")
	}
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			fmt.Fprintf(os.Stderr, "bench: no section %q; there are %s\n", w, strings.Join(names, ", "))
			os.Exit(2)
		}
	}

	agreed, err := check()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: the candidates do not agree, so nothing is measured:\n%v\n", err)
		os.Exit(1)
	}
	if *checkOnly {
		fmt.Println(strings.Join(agreed, "\n"))
		return
	}

	start := time.Now()
	fmt.Println(describeMachine(start))
	e := fullEffort
	if *short {
		e = shortEffort
	}
	missed := 0
	for _, s := range sections {
		if !slices.Contains(wanted, s.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s ...\n", s.title)
		var t table
		s.measure(&t, e)
		if len(t.rows) == 0 {
			continue
		}
		fmt.Printf("\n### %s\n\n", s.title)
		t.print(os.Stdout)
		missed += t.missed()
	}
	runtime.KeepAlive(sink)
	fmt.Printf("\nTargets missed: %d. %d rounds, %s.\n", missed, e.rounds, time.Since(start).Round(time.Second))
}
