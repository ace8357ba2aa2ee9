# The front door. Meson does the building; each target here is one line of intent.
#
#   make            build into build/        make test       set up, build, run every test
#   make help       list all targets

PREFIX ?= /usr/local
BUILD := build
RUNS ?= 1000000
JOBS ?= $(shell nproc)

.DEFAULT_GOAL := all
.PHONY: all deps test demo docs accuracy lint format bench fuzz install clean help

all: ## build the programs into build/ (installs nothing)
	@scripts/build.sh $(BUILD)

deps: ## install the Debian packages that are missing, for building and for testing
	@scripts/deps.sh all

test: deps ## set up, build with gcc and clang, run every test and every lint
	@JOBS=$(JOBS) scripts/test.sh

# Where nothing is built yet, only the program itself is, with the few packages and the little time that
# takes: without optional features, and hardly optimized. It is for the demo and nothing else.
demo_options := -Dauto_features=disabled -Dtests=false -Dwerror=false -Dwarning_level=0 -Dbuildtype=plain
demo: ## diagnose a recording with a real fault in it, and write a report with plots
	@scripts/deps.sh demo
	@[ -x $(BUILD)/src/cli/limpet ] || TARGETS=src/cli/limpet scripts/build.sh build-demo $(demo_options)
	@scripts/demo.sh

docs: deps ## put the program's output and pictures into README.md and docs/ (a test compares them)
	@scripts/build.sh $(BUILD)
	@scripts/docs.py

accuracy: deps ## diagnose the lab's recordings and score them: the papers' tables beside ours
	@scripts/build.sh $(BUILD)
	@bench/accuracy.py recordings recordings-orangefs recordings-moosefs recordings-ceph
	@bench/behaviour.py recordings-behaviour

lint: deps ## check format, includes, house rules, clang-tidy, cppcheck
	@scripts/build.sh $(BUILD)
	@JOBS=$(JOBS) scripts/lint.sh

format: ## rewrite all C files in the house style
	@scripts/sources.sh | xargs clang-format -i

bench: deps ## set up, then run the benchmarks (see bench/README.md)
	@scripts/build.sh build-bench --buildtype=release
	@BUILD=build-bench bench/run

fuzz: deps ## run every fuzz target RUNS times (default 1000000 each)
	@JOBS=$(JOBS) RUNS=$(RUNS) scripts/fuzz.sh

# Built as the tests build it, so that the tested program is installed; a warning of a newer compiler
# does not prevent installation.
install: ## install into DESTDIR/PREFIX (default /usr/local)
	@scripts/build.sh build-install -Dwerror=false --prefix=$(abspath $(PREFIX))
	@meson install -C build-install --no-rebuild --strip $(if $(DESTDIR),--destdir=$(abspath $(DESTDIR)))

clean: ## remove everything that was built
	rm -rf build build-asan build-tsan build-test build-fuzz build-fuzz-plain build-bench build-demo build-install build-packages build-arm64

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
