# Bad input: one exact line on stderr, nothing on stdout, status 2.
source "$(dirname "$0")/common.bash"

# Words.
form="expected 'a2a3sim -d IDS PROGRAM', where 'a2a3sim list' names the programs, or 'a2a3sim --help'"
bad "PROGRAM is missing; $form"
bad "PROGRAM is missing; $form" -d 0,1
bad "unknown program '05_remote'; did you mean '05_remote_load_store'?" -d 0,1 05_remote
bad "unknown program 'remote_load'; did you mean '05_remote_load_store'?" -d 0,1 remote_load
bad "unknown program '06_putget'; did you mean '06_put_get'?" -d 0,1 06_putget
bad "unknown program 'xyzzy'; expected one that 'a2a3sim list' names" -d 0,1 xyzzy
bad "unknown program 'lst'; did you mean 'list'?" lst
bad "list: takes no flags; expected 'a2a3sim list'" list -d 0
bad "unexpected word 'more'; expected only flags beside 06_put_get" -d 0,1 06_put_get more

# One line, whatever the words hold.
bad "unknown program 'a?b?[31m'; expected one that 'a2a3sim list' names" -d 0,1 $'a\nb\033[31m'

# Flags.
bad "unknown flag '--moed' of 06_put_get; did you mean '--mode'?" -d 0,1 06_put_get --moed put
bad "unknown flag '--modle' of 06_put_get; did you mean '--mode' or '--model'?" \
  -d 0,1 06_put_get --modle=sc
bad "unknown flag '-x' of 06_put_get; expected one that --help names" -d 0,1 06_put_get -x
bad "unknown flag '--mode' before PROGRAM, where a program's own flags cannot stand; did you mean \
'--model'?" -d 0,1 --mode put 06_put_get
bad "--seed: its value is missing; expected one behind it" -d 0,1 06_put_get --seed
bad "--seed: given more than once; expected it once" -d 0,1 06_put_get --seed 1 --seed 2
bad "--json: its value is missing; expected one before --timeline" -d 0,1 06_put_get --json --timeline
bad "--timeline: takes no value; expected --timeline alone" -d 0,1 06_put_get --timeline=3

# -p and -d.
bad "-p: 'a3' is not one of a2a3sim, a2a3" -p a3 -d 0,1 06_put_get
ids="expected distinct device ids, as 0,1 or 0-7"
bad "-d: missing; expected the devices to run on, as -d 0,1" 06_put_get
bad "-d: '' has an empty entry; $ids" -d "" 06_put_get
bad "-d: '0,' has an empty entry; $ids" -d 0, 06_put_get
bad "-d: 'one' is not a device id; $ids" -d 0,one 06_put_get
bad "-d: '1-' is not a device id; $ids" -d 1- 06_put_get
bad "-d: '0 1' is not a device id; $ids" -d "0 1" 06_put_get
bad "-d: '-1' is negative; $ids" -d 0,-1 06_put_get
bad "-d: device 1 is named twice; $ids" -d 0-2,1 06_put_get
bad "-d: range '7-0' runs backwards; expected 0-7" -d 7-0 06_put_get
bad "-d: '2147483648' is out of range; expected device ids from 0 to 2147483647" \
  -d 2147483648 06_put_get
bad "-d: '0-65536' names more than 65536 devices; expected at most that many" -d 0-65536 06_put_get
bad "-d: 1 device; expected at least 2, the fewest that 07_dynamic_rank_count runs on" \
  -d 3 07_dynamic_rank_count

# Values.
bad "--mode: 'gett' is not one of put, get; did you mean 'get'?" -d 0,1 06_put_get --mode gett
bad "--model: 'documentd' is not one of sc, documented, a2a3, weak; did you mean 'documented'?" \
  --model documentd -d 0,1 06_put_get
bad "--dtype: 'double' is not one of fp32, fp16, bf16, int32, int16, int8" \
  -d 0,1 06_put_get --dtype double
bad "--strategy: 'roundrobin' is not one of random, round-robin, pct:D, uniform, exhaustive, check-determinism; did you mean 'round-robin'?" \
  -d 0,1 06_put_get --strategy roundrobin
bad "--vehicle: 'fibre' is not one of fiber, thread; did you mean 'fiber'?" \
  -d 0,1 06_put_get --vehicle fibre
