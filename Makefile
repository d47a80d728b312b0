# Everything a developer runs, and everything .ci/run runs. Needs Go, GNU make, git, and gcc for the race detector.
# `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

GO        ?= go
FUZZTIME  ?= 20s
CASES     ?= 1000000
SEEDS     ?= 10000
COUNT     ?= 6
BENCH     ?= .
SIZES     ?= 1000x5,10000x5
MODES     ?= nftables
RUNS      ?= 1
PLAYS     ?=
RECORDINGS ?=
# Further flags for go test in `test` and `race`, such as -v or -short.
TESTFLAGS ?=

# Collecting garbage four times as seldom saves a third of the tests' processor time, and costs less than a gigabyte.
RARELY := GOGC=$(or $(GOGC),400)

ROOT := $(CURDIR)
LINT := $(ROOT)/bin/golangci-lint
VULNCHECK := $(ROOT)/bin/govulncheck
# Modules with packages of their own; test/tools has none, it only pins tools.
MODULES := . $(patsubst %/go.mod,%,$(wildcard test/oracle/go.mod test/bench/go.mod test/e2e/go.mod test/kustomize/go.mod))
# Every package directory whose tests match a pattern, without a list to forget entries in.
dirs_with = $(shell grep -rlE --include='*_test.go' '$(1)' --exclude-dir=testdata --exclude-dir=oracle --exclude-dir=bench --exclude-dir=e2e --exclude-dir=kustomize . | xargs -r -n1 dirname | sort -u)

# What go test -json says, as go test would say it, and then how many tests were run: none is a failure. For a pipe, from any directory.
counted = $(GO) -C $(ROOT) run ./test/count $(if $(findstring -v,$(TESTFLAGS)),-v)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build bin/lameduck; with bin in PATH it is kubectl lameduck, too
	$(GO) build -trimpath -o bin/lameduck ./cmd/lameduck
	ln -sf lameduck bin/kubectl-lameduck
	ln -sf lameduck bin/kubectl_complete-lameduck

.PHONY: image
image: ## build the images lameduck:nftables and lameduck:iptables, with docker
	for t in iptables nftables; do \
		docker build --target $$t --build-arg VERSION="$$(git describe --tags --always --dirty)" --build-arg REVISION="$$(git rev-parse HEAD)" -t lameduck:$$t .; \
	done

.PHONY: rendered
rendered: ## rewrite manifests/rendered from manifests/overlays
	cd test/kustomize && $(GO) test -count=1 ./... -update

.PHONY: report
report: ## build sim/html/dist, what reports embed, and the page in sim/play/dist, from sim/html/web: needs node and npm
	cd sim/html/web && npm ci --no-audit --no-fund && npm run build

.PHONY: play
play: ## build the module of lameduck play, sim/play/dist/lameduck.wasm.gz: needs node and npm
	cd sim/html/web && npm ci --no-audit --no-fund
	$(GO) run ./cmd/play-wasm/build

# chromium-browser of Ubuntu is a snap, which sees no files of others: then a Chrome that is there is taken.
.PHONY: browser
browser: ## hold what make report builds to its sources, and open pages in a headless Chromium: needs node, npm and chromium (TESTFLAGS=-args -update: new screenshots)
	cd sim/html/web && npm ci --no-audit --no-fund
	cd test/browser && npm ci --no-audit --no-fund
	LAMEDUCK_BROWSER=1 $(GO) test -json -count=1 -v -timeout 40m ./test/browser $(TESTFLAGS) | $(counted) -v -of "checks made"

.PHONY: demo
demo: build ## show what lameduck does, on the examples
	@examples/demo.sh

.PHONY: test
test: ## the tests: unprivileged, offline once modules are downloaded
	$(RARELY) $(GO) test -json -timeout 20m $(TESTFLAGS) ./... | $(counted)
	cd test/kustomize && $(GO) test -json $(TESTFLAGS) ./... | $(counted)

