#!/usr/bin/env bash
# load.sh URL HEALTH COUNT [PAUSE]: asks URL COUNT times, a new connection each, PAUSE seconds (0.1) apart, and says what
# came of it, ten at a time, with what the health-check node port HEALTH answers meanwhile.
set -euo pipefail
url=$1 health=$2 count=$3 pause=${4:-0.1}

status() { curl -s -o /dev/null --max-time 1 -w '%{http_code}' "$1" || true; }

ok=0 lost=0
for ((i = 1; i <= count; i++)); do
	if [ "$(status "$url")" = 200 ]; then ok=$((ok + 1)); else lost=$((lost + 1)); fi
	if ((i % 10 == 0 || i == count)); then printf 'answered %d, lost %d, health port %s\n' "$ok" "$lost" "$(status "$health")"; fi
	sleep "$pause"
done
