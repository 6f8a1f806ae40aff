# Named heaps: a run with --heap, and a2a3sim heap from other processes.
source "$(dirname "$0")/common.bash"

# Names that nobody else has.
mine=cli-$$
trap 'rm -rf "$scratch"; rm -f /dev/shm/symrace.$mine-*' EXIT
demo=$mine-demo
object=/dev/shm/symrace.$demo

# field OFFSET FORMAT BYTES: of the header, as od reads it.
field() { od -A n -t "$2" -j "$1" -N "$3" "$object" | tr -d ' '; }

# slice RANK OFFSET FORMAT BYTES: of a rank's slice, likewise, with single spaces.
slice() {
  local begin=$((65536 + $1 * $(field 24 u8 8) + $2))
  od -A n -v -w"$4" -t "$3" -j $begin -N "$4" "$object" | xargs
}

# values: the elements of a view, without its titles and indices.
values() { grep -v ' · ' <<<"$out" | sed -E 's/^ *[0-9]+//' | xargs; }

# rounded NUMBERS: to the six digits of reports, and of od's floats to seven.
rounded() { for number in $2; do printf "%.$1g " "$number"; done | xargs; }

# A run, and what it leaves.
run "$a2a3sim" -d 0,1 05_remote_load_store --heap "$demo"
expect_ok
run "$a2a3sim" heap list
expect_status 0
expect_line "$out" "$demo  +ended · 05_remote_load_store · emulator · 2 ranks · 8192 bytes a rank"
run "$a2a3sim" heap show "$demo"
expect_status 0
expect_equal "$out" "$demo  ended · 05_remote_load_store · emulator · 2 ranks · 8192 bytes a rank
     window        offset         bytes  type   shape                 signals
  0  data               0           256  fp32   [1, 64]               no
  1  signal          4096             8  int32  [2, 1]                yes"
expect_equal "$(stat -c %a "$object")" 600

# Its values: rank 0 staged what the bug without a barrier tells that rank 1 should have got.
run "$a2a3sim" heap show "$demo" --window data --rank 0 --count 1
expect_status 0
first=$(values)
run "$a2a3sim" -d 0,1 bug_05_no_barrier
expect_status 1
expected=$(sed -nE 's/.*first y\[1\]\[0\]: expected ([^,]*),.*/\1/p' <<<"$out")
expect_equal "$(rounded 6 "$first")" "$expected"
for rank in 0 1; do
  run "$a2a3sim" heap show "$demo" --window 0 --rank $rank
  expect_status 0
  expect_line "$out" "data · rank $rank · fp32 · 0 to 63 of 64"
  expect_equal "$(rounded 7 "$(values)")" "$(rounded 7 "$(slice $rank 0 f4 256)")"
  run "$a2a3sim" heap show "$demo" --window data --rank $rank --offset 62 --as int16 --count 3
  expect_line "$out" "data · rank $rank · int16 · 62 to 64 of 128"
  expect_equal "$(values)" "$(slice $rank 124 d2 6)"
  run "$a2a3sim" heap show "$demo" --window data --rank $rank --as int8 --count 256
  expect_equal "$(values)" "$(slice $rank 0 d1 256)"
done
run "$a2a3sim" heap show "$demo" --window data --as hex --offset 3 --count 20 --rank 1
expect_line "$out" '00000003 ( [0-9a-f]{2}){8} ( [0-9a-f]{2}){8}  \|.{16}\|'
expect_line "$out" '00000013 ( [0-9a-f]{2}){4} +\|.{4}\|'
expect_equal "$(sed -nE 's/^[0-9a-f]{8} (.*)  \|.*/\1/p' <<<"$out" | xargs)" "$(slice 1 3 x1 20)"

# The barrier has cleared its cells.
run "$a2a3sim" heap show "$demo" --signals
expect_equal "$out" "every signal cell is 0"

# The name is taken, and given up.
taken="heap '$demo': there is one already, of a run that has ended; expected another name, or \
--replace-heap"
bad "$taken" -d 0,1 05_remote_load_store --heap "$demo"
bad "$taken" -d 0,1 05_remote_load_store --heap "$demo" --engine direct
run "$a2a3sim" -d 0-2 05_remote_load_store --mode push --dtype int32 --heap "$demo" --replace-heap \
  --engine direct
expect_ok
run "$a2a3sim" heap show "$demo" --signals
expect_equal "$out" "$(printf 'rank %s  signal[0] = 1\n' 0 1 2)"
run "$a2a3sim" heap show "$demo" --signals --rank 1
expect_equal "$out" "rank 1  signal[0] = 1"
# Each rank was sent twice what its predecessor stages in the other mode.
for rank in 0 1 2; do
  run "$a2a3sim" heap show "$demo" --window data --rank $rank
  pushed[rank]=$(values)
