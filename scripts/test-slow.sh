#!/bin/sh
# Runs the slow proofs (test/slow). They need network namespaces of their own, so that every packet that leaves can be
# counted: as root, or where users may make namespaces. Elsewhere they are skipped, and it says why.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
export PATH

enter='unshare --net --mount'
[ "$(id -u)" = 0 ] || enter="$enter --user --map-root-user"

# Everything that test/slow/lab.ts does of this kind, once.
probe='ip link add wire type veth peer name other && ip route show table main && mount --bind /dev/null /etc/resolv.conf && unshare --net true'

# shellcheck disable=SC2086 # words
if said=$($enter sh -c "$probe" 2>&1); then
  AIRLOCK_TEST_LAB=1 exec $enter vitest run --config vitest.slow.config.ts "$@"
fi
echo "test:slow: no network namespaces here, so the proofs that need them are skipped: $said" >&2
exec vitest run --config vitest.slow.config.ts "$@"
