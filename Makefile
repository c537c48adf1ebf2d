# zcbench: make run answers the questions, make test checks the tool.

GO ?= go
BIN := bin/zcbench
SCENARIO ?= uring-fixed-vs-inc
URING_SCENARIOS := $(filter-out %-full,$(basename $(notdir $(wildcard scenarios/uring-*.yaml))))
RDMA_SCENARIOS := rdma-post-recv rdma-post-send rdma-payload rdma-connect alloc-aging
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
RUNDIR ?= results/run-$(shell date -u +%Y%m%dT%H%M%SZ)
# RDMA=off leaves everything about RDMA out: packages, guest and scenarios.
RDMA ?= on
# Go's build cache does not see that headers have been installed since: their
# presence is made part of its key.
export CGO_CFLAGS = -O2 -g -DZCBENCH_VERBS_HEADERS=$(shell test -e /usr/include/infiniband/verbs.h && echo 1 || echo 0)
RDMA_PACKAGES := libibverbs-dev librdmacm-dev ibverbs-providers

.PHONY: all run run-uring run-rdma setup setup-rdma setup-browser guest build adapters test race fuzz bench lint vuln smoke gate baseline clean

all: build

# What is needed beyond Go, gcc and make: the modules pinned in go.sum, and for
# RDMA the verbs libraries. Without root, zcbench says itself what it misses.
setup: setup-rdma
	$(GO) mod download

setup-rdma:
ifneq ($(RDMA),off)
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! dpkg -s $(RDMA_PACKAGES) >/dev/null 2>&1; then \
	  echo "installing $(RDMA_PACKAGES)"; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends $(RDMA_PACKAGES) >/dev/null; \
	fi
endif

# Chromium, for the tests that open the HTML report in a real browser.
setup-browser:
	command -v chromium || (apt-get update && apt-get install -y --no-install-recommends chromium)

build: setup adapters
	$(GO) build -trimpath -o $(BIN) ./cmd/zcbench

# The example adapters, where scenarios find them: beside zcbench. A scenario's
# row of one that is not there is skipped.
adapters: bin/adapters/epollrecv bin/adapters/guard-rs

bin/adapters/epollrecv: harness/adapters/epollrecv.c harness/adapters/trial.h
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -o $@ $< -ldl

bin/adapters/guard-rs: harness/adapters/guard.rs
	@mkdir -p $(@D)
	@if ! command -v rustc >/dev/null; then echo "no rustc: the adapter in Rust is not built"; \
	else rustc -C opt-level=3 -C panic=abort -C strip=symbols --edition 2021 -o $@ $< || echo "the adapter in Rust is not built"; fi

run: build
	$(BIN) run $(SCENARIO) -o $(RUNDIR)/$(SCENARIO)
ifneq ($(RDMA),off)
	@$(MAKE) --no-print-directory run-rdma RUNDIR=$(RUNDIR)
endif

# Every question about io_uring, and one table of claims and verdicts at the end.
run-uring: build
	$(BIN) run $(URING_SCENARIOS) -o $(RUNDIR)
	@echo "all answers in one page: $(RUNDIR)/report.html"

run-rdma: guest
	$(BIN) run $(RDMA_SCENARIOS) -o $(RUNDIR)
	$(BIN) report $(RUNDIR)/*/ --html $(RUNDIR)/report.html
	@echo "all answers in one page: $(RUNDIR)/report.html"

# The guest is needed, and built once, where there is no RDMA device.
guest: build
ifneq ($(RDMA),off)
	@ls -d /sys/class/infiniband/* >/dev/null 2>&1 || $(BIN) guest build --install || \
	  echo "no guest: what needs RDMA will be skipped"
endif

test: guest
	$(GO) test $(GOTESTFLAGS) ./...

race: setup
	$(GO) test -race ./...

# Every fuzz target for a while, one after the other; what is found is kept in
# the package's testdata/fuzz, for the commit that mends it. Making an input that
# reaches new code smaller would take up to a minute of that each.
FUZZTIME ?= 5s

fuzz: setup
	@grep -roE --include='*_test.go' 'func Fuzz[A-Za-z]+' . | sed -E 's,^(.*)/[^/]*:func (Fuzz.*),\1 \2,' | sort | while read -r package target; do \
	  echo "fuzz $$package $$target"; \
	  $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 50x "$$package" || exit; \
	done

bench: setup
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

lint: setup
	test -z "$$(gofmt -l .)" || (gofmt -l . && false)
	$(GO) vet ./...
	CGO_ENABLED=0 $(GO) vet ./...
	$(GO) vet -tags noverbs ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 -run '^TestLicences' ./cmd/zcbench

# Known vulnerabilities of what is linked. They are looked up in a database on the
# network: where that, or the tool, cannot be had, it says so and fails nobody.
vuln: setup
	@out=$$(timeout 300 $(GO) run $(GOVULNCHECK) ./... 2>&1); code=$$?; printf '%s\n' "$$out"; \
	test $$code = 0 || ! printf '%s' "$$out" | grep -q '^Vulnerability #' || exit 1; \
	test $$code = 0 || echo "NOT CHECKED for known vulnerabilities: the database or govulncheck is not reachable"

smoke: build
	$(BIN) validate scenarios/*.yaml
	rm -rf bin/smoke
	$(BIN) run scenarios/*.yaml --smoke -o bin/smoke

# The gate: exact counts of the smoke scenarios against those committed for this
# series of kernels. Posts are left out: their counts depend on the libraries of
# the machine. Counts of a Go runtime may be off by one, so those may move by 5%;
# of nothing that is nothing. A count that differs must differ in a second run.
GATE_SCENARIOS := null $(URING_SCENARIOS)
GATE_FLAGS := --fail-on regression,missing --threshold go_allocs=5% --threshold go_alloc_bytes=5%
BASELINE := results/baseline/$(shell uname -r | cut -d. -f1,2)

gate: build
	@if ! test -d $(BASELINE); then \
	  echo "NOT GATED: there is no baseline for kernel $$(uname -r); make baseline writes $(BASELINE)"; exit 0; \
	fi; \
	for try in 1 2; do \
	  rm -rf bin/gate; \
	  $(BIN) run $(GATE_SCENARIOS) --smoke --only counts -q -o bin/gate >/dev/null || exit; \
	  $(BIN) compare $(BASELINE) bin/gate $(GATE_FLAGS) && exit; code=$$?; \
	  test $$code = 1 || exit $$code; \
	done; exit $$code

# Only what was measured is committed, not the reports made from it.
baseline: build
	rm -rf bin/baseline
	$(BIN) run $(GATE_SCENARIOS) --smoke --only counts -q -o bin/baseline >/dev/null
	rm -rf $(BASELINE)
	for s in $(GATE_SCENARIOS); do mkdir -p $(BASELINE)/$$s && cp bin/baseline/$$s/result.jsonl $(BASELINE)/$$s/ || exit; done

clean:
	rm -rf bin
