#!/usr/bin/env bash
# Puts the ONNX Runtime library where the tests and `mobiusc verify` look for it: the user's cache directory.
# It comes from the npm package onnxruntime-node, or from the Python wheel where there is no npm. Does nothing
# when the library is there.
set -euo pipefail

version=1.30.0
case "$(uname -s)" in
  Darwin) cache="$HOME/Library/Caches" os=darwin library=libonnxruntime.$version.dylib wheel=$library ;;
  *) cache="${XDG_CACHE_HOME:-$HOME/.cache}" os=linux library=libonnxruntime.so.1 wheel=libonnxruntime.so.$version ;;
esac
case "$(uname -m)" in
  x86_64) arch=x64 ;;
  arm64 | aarch64) arch=arm64 ;;
  *) echo "onnxruntime.sh: no ONNX Runtime is published for $(uname -m)" >&2; exit 1 ;;
esac

dir="$cache/mobiusc/onnxruntime-$version"
if [ -e "$dir/$library" ]; then exit 0; fi
if [ -n "${MOBIUSC_ONNXRUNTIME:-}" ] && [ -e "$MOBIUSC_ONNXRUNTIME" ]; then exit 0; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$dir"
if command -v npm > /dev/null; then
  # `npm pack` fetches the package without running its install script, which would look for GPU libraries.
  (cd "$work" && npm pack --silent "onnxruntime-node@$version" > /dev/null && tar xzf onnxruntime-node-*.tgz)
  found="$work/package/bin/napi-v6/$os/$arch/$library"
elif command -v python3 > /dev/null; then
  python3 -m pip download --quiet --no-deps --only-binary :all: -d "$work" "onnxruntime==$version"
  (cd "$work" && python3 -m zipfile -e onnxruntime-*.whl wheel)
  found="$work/wheel/onnxruntime/capi/$wheel"
else
  echo "onnxruntime.sh: needs npm or python3 to fetch ONNX Runtime $version;" \
    "or set MOBIUSC_ONNXRUNTIME to the path of a libonnxruntime you have" >&2
  exit 1
fi
if [ ! -e "$found" ]; then
  echo "onnxruntime.sh: the package holds no library at ${found#"$work"/}" >&2
  exit 1
fi
# Moved into place whole, so that a run that is stopped leaves nothing that looks installed.
cp "$found" "$dir/.$library.$$"
mv "$dir/.$library.$$" "$dir/$library"
echo "ONNX Runtime $version: $dir/$library"
