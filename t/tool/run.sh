#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts one test or benchmark with what its name says. Expensive tests (x-*)
# say that they are skipped unless HALFULP_EXPENSIVE is yes, or HALFULP_PROOFS, which make prove sets, names them.
case " $HALFULP_PROOFS " in *" ${1#./} "*) HALFULP_EXPENSIVE=yes ;; esac
case ${1##*/} in
x-*) test "$HALFULP_EXPENSIVE" = yes || { echo '1..0 # SKIP expensive: make check-expensive runs it'; exit 0; } ;;
esac
# Tests read what check and gate print as TAP; those that read what a person does unset this.
export HALFULP_RESULTS=tap
# A run writes dozens of small files and waits until the disk has each of them: tests write to memory where it has room
# and runs programs, which some of them compile there.
room=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
if test -z "$TMPDIR" && test -w /dev/shm && test "${room:-0}" -gt 4194304; then
	probe=$(mktemp /dev/shm/halfulp-probe-XXXXXX) && printf '#!/bin/sh\n' >"$probe" && chmod +x "$probe" &&
		"$probe" 2>/dev/null && export TMPDIR=/dev/shm
	rm -f "$probe"
fi
case $1 in
*.py) command -v "${PYTHON:-python3}" >/dev/null 2>&1 || { echo '1..0 # SKIP python3 is absent'; exit 0; }
	exec "${PYTHON:-python3}" -B "$@" ;;
*.sh) exec bash "$@" ;;
*/*) exec "$@" ;;
*) exec "./$@" ;;
esac
