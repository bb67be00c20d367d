# `make test` is the command of the README; all the targets are the lanes that CONTRIBUTING.md describes.

.PHONY: test editors check goldens bench bench-peers bench-packages reference bench-weights numerics real-weights genai

# Everything a change must pass, on a fresh machine: fetches ONNX Runtime if it is not there, then runs all tests.
test:
	./scripts/onnxruntime.sh
	go test ./...

# What needs Node and npm: the JSON Schema in yaml-language-server, and the VS Code extension.
editors:
	cd editors/yaml-language-server && npm ci && npm test
	cd editors/vscode && npm ci && npm run package && npm test

# What CI runs.
check:
	.ci/run

# Writes every golden file, and the recorded sizes of the graphs, anew; review what changed.
goldens:
	./scripts/onnxruntime.sh
	UPDATE=1 go test ./...

# How fast the compiled graphs are, as ratios to other graphs and to torch: docs/benchmarks.md. A few minutes; with
# BENCH="-full -o FILE" everything, in an hour. What bench-peers has not installed is reported as not measured.
BENCH ?=
bench:
	./scripts/onnxruntime.sh
	go run ./internal/bench $(BENCH)

# Installs the peers of the benchmark outside the repository: 7 GB.
bench-peers:
	internal/bench/peers/setup.sh

# The benchmarks of the compiler's own packages.
bench-packages:
	go test -run '^$$' -bench . ./...

# Generates the reference tensors anew; fails if a byte differs. The first run installs torch outside the repository.
reference:
	python=$$(testdata/reference/setup.sh | tail -1) && "$$python" testdata/reference/generate.py --check

# What weights cost: 55 GB in place, and copies against cp. Needs 9 GB of disk in BENCH_DIR, and a quiet machine; cp's own
# variation is printed.
BENCH_DIR ?= /tmp/mobiusc-weights
bench-weights:
	go run ./internal/checkpointtest/weightsbench -dir $(BENCH_DIR) -layout testdata/checkpoints/qwen3_8.layout -shards 18 \
		-spec qwen3_8 -config testdata/configs/qwen3_8/config.json inplace
	go run ./internal/checkpointtest/weightsbench -dir $(BENCH_DIR) -gib 4 -rounds 5 copy

# Measures every number of docs/numerics.md anew.
numerics:
	./scripts/onnxruntime.sh
	MEASURE=1 go test -count=1 -run NumericsPage ./compiler

# Generation with onnxruntime-genai from the reduced reference models; docs/genai.md has the table. The first run installs it
# outside the repository. GENAI=--update writes the table anew.
GENAI ?=
genai:
	./scripts/genai.sh $(GENAI)

# A real published checkpoint against the reference, on real sentences.
real-weights:
	./scripts/real-weights.sh