done
run "$a2a3sim" -d 0-2 05_remote_load_store --dtype int32 --heap "$demo" --replace-heap
expect_ok
for rank in 0 1 2; do
  run "$a2a3sim" heap show "$demo" --window data --rank $rank
  doubled=$(for value in $(values); do echo $((2 * value)); done | xargs)
  expect_equal "${pushed[(rank + 1) % 3]}" "$doubled"
done
run "$a2a3sim" heap show "$demo" --window data --count 1
expect_equal "$(grep -c ' · ' <<<"$out")" 3

# Ranges.
bad "heap '$demo': --offset: 64 is past the 64 elements of window 'data' as int32; expected less" \
  heap show "$demo" --window data --offset 64
bad "heap '$demo': --count: 2 from 63 on are past the 64 elements of window 'data' as int32; \
expected at most 1" heap show "$demo" --window data --offset 63 --count 2
bad "heap '$demo': --count: 18446744073709551615 from 1 on are past the 256 elements of window \
'data' as hex; expected at most 255" \
  heap show "$demo" --window data --as hex --offset 1 --count 18446744073709551615
bad "heap '$demo': --rank: 3 is not there; expected one of the 3 from 0 on" \
  heap show "$demo" --window data --rank 3
bad "heap '$demo': --window: 'dat' is neither the name nor the number of one; did you mean 'data'?" \
  heap show "$demo" --window dat
bad "heap '$demo': --window: '2' is neither the name nor the number of one; expected one that \
'a2a3sim heap show' lists" heap show "$demo" --window 2

# What was reported is what the heap holds, though other schedules were run to explain it.
run "$a2a3sim" -d 0,1 bug_hw_last_chunk_undrained --model a2a3 --seeds 200 --heap "$demo" --replace-heap
expect_status 1
cp "$object" "$scratch/found"
token=$(sed -nE 's/^replay: .* --replay (.*)/\1/p' <<<"$out")
run "$a2a3sim" heap rm "$demo"
run "$a2a3sim" -d 0,1 bug_hw_last_chunk_undrained --model a2a3 --replay "$token" --heap "$demo"
expect_status 1
cmp --ignore-initial=65536 --bytes=65536 "$scratch/found" "$object" || fail "not the run that is shown"
rm "$scratch/found"

run "$a2a3sim" heap rm "$demo"
expect_status 0
expect_equal "$out$err" ""
[ ! -e "$object" ] || fail "heap rm left it"
none="there is none of this name; expected one that 'a2a3sim heap list' names"
bad "heap '$demo': $none" heap rm "$demo"
bad "heap '$demo': $none" heap show "$demo"

# Nothing is left of a run that never came to its windows.
bad "--json: cannot write '/nowhere/x': No such file or directory; expected a writable file, or - \
for stdout" -d 0,1 05_remote_load_store --heap "$demo" --json /nowhere/x
[ ! -e "$object" ] || fail "bad input left a heap"

# A run that lives, and dies.
ran="a run of very many schedules"
"$a2a3sim" -d 0,1 05_remote_load_store --seeds 1000000000000 --heap "$demo" >/dev/null 2>&1 &
pid=$!
has_windows() { [ "$("$a2a3sim" heap show "$demo" 2>/dev/null | wc -l)" = 4 ]; }
wait_until has_windows
run "$a2a3sim" heap list
expect_line "$out" "$demo  +running, process $pid · 05_remote_load_store · emulator · 2 ranks · .*"
running="process $pid, which owns it, still runs"
bad "heap '$demo': $running; expected its run to have ended" heap rm "$demo"
bad "heap '$demo': there is one already: $running; expected another name" \
  -d 0,1 05_remote_load_store --heap "$demo" --replace-heap
kill -KILL $pid
wait $pid 2>/dev/null
has_heap $pid || fail "the heap of process $pid is not found"
run "$a2a3sim" heap list
expect_line "$out" "$demo  +stale, process $pid died · 05_remote_load_store · emulator · 2 ranks · .*"
run "$a2a3sim" heap show "$demo" --window data
expect_status 0
bad "heap '$demo': there is one already, of a run that died; expected another name, or \
--replace-heap" -d 0,1 05_remote_load_store --heap "$demo"

# One that is interrupted ends.
"$a2a3sim" -d 0,1 05_remote_load_store --seeds 1000000000000 --heap "$demo" --replace-heap \
  >/dev/null 2>&1 &
pid=$!
is_owner() { "$a2a3sim" heap show "$demo" 2>/dev/null | grep -q "running, process $pid"; }
wait_until is_owner
kill -INT $pid
wait $pid
run "$a2a3sim" heap list
expect_line "$out" "$demo  +ended · .*"

