#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# lists.sh --check|--update TOP: the lists of files against the tree under TOP.
# Lists are single lines, `VARIABLE += path` in a folder's local.mk, `include`
# in folders.mk, `COMMAND(name)` in commands.def, `KERNEL(name)` in
# cuda/kernel/kernels.def, `#include` in lib/sum/model/device.inc; every other line is left alone.
# --check prints what is missing or stale, one line each, and
# exits 1.
export LC_ALL=C
mode=$1
tool=$(cd "$(dirname "$0")" && pwd)
cd "${2:-.}" || exit 4

# The variable that names FILE, by folder and ending; nothing for what is no source.
variable_of() {
	case $1 in
	t/*/u-*.c) echo C_TESTS ;;
	t/*/x-*.c) echo EXPENSIVE_C_TESTS ;;
	t/*/t-*.sh | t/*/t-*.py) echo SCRIPT_TESTS ;;
	t/*/x-*.sh | t/*/x-*.py) echo EXPENSIVE_SCRIPT_TESTS ;;
	t/papers/*.c) echo C_TESTS ;;
	t/papers/*.sh | t/papers/*.py) echo SCRIPT_TESTS ;;
	t/stub/*.c) echo EXTRA_DIST ;;
	t/*/*.c) echo t_libtap_a_SOURCES ;;
	bench/gpu*.sh) echo EXTRA_DIST ;; # it builds for itself, and the others are its parts
	bench/tool/*.c) echo BENCH_TOOLS ;; # programs that benchmarks run
	bench/tool/*.py) echo EXTRA_DIST ;;
	bench/*.c) echo C_BENCHES ;;
	bench/*.sh | bench/*.py) echo SCRIPT_BENCHES ;;
	examples/*.py | examples/*.onnx | examples/*.npz | examples/*.tex | examples/*.c | \
		examples/*.cpp) echo nobase_dist_pkgdata_DATA ;;
	python/*.py) echo nobase_dist_pkgdata_DATA ;;
	doc/*.[1-9]) echo dist_man_MANS ;;
	doc/*.c) echo EXTRA_DIST ;;
	*_avx2.c) echo libhalfulp_avx2_a_SOURCES ;;
	*_avx512.c) echo libhalfulp_avx512_a_SOURCES ;;
	cuda/device/absent.c) echo NO_CUDA_SOURCES ;;
	lib/base/ranks/mpi.c) echo MPI_SOURCES ;;
	*.c) echo libhalfulp_a_SOURCES ;;
	*.cu) echo CUDA_SOURCES ;;
	*.cc) echo SHIM_SOURCES ;;
	*.h | *.inc | *.def | *.cuh) echo noinst_HEADERS ;;
	reports/*.gp | reports/*.css | reports/*.js | reports/*.html | reports/*.svg) echo nobase_dist_pkgdata_DATA ;;
	*.gp | *.proto | *.md | *.yml | *.sh | *.py | *.json | *.txt | *.tsv | *.csv | \
		 *.css | *.html | *.svg | *.npy | *.npz | *.safetensors | *.hex | *.bib) echo EXTRA_DIST ;;
	esac
}

files() {
	find lib trainer analyzers cuda reports t bench doc examples packaging python -type f -name '[!.#]*' \
		! -path '*/__pycache__/*' ! -path '*/.*' 2>/dev/null | sort
}

wanted() {
	files | while read -r f; do
		v=$(variable_of "$f")
		case $v in
		'') ;;
		C_TESTS | EXPENSIVE_C_TESTS | C_BENCHES | BENCH_TOOLS) echo "${f%/*}/local.mk $v += ${f%.c}" ;;
		*) echo "${f%/*}/local.mk $v += $f" ;;
		esac
	done
	files | sed -n 's|/[^/]*\.[a-z0-9]*$||p' | sort -u | while read -r d; do
		for f in "$d"/*.*; do
			test -f "$f" && test "$f" != "$d/local.mk" && test -n "$(variable_of "$f")" &&
				echo "folders.mk include \$(top_srcdir)/$d/local.mk" && break
		done
	done
	test ! -f include/halfulp/number.h || python3 "$tool/number_files.py" .
	find cuda/kernel -name "*.cu" 2>/dev/null | sed 's|.*/\(.*\)\.cu|cuda/kernel/kernels.def KERNEL(\1)|' | sort
	find lib/sum/model -name "*.c" 2>/dev/null | sed 's|.*|lib/sum/model/device.inc #include "&"|' | sort
	find trainer analyzers reports -name "cmd_*.c" 2>/dev/null | sed 's|.*/cmd_\(.*\)\.c|commands.def COMMAND(\1)|' | sort
}

row='^[A-Za-z0-9_]* [+]= [^ $]*/[^ $]*$|^include [$][(]top_srcdir[)]/|^(COMMAND|KERNEL)[(]'
row="$row"'|^#include "lib/sum/model/[a-z0-9_]*[.]c"$'

present() {
	for list in folders.mk commands.def cuda/kernel/kernels.def lib/sum/model/device.inc \
		$(find lib trainer analyzers cuda reports t bench doc examples packaging python -name local.mk 2>/dev/null | sort); do
		test -f "$list" && grep -E "$row" "$list" | sed "s|^|$list |"
	done
}

case $mode in
--check)
	present | sort >/dev/null
	comm -3 <(wanted | sort) <(present | sort) |
		sed -e 's/^\t\([^ ]*\) \(.*\)/\1: this line names nothing that exists, remove it: \2/;t' \
		-e 's/^\([^ ]*\) \(.*\)/\1: a line is missing, paste it: \2/' | grep . && exit 1
	exit 0
	;;
--update)
	want=$(wanted)
	{ printf '%s\n' "$want" | cut -d' ' -f1; present | cut -d' ' -f1; } | sort -u | while read -r list; do
		test -f "$list" || printf '# SPDX-License-Identifier: Apache-2.0\n\n' >"$list"
		{ grep -vE "$row" "$list"; printf '%s\n' "$want" | sed -n "s|^$list ||p"; } >"$list.new"
		if cmp -s "$list" "$list.new"; then rm "$list.new"; else mv "$list.new" "$list" && echo "updated $list"; fi
	done
	;;
*)
	echo "usage: lists.sh --check|--update TOP" >&2
	exit 2
	;;
esac
