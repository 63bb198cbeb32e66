#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libraries.sh PROGRAM DIR LICENCES: copies what PROGRAM loads into DIR, but for the C library's own parts, which belong
# to
# the system, and the licences of these libraries into LICENCES, as Debian's packages have them. `make bundle` runs it.
set -eu
program=$1 to=$2 licences=$3
mkdir -p "$to" "$licences"
ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | while read -r name path; do
	case $name in libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | ld-linux*) continue ;; esac
	cp -L "$path" "$to/$name"
	real=$(readlink -f "$path")
	package=$(dpkg -S "$real" 2>/dev/null || dpkg -S "${real#/usr}" 2>/dev/null || echo "$name:")
	package=${package%%:*}
	if test -f "/usr/share/doc/$package/copyright"; then
		cp -L "/usr/share/doc/$package/copyright" "$licences/$package"
	else
		echo "$name is copied from $path; its licence is its package's." >"$licences/$package"
	fi
done
chmod 644 "$to"/*
