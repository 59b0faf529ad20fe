#!/usr/bin/env bash
# Compares the working tree with the commit $1: runs the benchmarks of this folder with the plugin of either, in turns, and prints what benchstat says.
# Settings: COUNT (runs of each, 10), BENCH (pattern, all), BENCHTIME (of one benchmark, 0.2s), GO.
set -euo pipefail
bench=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$bench")
GO=${GO:-go}
base=$(git -C "$root" rev-parse --verify --quiet "${1:?usage: compare.sh COMMIT}^{commit}") || { echo "compare.sh: no commit '$1'" >&2; exit 2; }
export GOWORK=off

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# A copy rather than a worktree: nothing of it is left behind in the repository, whatever happens.
mkdir "$tmp/base"
git -C "$root" archive "$base" | tar -x -C "$tmp/base"
# The benchmarks are those of the working tree in both cases.
rm -rf "$tmp/base/bench"
cp -R "$bench" "$tmp/base/bench"

echo "== building" >&2
(cd "$bench" && "$GO" test -c -o "$tmp/head.test" .)
(cd "$tmp/base/bench" && "$GO" test -mod=mod -c -o "$tmp/base.test" .)

# In turns, so that what else runs on the machine meets both.
for ((i = 1; i <= ${COUNT:-10}; i++)); do
	echo "== run $i of ${COUNT:-10}" >&2
	for which in base head; do
		"$tmp/$which.test" -test.run '^$' -test.bench "${BENCH:-.}" -test.benchtime "${BENCHTIME:-0.2s}" >>"$tmp/$which.txt"
	done
done

cd "$root"
"$GO" tool -modfile=internal/tools/go.mod benchstat "${base:0:12}=$tmp/base.txt" "working tree=$tmp/head.txt"
