#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every source, header, table, figure and test stands in its folder's local.mk,
# every folder in folders.mk, every cmd_X.c in commands.def, and nothing else does.
top=${srcdir:-.}
if out=$(bash "$top/t/tool/lists.sh" --check "$top"); then
	echo "ok 1 - the lists name what is in the tree (make lists rewrites them)"
else
	echo "not ok 1 - the lists name what is in the tree (make lists rewrites them)"
	printf '%s\n' "$out" | sed 's/^/# /'
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/halfulp-test-XXXXXX")
mkdir -p "$dir/lib/base" && : >"$dir/lib/base/forgotten.c" && : >"$dir/lib/base/local.mk"
echo 'include $(top_srcdir)/lib/base/local.mk' >"$dir/folders.mk"
if bash "$top/t/tool/lists.sh" --check "$dir" | grep -q 'libhalfulp_a_SOURCES += lib/base/forgotten.c'; then
	echo "ok 2 - a forgotten file is named with the line to paste"
else
	echo "not ok 2 - a forgotten file is named with the line to paste"
fi
rm "$dir/lib/base/forgotten.c" && : >"$dir/lib/base/other.c"
echo 'libhalfulp_a_SOURCES += lib/base/other.c' >"$dir/lib/base/local.mk"
echo 'libhalfulp_a_SOURCES += lib/base/gone.c' >>"$dir/lib/base/local.mk"
if bash "$top/t/tool/lists.sh" --check "$dir" | grep -q 'remove it: .*gone.c'; then
	echo "ok 3 - a line for a file that is gone is named"
else
	echo "not ok 3 - a line for a file that is gone is named"
fi
rm -rf "$dir"

# Tables whose rows are files: NAME.c of the folder that defines PREFIX_NAME, or NAME.gp.
# The other direction, a row without its file, is the linker's to find.
n=3
rows_of() { sed -n "s/^$2(\"*\([A-Za-z0-9_-]*\).*/\1/p" "$top/$1" | tr - _ | sort; }
# defining PATTERN FILE...: the names of the files in which the pattern holds, @ being the file's name.
defining() {
	local pattern=$1 file name
	shift
	for file in "$@"; do
		name=$(basename "$file" .c)
		grep -qE -e "${pattern//@/$name}" "$file" && echo "$name"
	done
}
while read -r def macro files; do
	n=$((n + 1))
	found=$(cd "$top" && eval "$files" | tr - _ | sort)
	missing=$(comm -23 <(printf '%s\n' "$found") <(rows_of "$def" "$macro") | tr '\n' ' ')
	if test -z "$missing" && test -n "$found" && test -n "$(rows_of "$def" "$macro")"; then
		echo "ok $n - $def has a row for each file"
	else
		echo "not ok $n - $def has a row for each file"
		test -n "$found" || echo "# no file was found that a row would name: the pattern here is out of date"
		for name in $missing; do echo "# $def: a row is missing, paste and complete it: $macro($name, ...)"; done
	fi
done <<'END'
lib/op/ops.def OP sed -n 's/^const hu_op hu_op_\([a-z0-9_]*\) = .*/\1/p' lib/op/kind/*.c
trainer/bench/benches.def BENCH sed -n 's/^const hu_bench hu_bench_\([a-z0-9_]*\) = .*/\1/p' trainer/bench/*.c
trainer/data/datasets.def DATASET defining "^hu_dataset_@\(" trainer/data/*.c trainer/data/drawn/*.c
trainer/model/models.def MODEL defining "hu_model_@( =|\()" trainer/model/*.c
trainer/optim/optims.def OPTIM defining "^hu_optim_@\(hu_program.* int found\)\$" trainer/optim/*.c
trainer/energy/meters.def METER sed -n 's/^const hu_meter hu_meter_\([a-z0-9_]*\) = .*/\1/p' trainer/energy/*.c
analyzers/run/analyzers.def ANALYZER defining "hu_analyzer_@( =|\()" analyzers/run/*.c analyzers/run/*/*.c
reports/figures.def FIGURE ls reports/figures/*.gp | sed 's|.*/||; s/[.]gp$//' | grep -vx style
END
echo "1..$n"
