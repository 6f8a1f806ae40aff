# -p a2a3, on the strict double of the ACL runtime, which is $2.
source "$(dirname "$0")/common.bash"
export SYMRACE_ACL_LIBRARY=$2
export ACL_DOUBLE_REPORT=$scratch/report ACL_DOUBLE_LOG=$scratch/log

# on_double ARGUMENT...: also sees to it that the double has nothing to complain of.
on_double() {
  : >"$ACL_DOUBLE_LOG"
  run "$a2a3sim" "$@"
  [ -s "$ACL_DOUBLE_LOG" ] || fail "$ran: the double was not used"
  [ ! -s "$ACL_DOUBLE_REPORT" ] || fail "$ran: the double reports: $(<"$ACL_DOUBLE_REPORT")"
}

# expect_error REGEX: status 2, one line on stderr, nothing on stdout.
expect_error() {
  expect_status 2
  expect_equal "$(wc -l <"$scratch/err")" 1
  expect_line "$err" "a2a3sim: $1"
  expect_equal "$out" ""
}

programs=$("$a2a3sim" list | sed -nE 's/^  ([0-9]{2}_[a-z0-9_]+) .*/\1/p')
[ "$(wc -l <<<"$programs")" -ge 17 ] || fail "programs: $programs"

# Every program on two to four ranks, under schedules of the cards that differ; emu.hardware_programs
# has a hundred of each.
device_lists='0,1 3,1,2 0-3'
[ -z "${SYMRACE_FEWER_CASES-}" ] || device_lists='0-3'
seed=0
for program in $programs; do
  for devices in $device_lists; do
    ACL_DOUBLE_SEED=$((seed++)) on_double -p a2a3 -d "$devices" "$program"
    expect_ok
  done
done
expect_equal "$out" "$(printf '17_moe_dispatch_combine · 4 ranks · a2a3\nOK')"

# Each mended bug.
for program in $("$a2a3sim" list | sed -nE 's/^  (bug_[a-z0-9_]+)$/\1/p'); do
  ACL_DOUBLE_SEED=$((seed++)) on_double -p a2a3 -d 0-2 "$program" --fixed
  expect_ok
done

# Flags of a program, and those of the data.
for dtype in fp32 fp16 bf16 int32 int16 int8; do
  on_double -p a2a3 -d 0-2 11_allreduce_reveal --dtype $dtype --size 40 --data-seed 7
  expect_ok
done
on_double -p a2a3 -d 5 05_remote_load_store --mode store
expect_ok
on_double -p a2a3 -d 0,1 06_put_get --mode get --size 1000 --chunk-rows 1 --chunk-cols 48 --pipeline
expect_ok

# The emulator first: what it puts out is expected, be it right or wrong.
on_double -p a2a3 -d 4,5 06_put_get --compare
expect_ok
expect_equal "$out" "$(printf '06_put_get · 2 ranks · a2a3, compared with the emulator\nOK')"
on_double -p a2a3 -d 0-2 bug_06_golden_other_direction
expect_status 1
expect_line "$out" 'mismatch on 3 ranks:'
on_double -p a2a3 -d 0-2 bug_06_golden_other_direction --compare
expect_ok
# A card that copies wrong, in silence: each rank's load of 64 floats.
ACL_DOUBLE_FLIP=256 on_double -p a2a3 -d 0-2 05_remote_load_store --compare
expect_status 1
expect_line "$out" 'mismatch on 3 ranks:'
for rank in 0 1 2; do
  expect_line "$out" "  rank $rank: 1 of 64 elements differ; first y.$rank..0.: expected .*, actual .*"
done

# A deadlock: the emulator's report, without its headline and the replay.
run "$a2a3sim" -d 0-2 bug_hw_wait_before_send
expect_status 1
emulated=$(sed '1d; /^replay: /d' <<<"$out")
on_double -p a2a3 -d 0-2 bug_hw_wait_before_send
expect_status 1
expect_equal "$(sed 1d <<<"$out")" "$emulated"
run "$a2a3sim" -p a2a3 -d 0-2 bug_hw_wait_before_send --compare
expect_error '--compare: on the emulator the program does not end, as it tells without -p a2a3; .*'

# A kernel's error is the emulator's line.
on_double -p a2a3 -d 0,1 05_remote_load_store --size 100000
expect_error '[a-z0-9_]+\.(h|cpp):[0-9]+: rank [01]: .*does not fit the on-core buffer.*'

