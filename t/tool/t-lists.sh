#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every source, header, table, figure and test stands in its folder's local.mk,
# every folder in folders.mk, every cmd_X.c in commands.def, and nothing else does.
. "${srcdir:-.}/t/tool/tap.sh"

bash "$top/t/tool/lists.sh" --check "$top" >out 2>err
test_is $? "the lists name what is in the tree (make lists rewrites them)"

same=$(find "$top/t" \( -name '[txu]-*.py' -o -name '[txu]-*.sh' -o -name '[txu]-*.c' \) |
	sed 's/\.[a-z]*$//' | sort | uniq -d)
echo "$same" >out
test -z "$same"
test_is $? "no two tests of a folder share a name, under which only one of them would run"

mkdir -p tree/lib/base && : >tree/lib/base/forgotten.c && : >tree/lib/base/local.mk
echo 'include $(top_srcdir)/lib/base/local.mk' >tree/folders.mk
bash "$top/t/tool/lists.sh" --check "$dir/tree" >out 2>err
grep -q 'libhalfulp_a_SOURCES += lib/base/forgotten.c' out
test_is $? "a forgotten file is named with the line to paste"
rm tree/lib/base/forgotten.c && : >tree/lib/base/other.c
echo 'libhalfulp_a_SOURCES += lib/base/other.c' >tree/lib/base/local.mk
echo 'libhalfulp_a_SOURCES += lib/base/gone.c' >>tree/lib/base/local.mk
bash "$top/t/tool/lists.sh" --check "$dir/tree" >out 2>err
grep -q 'remove it: .*gone.c' out
test_is $? "a line for a file that is gone is named"

# Tables whose rows are files: NAME.c of the folder that defines PREFIX_NAME, or NAME.gp.
# The other direction, a row without its file, is the linker's to find.
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
	found=$(cd "$top" && eval "$files" | tr - _ | sort)
	missing=$(comm -23 <(printf '%s\n' "$found") <(rows_of "$def" "$macro") | tr '\n' ' ')
	: >out >err
	test -n "$found" || echo "no file was found that a row would name: the pattern here is out of date" >out
	for name in $missing; do echo "$def: a row is missing, paste and complete it: $macro($name, ...)" >>out; done
	test -z "$missing" && test -n "$found" && test -n "$(rows_of "$def" "$macro")"
	test_is $? "$def has a row for each file"
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
finish
