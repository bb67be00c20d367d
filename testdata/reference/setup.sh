#!/usr/bin/env bash
# Creates the virtual environment in which the reference tensors are made: the
# pinned packages of requirements.txt, outside the repository. Prints the path
# of its Python interpreter as its last line.
#
#   testdata/reference/setup.sh            create it, or bring it up to date
#
# Environment:
#   MOBIUSC_REFERENCE_VENV   where (default ~/.cache/mobiusc/reference-venv)
#   PYTHON                   interpreter to create it with (default python3)
#
# Needs about 7 GB of disk: on Linux the torch wheel brings its CUDA libraries
# along and does not load without them, although only the CPU is used.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${MOBIUSC_REFERENCE_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/mobiusc/reference-venv}
stamp=$venv/requirements.installed

if ! cmp -s "$here/requirements.txt" "$stamp"; then
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$stamp"
fi
"$venv/bin/python" -c 'import torch, transformers' # a broken environment fails here, not later
echo "$venv/bin/python"
