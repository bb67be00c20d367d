# The two commands of the README, and the heavier lanes described in CONTRIBUTING.md.

.PHONY: test check bench reference corpus

# Everything a change must pass, on a fresh machine: fetches ONNX Runtime if it is not there, then runs all tests.
test:
	./scripts/onnxruntime.sh
	go test ./...

# What CI runs.
check:
	.ci/run
