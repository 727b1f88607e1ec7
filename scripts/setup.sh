#!/bin/sh
# Makes this checkout ready to run: npm dependencies, a current Node, a Chrome. `npm start` and `npm test` run it first.
# It says what it does, asks nothing, and does nothing when all is there.
#
#   sh scripts/setup.sh          what `npm start` needs: one Chrome of either engine
#   sh scripts/setup.sh --test   what `npm test` needs: both engines, where they can be had
#   sh scripts/setup.sh --bench  what `npm run bench` needs: both engines and Debian's chromedriver
set -eu

cd "$(dirname "$0")/.."
mode=${1:-start}
case $mode in
  start | --test | --bench) ;;
  *) echo "usage: sh scripts/setup.sh [--test|--bench]" >&2 && exit 2 ;;
esac

min_node=24
stamp=node_modules/.airlock-lock
shell_packages='chromium-headless-shell chromium fonts-liberation fonts-noto-color-emoji'
browser_cache=${PUPPETEER_CACHE_DIR:-${HOME:-/root}/.cache/puppeteer}

# npm itself must not run on the Node that it is about to replace: the PATH without any node_modules/.bin.
system_path=
old_ifs=$IFS
IFS=:
for entry in $PATH; do
  case $entry in
    */node_modules/.bin | '') ;;
    *) system_path=${system_path:+$system_path:}$entry ;;
  esac
done
IFS=$old_ifs
PATH=$PWD/node_modules/.bin:$system_path
export PATH

say() { echo "setup: $*"; }

stop() {
  echo "setup: $1" >&2
  shift
  for line in "$@"; do echo "    $line" >&2; done
  exit 1
}

is_debian() { [ -f /etc/debian_version ] && command -v apt-get >/dev/null; }
is_root() { [ "$(id -u)" = 0 ]; }

# Package managers talk a lot: what they print is shown when they fail.
quietly() {
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null && rm -f "$log" && return 0
  tail -n 20 "$log" >&2
  rm -f "$log"
  return 1
}

apt() { quietly env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q "$@"; }

apt_update() {
  say 'refreshing the package lists (apt-get update)'
  apt update
}

apt_install() {
  say "installing $* (apt-get; it may take some minutes)"
  apt install -y --no-install-recommends "$@"
}

# The shared libraries that a program needs and this machine lacks, one a line.
missing_libraries() {
  [ "$(uname)" = Linux ] || return 0
  ldd "$1" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p'
}

system_npm() { PATH=$system_path npm "$@" </dev/null; }

# --- npm dependencies -----------------------------------------------------------------------------------------------

lock_sum() { cat package.json package-lock.json | cksum; }

dependencies_are_current() {
  [ -f node_modules/.package-lock.json ] || return 1
  [ "$mode" = start ] || [ -x node_modules/.bin/vitest ] || return 1
  [ "$(cat "$stamp" 2>/dev/null)" = "$(lock_sum)" ] && return 0
  # Installed by hand: current when not older than the lock file.
  [ -z "$(find package-lock.json -newer node_modules/.package-lock.json)" ]
}

install_dependencies() {
  PATH=$system_path command -v npm >/dev/null || stop 'npm is not installed.' 'Install Node.js with npm, then run this again.'
  say 'installing the npm dependencies (npm ci)'
  # Dev dependencies are left out only by who starts the service, never by who tests it.
  include=
  [ "$mode" = start ] || include=--include=dev
  # shellcheck disable=SC2086 # an empty option must vanish
  system_npm ci --no-audit --no-fund --loglevel=error $include ||
    stop 'the npm dependencies cannot be installed. To see why, run:' "cd $PWD && npm ci"
}

dependencies_are_current || install_dependencies
[ "$(cat "$stamp" 2>/dev/null)" = "$(lock_sum)" ] || lock_sum >"$stamp" 2>/dev/null || true # a read-only checkout is as good

# --- Node -----------------------------------------------------------------------------------------------------------

node_is_current() {
  major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null) && [ "$major" -ge "$min_node" ]
}

bundled_node=node_modules/.bin/node

# A small Debian, as in a container, lacks libatomic.so.1, which Node is linked with.
install_libatomic() {
  is_debian && is_root || return 1
  apt_update && apt_install libatomic1
}

if ! node_is_current && missing_libraries "$bundled_node" | grep -q libatomic; then
  install_libatomic || stop 'Node needs the shared library libatomic.so.1. Install it, then run this again:' \
    'sudo apt-get install -y libatomic1    # Fedora: sudo dnf install -y libatomic'
fi