# Whoever's tests reach them: those of sim/sweep, for one, are about what sim/fix and sim/story return. cmd/lameduck is left out: its
# only statement ends the process; and cmd/play-wasm, which make wasm runs.
.PHONY: cover
cover: ## statements that tests reach, package by package, 85 % at least; as root, or what only tests of the kernel reach is missing
	@profile="$$(mktemp)"; trap 'rm -f "$$profile"' EXIT; all="$$($(GO) list ./... | grep -vE '/test/|/cmd/lameduck$$|/cmd/play-wasm')"; \
	well=true; $(RARELY) $(GO) test -json -timeout 30m $(TESTFLAGS) -coverpkg="$$(echo $$all | tr ' ' ,)" -coverprofile="$$profile" $$all | $(counted) || well=false; \
	[ "$$(id -u)" = 0 ] || echo "not as root: what only tests of the kernel reach is missing"; \
	$(GO) run ./test/count -cover 85 < "$$profile"; $$well

# Those that are not pure: a pure package has no goroutines, no locks and no variables that change (test/arch).
impure = $(shell module=$$($(GO) list -m); $(GO) list ./... | grep -vxFf <(sed -nE "s|.*path: \"([^\"]+)\", pure: true.*|$$module/\1|p" test/arch/table_test.go))

# In short: the race detector has nothing to find in what a pure package does a thousand times, and takes four times as long.
.PHONY: race
race: ## the tests, in short, with the race detector (RACE=impure: without the tests of pure packages, in which no two goroutines can meet)
	$(GO) test -json -race -short -timeout 30m $(TESTFLAGS) $(if $(filter impure,$(RACE)),$(impure),./...) | $(counted)

.PHONY: kernel
kernel: ## real packets through the real kernel: as root, or where anybody may have a user namespace; needs nft and iptables (LAMEDUCK_KERNEL=all: iptables at full length, too)
	dirs="$(call dirs_with,backendtest[.]Lacking)"; \
	LAMEDUCK_KERNEL=$${LAMEDUCK_KERNEL:-1} $(GO) test -json -count=1 -timeout 20m $(TESTFLAGS) $$dirs | $(counted) $$($(GO) list $$dirs)
	cd test/bench && LAMEDUCK_KERNEL=1 $(GO) test -json -count=1 -timeout 10m $(TESTFLAGS) ./... | $(counted)
	cd test/oracle && LAMEDUCK_KERNEL=1 $(GO) test -json -count=1 -timeout 10m $(TESTFLAGS) -run TestFlood ./... | $(counted)

# Only where nobody's user namespaces are allowed: elsewhere its last line says that nothing was run. Nothing may be skipped for want of rights.
.PHONY: unprivileged
unprivileged: ## the same in short, by somebody without any rights, in a user namespace
	@nobody=""; if [ "$$(id -u)" = 0 ]; then nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"; fi; \
	if ! $$nobody unshare -Urn true; then echo "NOT RUN: no user namespaces for $${nobody:-this user}"; exit 0; fi; \
	dir="$$(mktemp -d)"; trap 'rm -rf "$$dir"' EXIT; chmod 755 "$$dir"; \
	$(GO) test -c -o "$$dir" ./proxier/nftables ./test/lab ./test/conformance ./test/fault; cd "$$dir"; \
	tests=0; \
	run() { echo "$$*"; if ! $$nobody env HOME="$$dir" "$$@" -test.v > out 2>&1; then cat out; return 1; fi; \
		if grep -E 'SKIP.*|needs network namespaces|no network namespace' out; then echo "skipped"; return 1; fi; \
		n="$$(grep -c '^--- PASS' out || true)"; if [ "$$n" = 0 ]; then cat out; echo "no test was run"; return 1; fi; tests=$$((tests + n)); }; \
	LAMEDUCK_KERNEL=1 run ./lab.test; \
	LAMEDUCK_KERNEL=1 run ./conformance.test -test.run 'TestNFTables/(a_ClusterIP_with|with_policy_Local|session_affinity_keeps)'; \
	run ./nftables.test -test.run 'Foreign|Cleanup|Watch|PacketsGo|Replacement'; \
	run ./fault.test; \
	echo "ran $$tests tests; not run: mode iptables, most rows of the conformance, and the lengths of make kernel"

.PHONY: fmt
fmt: ## fail if a file is not gofmt's
	@unformatted="$$(find . -name '*.go' -not -path './.git/*' -not -path './bin/*' -print0 | xargs -0 gofmt -l)"; \
	if [ -n "$$unformatted" ]; then echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; fi; \
	files="$$(find . -name '*.go' -not -path './.git/*' -not -path './bin/*' | wc -l)"; echo "ran gofmt on $$files files"; [ "$$files" -gt 0 ]

