#!/usr/bin/env bash
# Builds the fuzz targets with clang, and runs each for a while on a copy of its inputs:
# tests/fuzz/run.sh [SECONDS [TARGET...]]. An input that fails stays in build/fuzz/found, and its
# path is told.
set -euo pipefail
script=$(readlink -f -- "${BASH_SOURCE[0]}")
source "$(dirname -- "$script")/../../tools/setup.sh"

cd -- "$symrace_root"
build=build/fuzz
found=$build/found

# run_target SECONDS TARGET: with what it says in a file, unless it fails.
run_target() {
  local seconds=$1 target=$2 inputs=$build/inputs/$2 log=$build/$2.log words=()
  [[ ! -f tests/fuzz/$target.dict ]] || words=(-dict="tests/fuzz/$target.dict")
  rm -rf -- "$inputs"
  mkdir -p -- "$inputs" "$found"
  cp -- tests/fuzz/corpus/"$target"/* "$inputs"
  if ! "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -max_len=1024 \
    "${words[@]}" -print_final_stats=1 -artifact_prefix="$found/$target-" "$inputs" >"$log" 2>&1 </dev/null; then
    cat -- "$log"
    symrace_say "fuzz_$target: failed; the input is" \
      "$(sed -n 's/.*Test unit written to //p' "$log"), kept in $symrace_root"
    return 1
  fi
  printf '%s: %s\n' "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: */inputs: /p' "$log")"
}

if [[ ${1:-} == --target ]]; then
  run_target "$2" "$3"
  exit
fi

seconds=${1:-30}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || symrace_fail "'$seconds'; expected seconds from 1 on"
targets=("${@:2}")
if ((${#targets[@]} == 0)); then mapfile -t targets < <(ls tests/fuzz/corpus); fi
for target in "${targets[@]}"; do
  [[ -d tests/fuzz/corpus/$target ]] ||
    symrace_fail "no target '$target'; expected some of: $(ls -x tests/fuzz/corpus)"
done
symrace_install clang-16 libclang-rt-16-dev
symrace_build fuzz fuzz
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -n1 "$script" --target "$seconds"
