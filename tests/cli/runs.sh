# Runs that succeed, and kernels that ask for what the hardware cannot do.
source "$(dirname "$0")/common.bash"

headline='05_remote_load_store · 2 ranks · documented · random · seed 0 · [0-9]+ decisions · trace [0-9a-f]{16}'
run "$a2a3sim" -d 0,1 05_remote_load_store --mode load
expect_ok
expect_line "$out" "$headline"
expect_equal "$(wc -l <<<"$out")" 2
first=$out

# The engine's flags before or after PROGRAM, in any spelling; the vehicle changes nothing.
run "$a2a3sim" 05_remote_load_store --mode=load -d0,1 -p a2a3sim --model documented --seed 0
expect_equal "$out" "$first"
run "$a2a3sim" -d 4,7 --vehicle thread --seed=0 05_remote_load_store --strategy random
expect_equal "$out" "$first"

# The value of a program's flag is that of an engine's flag before PROGRAM.
run "$a2a3sim" --seed 0 -d 0 12_broadcast --root 0
expect_ok

# Every flag that shapes a run.
run "$a2a3sim" -d 0-2,5 --model weak 06_put_get --mode get --size 1024 --dtype bf16 --data-seed 7 \
  --chunk-rows 1 --chunk-cols 128 --pipeline --burst 64 --strategy round-robin --seed 3 \
  --max-steps 100000 --races off
expect_ok
expect_line "$out" '06_put_get · 4 ranks · weak · round-robin · seed 3 · .*'
run "$a2a3sim" -d 3 05_remote_load_store
expect_ok
expect_line "$out" '05_remote_load_store · 1 rank · .*'

# Many schedules.
run "$a2a3sim" -d 0,1 05_remote_load_store --seed 5 --seeds 1000
expect_ok
expect_equal "$out" "$(printf '1000 schedules · seeds 5..1004 · 0 failures\nOK')"

# Every program runs as it stands, and as a command of its own name.
folder=$(dirname "$a2a3sim")
for program in $("$a2a3sim" list | sed -nE 's/^  ([0-9]{2}_[a-z0-9_]+) .*/\1/p'); do
  run "$a2a3sim" -d 0,1 "$program"
  expect_ok
  combined=$out
  run "$folder/$program" -d 0,1
  expect_ok
  expect_equal "$out" "$combined"
done
[ -n "${combined-}" ] || fail "list names no program"
run "$folder/06_put_get" -d 0,1 --mode gett
expect_status 2
expect_equal "$err" "06_put_get: --mode: 'gett' is not one of put, get; did you mean 'get'?"

# --timeline: the events, then the same lines.
run "$a2a3sim" -d 0,1 05_remote_load_store --timeline
expect_ok
expect_equal "$(tail -n 2 <<<"$out")" "$first"
expect_line "$out" ' *[0-9]+ rank [01] +remote_load data.*'

# An error in a kernel: one line that names the place, status 2; with many seeds also the seed.
too_large='[a-z0-9_]+\.(h|cpp):[0-9]+: .*does not fit the on-core buffer of 188416 bytes.*'
run "$a2a3sim" -d 0,1 05_remote_load_store --size 100000
expect_status 2
expect_line "$err" "a2a3sim: $too_large"
expect_equal "$(wc -l <<<"$err")" 1
run "$a2a3sim" -d 0,1 05_remote_load_store --size 100000 --seed 9 --seeds 10
expect_status 2
expect_line "$err" "a2a3sim: seed 9: $too_large"

finish
