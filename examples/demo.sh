#!/usr/bin/env bash
# First the main question: what does a roll-out of a web app lose, as it is usually written and with
# the recommended manifest. Then why, on the teaching set: three nodes, one Service with externalTrafficPolicy Local, and node-1
# being drained while its last pod still serves. With and without KEP-1669.
set -euo pipefail
cd "$(dirname "$0")/.."

lameduck=${LAMEDUCK:-bin/lameduck}
pods=10.244.0.0/16

say() { printf '\n\033[1m# %s\033[0m\n\n' "$*" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed $'s/\033\\[[0-9;]*m//g'; fi; }

run() {
  printf '$ lameduck %s\n\n' "$*"
  "$lameduck" "$@"
}

# sim exits with 1 when it finds losses: that is an answer here, not a failure.
simulate() {
  run sim "$@" || [ $? -eq 1 ]
}

say "A web app as most are written: what a roll-out loses, and whose lateness loses it"
simulate -f examples/web-app.yaml

say "The same with preStop sleep 15: new connections lose nothing"
simulate -f examples/web-app-recommended.yaml

say "Why, then. Three nodes; the last pod on node-1 has been told to stop and still serves"
echo "With KEP-1669 outside traffic goes on reaching it. node-2 has ready pods of its own, node-3 has none and drops."
for node in node-1 node-2 node-3; do
  echo
  run explain -f examples/web.yaml --service shop/web --node $node --cluster-cidr $pods
done

say "The same three nodes without KEP-1669: node-1 drops, too"
for node in node-1 node-2 node-3; do
  run explain -f examples/web.yaml --service shop/web --node $node --cluster-cidr $pods --terminating-fallback=false
  echo
done

say "One packet from a client outside, without KEP-1669 and with it"
run trace -f examples/web.yaml --node node-1 --cluster-cidr $pods --from 192.0.2.7 --to 203.0.113.10:80/tcp --terminating-fallback=false
echo
run trace -f examples/web.yaml --node node-1 --cluster-cidr $pods --from 192.0.2.7 --to 203.0.113.10:80/tcp

say "Where to look next"
cat <<'NEXT'
Your manifests: bin/lameduck sim -f FILE
Stories:        bin/lameduck sim -f examples/scenarios/no-prestop.yaml, and its neighbours
Your cluster:   bin/lameduck explain --node NODE, bin/lameduck sim -n NAMESPACE; kubectl lameduck with bin in PATH
The rules:      bin/lameduck explain --truth-table
An older one:   add --kubernetes-version 1.25
For programs:   add -o json
NEXT