# What is no heap.
refused() {
  bad "heap '$demo': $1" heap show "$demo"
  run "$a2a3sim" heap list
  expect_status 0
  expect_line "$out" "$demo  +refused: $1"
}
size=$(stat -c %s "$object")
truncate -s +4096 "$object"
refused "it has grown: it has $((size + 4096)) bytes; expected $size, as its header tells"
truncate -s 70000 "$object"
refused "truncated: it has 70000 bytes; expected $size, as its header tells"
truncate -s 100 "$object"
refused "truncated: it has 100 bytes; expected at least the 65536 of a heap's header"
truncate -s 100000 "$object"
printf '\2' | dd of="$object" bs=1 seek=8 conv=notrunc status=none
refused "a heap of version 2; expected version 1"
printf 'X' | dd of="$object" bs=1 conv=notrunc status=none
refused "wrong magic; expected a heap of symrace"
bad "heap '$demo': there is something else of this name: wrong magic; expected a heap of symrace" \
  -d 0,1 05_remote_load_store --heap "$demo" --replace-heap
chmod 644 "$object"
refused "others may open it; expected an object of mode 0600"
chmod 600 "$object"
if [ "$(id -u)" = 0 ]; then
  chown 12345 "$object"
  refused "it belongs to user 12345; expected one of user 0"
  bad "heap '$demo': it belongs to user 12345; expected one of user 0" heap rm "$demo"
  chown 0 "$object"
fi
run "$a2a3sim" heap rm "$demo"
expect_status 0
echo kept >"$scratch/file"
ln -s "$scratch/file" "$object"
refused "a symbolic link; expected a shared-memory object"
bad "heap '$demo': a symbolic link; expected a shared-memory object" heap rm "$demo"
rm "$object"
expect_equal "$(<"$scratch/file")" kept
mkfifo -m 600 "$object"
refused "no regular file; expected a shared-memory object"
rm "$object"

# Words.
name="not a name for a heap; expected 1 to 64 letters, digits, '.', '_' and '-', and neither '.' nor '-' to begin with"
for wrong in ../x a/b /x . .hidden 'a b' "$(printf 'n%.0s' {1..65})"; do
  bad "heap show: '$wrong' is $name" heap show "$wrong"
  bad "heap rm: '$wrong' is $name" heap rm "$wrong"
  bad "--heap: '$wrong' is $name" -d 0,1 05_remote_load_store --heap "$wrong"
done
bad "--heap: '-x' is $name" -d 0,1 05_remote_load_store --heap -x
forms="expected 'a2a3sim heap list', 'a2a3sim heap show NAME' or 'a2a3sim heap rm NAME'"
bad "heap: what to do is missing; $forms" heap
bad "heap: 'shw' is not one of list, show, rm; did you mean 'show'?" heap shw x
bad "heap show: NAME is missing; $forms" heap show
bad "heap rm: NAME is missing; $forms" heap rm
bad "heap list: unexpected word 'x'; expected 'a2a3sim heap list'" heap list x
bad "heap show: unexpected word 'y'; expected one name" heap show x y
bad "heap: unknown flag '--windw'; did you mean '--window'?" heap show x --windw y
bad "heap list: it takes no --signals; expected it with heap show" heap list --signals
bad "heap rm: it takes no --rank; expected it with heap show" heap rm x --rank 1
bad "--count without --window; expected both" heap show x --count 1
bad "--rank without --window or --signals; expected one of them" heap show x --rank 1
bad "--window and --signals exclude each other; expected one of them" heap show x --window w --signals
bad "--count: '0' is out of range; expected an integer of at least 1 that fits 64 bits" \
  heap show x --window w --count 0
bad "--offset: '-1' is out of range; expected an integer of at least 0 that fits 64 bits" \
  heap show x --window w --offset=-1
bad "--as: 'fp64' is not one of fp32, fp16, bf16, int32, int16, int8, hex" \
  heap show x --window w --as fp64
bad "heap: flags stand before it; expected 'a2a3sim heap' and its own behind it" -d 0 heap list
bad "--replace-heap without --heap; expected both" -d 0,1 05_remote_load_store --replace-heap
bad "--heap and --jobs exclude each other; expected one of them" \
  -d 0,1 05_remote_load_store --heap x --seeds 2 --jobs 2
run "$a2a3sim" heap --help
expect_status 0
for flag in --window --rank --offset --count --as --signals; do
  grep -qE -- "^  $flag( |$)" <<<"$out" || fail "$ran: does not name $flag"
done

if compgen -G "/dev/shm/symrace.$mine-*" >/dev/null; then fail "left a heap"; fi
finish
