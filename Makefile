# Thin targets over the npm scripts; plain `make` lists them.
# Node comes from npm as well: the scripts find it first on their PATH.
.DEFAULT_GOAL := help
.PHONY: help up down status test test-unit test-integration test-e2e check gen manifests cases bench image npm mutants campaign clean

# npm writes this file at the end of each install.
installed := node_modules/.package-lock.json

# ARGS reaches the program, e.g. make up ARGS="--profile control-plane --kubernetes 1.35".
up: $(installed) ## start the local cluster and the operator, install a sample plan, say what to try; WITH=search adds an OpenSearch cluster, WITH=elasticsearch one under a trial license, WITH=search,monitoring one with Prometheus
	@npm run --silent up -- $(if $(WITH),--with $(WITH)) $(ARGS)

down: $(installed) ## stop the local cluster and remove its files
	@npm run --silent down -- $(ARGS)

status: $(installed) ## show the processes of the local cluster and their memory
	@npm run --silent status -- $(ARGS)

test: $(installed) ## run all three levels; the last line is "N passed, N failed"
	@npm run --silent test

test-unit: $(installed) ## run the tests that need no cluster
	@npm run --silent test:unit

test-integration: $(installed) ## run the tests against a real control plane
	@npm run --silent test:integration

test-e2e: $(installed) ## run the tests on real nodes (needs root)
	@npm run --silent test:e2e

check: $(installed) ## check commit subjects, format, lint, dependency rule, types, generated files and dead code
	@npm run --silent check

gen: $(installed) ## write what follows from the schemas: CRDs and reference pages
	@npm run --silent gen

manifests: $(installed) ## render deploy/*.yaml from the charts; builds Helm the first time, which takes some minutes
	@npm run --silent manifests

cases: $(installed) ## show which acceptance cases the last test run met
	@npm run --silent cases

bench: $(installed) ## run the benchmarks; ARGS=install-plan (or runtime, local-cluster, share-driver, licensing) runs one part, ARGS=--cold builds from nothing too
	@npm run --silent bench -- $(ARGS)

image: $(installed) ## write the operator's image as an OCI layout; ARGS="--output DIRECTORY" says where (default: dist/image), "--image share-driver" which
	@npm run --silent image -- $(ARGS)

npm: $(installed) ## write the npm package of qm to dist/npm
	@npm run --silent npm -- $(ARGS)

mutants: $(installed) ## make mistakes in the code one by one and show which test notices; ARGS="--only=boundary" or "--only=packages/search/src/restart" takes some, --sample=500 more, --listed those written by hand, --integration runs integration tests too
	@npm run --silent mutants -- $(ARGS)

campaign: $(installed) ## run the long tests at full length and show a table; ARGS="--only=crowd,watches" runs some of them
	@npm run --silent campaign -- $(ARGS)

clean: ## remove what builds and tests wrote; caches and node_modules stay
	@rm -rf .reports .tmp dist packages/*/dist apps/*/dist tools/dist

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Not `npm ci`: it refuses a lock file that lacks the builds of our tools for other systems, and registries may lack those.
# `--no-save` takes the locked versions just the same.
$(installed): package-lock.json
	@echo "installing npm packages"
	@npm install --no-save --loglevel=error --no-progress >/dev/null
	@touch $@
