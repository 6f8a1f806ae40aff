# --engine direct: ranks really in parallel.
source "$(dirname "$0")/common.bash"

for program in $("$a2a3sim" list | sed -nE 's/^  ([0-9]{2}_[a-z0-9_]+) .*/\1/p'); do
  run "$a2a3sim" -d 0,1 "$program" --engine direct
  expect_ok
  expect_equal "$out" "$(printf '%s · 2 ranks · direct\nOK' "$program")"
done
run "$a2a3sim" --engine=direct -d 3 05_remote_load_store --dtype bf16 --size 7 --data-seed 9 --mode store
expect_ok
expect_line "$out" '05_remote_load_store · 1 rank · direct'
run "$a2a3sim" -d 0-63 05_remote_load_store --engine direct
expect_ok
run "$a2a3sim" -d 0,1 05_remote_load_store --engine emulator
expect_ok
expect_line "$out" '05_remote_load_store · 2 ranks · documented · random · .*'

# A deadlock: the emulator's report, without its headline and the replay.
run "$a2a3sim" -d 0-2 bug_hw_wait_before_send
expect_status 1
emulated=$(sed '1d; /^replay: /d' <<<"$out")
run "$a2a3sim" -d 0-2 bug_hw_wait_before_send --engine direct
expect_status 1
expect_equal "$(sed 1d <<<"$out")" "$emulated"

# Data that are always moved the wrong way.
run "$a2a3sim" -d 0-2 bug_06_golden_other_direction --engine direct
expect_status 1
expect_line "$out" 'mismatch on 3 ranks:'
expect_line "$out" 'to see why: a2a3sim -d 0-2 bug_06_golden_other_direction --seeds 1000'

# A kernel's error.
run "$a2a3sim" -d 0,1 05_remote_load_store --size 100000 --engine direct
expect_status 2
expect_line "$err" 'a2a3sim: [a-z0-9_]+\.(h|cpp):[0-9]+: rank [01]: .*does not fit the on-core buffer.*'
expect_equal "$out" ""

# What only the emulator has.
for flag in '--seed 1' '--seeds 2' --fail-fast '--strategy random' '--max-executions 1' '--jobs 2' \
  --no-shrink '--replay x' '--max-steps 5' '--model sc' '--burst 1' '--races on' '--vehicle fiber' \
  --timeline '--json -' '--sarif -' '--trace -' '--report -'; do
  # shellcheck disable=SC2086
  run "$a2a3sim" -d 0,1 05_remote_load_store --engine direct $flag
  expect_status 2
  expect_equal "$err" \
    "a2a3sim: --engine direct: it takes no ${flag%% *}, which is the emulator's; expected either by itself"
  expect_equal "$out" ""
done
run "$a2a3sim" -d 0,1 05_remote_load_store --engine dirct
expect_status 2
expect_equal "$err" "a2a3sim: --engine: 'dirct' is not one of emulator, direct; did you mean 'direct'?"
run "$a2a3sim" -d 0,1 05_remote_load_store --engine direct --time-limit 0
expect_status 2
expect_line "$err" "a2a3sim: --time-limit: '0' is out of range; .*"
finish
