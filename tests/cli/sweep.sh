# tools/sweep: what it derives, writes and draws from sweeps made by hand, and how it takes bad input.
# Nothing is measured here.
source "$(dirname "$0")/common.bash"
here=$(cd -- "$(dirname -- "$0")" && pwd)
tools=$here/../../tools
sweep=$tools/sweep.py

python3 - "$here/sweep_fixture.json" "$scratch" <<'PY'
import json, sys
for kind, sweep in json.load(open(sys.argv[1])).items():
    json.dump(sweep, open(f"{sys.argv[2]}/{kind}-in.json", "w"))
PY
drawn=$scratch/drawn
run "$sweep" --draw "$scratch/rma-in.json" "$scratch/collectives-in.json" --out "$drawn"
expect_status 0
expect_equal "$out" ""
for kind in rma collectives; do
  for type in json csv svg png; do
    [ -s "$drawn/$kind.$type" ] || fail "$ran: no $kind.$type"
  done
  expect_equal "$(head -c 4 "$drawn/$kind.png" | tail -c 3)" PNG
done
[ -z "$(find "$tools" -name __pycache__)" ] || fail "$ran: left __pycache__"

# A put's bandwidth is 1 byte/ns at 1024 and 4, its largest, from 4096 on: half of it is halfway. A
# get's largest is 8, and half of it is at 4096. What has one bandwidth has no such size.
python3 - "$drawn" <<'PY' || fail "$ran: the derived numbers"
import csv, json, sys
folder = sys.argv[1]
rma, collectives = (json.load(open(f"{folder}/{kind}.json")) for kind in ("rma", "collectives"))
half = {(s["source"], s["name"]): s["half_bandwidth_bytes"] for s in rma["series"]}
assert half["measured", "put"] == 2048, half
assert half["measured", "get"] == 4096, half
assert half["measured", "remote_load"] is None, half
assert half["measured", "memcpy"] == 512, half
assert half["peer", "put"] == 2048, half
assert half["modelled", "get staged"] == 1024, half
assert half["modelled", "get async"] == 8192, half
largest = {s["name"]: s["largest_bytes_per_second"] for s in rma["series"] if s["source"] == "measured"}
assert largest["put"] == 4_000_000_000 and largest["get"] == 8_000_000_000, largest
assert rma["machine"]["cpu"] == "a machine" and rma["singles"][0]["ns"] == 120
rows = list(csv.DictReader(open(f"{folder}/rma.csv")))
put = [r for r in rows if (r["source"], r["series"]) == ("measured", "put")]
assert [r["region"] for r in put] == ["latency-bound"] * 2 + ["bandwidth-bound"] * 2, put
assert all(r["half_bandwidth_bytes"] == "2048" for r in put)
assert [r["bytes_per_second"] for r in put] == ["250000000", "1000000000", "4000000000", "4000000000"]
# Ring takes twice mesh's time at 1024 and half of it at 4096; what it won below does not count.
found = {(c["source"], c["ranks"]): (c["bytes"], c["up_to"]) for c in collectives["crossings"]}
assert found == {("measured", 2): (2048, 16384), ("measured", 4): (None, 4096),
                 ("modelled", 2): (256, 4096)}, found
rows = [r for r in csv.DictReader(open(f"{folder}/collectives.csv")) if r["series"] == "ring overtakes mesh"]
assert [(r["source"], r["ranks"], r["bytes"]) for r in rows] == [
    ("measured", "2", "2048"), ("measured", "4", ""), ("modelled", "2", "256")], rows
PY

# named KIND TEXT: the picture says so, as text.
named() {
  grep -qF -- ">$2<" "$drawn/$1.svg" || fail "$1.svg: '$2' is not in it"
}
named rma 'put: n½ = 2 KiB'
named rma 'get: n½ = 4 KiB'
named rma 'memcpy (the limit): n½ = 512 B'
named rma 'peer put: n½ = 2 KiB'
named rma 'remote_load'
named rma 'get, staged: n½ = 1 KiB'
named rma 'get, async: n½ = 8 KiB'
named rma 'published: get, staged'
named rma 'latency-bound'
named rma 'below 2 KiB'
named rma 'bandwidth-bound'
named rma 'above 4 KiB'
named rma 'barrier: 340 ns'
named rma 'ping-pong, one way: 120 ns, peer 230 ns'
named collectives mesh
named collectives two_phase
named collectives ring
named collectives 'ring overtakes mesh at 2 KiB'
named collectives 'ring does not overtake mesh up to 4 KiB'
named collectives 'ring is ahead of mesh from 256 B on'
named collectives '4 ranks on 2 cores'
named collectives 'not modelled'
grep -qF '>2 ranks on 2 cores<' "$drawn/collectives.svg" && fail "collectives.svg: 2 ranks have 2 cores"

