package e2e

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// The numbers that OTLP has for these.
const (
	kindInternal = 1
	kindServer   = 2
	kindClient   = 3
	statusError  = 2
)

// object is a JSON object, its numbers as they are written.
type object = map[string]any

// number is the attribute that tells the items of one case apart.
const number = "e2e.n"

// request returns the signal that a case is about and its OTLP/HTTP request in
// JSON, with the number of items in it.
func request(id string, input object) (signal string, body object, items int) {
	if logs := logsOf(input); logs != nil {
		var records []any
		for i, log := range logs {
			records = append(records, logRecord(log, i))
		}
		return "logs", object{"resourceLogs": []any{object{
			"resource":  resource(id + "/"),
			"scopeLogs": []any{object{"logRecords": records}},
		}}}, len(records)
	}
	services := map[string][]any{}
	for i, ex := range exchangesOf(input) {
		context := part(ex, "span_context")
		span := exchangeSpan(ex, i)
		if ex["request"] == nil && ex["response"] == nil {
			span = plainSpan(ex)
		}
		span["attributes"] = append(span["attributes"].([]any), attribute(number, json.Number(fmt.Sprint(i))))
		span["traceId"] = digest(id+"/"+cmp.Or(text(context, "trace"), "t"), 16)
		span["spanId"] = digest(id+"/"+cmp.Or(text(context, "span"), fmt.Sprint(i)), 8)
		if parent := text(context, "parent"); parent != "" {
			span["parentSpanId"] = digest(id+"/"+parent, 8)
		}
		service := text(context, "service")
		services[service] = append(services[service], span)
		items++
	}
	var resources []any
	for service, spans := range services {
		resources = append(resources, object{
			"resource":   resource(id + "/" + service),
			"scopeSpans": []any{object{"spans": spans}},
		})
	}
	return "traces", object{"resourceSpans": resources}, items
}

// digest makes an id of so many bytes of a name.
func digest(name string, bytes int) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:bytes])
}

func resource(service string) object {
	return object{"attributes": []any{attribute("service.name", service)}}
}

func logsOf(input object) (logs []object) {
	if log := part(input, "log"); log != nil {
		logs = append(logs, log)
	}
	for _, log := range list(input, "logs") {
		logs = append(logs, log.(object))
	}
	return logs
}

func exchangesOf(input object) (exchanges []object) {
	for _, ex := range list(input, "exchanges") {
		exchanges = append(exchanges, ex.(object))
	}
	if exchanges == nil {
		exchanges = append(exchanges, input)
	}
	return exchanges
}

// logRecord is the i-th log record of a case.
func logRecord(log object, i int) object {
	record := object{
		"timeUnixNano": nanoseconds(integer(log, "time", int64(i)) * 1000),
		"attributes":   append(attributes(part(log, "attributes")), attribute(number, json.Number(fmt.Sprint(i)))),
	}
	if body, ok := log["body"]; ok {
		record["body"] = value(body)
	}
	if text(log, "trace_id") != "" {
		record["traceId"] = digest(text(log, "trace_id"), 16)
		record["spanId"] = digest(text(log, "span_id"), 8)
	}
	return record
}

// plainSpan is a span that a case has as it is.
func plainSpan(ex object) object {
	in := part(ex, "span")
	span := object{
		"name": text(in, "name"), "kind": kind(text(in, "kind")), "status": in["status"],
		"startTimeUnixNano": nanoseconds(0), "endTimeUnixNano": nanoseconds(100),
	}
	if raw := list(in, "attributes_otlp"); raw != nil {
		span["attributes"] = raw
	} else {
		span["attributes"] = attributes(part(in, "attributes"))
	}
	return span
}

// exchangeSpan is the i-th exchange of a case as the span of an instrumentation
// that records headers and bodies.
func exchangeSpan(ex object, i int) object {
	request, response, context := part(ex, "request"), part(ex, "response"), part(ex, "span_context")
	method, status := text(request, "method"), integer(response, "status", 0)
	kind := kind(text(context, "kind"))

	var all []any
	add := func(name string, v any) { all = append(all, attribute(name, v)) }
	if method != "" {
		add("http.request.method", method)
	}
	if url := text(request, "url"); url != "" {
		add("url.full", url)
	}
	if status != 0 {
		add("http.response.status_code", json.Number(fmt.Sprint(status)))
	}
	for name, side := range map[string]object{"request": request, "response": response} {
		for header, v := range part(side, "headers") {
			if _, isList := v.([]any); !isList {
				v = []any{v}
			}
			add("http."+name+".header."+strings.ToLower(header), v)
		}
		if raw, ok := side["body_base64"]; ok {
			all = append(all, object{"key": "http." + name + ".body.content", "value": object{"bytesValue": raw}})
		} else if body := side["body"]; body != nil {
			add("http."+name+".body.content", body)
		}
	}

	extra := object{}
	for _, more := range []object{part(context, "attributes"), part(part(ex, "span"), "attributes")} {
		for name, v := range more {
			extra[name] = v
		}
	}
	failed := status == 0 || status >= 400 && kind == kindClient || status >= 500 || text(part(ex, "span"), "status") == "ERROR"
	if response["complete"] == false && method == "POST" && status != 0 {
		failed = true
		if extra["error.type"] == nil {
			extra["error.type"] = "connection_closed"
		}
	}
	begin := integer(context, "start_ms", int64(i)*1000)
	span := object{
		"name": cmp.Or(method, "POST") + " /mcp", "kind": kind, "attributes": append(all, attributes(extra)...),
		"startTimeUnixNano": nanoseconds(begin), "endTimeUnixNano": nanoseconds(integer(context, "end_ms", begin+100)),
	}
	if failed {
		span["status"] = object{"code": statusError}
	}
	return span
}

func kind(name string) int {
	switch name {
	case "SERVER":
		return kindServer
	case "INTERNAL":
		return kindInternal
	default:
		return kindClient
	}
}

func nanoseconds(ms int64) string {
	const epoch = 1790000000 * 1000
	return fmt.Sprintf("%d000000", epoch+ms)
}

func attributes(o object) []any {
	all := []any{}
	for name, v := range o {
		all = append(all, attribute(name, v))
	}
	return all
}

func attribute(name string, v any) object { return object{"key": name, "value": value(v)} }

// value is a value in OTLP.
func value(v any) object {
	switch v := v.(type) {
	case bool:
		return object{"boolValue": v}
	case string:
		return object{"stringValue": v}
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return object{"doubleValue": v}
		}
		return object{"intValue": v.String()}
	case []any:
		values := []any{}
		for _, element := range v {
			values = append(values, value(element))
		}
		return object{"arrayValue": object{"values": values}}
	case object:
		return object{"kvlistValue": object{"values": attributes(v)}}
	default:
		return object{}
	}
}

func part(o object, name string) object {
	p, _ := o[name].(object)
	return p
}

func list(o object, name string) []any {
	l, _ := o[name].([]any)
	return l
}

func text(o object, name string) string {
	s, _ := o[name].(string)
	return s
}

func integer(o object, name string, otherwise int64) int64 {
	if n, ok := o[name].(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return i
		}
	}
	return otherwise
}
