# Reads the output of go test -bench -count=N and prints one line per benchmark: the median of every metric over its runs.

/^pkg: / { pkg = $2; sub(/^.*\/lameduck\//, "", pkg) }

/^(goos|goarch|cpu): / { print }

/^Benchmark/ && NF >= 4 {
	name = pkg " " $1
	if (!(name in runs)) order[++names] = name
	run = ++runs[name]
	for (i = 3; i < NF; i += 2) {
		unit = $(i + 1)
		if (!((name, unit) in seen)) {
			seen[name, unit] = 1
			units[name] = units[name] " " unit
		}
		value[name, unit, run] = $i
	}
}

# median sorts the runs of one metric by insertion: there are a handful, and awk has no sort of its own.
function median(name, unit, n,    i, j, v, sorted) {
	for (i = 1; i <= n; i++) {
		v = value[name, unit, i] + 0
		for (j = i - 1; j >= 1 && sorted[j] > v; j--) sorted[j + 1] = sorted[j]
		sorted[j + 1] = v
	}
	if (n % 2) return sorted[(n + 1) / 2]
	return (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

END {
	for (b = 1; b <= names; b++) {
		name = order[b]
		printf "%-70s n=%d", name, runs[name]
		count = split(units[name], metric, " ")
		for (u = 1; u <= count; u++) printf "  %14.6g %s", median(name, metric[u], runs[name]), metric[u]
		print ""
	}
	if (names == 0) { print "no benchmark ran"; exit 1 }
}