# Every call that a run makes fails once, and all else is given back. How often a rank looks at a
# cell is up to the machine, so that some of the last calls may not come.
arguments=(-p a2a3 -d 0,1 05_remote_load_store --mode store)
on_double "${arguments[@]}"
expect_ok
cp "$ACL_DOUBLE_LOG" "$scratch/calls"
failed=0
while read -r count function; do
  case $function in
    aclGetRecentErrMsg | aclFinalize) continue ;;
  esac
  for ((call = 1; call <= count; ++call)); do
    ACL_DOUBLE_FAIL=$function:$call:507018 on_double "${arguments[@]}"
    if [ "$status" = 0 ] && [ "$(grep -cx "$function" "$ACL_DOUBLE_LOG")" -lt "$call" ]; then
      continue
    fi
    failed=$((failed + 1))
    expect_error "(.*: )?$function\(.*\) failed with 507018: .*"
  done
done < <(sort "$scratch/calls" | uniq -c)
[ "$failed" -gt 40 ] || fail "only $failed calls failed"
ACL_DOUBLE_FAIL=aclFinalize:1 run "$a2a3sim" "${arguments[@]}"
expect_error 'aclFinalize\(\) failed with 507899: .*'
expect_equal "$(<"$ACL_DOUBLE_REPORT")" 'exit: expected aclFinalize before'  # which has failed
grep -q aclrtReduceAsync "$scratch/calls" || fail "no call of aclrtReduceAsync"

# Cards that are not there, not enough, or cannot reach one another.
ACL_DOUBLE_DEVICES=2 on_double -p a2a3 -d 1,2 06_put_get
expect_error '-d: device 2 does not exist; the ACL runtime has 2 devices, from 0 to 1'
ACL_DOUBLE_DEVICES=0 on_double -p a2a3 -d 0,1 06_put_get
expect_error '-d: device 0 does not exist; the ACL runtime has 0 devices'
ACL_DOUBLE_NO_PEER=0-2 on_double -p a2a3 -d 0-2 06_put_get
expect_error "rank 0 on device 0: device 0 cannot access device 2; expected devices with access to one another, as .*"
ACL_DOUBLE_MEMORY=266240 on_double -p a2a3 -d 0,1 06_put_get
expect_error 'rank 0 on device 0: aclrtMalloc\([0-9]+ bytes\) failed with 207001: .*'
SYMRACE_ACL_LIBRARY=/nowhere/libascendcl.so run "$a2a3sim" -p a2a3 -d 0,1 06_put_get
expect_error "the ACL runtime cannot be loaded: /nowhere/libascendcl.so: .*; expected CANN's set_env.sh to .*"
SYMRACE_ACL_LIBRARY=libm.so.6 run "$a2a3sim" -p a2a3 -d 0,1 06_put_get
expect_error 'the ACL runtime libm.so.6 has no aclInit; expected a newer CANN'

# What only the emulator has, and flags that do not go together.
for flag in '--seed 1' '--seeds 2' '--model sc' '--races on' --timeline '--json -' '--clock a2a3'; do
  # shellcheck disable=SC2086
  run "$a2a3sim" -p a2a3 -d 0,1 06_put_get $flag
  expect_error "-p a2a3: it takes no ${flag%% *}, which is the emulator's; expected either by itself"
done
run "$a2a3sim" -p a2a3 -d 0,1 06_put_get --engine direct
expect_error '-p a2a3 and --engine exclude each other; expected one of them'
run "$a2a3sim" -d 0,1 06_put_get --compare
expect_error '--compare without -p a2a3; expected both'

# The list of cards.
ACL_DOUBLE_DEVICES=3 ACL_DOUBLE_NO_PEER=0-2 ACL_DOUBLE_MEMORY=1610612736 on_double devices
expect_status 0
expect_equal "$out" "3 devices · Ascend910_9391
device 0: 1.5 GiB of 1.5 GiB free
device 1: 1.5 GiB of 1.5 GiB free
device 2: 1.5 GiB of 1.5 GiB free
access from a device (row) to the memory of another (column):
       0   1   2
   0   - yes  no
   1 yes   - yes
   2  no yes   -"
SYMRACE_ACL_LIBRARY=/nowhere/libascendcl.so run "$a2a3sim" devices
expect_error 'the ACL runtime cannot be loaded: .*'
run "$a2a3sim" devices -d 0
expect_error "devices: takes no flags; expected 'a2a3sim devices'"
finish
