#!/usr/bin/env bash
# Runs each example with the built collector and checks what it makes of the sample data.
# Usage: examples/check.sh [path of otelcol-mcp]
set -euo pipefail
cd "$(dirname "$0")"
collector=$(realpath "${1:-${MCP_COLLECTOR:-../build/otelcol-mcp}}")
work=$(mktemp -d)
pids=()
finish() {
	local pid
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap finish EXIT

# count FILE: the outcomes in a file of the file exporter, sorted, as "2 TOOL_ERROR".
count() {
	{ grep -o '"mcp.outcome","value":{"stringValue":"[A-Z_]*"' "$1" 2>/dev/null || true; } |
		sed 's/.*:"//; s/"//' | sort | uniq -c | sed 's/^ *//' | paste -sd, -
}

# run EXAMPLE: starts the collector in a copy of the example, so that what it writes goes with the copy.
run() {
	cp -r "$1" "$work/"
	rm -f "$work/$1/out.jsonl"
	"$collector" validate --config "$1/collector.yaml"
	(cd "$work/$1" && exec "$collector" --config collector.yaml >collector.log 2>&1) &
	pids+=($!)
}

failed=0
# expect EXAMPLE COUNTS: waits until the counts are as expected.
expect() {
	local got="" i
	for i in $(seq 100); do
		got=$(count "$work/$1/out.jsonl")
		[ "$got" = "$2" ] && break
		sleep 0.1
	done
	if [ "$got" = "$2" ]; then
		echo "ok    $1: $2"
	else
		printf 'WRONG %s\n  expected %s\n  got      %s\n' "$1" "$2" "$got" >&2
		tail -n 5 "$work/$1/collector.log" >&2
		failed=1
	fi
}

for example in obi claude-desktop-logs gateway-audit-log har; do run "$example"; done
for _ in $(seq 100); do
	curl -sf -o /dev/null -H 'Content-Type: application/json' --data @obi/traces.json http://127.0.0.1:14318/v1/traces && break
	sleep 0.1
done

expect obi "1 HTTP_ERROR,1 JSONRPC_ERROR,1 TOOL_ERROR,1 TOOL_SUCCESS,1 UNDETERMINED"
expect claude-desktop-logs "2 JSONRPC_ERROR,1 RPC_SUCCESS,1 TOOL_ERROR,1 TOOL_SUCCESS,1 UNDETERMINED"
expect gateway-audit-log "1 HTTP_ERROR,1 JSONRPC_ERROR,2 TOOL_ERROR,3 TOOL_SUCCESS"
expect har "1 ACCEPTED,1 HTTP_ERROR,1 JSONRPC_ERROR,1 TOOL_ERROR,1 TOOL_SUCCESS"

# paired TOOL: whether a response has the name of the tool from the request that it is paired with. No pipe into
# `grep -q`, which ends at the first match: what writes to it would then fail.
paired() {
	local records
	records=$(awk '{ gsub(/"timeUnixNano"/, "\n&") } 1' "$work/claude-desktop-logs/out.jsonl") # each record on a line
	grep -q '"mcp.outcome".*"'"$1"'"' <<<"$records"
}
for tool in get_forecast search_nodes get_file_contents create_issue; do
	for _ in $(seq 100); do
		paired "$tool" && continue 2
		sleep 0.1
	done
	echo "WRONG claude-desktop-logs: no response is paired with the request of $tool" >&2
	failed=1
done
exit "$failed"
