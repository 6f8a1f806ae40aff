# --json: what docs/json.md says, to a file or to stdout.
source "$(dirname "$0")/common.bash"

check_json() {
  command -v python3 >/dev/null || return 0
  python3 -m json.tool "$1" >/dev/null || fail "$ran: $1 is no JSON"
}

# A file gets all of a run, and replaces what was longer.
file=$scratch/run.json
head -c 100000 /dev/zero | tr '\0' x >"$file"
run "$a2a3sim" -d 0,1 05_remote_load_store --seed 7 --json "$file"
expect_ok
check_json "$file"
trace=$(sed -nE 's/.*trace ([0-9a-f]{16})$/\1/p' <<<"$out")
json=$(<"$file")
expect_line "$json" '    "program": "05_remote_load_store",'
expect_line "$json" '      "mode": "load",'
expect_line "$json" '    "outcome": "ok",'
expect_line "$json" '    "seed": 7,'
expect_line "$json" "    \"trace\": \"$trace\","
expect_line "$json" '        "op": "remote_load",'

# "-": JSON alone on stdout, the text on stderr.
run "$a2a3sim" -d 0,1 05_remote_load_store --seed 7 --json -
expect_status 0
expect_equal "$out" "$json"
expect_equal "$(tail -n 1 <<<"$err")" OK

# A finding among many schedules.
run "$a2a3sim" -d 0,1 bug_05_no_barrier --seeds 100 --json "$file"
expect_status 1
check_json "$file"
json=$(<"$file")
expect_line "$json" '      "fixed": false'
expect_line "$json" '    "schedules": 100,'
expect_line "$json" '    "outcome": "mismatch",'
expect_line "$json" '        "identity": "zeros"'
expect_line "$json" "    \"replay\": \"$(sed -n 's/^replay: //p' <<<"$out")\","

# No finding: no run.
run "$a2a3sim" -d 0,1 05_remote_load_store --seeds 100 --json "$file"
expect_ok
check_json "$file"
expect_line "$(<"$file")" '  "run": null,'

# A stuck run, and an error.
run "$a2a3sim" -d 0,1 05_remote_load_store --max-steps 3 --json "$file"
expect_status 1
check_json "$file"
expect_line "$(<"$file")" '    "outcome": "step-bound",'
expect_line "$(<"$file")" '          "window": "signal",'
run "$a2a3sim" -d 0,1 05_remote_load_store --size 100000 --json "$file"
expect_status 2
check_json "$file"
expect_line "$(<"$file")" '    "outcome": "error",'

# Bad input leaves a file as it was.
before=$(<"$file")
run "$a2a3sim" -d 0,1 bug_05_no_barrier --replay nonsense --json "$file"
expect_status 2
expect_equal "$(<"$file")" "$before"

finish
