# Sourced by the scripts of this folder, each of which gets the a2a3sim under test as $1.
set -u
export LC_ALL=C.UTF-8
unset A2A3SIM_COMMAND  # replay commands begin with a2a3sim
a2a3sim=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
  printf 'FAILED: %s\n' "$@"
  failures=$((failures + 1))
}

# has_heap PID: there is a named heap that this process made. Other windows have no name at any moment.
has_heap() {
  local object
  for object in /dev/shm/symrace.*; do
    [ -f "$object" ] || continue
    [ "$(od -A n -t d8 -j 56 -N 8 "$object" 2>/dev/null | tr -d ' ')" != "$1" ] || return 0
  done
  return 1
}

# run COMMAND...: sets status, out and err, and sees to it that no shared memory is left behind.
run() {
  ran="$*"
  "$@" >"$scratch/out" 2>"$scratch/err" &
  local pid=$!
  wait "$pid"
  status=$?
  out=$(<"$scratch/out")
  err=$(<"$scratch/err")
  if [[ $ran != *--heap* ]] && has_heap "$pid"; then fail "$ran: left shared memory"; fi
}

# expect_status N: of the command that ran last.
expect_status() {
  [ "$status" = "$1" ] || fail "$ran: status $status, expected $1" "stdout: $out" "stderr: $err"
}

# expect_line TEXT REGEX: a whole line of TEXT matches.
expect_line() {
  grep -qxE -- "$2" <<<"$1" || fail "$ran: no line '$2' in:" "$1"
}

expect_equal() {
  [ "$1" = "$2" ] || fail "$ran: expected: $2" "got: $1"
}

# expect_ok: status 0, nothing on stderr, and OK as the last line.
expect_ok() {
  expect_status 0
  expect_equal "$(tail -n 1 <<<"$out")" OK
  expect_equal "$err" ""
}

# refuses LINE COMMAND...: bad input; that one line on stderr, nothing on stdout, status 2.
refuses() {
  local line=$1
  shift
  run "$@"
  expect_status 2
  expect_equal "$err" "$line"
  expect_equal "$out" ""
}
# bad LINE ARGUMENT...: the same of a2a3sim.
bad() { refuses "a2a3sim: $1" "$a2a3sim" "${@:2}"; }

# wait_until COMMAND...: for an event, not for a time; the bound only keeps a failure short.
wait_until() {
  local tries
  for ((tries = 0; tries < 6000; ++tries)); do
    "$@" && return
    sleep 0.01
  done
  fail "$ran: never came to: $*"
}

finish() {
  [ "$failures" = 0 ] || { echo "$failures checks failed"; exit 1; }
  exit 0
}
