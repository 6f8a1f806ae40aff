# Sourced by the tests of HTML pages: opens a local page in headless Chromium, with nothing kept.

# chromium_page FILE FLAGS...: FILE as a browser shows it once its scripts have run.
chromium_page() {
  local page profile status
  page=$(realpath -e -- "$1") || return
  shift
  profile=$(mktemp -d)
  timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --no-first-run --disable-extensions --user-data-dir="$profile" --virtual-time-budget=10000 \
    "$@" "file://$page" 2>"$profile/stderr"
  status=$?
  [ "$status" = 0 ] || cat "$profile/stderr" >&2
  rm -rf "$profile"
  return "$status"
}

# page_dom FILE: prints the DOM.
page_dom() {
  chromium_page "$1" --dump-dom
}

# page_screenshot FILE PNG WIDTH HEIGHT [FLAGS...]: draws the top of the page into PNG.
page_screenshot() {
  chromium_page "$1" --hide-scrollbars --screenshot="$(realpath -m -- "$2")" \
    --window-size="$3,$4" "${@:5}"
}
