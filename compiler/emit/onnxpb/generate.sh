#!/bin/sh
# Generates onnx-ml.pb.go from onnx-ml.proto, which is the file of that name in
# the Python package onnx 1.22.0, unchanged. Needs python3 (with venv) and go.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install --quiet grpcio-tools==1.85.1
GOBIN="$tmp" go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
"$tmp/venv/bin/python" -m grpc_tools.protoc --proto_path=. \
	--plugin="$tmp/protoc-gen-go" --go_out=. --go_opt=paths=source_relative \
	--go_opt=Monnx-ml.proto=mobiusc/compiler/emit/onnxpb onnx-ml.proto
