# The commands of the README. Everything they need is a Debian 12 package; what is missing is installed.
#
#   make run      build, construct the model, run the examples and check their results against the CPU
#   make test     build and run all fast tests
#   make fuzz     many more random kernels, model against emulator; FUZZ="--seed 7 --count 5000"
#   make endurance  one launch of ten million tokens, with the state compared along the way; ENDURANCE=50 for 50 million
#   make test-stock   let unmodified llama.cpp, from PyPI, write a launch (docs/stock.md)
#   make bench    measure how fast the model writes
#   make format   clang-format over all sources
#   make clean    remove what was built

PACKAGES := build-essential cmake ninja-build clang libfmt-dev nlohmann-json3-dev libcli11-dev tao-pegtl-dev libgtest-dev \
            libbenchmark-dev
EXAMPLES := vecadd strided_sum collatz saxpy matmul mandelbrot black_scholes transpose transpose_tiled gemm_tiled stencil \
            hotspot convolution nbody reduce_shared reduce_shuffle dot_product scan compact histogram bitonic_sort bfs softmax layer_norm
# A C++ compilation takes up to a gigabyte: no more at once than memory holds.
JOBS ?= $(shell awk -v cores=$$(nproc) '/MemAvailable/ { m = int($$2 / 1048576); n = m < cores ? m : cores; print (n < 1 ? 1 : n) }' /proc/meminfo)
# RUN_FLAGS=--emulate runs the examples without the model.
RUN_FLAGS ?=

.DELETE_ON_ERROR:
FUZZ ?= --count 2000
STOCK ?=
ENDURANCE ?= 10

.PHONY: run test fuzz endurance test-stock bench format clean build packages

run: build
	@set -e; for example in $(EXAMPLES); do \
	  mkdir -p out/$$example; \
	  echo; echo "== examples/$$example.cu"; \
	  launches=$$(ls examples/$$example.launch.json examples/$$example.[0-9].launch.json 2>/dev/null || true); \
	  build/qwengpu run $$launches $(RUN_FLAGS) --out out/$$example --transcript out/$$example/transcript.txt; \
	  build/check_on_cpu $$launches out/$$example; \
	done

test: build
	ctest --test-dir build --output-on-failure -j $(JOBS)

fuzz: build
	build/qwengpu fuzz $(FUZZ)

endurance: build
	build/endurance $(ENDURANCE)

test-stock: PACKAGES += python3-venv
test-stock: build
	bash tests/stock/run.sh build $(STOCK)

bench: build
	build/qwengpu bench

build: packages
	cmake --preset release -Wno-dev
	cmake --build build -j $(JOBS)

packages:
	@missing=$$(for p in $(PACKAGES); do \
	    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done | tr '\n' ' '); \
	[ -z "$$missing" ] && exit 0; \
	command -v apt-get >/dev/null || { echo "Please install: $$missing"; exit 1; }; \
	echo "Installing $$missing"; \
	if [ $$(id -u) = 0 ]; then sudo=; else sudo=sudo; fi; \
	$$sudo apt-get update -qq && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing

format: packages
	@command -v clang-format >/dev/null || { echo "clang-format is missing: apt-get install clang-format"; exit 1; }
	git ls-files '*.cpp' '*.h' | xargs clang-format -i

clean:
	rm -rf build build-sanitize out
