# --help, --version and list.
source "$(dirname "$0")/common.bash"

run "$a2a3sim" --help
expect_status 0
for flag in -d -p --size --dtype --data-seed --seed --seeds --fail-fast --strategy --replay \
  --max-steps --model --burst --engine --ranks-as --vehicle --heap --replace-heap --clock --costs \
  --timeline --json --version; do
  grep -qE -- "^  $flag( |$)" <<<"$out" || fail "$ran: does not name $flag"
done
for title in Usage: Examples: 'Exit status:'; do expect_line "$out" "$title"; done
awk 'length > 100' <<<"$out" | grep -q . && fail "$ran: has lines of more than 100 columns"
general=$out
run "$a2a3sim" -h
expect_equal "$out" "$general"
for command in list explain costs devices; do
  run "$a2a3sim" "$command" --help
  expect_status 0
  expect_line "$out" "  a2a3sim $command.*"
  [[ $out != "$general" ]] || fail "$ran: the general help"
done

run "$a2a3sim" 06_put_get --help
expect_status 0
expect_line "$out" 'Flags of 06_put_get:'
for flag in --mode --chunk-rows --chunk-cols --pipeline --model --seeds; do
  grep -qE -- "^  $flag( |$)" <<<"$out" || fail "$ran: does not name $flag"
done
run "$a2a3sim" bug_05_no_barrier --help
expect_line "$out" 'A seeded bug of step 05, seen from 2 ranks on: .*'
run "$a2a3sim" bug_hw_drained_pipes --help
expect_line "$out" 'A bug of hardware \(PTOAS 744\), seen under --model weak from 2 ranks on: .*'
run "$(dirname "$a2a3sim")/06_put_get" --help
expect_status 0
expect_line "$out" '  06_put_get -d IDS \[flags\]'

run "$a2a3sim" --version
expect_status 0
expect_line "$out" 'a2a3sim [0-9]+\.[0-9]+\.[0-9]+'

# list names every program, seeded bugs with their symptoms; each is a command too.
run "$a2a3sim" list
expect_status 0
expect_line "$out" '  05_remote_load_store  +ring shift .*'
expect_line "$out" '      step 05, from 2 ranks on: .+'
expect_line "$out" '      pypto 2156, from 2 ranks on: .+'
expect_line "$out" '      under some schedules of --model weak, and never under documented or sc'
for program in $(sed -nE 's/^  (((bug_)?[0-9]{2}|bug_hw)_[a-z0-9_]+)( .*)?$/\1/p' <<<"$out"); do
  [ -x "$(dirname "$a2a3sim")/$program" ] || fail "$program is no command of its own"
done

finish
