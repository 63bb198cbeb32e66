#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clean-root.sh ROOT COMMAND...: runs COMMAND in ROOT, a folder that is filled with a shell, the small tools of every
# system and what these load, and nothing else: no library of ours, no compiler, no network. ROOT may hold files
# already. Exits 125 where this user may not change roots.
root=$1
shift
mkdir -p "$root"/{bin,lib64,proc,dev,tmp,etc} || exit 125
test -e "$root/usr" || ln -s . "$root/usr"
for tool in bash sh env cat cmp cp cut date dirname du grep gzip head kill ls mkdir mktemp mv nproc paste printf rm sed sleep sort tail tar test timeout touch tr uname wc; do
	program=$(type -P $tool) || { echo "clean-root.sh: no $tool here" >&2; exit 125; }
	cp -L "$program" "$root/bin/$tool"
done
cp -L "$(type -P mawk || type -P gawk)" "$root/bin/awk" || exit 125
for library in $(for p in "$root"/bin/*; do ldd "$p"; done | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' | sort -u) $(ldconfig -p | awk '/ld-linux|libm\.so\.6/ && /x86-64|AArch64/ { print $NF }'); do
	mkdir -p "$root$(dirname "$library")" && cp -L "$library" "$root$library"
done
own=$(test "$(id -u)" = 0 || echo -r)
exec unshare $own -m -n sh -c 'mount -t proc proc "$0/proc" 2>/dev/null || mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" || exit 125
	exec chroot "$0" /bin/env -i PATH=/bin HOME=/tmp LC_ALL=C "$@"' "$root" "$@"