if ! node_is_current; then
  # The npm package `node` brings it with an install script; npm ci --ignore-scripts leaves that out.
  say 'installing Node (npm rebuild node)'
  rm -f "$bundled_node" # one that does not run would be found first by its own install script
  system_npm rebuild node --ignore-scripts=false --loglevel=error || true
  node_is_current ||
    stop "Node $min_node or newer is needed, and the npm package \"node\" does not give one here ($(node --version 2>&1 || true))." \
      'Install it from https://nodejs.org, or with the package manager of this system, then run this again.'
fi

# --- Chrome ---------------------------------------------------------------------------------------------------------

has() { printf '%s\n' "$browsers" | grep -q "^$1"; }
look() { browsers=$(node scripts/find-chrome.ts) || browsers=; }

chrome_is_enough() {
  case $mode in
    start) [ -n "$browsers" ] ;;
    *) has headless-shell && has 'chrome	' ;;
  esac
}

# Ubuntu has no chromium-headless-shell, and its chromium only starts a snap: not a binary to run.
apt_has_chrome() { apt-cache show chromium-headless-shell >/dev/null 2>&1; }

install_with_apt() {
  is_debian && is_root || return 1
  apt_update || return 1
  apt_has_chrome || return 1
  # shellcheck disable=SC2086 # a list of names
  apt_install $shell_packages
}

install_with_npm() {
  [ -x node_modules/.bin/browsers ] || return 1
  # Its shared libraries come with --install-deps, which needs root and apt.
  deps=
  if is_debian && is_root; then deps=--install-deps; fi
  for engine in "$@"; do
    say "installing $engine@stable into $browser_cache (@puppeteer/browsers)"
    # shellcheck disable=SC2086
    browsers install "$engine@stable" --path "$browser_cache" $deps </dev/null || return 1
  done
}

starts() {
  path=$(printf '%s\n' "$browsers" | head -n 1 | cut -f 3)
  missing=$(missing_libraries "$path" | tr '\n' ' ')
  [ -z "$missing" ] || stop "$path lacks shared libraries: $missing" "$(by_hand)"
}

by_hand() {
  if is_debian && ! grep -qi ubuntu /etc/os-release 2>/dev/null; then
    echo "sudo apt-get update && sudo apt-get install -y --no-install-recommends $shell_packages"
  elif is_debian; then
    echo "cd $PWD && sudo npx @puppeteer/browsers install chrome-headless-shell@stable --install-deps --path $browser_cache"
  elif command -v dnf >/dev/null; then
    echo 'sudo dnf install -y chromium chromium-headless liberation-fonts'
  elif command -v pacman >/dev/null; then
    echo 'sudo pacman -S --noconfirm chromium ttf-liberation'
  elif command -v apk >/dev/null; then
    echo 'sudo apk add chromium font-liberation'
  else
    echo "cd $PWD && npx @puppeteer/browsers install chrome-headless-shell@stable --path $browser_cache"
  fi
}

look
if ! chrome_is_enough; then
  if [ -z "$browsers" ]; then say 'there is no Chrome on this machine'; fi
  wanted='chrome-headless-shell'
  [ "$mode" = start ] || wanted='chrome-headless-shell chrome'
  # shellcheck disable=SC2086
  install_with_apt || install_with_npm $wanted || true
  look
  [ -n "$browsers" ] || stop 'no Chrome could be installed. Install one, then run this again:' "$(by_hand)"
  starts
  say "found:"
  printf '%s\n' "$browsers" | sed 's/^/setup:   /'
  chrome_is_enough || say 'only one of the two engines is here: the tests of the other are skipped'
fi

# --- what only the slow proofs need (npm run test:slow) ---------------------------------------------------------------

has_ip() { (PATH=$PATH:/usr/sbin:/sbin && command -v ip >/dev/null); }

if [ "$mode" = --test ] && [ "$(uname)" = Linux ] && ! has_ip; then
  if is_debian && is_root; then apt_update && apt_install iproute2 || true; fi
  has_ip || say 'there is no ip (iproute2): the slow proofs of the network are skipped'
fi

# --- what only the bench needs --------------------------------------------------------------------------------------

if [ "$mode" = --bench ] && ! command -v chromedriver >/dev/null; then
  driver='sudo apt-get update && sudo apt-get install -y chromium-driver'
  if ! is_debian || ! is_root; then stop 'the bench needs chromedriver:' "$driver"; fi
  apt_update || stop 'the package lists cannot be read:' "$driver"
  apt_install chromium-driver || stop 'chromedriver cannot be installed:' "$driver"
fi
