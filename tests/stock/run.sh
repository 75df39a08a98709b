#!/bin/bash
# Unmodified llama.cpp against the emulator: exports the model, lets llama.cpp write a small launch, removes the file.
#
# usage: run.sh BUILD_FOLDER [TYPE ...] [-- OPTIONS of llama_cpp.py]      TYPE: bf16 (the default) or f32
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
types=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do types+=("$1"); shift; done
[ $# -gt 0 ] && shift
[ ${#types[@]} -gt 0 ] || types=(bf16)

work=$build/stock
mkdir -p "$work"
trap 'rm -f "$work"/*.gguf "$work"/*.gguf.partial' EXIT

if ! "$work/venv/bin/python" -m pip --version >/dev/null 2>&1; then
  python3 -m venv --clear "$work/venv" || { echo "stock: not run, python3 makes no virtual environment (Debian: python3-venv)"; exit 1; }
fi
"$work/venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: -r "$here/requirements.txt" ||
  { echo "stock: not run, pip does not install $(cat "$here/requirements.txt")"; exit 1; }

"$build/qwengpu" run "$here/vecadd.launch.json" --emulate --quiet --transcript "$work/transcript.txt"

ran=0
for type in "${types[@]}"; do
  case $type in
    bf16) file=6 memory=7 ;;
    f32) file=11 memory=12 ;;
    *) echo "stock: no such type: $type"; exit 2 ;;
  esac
  disk_free=$(($(df --output=avail -k "$work" | tail -1) / 1048576))
  memory_free=$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
  if [ "$disk_free" -lt $file ]; then
    echo "stock: $type skipped, the model takes $file GiB of disk and $disk_free are free"
  elif [ "$memory_free" -lt $memory ]; then
    echo "stock: $type skipped, llama.cpp takes $memory GiB of memory and $memory_free are free"
  else
    "$build/qwengpu" export gguf "$work/$type.gguf" --type "$type"
    "$work/venv/bin/python" "$here/llama_cpp.py" "$work/$type.gguf" "$work/transcript.txt" "$@"
    rm -f "$work/$type.gguf"
    ran=$((ran + 1))
  fi
done
[ $ran -gt 0 ] || { echo "stock: nothing was run"; exit 1; }
