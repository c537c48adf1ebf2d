# zcbench: make run answers the questions, make test checks the tool.

GO ?= go
BIN := bin/zcbench
SCENARIO ?= uring-fixed-vs-inc
RDMA_SCENARIOS := rdma-post-recv rdma-post-send rdma-payload rdma-connect alloc-aging
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
RUNDIR ?= results/run-$(shell date -u +%Y%m%dT%H%M%SZ)
# RDMA=off leaves everything about RDMA out: packages, guest and scenarios.
RDMA ?= on
# Go's build cache does not see that headers have been installed since: their
# presence is made part of its key.
export CGO_CFLAGS = -O2 -g -DZCBENCH_VERBS_HEADERS=$(shell test -e /usr/include/infiniband/verbs.h && echo 1 || echo 0)
RDMA_PACKAGES := libibverbs-dev librdmacm-dev ibverbs-providers

.PHONY: all run run-rdma setup setup-rdma setup-browser guest build adapters test race bench lint smoke clean

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

run-rdma: guest
	$(BIN) run $(RDMA_SCENARIOS) -o $(RUNDIR)
	$(BIN) report $(RUNDIR)/* --html $(RUNDIR)/report.html
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

bench: setup
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

lint: setup
	test -z "$$(gofmt -l .)" || (gofmt -l . && false)
	$(GO) vet ./...
	CGO_ENABLED=0 $(GO) vet ./...
	$(GO) vet -tags noverbs ./...
	$(GO) run $(STATICCHECK) ./...

smoke: build
	$(BIN) validate scenarios/*.yaml
	rm -rf bin/smoke
	$(BIN) run scenarios/*.yaml --smoke -o bin/smoke

clean:
	rm -rf bin
