# --engine direct --ranks-as processes: a process a rank, none of which outlives the run or its parent.
source "$(dirname "$0")/common.bash"
export ASAN_OPTIONS=handle_segv=0  # who is sent SIGSEGV dies of it, in every build

in_processes=(--engine direct --ranks-as processes)
# Lasts until it is ended from outside, for all that a test can wait.
forever=(-d 0,1 17_moe_dispatch_combine --tokens 1 --size 1 --epochs 400000)
documented='[0-9]{2}_' bugs=bug_ kills=200
[ -z "${SYMRACE_FEWER_CASES:-}" ] || documented=1 bugs=bug_hw_w kills=10

# What is right with threads is right, in the same words.
names() { "$a2a3sim" list | sed -nE "s/^  ($1[a-z0-9_]+)( .*)?\$/\1/p"; }
for program in $(names "$documented"); do
  run "$a2a3sim" -d 0-2 "$program" "${in_processes[@]}"
  expect_ok
  expect_equal "$out" "$(printf '%s · 3 ranks · direct\nOK' "$program")"
done
for program in $(names $bugs); do
  run "$a2a3sim" -d 0-3 "$program" --engine direct --fixed
  in_threads=$status
  run "$a2a3sim" -d 0-3 "$program" "${in_processes[@]}" --fixed
  expect_status "$in_threads"
done
for mode in mesh two_phase ring; do
  run "$a2a3sim" -d 0-7 11_allreduce_reveal "${in_processes[@]}" --mode $mode --dtype bf16 --size 1000
  expect_ok
done
run "$a2a3sim" -d 0-31 05_remote_load_store "${in_processes[@]}"
expect_ok
run "$a2a3sim" -d 0,1 05_remote_load_store --engine direct --ranks-as threads
expect_ok

# So is a deadlock, data that are always moved the wrong way, and a kernel's error.
for wrong in bug_hw_wait_before_send bug_06_golden_other_direction bug_06_region_past_slice; do
  run "$a2a3sim" -d 0-2 "$wrong" --engine direct
  threads_status=$status threads_out=$out threads_err=$err
  run "$a2a3sim" -d 0-2 "$wrong" "${in_processes[@]}"
  expect_status "$threads_status"
  expect_equal "$out" "$threads_out"
  expect_equal "${err/rank [0-2]/rank}" "${threads_err/rank [0-2]/rank}"
done

# Bad flags.
bad "--ranks-as without --engine direct; expected both" -d 0,1 05_remote_load_store --ranks-as processes
bad "--ranks-as without --engine direct; expected both" \
  -d 0,1 05_remote_load_store --engine emulator --ranks-as processes
bad "-p a2a3 and --ranks-as exclude each other; expected one of them" \
  -d 0,1 05_remote_load_store -p a2a3 --ranks-as processes
bad "--ranks-as: 'process' is not one of threads, processes; did you mean 'processes'?" \
  -d 0,1 05_remote_load_store --engine direct --ranks-as process