.PHONY: vet
vet: ## go vet, every module
	@n=0; for m in $(MODULES); do echo "vet $$m"; (cd $$m && $(GO) vet ./...); n=$$((n + $$(cd $$m && $(GO) list ./... | wc -l))); done; \
	echo "ran go vet on $$n packages"; [ "$$n" -gt 0 ]

.PHONY: tidy
tidy: ## fail if a go.mod or go.sum is not tidy, every module
	@n=0; for m in $(MODULES) test/tools; do echo "tidy $$m"; (cd $$m && $(GO) mod tidy -diff); n=$$((n + 1)); done; \
	echo "ran go mod tidy in $$n modules"

.PHONY: lint
lint: $(LINT) ## golangci-lint, every module
	@n=0; for m in $(MODULES); do echo "lint $$m"; (cd $$m && $(LINT) run --config $(ROOT)/.golangci.yaml ./...); n=$$((n + 1)); done; \
	echo "ran golangci-lint in $$n modules"

# The version is pinned in test/tools/go.mod, so the linter is built from source only when that changes.
$(LINT): test/tools/go.mod test/tools/go.sum
	$(GO) -C test/tools build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

.PHONY: vulncheck
vulncheck: $(VULNCHECK) ## ask for known vulnerabilities of what lameduck calls (GOVULNDB=file:///DIR or URL: ask a mirror); says so where nobody can be asked
	@test/tools/vulncheck/vulncheck.sh $(VULNCHECK)

$(VULNCHECK): test/tools/go.mod test/tools/go.sum
	$(GO) -C test/tools build -o $@ golang.org/x/vuln/cmd/govulncheck
	@touch $@

# A fuzzer is stopped as ctrl-C stops it, not by -fuzztime: up to Go 1.26 that fails now and then with nothing found (golang/go#75804).
.PHONY: fuzz
fuzz: ## every fuzz target, for FUZZTIME each (default 20s)
	@found=0; tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	for d in $(call dirs_with,^func Fuzz); do \
		$(GO) test -c -fuzz . -o $$tmp/fuzz.test $$d; \
		for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' $$d/*_test.go | sed 's/^func //'); do \
			found=$$((found + 1)); echo "fuzz $$d $$f"; \
			(cd $$d && timeout --foreground --preserve-status -s INT $(FUZZTIME) $$tmp/fuzz.test -test.run '^$$' \
				-test.fuzz "^$$f\$$" -test.fuzzcachedir $$tmp/$$found -test.fuzzminimizetime 10x); \
		done; \
	done; \
	echo "ran $$found fuzz targets for $(FUZZTIME) each"; [ $$found -gt 0 ]

.PHONY: golden
golden: ## rewrite the golden files; read the difference before you commit it
	@for d in $(call dirs_with,flag[.]Bool."update"); do $(GO) test -count=1 $$d -update; done
	@git status --short

.PHONY: oracle
oracle: ## compare with kube-proxy's own package on CASES random clusters (default 1000000)
	cd test/oracle && LAMEDUCK_ORACLE_CASES=$(CASES) $(GO) test -json -count=1 -v -timeout 60m -run TestOracle ./... | $(counted) -v -of "cases compared"

.PHONY: swarm
swarm: ## run SEEDS random worlds with the books open (default 10000)
	LAMEDUCK_SWARM_SEEDS=$(SEEDS) $(GO) test -json -count=1 -v -timeout 60m -run TestSwarm ./test/swarm | $(counted) -v -of "worlds"

.PHONY: mutants
mutants: fresh ## prove that oracle, swarm and tests notice broken code (LAMEDUCK_MUTANTS=n: n of each table, and n fresh ones)
	cd test/oracle && $(GO) test -json -count=1 -timeout 60m -run Mutants ./... | $(counted) -v -of mutants
	LAMEDUCK_SWARM_MUTANTS=1 $(GO) test -json -count=1 -timeout 60m -run '^TestMutants(Compile)?$$' ./test/swarm | $(counted) -v -of mutants
	LAMEDUCK_MUTANTS=$${LAMEDUCK_MUTANTS:-all} $(GO) test -json -count=1 -timeout 60m -run 'TestMutants(Compile)?$$' ./test/facts | $(counted) -v -of mutants

