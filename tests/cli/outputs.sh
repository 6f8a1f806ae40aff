# SARIF, Chrome trace and HTML: well-formed, with what they must hold.
source "$(dirname "$0")/common.bash"
source "$(dirname "$0")/chromium.bash"

bug=(-d 0,1 bug_05_no_barrier --seeds 100)

# SARIF: each finding on its line.
run "$a2a3sim" "${bug[@]}" --sarif "$scratch/run.sarif"
expect_status 1
python3 - "$scratch/run.sarif" <<'PY' || fail "$ran: SARIF"
import json, sys
log = json.load(open(sys.argv[1]))
assert log["version"] == "2.1.0"
run = log["runs"][0]
assert run["tool"]["driver"]["name"] == "symrace"
(result,) = run["results"]
assert result["ruleId"] == "zeros" and result["level"] == "error"
assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"zeros"}
ends = [result["locations"][0], result["relatedLocations"][0]]
lines = set()
for end in ends:
    place = end["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "kernels/bugs/bug_05_no_barrier.cpp"
    lines.add(place["region"]["startLine"])
assert lines == {13, 17}, lines
assert "nothing orders it before" in result["message"]["text"]
PY
run "$a2a3sim" -d 0,1 05_remote_load_store --sarif -
expect_status 0
python3 -c 'import json,sys; assert json.load(sys.stdin)["runs"][0]["results"] == []' <<<"$out" ||
  fail "$ran: results without a finding"

# Chrome trace: tracks, arrows that begin and end, races; the trace event format.
run "$a2a3sim" "${bug[@]}" --trace "$scratch/trace.json"
expect_status 1
python3 - "$scratch/trace.json" <<'PY' || fail "$ran: trace"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert sorted(names.values()) == ["rank 0", "rank 0 fabric", "rank 1", "rank 1 fabric"]
for event in events:
    assert event["ph"] in "MXsfi" and "pid" in event and "tid" in event
    if event["ph"] == "X":
        assert event["dur"] == 1 and event["ts"] >= 0 and event["tid"] in names
    if event["ph"] == "f":
        assert event["bp"] == "e"
starts = {e["id"]: e for e in events if e["ph"] == "s"}
ends = {e["id"]: e for e in events if e["ph"] == "f"}
assert starts and set(ends) <= set(starts)
for arrow, end in ends.items():
    assert starts[arrow]["ts"] < end["ts"] and starts[arrow]["cat"] == end["cat"]
slices = {(e["ts"], e["tid"]) for e in events if e["ph"] == "X"}
assert all((e["ts"], e["tid"]) in slices for e in list(starts.values()) + list(ends.values()))
races = [e for e in events if e["cat" if "cat" in e else "name"] == "race"]
assert [e["name"][:7] for e in races] == ["race A:", "race B:"]
PY
# From a notify to the wait that sees it.
run "$a2a3sim" -d 0,1 05_remote_load_store --trace -
expect_status 0
python3 -c '
import json, sys
events = json.load(sys.stdin)["traceEvents"]
assert sum(e["ph"] == "f" and e["cat"] == "signal" for e in events) == 2
assert sum(e["ph"] == "s" and e["cat"] == "transfer" for e in events) == 4
' <<<"$out" || fail "$ran: arrows"

# HTML: one page that needs nothing else; drawn without an error, with the racing pair marked.
run "$a2a3sim" "${bug[@]}" --report "$scratch/report.html"
expect_status 1
grep -q '@@DATA@@' "$scratch/report.html" && fail "$ran: no data in the page"
grep -qE '(src|href)="?https?:' "$scratch/report.html" && fail "$ran: the page needs the network"
dom=$(page_dom "$scratch/report.html")
holds() { grep -qF -- "$1" <<<"$dom" || fail "$ran: no $1 in the page"; }
holds 'data-ready="true"'
holds 'data-race="A"'
holds 'data-race="B"'
holds 'remote read returns zeros'
holds 'pld::tile::remote_load(data,'
page_screenshot "$scratch/report.html" "$scratch/report.png" 1280 800
[ "$(head -c 4 "$scratch/report.png" | tail -c 3)" = PNG ] || fail "$ran: no screenshot"
run "$a2a3sim" -d 0,1 bug_hw_wait_before_send --report "$scratch/report.html"
dom=$(page_dom "$scratch/report.html")
holds 'data-ready="true"'
holds 'own send stands after its wait'

# Two of them cannot both have stdout; a file that cannot be written is told of before any work.
run "$a2a3sim" "${bug[@]}" --json - --trace -
expect_status 2
expect_equal "$err" 'a2a3sim: --json and --trace both write to stdout; expected one of them'
run "$a2a3sim" "${bug[@]}" --json "$scratch/x" --trace "$scratch/x"
expect_status 2
expect_equal "$err" "a2a3sim: --json and --trace both write '$scratch/x'; expected a file for each"
run "$a2a3sim" "${bug[@]}" --report "$scratch/none/report.html"
expect_status 2
expect_equal "$out" ''
expect_line "$err" "a2a3sim: --report: cannot write '.*': .*"

# A wrong output without a race has a place too; a run that an error ended is no clean one.
run "$a2a3sim" -d 0-2 bug_05_pull_push_confused --sarif "$scratch/run.sarif"
expect_status 1
grep -q '"startLine"' "$scratch/run.sarif" || fail "$ran: no place"
run "$a2a3sim" -d 0,1 bug_06_transfer_too_large --sarif "$scratch/run.sarif"
expect_status 2
grep -q '"executionSuccessful": false' "$scratch/run.sarif" || fail "$ran: a clean run"

finish
