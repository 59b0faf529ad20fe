package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// check makes sure that all candidates say the same of what they are given: to be
// fast is worth nothing if the answer is another one. It returns what was agreed.
func check() (agreed []string, err error) {
	var errs []error
	for _, b := range allTexts() {
		text, err := checkText(b)
		agreed, errs = append(agreed, text), append(errs, err)
	}
	for _, x := range mcpExchanges {
		text, err := checkSpans(x.body)
		agreed, errs = append(agreed, text), append(errs, err)
	}
	text, err := checkPassedOver()
	agreed, errs = append(agreed, text), append(errs, err)
	return agreed, errors.Join(errs...)
}

// checkText reads b with all readers.
func checkText(b body) (string, error) {
	std, other := true, true
	for _, line := range dataLines(b) {
		std, other = std && json.Valid([]byte(line)), other && gjson.Valid(line)
	}
	state := readAll(new(jsonrpc.Reader), b.text, b.format)
	what := map[jsonrpc.State]string{jsonrpc.Complete: "complete", jsonrpc.Cut: "cut", jsonrpc.Malformed: "malformed", jsonrpc.TooDeep: "too deep"}[state]
	if valid := state == jsonrpc.Complete; std != valid || other != valid {
		return "", fmt.Errorf("%s: %s, json.Valid says %t, gjson.Valid %t", b.name, what, std, other)
	}
	if isCut := strings.Contains(b.name, "cut"); isCut != (state == jsonrpc.Cut) {
		return "", fmt.Errorf("%s: %s", b.name, what)
	}
	return fmt.Sprintf("%-32s %s", b.name, what), nil
}

// compared are the attributes that both processors write.
var compared = []string{"mcp.outcome", "mcp.layer", "mcp.method.name", "gen_ai.tool.name", "jsonrpc.request.id", "jsonrpc.error.code"}

// checkSpans sends the exchange through both processors.
func checkSpans(x body) (string, error) {
	batch := spanBatch("/mcp", x.request, x.text)
	mine := saidOf(batch, mcpTraces)
	theirs := saidOf(batch, func(next consumer.Traces) consumer.Traces { return ottlTraces(ottlSettings(0), next) })
	if mine != theirs {
		return "", fmt.Errorf("%s: mcp says %s, OTTL %s", x.name, mine, theirs)
	}
	return fmt.Sprintf("%-32s %s", x.name, mine), nil
}

// saidOf returns what a processor writes on the spans of batch, which must be the
// same on each.
func saidOf(batch ptrace.Traces, build func(consumer.Traces) consumer.Traces) string {
	sunk := new(consumertest.TracesSink)
	td := ptrace.NewTraces()
	batch.CopyTo(td)
	must(0, build(sunk).ConsumeTraces(context.Background(), td))
	var all []string
	eachSpan(sunk.AllTraces()[0], func(span ptrace.Span) {
		var words []string
		for _, key := range compared {
			if v, ok := span.Attributes().Get(key); ok {
				words = append(words, v.AsString())
			}
		}
		said := strings.Join(words, " ")
		if len(all) == 0 || all[len(all)-1] != said {
			all = append(all, said)
		}
	})
	return strings.Join(all, " and then ")
}

// checkPassedOver makes sure that nobody writes on what is not MCP.
func checkPassedOver() (string, error) {
	for _, response := range []string{"", foreign2k.text} {
		batch := spanBatch("/api/orders", "", response)
		for name, build := range map[string]func(consumer.Traces) consumer.Traces{
			"mcp":  mcpTraces,
			"OTTL": func(next consumer.Traces) consumer.Traces { return ottlTraces(ottlSettings(0), next) },
		} {
			if said := saidOf(batch, build); said != "" {
				return "", fmt.Errorf("not MCP: %s says %s", name, said)
			}
		}
	}
	return fmt.Sprintf("%-32s %s", "not MCP", "nothing written"), nil
}