at_least_0="expected an integer of at least 0"
at_least_1="expected an integer of at least 1"
bad "--seed: '1x' is not an integer; $at_least_0" -d 0,1 06_put_get --seed 1x
bad "--seed: '' is not an integer; $at_least_0" -d 0,1 06_put_get --seed ""
bad "--seed: '-1' is out of range; $at_least_0 that fits 64 bits" -d 0,1 06_put_get --seed -1
bad "--data-seed: '18446744073709551616' is out of range; $at_least_0 that fits 64 bits" \
  -d 0,1 06_put_get --data-seed 18446744073709551616
bad "--seeds: '0' is out of range; $at_least_1 that fits 64 bits" -d 0,1 06_put_get --seeds 0
bad "--seeds: 2 seeds from 18446744073709551615 on pass the largest seed; expected at most 1" \
  -d 0,1 06_put_get --seed 18446744073709551615 --seeds 2
bad "--fail-fast without --seeds; expected both" -d 0,1 06_put_get --fail-fast
bad "--burst: '-4' is out of range; $at_least_0 that fits 64 bits" -d 0,1 06_put_get --burst -4
bad "--max-steps: '0' is out of range; $at_least_1 that fits 64 bits" \
  -d 0,1 06_put_get --max-steps 0
bad "--chunk-cols: '-1' is out of range; $at_least_0 that fits 64 bits" \
  -d 0,1 06_put_get --chunk-cols -1
bad "--size: '0' is out of range; $at_least_1 that fits 64 bits" -d 0,1 06_put_get --size 0
bad "--size: '99999999999999999999' is out of range; $at_least_1 that fits 64 bits" \
  -d 0,1 06_put_get --size 99999999999999999999
bad "--atomic add: belongs to --mode push, and the mode is load; expected --mode push with it" \
  -d 0,1 05_remote_load_store --atomic add

# Sizes that no machine has room for: before anything is allocated.
for size in 9223372036854775807 1000000000000000; do
  run "$a2a3sim" -d 0,1 06_put_get --size "$size"
  expect_status 2
  expect_line "$err" "a2a3sim: --size: $size elements of fp32 on each of 2 ranks do not fit this \
machine's [0-9.]+ GiB of memory; expected at most [0-9]+"
done
run "$a2a3sim" -d 0,1 17_moe_dispatch_combine --tokens 99999999999 --size 1
expect_status 2
expect_line "$err" "a2a3sim: --size, --tokens: [0-9]+ times 1 elements of fp32 on each of 2 ranks do not \
fit this machine's [0-9.]+ GiB of memory; expected fewer of them"

# Files.
writable="expected a writable file, or - for stdout"
bad "--json: cannot write '$scratch/no/file': No such file or directory; $writable" \
  -d 0,1 06_put_get --json "$scratch/no/file"
bad "--json: cannot write '$scratch': Is a directory; $writable" -d 0,1 06_put_get --json "$scratch"
printf 'kept\n' >"$scratch/earlier"
bad "--report: cannot write '$scratch/no/file': No such file or directory; $writable" \
  -d 0,1 06_put_get --json "$scratch/new" --sarif "$scratch/earlier" --report "$scratch/no/file"
[ ! -e "$scratch/new" ] || fail "$ran: left an empty file"
expect_equal "$(<"$scratch/earlier")" kept
ln -s earlier "$scratch/link"
bad "--json and --trace both write '$scratch/link'; expected a file for each" \
  -d 0,1 06_put_get --json "$scratch/earlier" --trace "$scratch/link"
expect_equal "$(<"$scratch/earlier")" kept
bad "--json: the file name is empty; expected a file, or - for stdout" -d 0,1 06_put_get --json ""
if [ -e /dev/full ]; then
  run "$a2a3sim" -d 0,1 06_put_get --json /dev/full
  expect_status 2
  expect_equal "$err" "a2a3sim: --json: cannot write '/dev/full': No space left on device; $writable"
  grep -qx OK <<<"$out" && fail "$ran: OK though the file was not written"
  "$a2a3sim" -d 0,1 06_put_get >/dev/full 2>"$scratch/err"
  expect_equal "$? $(<"$scratch/err")" \
    "2 a2a3sim: stdout: cannot be written; expected it to take the report"
fi

finish
