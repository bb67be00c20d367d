#!/usr/bin/env bash
# Runs every reduced model of testdata/reference that has metadata for onnxruntime-genai through its Python package, and
# compares each token with the reference's and with a plain loop in ONNX Runtime; scripts/genai.py says how.
#
#   scripts/genai.sh           compares, and compares the table of docs/genai.md as well; exit code 1 says what differs
#   scripts/genai.sh --update  writes the table anew
#
# Needs Python's pip, once, and 250 MB of disk in the user's cache directory.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(onnxruntime-genai==0.18.0 onnxruntime==1.32.0 numpy==2.4.6 safetensors==0.8.0)
venv="${MOBIUSC_GENAI_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/mobiusc/genai-venv}"
stamp="$venv/packages"

if [ "$(cat "$stamp" 2> /dev/null)" != "${packages[*]}" ]; then
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
  echo "${packages[*]}" > "$stamp"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/mobiusc" ./cmd/mobiusc
"$venv/bin/python" scripts/genai.py "$work/mobiusc" "$work" "$@"
