# Proofs, strategies and their bounds, threads, and what explains a symptom.
source "$(dirname "$0")/common.bash"

# A proof, under every model under which the kernel is right.
for model in sc documented a2a3 weak; do
  run "$a2a3sim" -d 0,1 05_remote_load_store --strategy exhaustive --model "$model"
  expect_ok
  expect_line "$out" "verified: all [0-9]+ executions, model $model"
  expect_line "$out" 'naive enumeration: [0-9]+ schedules for (this one|these); [0-9]+ schedules? given up as known'
done
run "$a2a3sim" -d 0-2 06_put_get --mode get --strategy exhaustive
expect_ok
expect_line "$out" 'verified: all [0-9]+ executions, model documented'

# No proof: the failures, one of them in full, with the command that repeats it.
run "$a2a3sim" -d 0,1 bug_06_put_without_signal --strategy exhaustive
expect_status 1
expect_line "$out" '[0-9]+ of [0-9]+ executions failed: [0-9]+ mismatch(es)?, 0 deadlocks, 0 step bounds, [0-9]+ with races; model documented'
expect_line "$out" 'these are all executions'
expect_line "$out" 'race: receiver reads stale dst( \([0-9]+ times\))?'
expect_line "$out" '  fix: notify after the move; wait before dst is read'
command=$(sed -n 's/^replay: //p' <<<"$out")
PATH=$(cd "$(dirname "$a2a3sim")" && pwd):$PATH
run $command
expect_status 1
expect_line "$out" 'race: receiver reads stale dst( \([0-9]+ times\))?'

# Where it stops short it says so, and does not call it verified.
run "$a2a3sim" -d 0-2 bug_06_chunked_put_before_signal --strategy exhaustive --max-executions 20 --races off
expect_line "$out" '[0-9]+ of 20 executions failed: .*'
run "$a2a3sim" -d 0-2 bug_hw_no_second_barrier --fixed --strategy exhaustive --max-executions 20
expect_status 0
expect_line "$out" 'not verified: 0 of 20 executions failed: .*'
[ "$(tail -n 1 <<<"$out")" != OK ] || fail "$ran: OK without a proof"
run "$a2a3sim" -d 0-2 bug_06_chunked_put_before_signal --strategy exhaustive --max-executions 20 --races off
expect_line "$out" 'not all were visited: stopped at --max-executions 20'
run "$a2a3sim" -d 0,1 bug_05_no_barrier --strategy exhaustive --fail-fast
expect_status 1
expect_line "$out" 'not all were visited: stopped at the first failure'

# A deadlock: who waits for what, and why in vain.
run "$a2a3sim" -d 0,1 bug_hw_wait_before_send --seeds 10
expect_status 1
expect_line "$out" '10 of 10 schedules failed: 0 mismatches, 10 deadlocks, 0 step bounds, 0 with races; first at seed 0'
expect_line "$out" 'deadlock: 2 ranks wait for ever'
expect_line "$out" '  rank 0: wait signal\[1\]: expected >= 1, actual 0; at bug_hw_wait_before_send.cpp:[0-9]+; no rank ever notifies this cell'
expect_line "$out" "  fix: move each rank's notify before its wait"

# Races are looked for unless told otherwise; they are found whatever the values.
run "$a2a3sim" -d 0,1 bug_05_no_barrier --model sc --seeds 100
expect_status 1
expect_line "$out" '100 of 100 schedules failed: .*, 100 with races; first at seed 0'
run "$a2a3sim" -d 0,1 bug_06_last_chunk_peeked --model sc --seeds 100 --races off
expect_ok
run "$a2a3sim" -d 0,1 bug_06_last_chunk_peeked --model sc --seeds 100
expect_status 1

# Every strategy; threads change nothing.
for strategy in random round-robin uniform pct:1 pct:3; do
  run "$a2a3sim" -d 0-2 bug_06_wrong_peer_handshake --strategy "$strategy" --seeds 2000
  expected=$out
  [ "$status" = 0 ] || expect_status 1
  run "$a2a3sim" -d 0-2 bug_06_wrong_peer_handshake --strategy "$strategy" --seeds 2000 --jobs 3
  expect_equal "$out" "$expected"
done
run "$a2a3sim" -d 0,1 06_put_get --strategy check-determinism --seeds 20
expect_ok
expect_line "$out" '20 schedules, each run twice: the same traces'

# Shrunk unless told otherwise.
run "$a2a3sim" -d 0-2 bug_06_wrong_peer_handshake --seeds 2000
expect_line "$out" 'shrunk: late deliveries from [0-9]+ to [0-9]+, switches between ranks from [0-9]+ to [0-9]+'
run "$a2a3sim" -d 0-2 bug_06_wrong_peer_handshake --seeds 2000 --no-shrink
grep -q 'shrunk' <<<"$out" && fail "$ran: shrunk"

# explain.
run "$a2a3sim" explain
expect_status 0
expect_line "$out" '  zeros +remote read returns zeros'
run "$a2a3sim" explain zeros
expect_status 0
expect_line "$out" 'fix:     stage, then pld::tensor::barrier\(signal\), then remote_load'

run "$a2a3sim" explain bug_hw_lost_update
expect_line "$out" 'fix:     pld::AtomicType::Add'

# Wrong use.
wrong() {
  run "$a2a3sim" "${@:2}"
  expect_status 2
  expect_equal "$err" "a2a3sim: $1"
}
wrong "explain: unknown symptom 'zeroes'; did you mean 'zeros'?" explain zeroes
wrong "explain: takes one symptom; expected 'a2a3sim explain SYMPTOM'" explain zeros hang
wrong '--strategy exhaustive and --seeds exclude each other; expected one of them' \
  -d 0,1 06_put_get --strategy exhaustive --seeds 5
wrong '--max-executions without --strategy exhaustive; expected both' \
  -d 0,1 06_put_get --max-executions 5
wrong '--time-limit without --strategy exhaustive, --engine direct or -p a2a3; expected one of them with it' -d 0,1 06_put_get --time-limit 5
wrong "--strategy: 'pct' has no depth; expected pct:D, as pct:3" -d 0,1 06_put_get --strategy pct
wrong "--strategy pct:D: '0' is out of range; expected an integer from 1 to 1000" \
  -d 0,1 06_put_get --strategy pct:0
wrong '--jobs: only --seeds is spread; expected it with --seeds' -d 0,1 06_put_get --jobs 2
wrong "--jobs: '0' is out of range; expected an integer from 1 to 1024" \
  -d 0,1 06_put_get --seeds 9 --jobs 0
wrong "--races: 'no' is not one of on, off; did you mean 'on'?" -d 0,1 06_put_get --races no

finish
