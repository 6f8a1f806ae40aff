# Ctrl-C: a run that would take days ends with what it has found, and leaves nothing behind.
source "$(dirname "$0")/common.bash"

forever=1000000000000

# start COMMAND...: in the background, up to when its --json file is there, so that it runs.
start() {
  ran="$*"
  rm -f "$scratch/json"
  "$@" --json "$scratch/json" >"$scratch/out" 2>"$scratch/err" &
  pid=$!
  wait_until test -e "$scratch/json"
}

stop() {
  kill -s "$1" "$pid"
  wait "$pid"
  status=$?
  out=$(<"$scratch/out")
  err=$(<"$scratch/err")
  if has_heap "$pid"; then fail "$ran: left shared memory"; fi
}

for signal in INT TERM; do
  start "$a2a3sim" -d 0,1 05_remote_load_store --seeds $forever
  stop $signal
  expect_status 130
  expect_equal "$err" ""
  expect_line "$out" 'interrupted after [0-9]+ schedules?: 0 failures'
  expect_equal "$(wc -l <<<"$out")" 1
  expect_line "$(<"$scratch/json")" '    "interrupted": true,'
done

# On a terminal there is a progress line: once it shows, thousands of schedules have been run, of
# which every one fails here. It is erased before the report.
if command -v script >/dev/null; then
  cat >"$scratch/command" <<END
echo \$\$ >$scratch/pid
exec $a2a3sim -d 0,1,2 bug_05_pull_push_confused --seeds $forever
END
  ran="script: $(tail -n 1 "$scratch/command")"
  script -qefc "bash $scratch/command" "$scratch/typescript" >/dev/null </dev/null &
  terminal=$!
  wait_until grep -qs 'schedules, ' "$scratch/typescript"
  kill -s INT "$(<"$scratch/pid")"
  wait $terminal
  status=$?
  out=$(tr -d '\r' <"$scratch/typescript")
  expect_status 130
  erase=$(printf '\033\[K')
  expect_line "$out" ".*schedules, [0-9]+ a second${erase}interrupted after ([0-9]+) schedules: [0-9]+ failures"
  expect_line "$out" 'mismatch on 3 ranks:'
  expect_line "$out" 'replay: a2a3sim -d 0,1,2 bug_05_pull_push_confused --replay sr1\..*'
fi

finish
