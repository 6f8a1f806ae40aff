# shellcheck shell=bash
# Set-up that the scripts of tools/ and .ci/run share; to be sourced under `set -euo pipefail`.
# What it says goes to stderr, and only when there is something to do.

symrace_root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)

symrace_packages=(g++ cmake ninja-build libboost-dev libboost-context-dev libabsl-dev libeigen3-dev
  nlohmann-json3-dev libxxhash-dev libbenchmark-dev doctest-dev libcli11-dev)
# What the tests look with: at JSON, at pictures, at HTML, at a replay under a debugger.
symrace_test_packages=(python3-minimal python3-matplotlib gdb chromium)

symrace_say() { printf 'symrace: %s\n' "$*" >&2; }

symrace_fail() {
  symrace_say "$@"
  exit 2
}

# Runs a command whose output matters only when it fails.
symrace_quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if ((status != 0)); then cat -- "$log" >&2; fi
  rm -f -- "$log"
  return "$status"
}

# Installs those of the named Debian packages that are missing.
symrace_install() {
  command -v dpkg-query >/dev/null || return 0  # no Debian: cmake names what it misses
  local package installed missing=() as_root=()
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    [[ $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || missing+=("$package")
  done
  ((${#missing[@]} > 0)) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      symrace_fail "missing packages, and neither root nor sudo to install them:" "${missing[@]}"
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive flock /run/lock/symrace-apt.lock)
  symrace_say "installing ${missing[*]}"
  # sudo asks for its password on the terminal, so ahead of the quiet part.
  ((EUID == 0)) || sudo -v || symrace_fail "sudo refused; install by hand: ${missing[*]}"
  symrace_quietly "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=600 update ||
    symrace_fail "apt-get update failed; needed were: ${missing[*]}"
  symrace_quietly "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=600 install -y \
    --no-install-recommends "${missing[@]}" ||
    symrace_fail "apt-get could not install: ${missing[*]}"
}

# True when no source is newer than the last good build of this target. The stamp's time is from
# before that build; its content tells a tree that was moved or copied.
symrace_is_built() {
  local stamp=$1
  [[ -f $stamp && $(<"$stamp") == "$symrace_root" ]] || return 1
  local newer
  newer=$(cd -- "$symrace_root" &&
    find CMakeLists.txt CMakePresets.json core emu kernels tools bench tests \
      -newer "$stamp" -print -quit 2>/dev/null) || return 1
  [[ -z $newer ]]
}

symrace_is_configured() {
  local build=$1
  [[ -f $build/build.ninja && ! $symrace_root/CMakePresets.json -nt $build/build.ninja ]] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$symrace_root" "$build/CMakeCache.txt"
}

# symrace_build PRESET TARGET: makes build/PRESET up to date; exits 2 when it cannot. Concurrent runs
# wait for one another.
symrace_build() {
  local preset=$1 target=$2
  local build=$symrace_root/build/$preset
  local stamp=$build/.built-$target
  symrace_is_built "$stamp" && return 0
  mkdir -p -- "$build" || symrace_fail "cannot write to $build"
  (
    flock 9
    symrace_is_built "$stamp" && exit 0  # another run has built it meanwhile
    symrace_install "${symrace_packages[@]}"
    started=$(mktemp -- "$build/.started-XXXXXX")
    trap 'rm -f -- "$started"' EXIT
    printf '%s\n' "$symrace_root" >"$started"
    cd -- "$symrace_root"
    if ! symrace_is_configured "$build"; then
      symrace_say "configuring build/$preset"
      symrace_quietly cmake --fresh --preset "$preset" ||
        symrace_fail "cmake could not configure build/$preset"
    fi
    symrace_say "building $target in build/$preset"
    quiet=(--quiet)
    if [[ -t 2 ]]; then quiet=(); fi
    ninja -C "$build" "${quiet[@]}" "$target" >&2 </dev/null ||
      symrace_fail "the build of $target in build/$preset failed"
    mv -f -- "$started" "$stamp"
  ) 9>"$build/.lock"
}
