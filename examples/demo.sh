#!/usr/bin/env bash
# One story in three answers: what the rollout of a web app loses and why, what the fix is worth, and what kube-proxy's
# fallback to terminating endpoints (KEP-1669) has to do with it, on the one node where it matters.
set -euo pipefail
cd "$(dirname "$0")/.."

lameduck=${LAMEDUCK:-bin/lameduck}

say() { printf '\n\033[1m# %s\033[0m\n' "$*" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed $'s/\033\\[[0-9;]*m//g'; fi; }

# answer [-UNTIL] COMMAND... shows what lameduck answers, up to a line that begins with UNTIL. Exit code 1 is an answer, too: it
# found losses.
answer() {
  local until= out lines shown
  if [[ $1 == -* ]]; then until=${1#-} && shift; fi
  printf '$ lameduck %s\n\n' "$*"
  out=$("$lameduck" "$@") || [ $? -eq 1 ]
  lines=$(wc -l <<<"$out")
  out=$(awk -v until="$until" 'until != "" && index($0, until) == 1 { exit } { print }' <<<"$out")
  shown=$(wc -l <<<"$out")
  printf '%s\n' "$out"
  if [ "$shown" -lt "$lines" ]; then echo "  ($((lines - shown)) more lines: run it to see them)"; fi
}

say "A web app as most are written. What does a rollout lose?"
answer -WHY sim -f examples/web-app.yaml

say "The same with a preStop hook (examples/web-app-recommended.yaml). What is it worth?"
answer sim -f examples/web-app-recommended.yaml

say "Why a pod that stops may still be used: node-1's last pod was told to stop, and still serves"
answer -ENDPOINT explain -f examples/web.yaml --node node-1

say "The same node before KEP-1669"
answer -ENDPOINT explain -f examples/web.yaml --node node-1 --terminating-fallback=false

say "Where to go next"
cat <<'NEXT'
Your manifests:  bin/lameduck sim -f FILE         your cluster:  bin/lameduck sim -n NAMESPACE
Stories to run:  examples/README.md               such as        examples/scenarios/no-prestop.yaml
Which pod, why:  bin/lameduck explain --node N    the rules:     bin/lameduck explain --truth-table
NEXT
