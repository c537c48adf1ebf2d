# zcbench: make run answers the question, make test checks the tool.

GO ?= go
BIN := bin/zcbench
SCENARIO ?= uring-fixed-vs-inc
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: all run setup setup-browser build test race bench lint smoke clean

all: build

# What building and running needs beyond Go, gcc and make: nothing. Go fetches
# the modules pinned in go.sum; done here once, so that later steps stay quiet.
setup:
	$(GO) mod download

# Chromium, for the tests that open the HTML report in a real browser.
setup-browser:
	command -v chromium || (apt-get update && apt-get install -y --no-install-recommends chromium)

build: setup
	$(GO) build -trimpath -o $(BIN) ./cmd/zcbench

run: build
	$(BIN) run $(SCENARIO)

test: setup
	$(GO) test $(GOTESTFLAGS) ./...

race: setup
	$(GO) test -race ./...

bench: setup
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

lint: setup
	test -z "$$(gofmt -l .)" || (gofmt -l . && false)
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

smoke: build
	$(BIN) validate scenarios/*.yaml
	rm -rf bin/smoke
	$(BIN) run scenarios/*.yaml --smoke -o bin/smoke

clean:
	rm -rf bin
