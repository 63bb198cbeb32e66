#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# program.sh SOURCES: sees to it that SOURCES/build/halfulp runs, for action.yml. Where it does not yet (a cache keeps
# it), it is compiled, or, if BINARY is the address or the path of a released program (make bundle), unpacked from
# there, if and only if the SHA-256 of that file is SHA256.
set -u
to=$1/build
stop() { printf 'halfulp: %s\n' "$2" >&2; exit "$1"; }

"$to/halfulp" --version 2>/dev/null && exit 0
test -n "${BINARY:-}" || exec "$1/bootstrap" --with-cuda=no
test -n "${SHA256:-}" || stop 2 "binary is given without sha256, the sum that the file must have"
mkdir -p "$to/binary" || exit 4
file=$to/released.tar.gz
case $BINARY in
*://*) curl -fsSL --retry 3 -o "$file" "$BINARY" || stop 4 "$BINARY cannot be downloaded" ;;
*) cp "$BINARY" "$file" || exit 3 ;;
esac
sum=$(sha256sum "$file")
test "${sum%% *}" = "$SHA256" || stop 3 "$BINARY has the SHA-256 ${sum%% *}, not $SHA256: nothing of it is run"
tar xzf "$file" -C "$to/binary" --strip-components=1 || stop 3 "$BINARY cannot be unpacked"
ln -sf binary/bin/halfulp "$to/halfulp"
rm -f "$file"
"$to/halfulp" --version || stop 4 "the program of $BINARY does not run on this machine"
