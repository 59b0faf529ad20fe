package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// exchange is what the collector wrote about one HTTP exchange.
type exchange struct {
	TraceID string
	Start   uint64
	Attrs   map[string]string
}

func (e exchange) status() int {
	n, err := strconv.Atoi(e.Attrs["http.response.status_code"])
	if err != nil {
		return -1
	}
	return n
}

func (e exchange) layer() string   { return e.Attrs["mcp.layer"] }
func (e exchange) outcome() string { return e.Attrs["mcp.outcome"] }
func (e exchange) class() string   { return e.Attrs["mcp.outcome_class"] }
func (e exchange) reason() string  { return e.Attrs["mcp.outcome_reason"] }
func (e exchange) code() string    { return e.Attrs["jsonrpc.error.code"] }

// what names the exchange: the MCP method, or the HTTP method where there is
// none.
func (e exchange) what() string {
	return cmp.Or(e.Attrs["mcp.method.name"], e.Attrs["http.request.method"], "?")
}

type otlpAttributes []struct {
	Key   string
	Value struct {
		StringValue *string
		IntValue    json.Number
		BoolValue   *bool
	}
}

// readExchanges reads the file exporter's output: one OTLP JSON message a line.
// A last line that is still being written is left for the next time.
func readExchanges(path string) ([]exchange, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	var all []exchange
	for line := range bytes.Lines(data) {
		var message struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct {
						TraceID           string
						StartTimeUnixNano string
						Attributes        otlpAttributes
					}
				}
			}
		}
		if err := json.Unmarshal(line, &message); err != nil {
			return nil, fmt.Errorf("reading what the collector wrote: %w", err)
		}
		for _, rs := range message.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, span := range ss.Spans {
					start, _ := strconv.ParseUint(span.StartTimeUnixNano, 10, 64)
					e := exchange{TraceID: strings.ToLower(span.TraceID), Start: start, Attrs: map[string]string{}}
					for _, a := range span.Attributes {
						switch v := a.Value; {
						case v.StringValue != nil:
							e.Attrs[a.Key] = *v.StringValue
						case v.IntValue != "":
							e.Attrs[a.Key] = v.IntValue.String()
						case v.BoolValue != nil:
							e.Attrs[a.Key] = strconv.FormatBool(*v.BoolValue)
						}
					}
					all = append(all, e)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b exchange) int { return cmp.Compare(a.Start, b.Start) })
	return all, nil
}

// row is a line of the table: an expectation and the exchange that it is about.
type row struct {
	want  want
	found bool
	got   exchange
}

// join gives each step its exchanges, in the order in which they began. What
// belongs to no step, or comes on top of what a step expects, is the rest.
func join(steps []step, exchanges []exchange) (rows []row, rest []exchange) {
	byTrace := map[string][]exchange{}
	for _, e := range exchanges {
		byTrace[e.TraceID] = append(byTrace[e.TraceID], e)
	}
	for _, s := range steps {
		own := byTrace[s.trace.traceID]
		delete(byTrace, s.trace.traceID)
		for i, w := range s.wants {
			r := row{want: w}
			if i < len(own) {
				r.found, r.got = true, own[i]
			}
			rows = append(rows, r)
		}
		rest = append(rest, own[min(len(own), len(s.wants)):]...)
	}
	for _, own := range byTrace {
		rest = append(rest, own...)
	}
	slices.SortFunc(rest, func(a, b exchange) int { return cmp.Compare(a.Start, b.Start) })
	return rows, rest
}

// problem says in what the collector's verdict is not the expected one.
func (r row) problem() string {
	if !r.found {
		return "the collector wrote nothing about it"
	}
	var wrong []string
	check := func(name, got, want string) {
		if want != "" && got != want {
			wrong = append(wrong, fmt.Sprintf("%s is %s, expected %s", name, cmp.Or(got, "missing"), want))
		}
	}
	if r.want.HTTP != 0 {
		check("HTTP status", showStatus(r.got.status()), showStatus(r.want.HTTP))
	}
	check("layer", r.got.layer(), r.want.Layer)
	check("outcome", r.got.outcome(), r.want.Outcome)
	check("code", r.got.code(), r.want.Code)
	check("reason", r.got.reason(), r.want.Reason)
	return strings.Join(wrong, "; ")
}