# The limit of a run is MUTANT_TIME, not go test's.
.PHONY: fresh
fresh: ## draw LAMEDUCK_MUTANTS mistakes (default 300) from the syntax tree, by MUTANT_SEED (default: the date), and list those that no test notices (MUTANT_MATCH=regexp: of these names; MUTANT_TIME=3m: stop then; LAMEDUCK_KERNEL=1: with the tests in the kernel)
	LAMEDUCK_FRESH=$${LAMEDUCK_MUTANTS:-300} $(RARELY) $(GO) test -count=1 -timeout 12h -run '^TestFreshMistakes$$' -json ./test/mutate | $(counted) -v

.PHONY: facts
facts: ## list what is modelled: row of the facts, tests, mutants that break it
	@$(GO) test -json -count=1 -v -run 'TestFacts$$' ./test/facts | $(counted) -v -of "rows modelled"

.PHONY: bench
bench: ## benchmarks matching BENCH, COUNT runs each: medians here, every run in bench.txt for benchstat
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count=$(COUNT) $(call dirs_with,^func Benchmark) > bench.txt || { cat bench.txt; exit 1; }
	@awk -f test/tools/median.awk bench.txt

.PHONY: bench-peer
bench-peer: ## run lameduck beside kube-proxy (SIZES=1000x5,.. MODES=nftables,iptables-nft,iptables-legacy RUNS=n PEERFLAGS=-help): as root, or where anybody may have a user namespace
	@mkdir -p bin/bench
	$(GO) build -trimpath -o bin/bench/lameduck ./cmd/lameduck
	cd test/bench && $(GO) build -o $(ROOT)/bin/bench/ . k8s.io/kubernetes/cmd/kube-proxy
	$(GO) test -c -o bin/bench/nftables.test ./proxier/nftables
	bin/bench/bench -sizes=$(SIZES) -modes=$(MODES) -runs=$(RUNS) $(PEERFLAGS)

# Without symbols it links in half the time; the version is what the API server says of itself.
.PHONY: e2e
e2e: ## a real control plane, lameduck on its nodes, real traffic: as root, or where anybody may have a user namespace; needs nft and iptables
	cd test/e2e && LAMEDUCK_E2E=1 $(GO) test -json -count=1 -timeout 15m -parallel 4 $(TESTFLAGS) \
		-ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$$($(GO) list -m -f '{{.Version}}' k8s.io/kubernetes)" ./... | $(counted)

# Hollow kubelets: no packets, but a network namespace of its own.
.PHONY: controlplane
controlplane: ## play scenarios on a real control plane and hold the simulator to what that did (PLAYS=regexp: these; RECORDINGS=DIR: keep them there): as root, or where anybody may have a user namespace
	cd test/e2e && LAMEDUCK_CONTROLPLANE=1 $(GO) test -json -v -count=1 -timeout 30m -parallel 200 -run TestPlays $(TESTFLAGS) \
		-ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$$($(GO) list -m -f '{{.Version}}' k8s.io/kubernetes)" ./record \
		-args -plays '$(value PLAYS)' -into '$(abspath $(RECORDINGS))' | $(counted) -of "scenarios compared"

.PHONY: wasm
wasm: ## build the pure packages for js/wasm, and hold the module of lameduck play to its size and to the command line: needs node
	$(GO) test -json -count=1 -v -run 'Wasm' ./test/arch | $(counted) -v -of "packages built for js/wasm"
	LAMEDUCK_WASM=1 $(GO) test -json -count=1 -v -timeout 20m ./test/play | $(counted) -v -of "answers compared"

.PHONY: determinism
determinism: ## run every scenario again with 1 and 8 processors, in another process, with -race, as wasm: the same bytes
	GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./endpoints/... ./healthcheck/... ./sim/...
	LAMEDUCK_DETERMINISM=1 $(GO) test -json -count=1 -v -timeout 20m ./test/determinism | $(counted) -v -of "runs, and each again"

.PHONY: verify
verify: CASES = 100000
verify: FUZZTIME = 5s
verify: SEEDS = 2000
verify: fmt tidy vet test race lint vulncheck wasm determinism fuzz oracle swarm facts mutants demo ## all that has to pass before a commit

.PHONY: clean
clean: ## remove what was built and measured
	rm -rf bin bench.txt
	find . -name '*.test' -not -path './.git/*' -delete
