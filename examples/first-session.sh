#!/bin/sh
# A first session, with curl and nothing else: opens a page, reads it, acts on it, looks inside it, and closes it with a
# receipt. Three terminals:
#
#   npx node examples/serve.ts --port 7330      # a page: TodoMVC, a single-page app
#   npm start -- --allow localhost:7330         # the service, with that page's address opened
#   sh examples/first-session.sh                # this
#
#   --page URL        the page to open        (default http://localhost:7330/todomvc/)
#   --state-dir DIR   where the service wrote its address and token (default: where it does without a flag)
#   --address URL, --token-file FILE          instead of what is in the state directory
#   --screenshot FILE where the picture goes  (default first-session.png in the temporary directory)
set -eu

page=http://localhost:7330/todomvc/
state_dir=${XDG_STATE_HOME:-${HOME:-}/.local/state}/airlock
address=''
token_file=''
screenshot=${TMPDIR:-/tmp}/first-session.png

fail() { echo "first-session: $*" >&2 && exit 1; }
# The comment at the top of this file.
help() { sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; }

while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) help && exit 0 ;;
    --page | --state-dir | --address | --token-file | --screenshot) ;;
    *) fail "there is no option $1; see --help" ;;
  esac
  [ $# -ge 2 ] || fail "$1 needs a value"
  case $1 in
    --page) page=$2 ;;
    --state-dir) state_dir=$2 ;;
    --address) address=$2 ;;
    --token-file) token_file=$2 ;;
    --screenshot) screenshot=$2 ;;
  esac
  shift 2
done

[ -n "$address" ] || address=$(cat "$state_dir/address") || fail 'is the service running? Start it with: npm start'
[ -n "$token_file" ] || token_file=$state_dir/token

# The token goes to curl in a file: an argument would be seen by every user of the machine.
headers=$(mktemp)
session=''
clean_up() {
  if [ -n "$session" ]; then (api DELETE "$session") >/dev/null || true; fi
  rm -f "$headers"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
printf 'Authorization: Bearer %s\n' "$(cat "$token_file")" >"$headers"

# api METHOD PATH [BODY] [MORE CURL OPTIONS]: the body of the answer; a problem ends the script and is printed.
api() {
  method=$1 path=$2 body=${3:-}
  if [ $# -ge 3 ]; then shift 3; else shift 2; fi
  [ -z "$body" ] || set -- -H 'Content-Type: application/json' --data "$body" "$@"
  text=$(curl --silent --show-error --fail-with-body --max-time 60 -X "$method" -H "@$headers" "$@" "$address$path") ||
    fail "$method $path was not answered as it should be: $text"
  printf '%s' "$text"
}

# field JSON NAME: the first value of that name, if it is a string, a number or a word.
field() {
  case $1 in *"\"$2\":"*) ;; *) fail "the answer has no $2: $1" ;; esac
  value=${1#*"\"$2\":"}
  case $value in
    \"*) value=${value#\"} && value=${value%%\"*} ;;
    *) value=${value%%[,\}\]]*} ;;
  esac
  printf '%s' "$value"
}

# ref SNAPSHOT ROLE NAME: the ref of the element with that role and name.
ref() {
  found=$(printf '%s\n' "$1" | sed -n "s/^ *- $2 \"$3\".*\[ref=\([a-z0-9]*\)\].*/\1/p" | sed 1q)
  [ -n "$found" ] || fail "the snapshot has no $2 \"$3\""
  printf '%s' "$found"
}

step() { printf '\n== %s\n' "$*"; }

step 'create a session'
created=$(api POST /v1/sessions '{"labels":{"example":"first-session"}}')
session=/v1/sessions/$(field "$created" id)
echo "$session on $(field "$created" engine)"

step "open $page"
answer=$(api POST "$session/navigate" "{\"url\":\"$page\",\"waitUntil\":\"load\"}")
echo "HTTP $(field "$answer" status): $(field "$answer" title)"

step 'read it'
snapshot=$(api GET "$session/snapshot" '' -H 'Accept: text/plain')
echo "$snapshot"

step 'fill the form, by ref, and submit it'
new_todo=$(ref "$snapshot" textbox 'New todo')
for title in 'Buy milk' 'Write a letter'; do
  api POST "$session/fill" "{\"target\":\"$new_todo\",\"value\":\"$title\"}" >/dev/null
  api POST "$session/press" '{"key":"Enter"}' >/dev/null
  echo "added: $title"
done

step 'click, and see the change'
snapshot=$(api GET "$session/snapshot" '' -H 'Accept: text/plain')
milk=$(ref "$snapshot" checkbox 'Done: Buy milk')
answer=$(api POST "$session/click" "{\"target\":\"$milk\"}")
[ "$(field "$answer" ok)" = true ] || fail "$answer"
snapshot=$(api GET "$session/snapshot" '' -H 'Accept: text/plain')
echo "$snapshot"
case $snapshot in
  *'checkbox "Done: Buy milk"'*'[checked]'*) ;;
  *) fail 'the click did not check the box' ;;
esac

step 'set a cookie, and read it'
api POST "$session/cookies" '{"cookies":[{"name":"seen","value":"yes"}]}' >/dev/null
cookies=$(api GET "$session/cookies")
[ "$(field "$cookies" value)" = yes ] || fail "the cookie is not there: $cookies"
echo "$(field "$cookies" name)=$(field "$cookies" value) for $(field "$cookies" domain)"

step 'evaluate'
answer=$(api POST "$session/eval" '{"expression":"document.querySelector(\".todo-count\").textContent + \", cookie \" + document.cookie"}')
echo "the page says: $(field "$answer" value)"

step 'take a picture'
api GET "$session/screenshot" '' --output "$screenshot"
echo "$screenshot, $(wc -c <"$screenshot" | tr -d ' ') bytes"

step 'look into its memory'
answer=$(api POST "$session/heap/snapshots" '{"gc":true}')
heap=$(field "$answer" id)
summary=$(api GET "$session/heap/snapshots/$heap")
echo "heap snapshot $heap: $(field "$summary" nodes) nodes, $(field "$summary" bytes) bytes"

step 'close it'
receipt=$(api DELETE "$session")
session=''
echo "$receipt"
[ "$(field "$receipt" zero)" = true ] || fail 'something was left behind'