# What it wrote draws again to the same, beside the file.
mkdir "$scratch/again"
cp "$drawn/rma.json" "$scratch/again/"
run "$sweep" --draw "$scratch/again/rma.json"
expect_status 0
for type in json csv svg; do
  cmp -s "$drawn/rma.$type" "$scratch/again/rma.$type" || fail "$ran: another rma.$type"
done

# The tables for the README.
cat >"$scratch/tables.py" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import sweep_data, sweep_table
for kind in ("rma", "collectives"):
    print(sweep_table.markdown(sweep_data.read(f"{sys.argv[2]}/{kind}.json")))
PY
run python3 -B "$scratch/tables.py" "$tools" "$drawn"
expect_status 0
expect_line "$out" '\| bytes \| memcpy \| put \| get \| peer put \|'
expect_line "$out" '\| 256 B \| 64\.0 ns \| 1\.02 µs \| 1\.02 µs \| 2\.05 µs \|'
expect_line "$out" '\| 4 KiB \| 256 ns, 16\.0 GB/s \| 1\.02 µs, 4\.00 GB/s \| 1\.02 µs, 4\.00 GB/s \| .*'
expect_line "$out" '\| 256 B \| \+960\.0 ns \| \+960\.0 ns \| 0\.50 \| — \|'
expect_line "$out" '\| ping-pong, one way \| 120 ns \| 230 ns \|'
expect_line "$out" '\| barrier \| 340 ns \| — \|'
expect_line "$out" '\| 2 \| measured \| ring overtakes mesh at 2 KiB \|'

# What benchmarks, the peer and the emulator print, as it is read.
cat >"$scratch/reads.py" <<'PY'
import subprocess, sys
sys.path.insert(0, sys.argv[1])
import sweep_measure as measure
runs = [{"name": "Put/1024/0/real_time", "run_type": "iteration", "real_time": t, "time_unit": "us"}
        for t in (3.0, 2.0, 4.0)]
runs += [{"name": "Put/1024/0/real_time_mean", "run_type": "aggregate", "real_time": 1.0, "time_unit": "us"},
         {"name": "Put/1048576/4096/real_time", "real_time": 9.0, "time_unit": "us"},
         {"name": "Put/4/0/real_time", "real_time": 30.0, "time_unit": "ns"},
         {"name": "PingPong/real_time", "real_time": 500.0, "time_unit": "ns", "one_way": 2.5e-7}]
series, singles = measure.series_from("measured", measure.best_times(runs, "rma_bench"))
assert [(s.name, [(p.bytes, p.ns) for p in s.points]) for s in series] == [
    ("put", [(4, 30.0), (1024, 2000.0)]), ("put, chunks of 4096 bytes", [(1048576, 9000.0)])], series
assert [(s.name, round(s.ns, 6)) for s in singles] == [("ping-pong, one way", 250.0)], singles
costs = subprocess.run([sys.argv[2], "costs"], capture_output=True, text=True, check=True).stdout
published, singles = measure.published(costs)
assert [(s.name, s.points[0].bytes, len(s.points)) for s in published] == [
    ("get staged", 4096, 6), ("get async", 4096, 6)], published
assert round(published[1].points[-1].ns) == 205474 and singles[0].ns == 348.0
# A put takes what a get does.
measure.SIZES = [4, 4096, 65536]
modelled = {s.name: [p.ns for p in s.points] for s in measure.modelled_series(sys.argv[2])}
assert modelled["get staged"][1] == 738.48, modelled
assert modelled["get staged"] == modelled["put staged"] and modelled["get async"] == modelled["put async"]
assert modelled["get staged, pipelined"][2] < modelled["get staged"][2]
PY
run python3 -B "$scratch/reads.py" "$tools" "$a2a3sim"
expect_status 0

# A whole sweep, of a benchmark that only prints: modelled ones once, the others in rounds.
mkdir "$scratch/bench"
cat >"$scratch/bench/collective_bench" <<'SH'
#!/usr/bin/env bash
entry() { printf '{"name": "%s", "run_type": "iteration", "real_time": %s, "time_unit": "us"}' "$@"; }
case " $* " in
  *" --benchmark_filter=^Wall/ "*" --benchmark_repetitions=5 "*)
    echo "{\"benchmarks\": [$(entry Wall/ring/ranks:2/bytes:1024/real_time 2),
      $(entry Wall/ring/ranks:2/bytes:1024/real_time 3), $(entry Wall/mesh/ranks:2/bytes:1024/real_time 1)]}" ;;
  *" --benchmark_filter=^Modelled/ "*" --benchmark_repetitions=1 "*)
    echo "{\"benchmarks\": [$(entry Modelled/mesh/ranks:2/bytes:1024/manual_time 9)$more]}" ;;
