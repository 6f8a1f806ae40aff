# Modelled time: --clock, --costs, the costs command, and what the outputs hold of it.
source "$(dirname "$0")/common.bash"

time_line='modelled time [0-9]+\.[0-9]{3} us · rank [0-9]+ last · costs a2a3'
put_get=(-d 0,1 06_put_get --mode get)

# Without a clock there is none; with one, all else stays.
run "$a2a3sim" "${put_get[@]}"
expect_ok
without=$out
grep -q 'modelled' <<<"$out" && fail "$ran: a modelled time without a clock"
run "$a2a3sim" "${put_get[@]}" --clock none
expect_equal "$out" "$without"
run "$a2a3sim" "${put_get[@]}" --clock a2a3
expect_ok
expect_line "$out" "$time_line"
expect_equal "$(grep -v '^modelled' <<<"$out")" "$without"
staged=$(grep '^modelled' <<<"$out")
run "$a2a3sim" "${put_get[@]}" --clock a2a3 --vehicle thread --seed 5
expect_equal "$(grep '^modelled' <<<"$out")" "$staged"
run "$a2a3sim" "${put_get[@]}" --clock a2a3-async
expect_ok
expect_line "$out" "$time_line-async"

# Every program has a time, and one for all seeds.
for program in $("$a2a3sim" list | sed -nE 's/^  ([0-9]{2}_[a-z0-9_]+) .*/\1/p'); do
  run "$a2a3sim" -d 0-2 "$program" --clock a2a3 --seeds 100
  expect_ok
  expect_line "$out" 'modelled time [0-9]+\.[0-9]{3} us · costs a2a3'
done
run "$a2a3sim" -d 0-2 05_remote_load_store --clock a2a3 --seeds 1000 --jobs 3
expect_line "$out" 'modelled time [0-9]+\.[0-9]{3} us · costs a2a3'
run "$a2a3sim" -d 0,1 05_remote_load_store --clock a2a3 --strategy exhaustive
expect_line "$out" 'modelled time [0-9]+\.[0-9]{3} us · costs a2a3'
# A pipeline is faster than chunks alone.
chunks=(-d 0,1 06_put_get --size 4096 --chunk-rows 1 --chunk-cols 512 --clock a2a3)
time_of() { sed -nE 's/^modelled time ([0-9]+)\.([0-9]+) us.*/\1\2/p' <<<"$out"; }
run "$a2a3sim" "${chunks[@]}"
alone=$(time_of)
run "$a2a3sim" "${chunks[@]}" --pipeline
[ "$(time_of)" -lt "$alone" ] || fail "$ran: not faster than without --pipeline: $alone ns"
# A failure has its time too, and the command that repeats it has the clock.
run "$a2a3sim" -d 0,1 bug_05_no_barrier --clock a2a3
expect_status 1
expect_line "$out" "$time_line"
replay=$(sed -n 's/^replay: a2a3sim //p' <<<"$out")
failure=$out
eval "run \"\$a2a3sim\" $replay"
expect_equal "$(grep '^modelled' <<<"$out")" "$(grep '^modelled' <<<"$failure")"

# JSON and trace.
run "$a2a3sim" -d 0-2 06_put_get --chunk-cols 20 --burst 16 --clock a2a3 --json "$scratch/run.json" \
  --trace "$scratch/run.trace"
expect_ok
python3 - "$scratch/run.json" "$scratch/run.trace" <<'PY' || fail "$ran: the times in its files"
import json, sys
report, trace = (json.load(open(path)) for path in sys.argv[1:])
assert report["request"]["costs"]["name"] == "a2a3"
assert report["request"]["costs"]["staged"]["start_ps"] > 0
run = report["run"]
times = run["modelled"]
assert times["total_ps"] == max(times["rank_ps"]) > 0 and len(times["rank_ps"]) == 3
assert all(0 <= e["begin_ps"] <= e["end_ps"] <= times["total_ps"] for e in run["events"])
slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
assert trace["otherData"]["time"] == "modelled, costs a2a3"
# What stands on one track does not overlap, and ends with the run.
for tid, name in names.items():
    of_track = sorted((e["ts"], e["ts"] + e["dur"]) for e in slices if e["tid"] == tid)
    for (_, end), (begin, _) in zip(of_track, of_track[1:]):
        assert end <= begin + 1e-9, name
last = max(e["ts"] + e["dur"] for e in slices)
assert abs(last - times["total_ps"] / 1e6) < 1e-6, last
lands = [e for e in slices if e["cat"] == "fabric" and e["name"] == "put lands"]
assert lands and all(e["dur"] > 0 for e in lands)
assert any(e["name"] == "private memory" for e in slices)
# Arrows come in pairs, and go forward.
arrows = {}
for e in trace["traceEvents"]:
    if e["ph"] in "sf": arrows.setdefault(e["id"], {})[e["ph"]] = e["ts"]
assert any("s" in a and "f" in a for a in arrows.values())
assert all(a["s"] <= a["f"] for a in arrows.values() if len(a) == 2)
PY
run "$a2a3sim" -d 0,1 06_put_get --json "$scratch/run.json"
python3 - "$scratch/run.json" <<'PY' || fail "$ran: times without a clock"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["request"]["costs"] is None and report["run"]["modelled"] is None
assert "begin_ps" not in report["run"]["events"][0]
PY