# A run's standard output is a pipe that each of its processes has open: its end is theirs.
mkfifo "$scratch/pipe"
start() {
  ran="$a2a3sim $*"
  "$a2a3sim" "$@" >"$scratch/pipe" 2>"$scratch/err" &
  pid=$!
  exec 3<"$scratch/pipe"
}
# Sets out. The bound only keeps a failure short.
expect_gone() {
  local line
  out=
  while IFS= read -r -t 20 -u 3 line; do out+=$line$'\n'; done
  # read says more than 128 when time is up, and 1 at the end.
  IFS= read -r -t 20 -u 3 line
  [ $? = 1 ] || fail "$ran: some process of it is left"
  exec 3<&-
  wait "$pid" 2>/dev/null
  status=$?
  err=$(<"$scratch/err")
  if [[ $ran != *--heap* ]] && has_heap "$pid"; then fail "$ran: left shared memory"; fi
}
# Sets children to the ranks' processes, once both are there.
await_ranks() {
  local tries stat
  for ((tries = 0; tries < 10000; ++tries)); do
    children=()
    for stat in /proc/[0-9]*/stat; do
      read -r stat 2>/dev/null <"$stat" || continue
      read -r _ parent _ <<<"${stat##*) }"
      [ "$parent" != "$pid" ] || children+=("${stat%% *}")
    done
    [ ${#children[@]} != 2 ] || return
  done
  fail "$ran: never had two ranks"
}

# A rank that dies is named, and ends the other.
for signal in KILL SEGV; do
  start "${forever[@]}" "${in_processes[@]}"
  await_ranks
  kill -s $signal "${children[1]}"
  expect_gone
  expect_status 2
  expect_equal "$out" ""
  expect_line "$err" "a2a3sim: (17_moe_dispatch_combine.cpp:[0-9]+: )?rank [01]: the kernel was ended by \
SIG$signal in process ${children[1]} (after .* here|before its first op); expected it to return"
done

# A named heap has what the ranks' processes wrote and signalled, and is kept however they end.
heap=processes-$$
trap 'rm -rf "$scratch"; rm -f "/dev/shm/symrace.$heap"' EXIT
in_heap() { "$a2a3sim" heap show "$heap" "$@"; }
of_heap() { in_heap; in_heap --signals; in_heap --window data; }
pushed=(-d 0-2 05_remote_load_store --mode push --heap "$heap" --replace-heap --engine direct)
run "$a2a3sim" "${pushed[@]}"
expect_ok
in_threads=$(of_heap)
expect_line "$in_threads" 'rank 2  signal\[0\] = 1'
run "$a2a3sim" "${pushed[@]}" --ranks-as processes
expect_ok
expect_equal "$(of_heap)" "$in_threads"
for victim in rank parent; do
  start "${forever[@]}" "${in_processes[@]}" --heap "$heap" --replace-heap
  await_ranks
  expect_line "$(in_heap)" "$heap  running, process $pid · 17_moe_dispatch_combine · direct · 2 ranks · .*"
  if [ $victim = rank ]; then
    kill -s KILL "${children[0]}"
    state=ended expected=2
  else
    kill -s KILL "$pid"
    state="stale, process $pid died" expected=137
  fi
  expect_gone
  expect_status $expected
  expect_line "$(in_heap)" "$heap  $state · 17_moe_dispatch_combine · direct · 2 ranks · .*"
done
rm "/dev/shm/symrace.$heap"

# Ctrl-C reaches every process of a terminal.
start "${forever[@]}" "${in_processes[@]}"
await_ranks
kill -s INT "${children[@]}" "$pid"
expect_gone
expect_status 130
expect_equal "$out" $'17_moe_dispatch_combine · 2 ranks · direct\ninterrupted\n'
expect_equal "$err" ""

# The parent is killed at moments that are spread over its whole run, while others want the cores.
for core in 1 2; do
  # It ends with this script, however that ends.
  nice -n 5 bash -c 'while kill -0 $0 2>/dev/null; do for ((i = 0; i < 10000; ++i)); do :; done; done' $$ &
  load[core]=$!
done
trap 'kill "${load[@]}"; rm -rf "$scratch"' EXIT
lasting=(-d 0-2 11_allreduce_reveal --mode ring --calls 5 "${in_processes[@]}")
looks=0
start "${lasting[@]}"
while kill -0 "$pid" 2>/dev/null; do looks=$((looks + 1)); done
expect_gone
expect_equal "$out" $'11_allreduce_reveal · 3 ranks · direct\nOK\n'
RANDOM=20240229
for ((round = 0; round < kills; ++round)); do
  start "${lasting[@]}"
  for ((look = RANDOM * looks / 32768; look > 0; --look)); do kill -0 "$pid" 2>/dev/null; done
  kill -s KILL "$pid" 2>/dev/null
  expect_gone
  [ "$status" = 137 ] || [ "$status" = 0 ] || expect_status 137
done
finish
