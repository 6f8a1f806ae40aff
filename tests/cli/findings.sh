# Findings, and the commands that repeat them.
source "$(dirname "$0")/common.bash"
PATH=$(cd "$(dirname "$a2a3sim")" && pwd):$PATH

# What differs between many schedules and one of them is left out.
without_counts() { sed -E 's/ \([0-9]+ times\)//; /^shrunk: /d'; }

lines_that_repeat() {
  grep -vE '^[0-9]+ of |replay: |^shrunk: ' |
    sed -E 's/random · seed [0-9]+/replay/; s/ \([0-9]+ times\)//'
}

# replay_and_compare: runs the replay command of the last finding as it stands.
replay_and_compare() {
  local found command
  found=$(lines_that_repeat <<<"$out")
  command=$(sed -n 's/^replay: //p' <<<"$out")
  [ -n "$command" ] || { fail "$ran: no replay command in:" "$out"; return; }
  run $command
  expect_status 1
  expect_equal "$(lines_that_repeat <<<"$out")" "$found"
  expect_equal "$(sed -n 's/^replay: //p' <<<"$out")" "$command"
}

# A mismatch among many schedules.
run "$a2a3sim" -d 0,1 bug_05_no_barrier --seeds 1000
expect_status 1
expect_equal "$err" ""
expect_line "$out" '1000 of 1000 schedules failed: [0-9]+ mismatch(es)?, 0 deadlocks, 0 step bounds, 1000 with races; first at seed 0'
expect_line "$out" 'bug_05_no_barrier · 2 ranks · documented · random · seed [0-9]+ · [0-9]+ decisions · trace [0-9a-f]{16}'
expect_line "$out" 'mismatch on [12] ranks?:'
expect_line "$out" '  rank [01]: 64 of 64 elements differ; first y\[[01]\]\[0\]: expected [-0-9.e]+, actual 0: zeros'
grep -qx OK <<<"$out" && fail "$ran: says OK"
seed=$(sed -nE 's/.*first at seed ([0-9]+)$/\1/p' <<<"$out")
detail=$(tail -n +2 <<<"$out" | without_counts)
replay_and_compare

# The same seed alone shows the same; --fail-fast stops there.
run "$a2a3sim" -d 0,1 bug_05_no_barrier --seed "$seed"
expect_status 1
expect_equal "$(without_counts <<<"$out")" "$detail"
run "$a2a3sim" -d 0,1 bug_05_no_barrier --seeds 1000 --fail-fast
expect_status 1
expect_line "$out" "1 of $((seed + 1)) schedules? failed: 1 mismatch, .*; first at seed $seed"
expect_equal "$(tail -n +2 <<<"$out" | without_counts)" "$detail"

# The replay command carries every flag that matters, and the mended kernel passes.
run "$a2a3sim" -d 2,4,9 --model weak --burst 64 bug_05_barrier_before_staging --size 96 \
  --dtype fp16 --data-seed 3 --seeds 50 --vehicle thread
expect_status 1
expect_line "$out" 'replay: a2a3sim -d 2,4,9 bug_05_barrier_before_staging --size 96 --dtype fp16 --data-seed 3 --model weak --burst 64 --vehicle thread --replay sr1\.[-_A-Za-z0-9]+'
replay_and_compare
run "$a2a3sim" -d 0,1 bug_05_no_barrier --fixed --seeds 1000
expect_ok

# A program's own command names itself in what repeats it.
run "$(dirname "$a2a3sim")/bug_05_pull_push_confused" -d 0,1,2 --seed 4
expect_status 1
expect_line "$out" 'replay: bug_05_pull_push_confused -d 0,1,2 --replay sr1\..*'
replay_and_compare

# --timeline of the first failing schedule.
run "$a2a3sim" -d 0,1 bug_05_no_barrier --seeds 1000 --timeline
expect_status 1
expect_line "$out" ' *1 rank [01] +store #1 data.*'

# The step bound: each rank, what it waits for and where.
run "$a2a3sim" -d 0,1 05_remote_load_store --max-steps 3
expect_status 1
expect_line "$out" 'step-bound: [12] ranks? unfinished at the step bound'
expect_line "$out" '  rank [01]: barrier signal\[[01]\]: expected >= 1, actual [01]; at ring_shift\.h:[0-9]+'
replay_and_compare

# A schedule too long for a token is repeated by its seed.
run "$a2a3sim" -d 0-79 05_remote_load_store --max-steps 4001 --seed 5
expect_status 1
expect_line "$out" 'replay: a2a3sim -d 0-79 05_remote_load_store --max-steps 4001 --seed 5 --strategy random'
found=$out
run $(sed -n 's/^replay: //p' <<<"$out")
expect_equal "$out" "$found"

# Tokens that do not fit.
run "$a2a3sim" -d 0,1 bug_05_no_barrier --seed "$seed"
token=$(sed -nE 's/^replay: .* --replay (.*)$/\1/p' <<<"$out")
refused() {
  local reason=$1
  shift
  run "$a2a3sim" "$@"
  expect_status 2
  expect_line "$err" "a2a3sim: --replay: $reason.*"
}
refused 'not a replay token' -d 0,1 bug_05_no_barrier --replay nonsense
refused 'a damaged replay token' -d 0,1 bug_05_no_barrier --replay "${token%?????}"
for other in '-d 0,1,2 bug_05_no_barrier' '-d 0,1 05_remote_load_store' \
  '-d 0,1 bug_05_no_barrier --fixed' '-d 0,1 bug_05_no_barrier --size 65' \
  '-d 0,1 bug_05_no_barrier --dtype int32' '-d 0,1 bug_05_no_barrier --data-seed 1' \
  '-d 0,1 bug_05_no_barrier --model sc' '-d 0,1 bug_05_no_barrier --burst 8'; do
  refused 'a token of another program' $other --replay "$token"
done
for other in '--seed 1' '--seeds 2' '--strategy random'; do
  run "$a2a3sim" -d 0,1 bug_05_no_barrier --replay "$token" $other
  expect_status 2
  expect_equal "$err" "a2a3sim: --replay and ${other% *} exclude each other; expected one of them"
done

finish
