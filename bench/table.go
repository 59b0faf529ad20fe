package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// target is what a row has to reach.
type target struct {
	set   bool
	least bool // the value must be at least this, else at most
	value float64
}

func atLeast(v float64) target { return target{true, true, v} }
func atMost(v float64) target  { return target{true, false, v} }

func (t target) met(v float64) bool {
	if t.least {
		return v >= t.value
	}
	return v <= t.value
}

// row is a line of the table.
type row struct {
	work   string
	of     string // what the value is: "times faster than ...", "of the cost of ..."
	value  spread
	unit   string // of the value, "" for a ratio
	ns     series // absolute cost of the work, if measured
	target target
}

// table is what one section prints.
type table struct {
	rows []row
}

func (t *table) add(r row) { t.rows = append(t.rows, r) }

// print writes the table as Markdown.
func (t *table) print(w io.Writer) {
	fmt.Fprintln(w, "| work | measured as | median | p10 .. p90 | target | met | CPU time |")
	fmt.Fprintln(w, "|---|---|---:|---:|---:|---|---:|")
	for _, r := range t.rows {
		v := r.value
		around := number(v.p10) + " .. " + number(v.p90)
		if v.p10 == v.p90 {
			around = ""
		}
		cpu := ""
		if len(r.ns) > 0 {
			cpu = duration(r.ns.spread().median)
		}
		goal, met := "", ""
		if r.target.set {
			goal = "≤ "
			if r.target.least {
				goal = "≥ "
			}
			goal += number(r.target.value)
			met = "yes"
			if !r.target.met(v.median) {
				met = "**no**"
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n",
			r.work, r.of, strings.TrimSpace(number(v.median)+" "+r.unit), around, goal, met, cpu)
	}
}

func (t *table) missed() int {
	n := 0
	for _, r := range t.rows {
		if r.target.set && !r.target.met(r.value.median) {
			n++
		}
	}
	return n
}

// number writes v with as many digits as mean something.
func number(v float64) string {
	digits := 2
	switch a := math.Abs(v); {
	case a >= 100 || a == math.Trunc(a):
		digits = 0
	case a >= 10:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

func duration(ns float64) string {
	switch {
	case ns >= 1e6:
		return number(ns/1e6) + " ms"
	case ns >= 1e3:
		return number(ns/1e3) + " µs"
	default:
		return number(ns) + " ns"
	}
}
