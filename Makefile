# `make demo` shows what Loadline does; `make test` runs every test. `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help setup build demo test lint fmt bench dist clean
SHELL := bash

OUT   := target/release
JAVA  := $(shell find java bed bench/jmh bench/jmh-omp bench/jcstress-omp pom.xml -name target -prune -o \( -name '*.java' -o -name 'pom.xml' -o -path '*/resources/*' \) -type f -print 2>/dev/null)
WEB   := $(shell find web -path web/node_modules -prune -o -path web/dist -prune -o -type f -print 2>/dev/null)
C     := $(wildcard java/agent/src/main/c/* java/agent/src/main/include/*)
JDK   := $(shell dirname $$(dirname $$(readlink -f $$(command -v javac || echo /usr/bin/javac))))

help: ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: ## install what is missing (idempotent)
	@scripts/setup

build: setup ## build everything into target/release
	@$(MAKE) --no-print-directory $(OUT)/libduckdb.so rust $(OUT)/loadline-agent.jar $(OUT)/libloadline-agent.so $(OUT)/web/index.html
	@echo "built $(OUT)/loadline"

demo: build ## record the auction site under load, report, draw the viewer's page
	@scripts/demo

# Tests are built in the same go as the binary: cargo unifies features per call, and two calls would
# compile the largest dependencies twice.
test: export CARGO_TARGETS := --all-targets
test: build ## run every test of every language
	@scripts/test

lint: build ## formatting and static checks
	@scripts/lint

bench: ## list the benchmarks; each is one claim: run bench/NAME [--quick]
	@for b in bench/*; do [ -f $$b ] && [ -x $$b ] && printf '%-24s %s\n' $$b "$$(sed -n '2s/^# //p' $$b)"; done; true

dist: build ## put what a user needs into dist/loadline, a folder that runs anywhere
	@scripts/dist

clean: ## remove what was built (not what setup installed)
	rm -rf target dist web/dist java/*/target bed/*/target bench/j*/target

CARGO_TARGETS ?= --bins

.PHONY: rust
rust:
	@echo "cargo build --release $(CARGO_TARGETS)"
	@cargo build --release --quiet --workspace $(CARGO_TARGETS)

$(OUT)/libduckdb.so: .deps/duckdb/libduckdb.so
	@mkdir -p $(OUT)
	cp $< $@

# Maven's own JVM lives for seconds: .mvn/jvm.config keeps it from spending half of its CPU time on C2.
$(OUT)/loadline-agent.jar: $(JAVA)
	@echo "mvn package"
	@mvn -q -B -ntp package -DskipTests
	@cp java/agent/target/loadline-agent.jar java/api/target/loadline-api.jar $(OUT)/
	@cp java/guard/target/loadline-guard.jar java/guard-tomcat/target/loadline-guard-tomcat.jar java/guard-jetty/target/loadline-guard-jetty.jar java/guard-undertow/target/loadline-guard-undertow.jar java/guard-spring-boot/target/loadline-guard-spring-boot-starter.jar $(OUT)/
	@cp java/share/target/loadline-share.jar $(OUT)/
	@cp java/omp/target/loadline-omp.jar java/omp/src/main/sh/loadline-omp $(OUT)/
	@touch $@

$(OUT)/libloadline-agent.so: $(C)
	@JAVA_HOME=$(JDK) java/agent/src/main/c/build.sh $@
	@cp java/agent/src/main/include/loadline.h $(OUT)/

$(OUT)/web/index.html: $(WEB)
	@echo "npm run build (web)"
	@cd web && npm run --silent build >/dev/null
	@rm -rf $(OUT)/web && cp -r web/dist $(OUT)/web && touch $@
