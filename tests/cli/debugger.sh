# A replay under gdb, with a thread a rank, stops at the two lines that a race names.
source "$(dirname "$0")/common.bash"

run "$a2a3sim" -d 0,1 bug_05_no_barrier --seeds 100
expect_status 1
token=$(sed -nE 's/^replay: .* --replay (.*)$/\1/p' <<<"$out")
lines=$(sed -nE 's/^  rank [0-9]+  .*  (bug_05_no_barrier\.cpp:[0-9]+)$/\1/p' <<<"$out")
[ "$(wc -l <<<"$lines")" = 2 ] || fail "$ran: no two lines in:" "$out"
commands=()
for line in $lines; do commands+=(-ex "break $line"); done
session=$(gdb -q -batch -ex 'set breakpoint pending on' -ex 'set debuginfod enabled off' \
  "${commands[@]}" -ex run -ex 'bt 1' -ex continue -ex 'bt 1' -ex continue -ex 'bt 1' \
  --args "$a2a3sim" -d 0,1 bug_05_no_barrier --vehicle thread --replay "$token" 2>&1 </dev/null)
if grep -qi 'ptrace: operation not permitted' <<<"$session"; then
  echo "gdb may not trace here: skipped"
  exit 0
fi
for line in $lines; do
  grep -qE "(Breakpoint|hit).*$line|at .*$line" <<<"$session" ||
    fail "gdb did not stop at $line" "$session"
done

finish
