#!/usr/bin/env bash
# Runs every command of the ```console blocks of README.md and docs/*.md, and compares what it prints with what
# stands below it there. UPDATE=1 writes the pages anew instead.
source "$(dirname -- "$0")/common.bash"
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
commands=0

# Prints what a command of a page prints, with a2a3sim being the one under test.
export A2A3SIM_COMMAND=tools/a2a3sim
output_of() {
  local arguments=${1#tools/a2a3sim }
  [ "$arguments" != "$1" ] || { echo "not a command of tools/a2a3sim"; return; }
  # The words of our own pages, split as a shell does.
  (cd "$root" && eval "\"$a2a3sim\" $arguments" 2>&1)
}

for page in "$root"/README.md "$root"/docs/*.md; do
  inside=0
  : >"$scratch/page"
  while IFS= read -r line; do
    case $line in
      '```console') inside=1 ;;
      '```' | '```sh' | '```cpp') inside=0 ;;
      *'```'*) fail "${page#"$root"/}: an unknown fence: $line" ;;
      *)
        if [ "$inside" = 1 ]; then
          case $line in
            '$ '*)
              commands=$((commands + 1))
              printf '%s\n' "$line" >>"$scratch/page"
              output_of "${line#'$ '}" >>"$scratch/page" ;;
          esac
          continue  # what stood below a command is printed anew
        fi ;;
    esac
    printf '%s\n' "$line" >>"$scratch/page"
  done <"$page"
  if [ -n "${UPDATE:-}" ]; then
    cp "$scratch/page" "$page"
  elif ! difference=$(diff "$page" "$scratch/page"); then
    fail "${page#"$root"/}: its commands print something else:" "$difference"
  fi
done
[ "$commands" -gt 10 ] || fail "only $commands commands found"
finish