esac
SH
chmod +x "$scratch/bench/collective_bench"
collectives=("$sweep" collectives --bench "$scratch/bench" --a2a3sim "$a2a3sim" --out "$scratch/ran")
run env more= "${collectives[@]}"
expect_status 0
expect_line "$out" '\| 2 \| measured \| ring does not overtake mesh up to 1 KiB \|'
times=$(cut -d, -f1-5 "$scratch/ran/collectives.csv")
expect_line "$times" measured,ring,2,1024,2000.0
expect_line "$times" modelled,mesh,2,1024,9000.0
run env more=', {"name": "Modelled/ring", "error_occurred": true, "error_message": "stuck"}' \
  "${collectives[@]}"
expect_status 2
expect_equal "$(tail -n 1 <<<"$err")" 'sweep: collective_bench: Modelled/ring: stuck'
run env more=, "${collectives[@]}"
expect_status 2
expect_equal "$(tail -n 1 <<<"$err")" 'sweep: collective_bench printed no complete JSON'

# Bad input: one line, status 2, and nothing is built.
hint='see tools/sweep --help'
refuses "sweep: expected one of rma, collectives, --draw FILES; $hint" "$tools/sweep"
refuses "sweep: 'latency' is not one of rma, collectives, --draw FILES; $hint" "$tools/sweep" latency
refuses "sweep: unknown argument '--peer'; $hint" "$tools/sweep" rma --peer
refuses "sweep: --out needs a value; $hint" "$tools/sweep" rma --out
refuses "sweep: --time: 'soon' is not 0.001 to 60 seconds; $hint" "$tools/sweep" rma --time soon
refuses "sweep: --time: '0' is not 0.001 to 60 seconds; $hint" "$tools/sweep" rma --time 0
refuses "sweep: --out: cannot make folder '/dev/null/x'; $hint" "$tools/sweep" rma --out /dev/null/x
refuses "sweep: expected one of rma, collectives, --draw FILES; $hint" "$sweep"
refuses "sweep: argument --time: '0' is not 0.001 to 60 seconds; $hint" "$sweep" rma --time 0
refuses "sweep: a sweep needs --bench and --a2a3sim, which tools/sweep gives; $hint" "$sweep" rma
run "$sweep" rma --bench "$scratch/none" --a2a3sim "$a2a3sim" --out "$scratch/none-out"
expect_status 2
expect_equal "$(tail -n 1 <<<"$err")" \
  "sweep: cannot run '$scratch/none/rma_bench': No such file or directory"
refuses "sweep: argument --draw: expected at least one argument; $hint" "$sweep" --draw
refuses "sweep: cannot read '$scratch/none.json': No such file or directory" \
  "$sweep" --draw "$scratch/none.json"
refuses "sweep: two files of kind rma; expected one of a kind" \
  "$sweep" --draw "$scratch/rma-in.json" "$drawn/rma.json"
refuses "sweep: cannot make folder '$scratch/rma-in.json': File exists" \
  "$sweep" --draw "$drawn/rma.json" --out "$scratch/rma-in.json"
bad_file() {
  printf '%s' "$2" >"$scratch/bad.json"
  refuses "sweep: '$scratch/bad.json'$1" "$sweep" --draw "$scratch/bad.json"
}
bad_series() {
  bad_file ": $1" "{\"format\": 1, \"kind\": \"rma\", \"series\": [$2]}"
}
bad_file ' is no JSON' '{'
bad_file ': is no sweep; expected the JSON that tools/sweep writes, format 1' '[]'
bad_file ': is no sweep; expected the JSON that tools/sweep writes, format 1' '{"format": 1, "kind": "x"}'
bad_file ": 'series' is no list of objects" '{"format": 1, "kind": "rma"}'
bad_series 'has no series' ''
bad_series "'name' of a series is null; expected text" '{}'
bad_series "'source' of series 'a' is 'b'; expected one of measured, peer, modelled, published" \
  '{"name": "a", "source": "b"}'
bad_series "series 'a' has no points" '{"name": "a", "source": "peer", "points": []}'
bad_series "'ns' of series 'a' is 0; expected a positive number" \
  '{"name": "a", "source": "peer", "points": [{"bytes": 4, "ns": 0}]}'
bad_series "'bytes' of series 'a' is 4.5; expected a positive integer" \
  '{"name": "a", "source": "peer", "points": [{"bytes": 4.5, "ns": 1}]}'
bad_series "series 'a' has a size twice" \
  '{"name": "a", "source": "peer", "points": [{"bytes": 4, "ns": 1}, {"bytes": 4, "ns": 2}]}'

finish
