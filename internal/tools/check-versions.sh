#!/usr/bin/env bash
# Fails if the built collector does not consist of the versions that builder-config.yaml asks for and that the plugin is
# tested with (go.mod). Runs at the root of the repository, after ocb has written build/go.mod.
set -euo pipefail
export LC_ALL=C

# "module version" lines of what a go.mod requires, directly or not.
required() { sed -nE 's/^(require)?[[:space:]]+([^ ()]+) (v[^ ]+).*$/\2 \3/p' "$1" | sort; }
configured() { sed -nE 's/^ *- gomod: ([^ ]+) (v[^ ]+) *$/\1 \2/p' builder-config.yaml | sort; }

rc=0
other=$(join <(configured) <(required build/go.mod) | awk '$2 != $3 { print "  " $1 ": builder-config.yaml " $2 ", built with " $3 }')
if [ -n "$other" ]; then
	printf 'The collector is not built with the versions in builder-config.yaml:\n%s\n' "$other" >&2
	rc=1
fi
other=$(join <(required go.mod) <(required build/go.mod) | awk '$1 ~ /^go\.opentelemetry\.io\// && $2 != $3 { print "  " $1 ": go.mod " $2 ", built with " $3 }')
if [ -n "$other" ]; then
	printf 'The plugin is tested with other versions (go.mod) than the collector is built with (builder-config.yaml):\n%s\n' "$other" >&2
	rc=1
fi
exit $rc
