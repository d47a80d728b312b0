#!/usr/bin/env bash
# vulncheck.sh GOVULNCHECK: asks the Go vulnerability database about what lameduck calls. Fails if it knows of something.
#
# GOVULNDB names another database than https://vuln.go.dev: the URL of a mirror, or file:// and a directory with its files, or with OSV
# files as in golang.org/x/vulndb's data/osv. Whoever names one expects an answer, and gets an error without one. Without a
# name and without a network nothing could be asked: that is said, and no failure of this machine's.
set -euo pipefail
cd "$(dirname "$0")/../../.."
govulncheck=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# ask DATABASE leaves what is said in $out, and 0, 3 for findings or something else for an error in $code.
ask() {
	code=0
	"$govulncheck" -db "$1" "${packages:-./...}" >"$out" 2>&1 || code=$?
}

# First a database in which a function stands that lameduck does call.
packages=./cmd/... ask "file://$PWD/test/tools/vulncheck/canary"
if [ "$code" != 3 ] || ! grep -q 'GO-0000-0001' "$out"; then
	cat "$out"
	echo "govulncheck does not find what is there (exit code $code): its answers mean nothing" >&2
	exit 1
fi

ask "${GOVULNDB:-https://vuln.go.dev}"
cat "$out"
case $code in
0) echo "ran govulncheck on $(go list ./... | wc -l) packages" ;;
3) exit 1 ;;
*)
	if [ -z "${GOVULNDB:-}" ] && grep -q 'https://vuln.go.dev/' "$out"; then
		echo "NOT ASKED: the vulnerability database cannot be reached, and GOVULNDB names no other. Nobody knows of vulnerabilities now."
		exit 0
	fi
	exit 1
	;;
esac
