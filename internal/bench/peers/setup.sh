#!/usr/bin/env bash
# Creates the environment of the programs that the benchmark compares with: that of the reference tensors (torch and
# transformers), and the packages of requirements.txt beside it. Prints the path of its Python interpreter as its last
# line. Does nothing where it is up to date.
#
#   MOBIUSC_BENCH_VENV   where (default ~/.cache/mobiusc/bench-venv)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
reference=$("$here/../../../testdata/reference/setup.sh" | tail -n 1)
venv=${MOBIUSC_BENCH_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/mobiusc/bench-venv}
stamp=$venv/requirements.installed

if ! cmp -s "$here/requirements.txt" "$stamp"; then
  "$reference" -m venv "$venv"
  packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$reference" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > "$packages/reference.pth"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$stamp"
fi
"$venv/bin/python" -c 'import torch, mobius' 2> /dev/null # a broken environment fails here, not later
echo "$venv/bin/python"