# The costs command, and its table as a file.
run "$a2a3sim" costs
expect_status 0
expect_line "$out" 'staged.start_ps +[0-9]+ .*'
expect_line "$out" 'The paths cross at [0-9]+ bytes\.'
table=$scratch/table.json
python3 - "$table" <<'PY'
import json, sys
json.dump({"name": "mine", "path": "staged",
           "staged": {"start_ps": 174000, "remote_ps_per_kib": 48810, "local_ps_per_kib": 48810},
           "async": {"start_ps": 2495000, "ps_per_kib": 48810},
           "signal_latency_ps": 348000, "issue_ps": 20000}, open(sys.argv[1], "w"))
PY
run "$a2a3sim" "${put_get[@]}" --costs "$table"
expect_ok
expect_equal "$(grep '^modelled' <<<"$out")" "${staged/costs a2a3/costs mine}"
cp "$table" "$scratch/a 'name'"
run "$a2a3sim" -d 0,1 bug_05_no_barrier --costs "$scratch/a 'name'"
replay=$(sed -n 's/^replay: a2a3sim //p' <<<"$out")
eval "run \"\$a2a3sim\" $replay"
expect_status 1

# bad LINE EDIT: of the table by a line of Python; bad_text LINE TEXT: another file.
bad_file() {
  run "$a2a3sim" "${put_get[@]}" --costs "$scratch/bad.json"
  expect_status 2
  expect_equal "$err" "a2a3sim: --costs: '$scratch/bad.json': $1"
  expect_equal "$out" ""
}
bad() {
  python3 -c "import json, sys
t = json.load(open(sys.argv[1]))
$2
json.dump(t, open(sys.argv[2], 'w'))" "$table" "$scratch/bad.json"
  bad_file "$1"
}
bad_text() {
  printf '%s' "$2" >"$scratch/bad.json"
  bad_file "$1"
}
start="expected an integer of picoseconds from 0 to 1000000000"
rate="expected an integer of picoseconds from 0 to 100000000"
letters="expected 1 to 40 letters, digits, '-', '_' and '.'"
bad "'staged.start_ps' is -1; $start" 't["staged"]["start_ps"] = -1'
bad "'staged.start_ps' is 1.5; $start" 't["staged"]["start_ps"] = 1.5'
bad "'staged.start_ps' is \"1\"; $start" 't["staged"]["start_ps"] = "1"'
bad "'staged.start_ps' is null; $start" 't["staged"]["start_ps"] = None'
bad "'staged.start_ps' is 1000000001; $start" 't["staged"]["start_ps"] = 1000000001'
bad "'async.ps_per_kib' is 100000001; $rate" 't["async"]["ps_per_kib"] = 100000001'
bad "'signal_latency_ps' is 18446744073709551615; $start" 't["signal_latency_ps"] = 2**64 - 1'
bad "'staged.remote_ps_per_kib' is missing; $rate" 'del t["staged"]["remote_ps_per_kib"]'
bad "'issue_ps' is missing; $start" 'del t["issue_ps"]'
bad "'async' is missing; expected all keys of a cost table" 'del t["async"]'
bad "'path' is missing; expected all keys of a cost table" 'del t["path"]'
bad "'name' is missing; expected all keys of a cost table" 'del t["name"]'
bad "'path' is \"rdma\"; expected \"staged\" or \"async\"" 't["path"] = "rdma"'
bad "'name' is \"\"; $letters" 't["name"] = ""'
bad "'name' is \"a b\"; $letters" 't["name"] = "a b"'
bad "'name' is 7; $letters" 't["name"] = 7'
bad "'async' is [1]; expected an object" 't["async"] = [1]'
keys="expected the keys of docs/modelled-time.md"
bad "'speed' is unknown; $keys" 't["speed"] = 1'
bad "'staged.ps_per_kib' is unknown; $keys" 't["staged"]["ps_per_kib"] = 1'
bad "'async.start_ps' is unknown; $keys" 't["async.start_ps"] = 1'
bad_text "is no object; expected {\"name\": ..., \"path\": ..., ...}" '[]'
bad_text "is no JSON: line 2, column 10 does not go on as it should; expected a cost table" $'{\n"name": nan}'
bad_text "is no JSON: line 1, column 1 does not go on as it should; expected a cost table" ''
bad_text "'name' is there twice; expected each key once" '{"name": "a", "name": "b"}'
bad_text "holds a number out of range; expected integers of picoseconds" '{"name": 1e999}'
bad_text "is no object; expected {\"name\": ..., \"path\": ..., ...}" \
  "$(printf '[%.0s' {1..20000})$(printf ']%.0s' {1..20000})"
head -c 70000 /dev/zero >"$scratch/bad.json"
run "$a2a3sim" "${put_get[@]}" --costs "$scratch/bad.json"
expect_equal "$err" "a2a3sim: --costs: '$scratch/bad.json' has more than 65536 bytes; expected a \
cost table"
run "$a2a3sim" "${put_get[@]}" --costs "$scratch/none.json"
expect_equal "$err" "a2a3sim: --costs: cannot read '$scratch/none.json': No such file or directory; \
expected a file with a cost table"
run "$a2a3sim" "${put_get[@]}" --costs "$scratch"
expect_equal "$err" "a2a3sim: --costs: cannot read '$scratch': Is a directory; expected a file with \
a cost table"

run "$a2a3sim" "${put_get[@]}" --clock a2a3 --costs "$table"
expect_equal "$err" "a2a3sim: --clock and --costs exclude each other; expected one of them"
run "$a2a3sim" "${put_get[@]}" --clock a2a4
expect_equal "$err" "a2a3sim: --clock: 'a2a4' is not one of none, a2a3, a2a3-async; did you mean 'a2a3'?"
run "$a2a3sim" costs a2a3
expect_equal "$err" "a2a3sim: costs: takes no flags; expected 'a2a3sim costs'"

finish
