/* SPDX-License-Identifier: Apache-2.0
   Which of the program's orders a revealed tree is: the models are built one after another and compared by hash. */
#include "analyzers/tree/reveal_names.h"

#include "lib/sum/model/row.h"
#include "lib/sum/tc/tc.h"
#include "lib/sum/tree.h"

#include <stdio.h>

/* Compares o's hash and frees o; appends the name where the hashes agree. */
static int
is(uint64_t hash, hu_order *o, hu_str *names, const char *fmt, size_t number)
{
	int equal = o && hu_order_hash(o) == hash;

	if (equal) {
		hu_str_add(names, names->len ? ", " : "");
		hu_str_addf(names, fmt, number);
	}
	hu_order_free(o);
	return equal;
}

/* The order of a unit that adds l products at once, or twice l in halves; with `promote` it begins again after so many,
   whose sums are added one after another. */
static hu_order *
unit_order(size_t n, int halves, size_t l, size_t promote)
{
	hu_order *o = NULL;

	for (size_t k = 0, m; k < n; k += m) {
		m = promote && promote < n - k ? promote : n - k;
		o = hu_order_node(o, hu_order_moved(halves ? hu_order_half_blocks(m, l) : hu_order_blocks(m, l), k));
	}
	return o;
}

/* Tries one architecture after the other, with its formats: tc:hopper,in=fp16|bf16; and the same with promotion after
   so many products, unless that is 0. */
static void
tensor_cores(uint64_t hash, size_t n, size_t promote, hu_str *names)
{
	static const struct {
		hu_tc_arch arch;
		hu_format_id in;
		int kind, l;
	} row[] = {
#define TC(arch_, in_, paths_, kind_, l_, f_, keep_, zero_, s_, s16_, source_)                                         \
	{ HU_TC_##arch_, HU_##in_, HU_TC_##kind_, l_ },
#include "lib/sum/tc/tc.def"
#undef TC
	};
	char behind[40] = "";
	signed char known[2][65] = { { 0 } }; /* by width: 1 it is this order, -1 it is not, 0 not tried yet */
	int arch = -1, in = -1;               /* of the row that was named last: paths that sum alike are named once */

	if (promote)
		snprintf(behind, sizeof behind, ",promote=%zu", promote);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		int kind = row[i].kind == HU_TC_HALVES, l = row[i].l;
		if ((row[i].kind != HU_TC_BLOCK && !kind) || l > 64 || promote % (size_t)(kind ? 2 * l : l))
			continue;
		if (!known[kind][l]) {
			hu_order *o = unit_order(n, kind, (size_t)l, promote);
			known[kind][l] = hu_order_hash(o) == hash ? 1 : -1;
			hu_order_free(o);
		}
		if (known[kind][l] < 0 || (arch == (int)row[i].arch && in == (int)row[i].in))
			continue;
		if (arch == (int)row[i].arch)
			hu_str_addf(names, "|%s", hu_format_name(row[i].in));
		else
			hu_str_addf(names, "%s%stc:%s,in=%s", arch >= 0 ? behind : "", names->len ? ", " : "",
				hu_tc_arch_name(row[i].arch), hu_format_name(row[i].in));
		arch = (int)row[i].arch;
		in = (int)row[i].in;
	}
	hu_str_add(names, arch >= 0 ? behind : "");
}

/* All-reduces, of which those within nodes of several ranks are tried for up to 64 ranks. */
static void
collectives(uint64_t hash, size_t n, hu_str *names)
{
	char name[48];

	for (size_t ranks = 2; ranks <= n; ranks += n <= 512 ? 1 : ranks)
		for (int id = 0; id < HU_SUMS; id++) {
			hu_sum s = { .id = (hu_sum_id)id, .n = (int)ranks };
			int nodes = hu_sum_takes_of(s.id) == HU_TAKES_NODES;
			snprintf(name, sizeof name, nodes ? "%s:%zu:%%zu" : "%s:%%zu", hu_sum_name(s.id), ranks);
			if (hu_sum_takes_of(s.id) == HU_TAKES_RANKS)
				is(hash, hu_order_ranks(s, n), names, name, ranks);
			for (size_t node = 2; nodes && node < ranks && ranks <= 64; node++) {
				s.node = (int)node;
				is(hash, hu_order_ranks(s, n), names, name, node);
			}
		}
}

/* Models that take nothing. What compensated models lose is given back: their order does not name them. */
static void
plain(uint64_t hash, size_t n, hu_str *names)
{
	for (int id = 0; id < HU_SUMS; id++) {
		const hu_sum_model *m = hu_sum_model_of((hu_sum_id)id);
		if (hu_sum_takes_of((hu_sum_id)id) == HU_TAKES_NOTHING && m->order && !m->compensated)
			is(hash, m->order((hu_sum){ .id = (hu_sum_id)id }, n), names, hu_sum_name((hu_sum_id)id), n);
	}
}

/* OpenBLAS's lengths, which GEMM_Q of its kernels is, are multiples of 16 up to 1024. */
static void
openblas(uint64_t hash, size_t n, hu_str *names)
{
	for (size_t length = 16; length < n && length <= 1024 && !names->len; length += 16)
		is(hash, hu_order_slices(n, length, 1), names, "openblas:%zu", length);
}

void
hu_reveal_names(uint64_t hash, size_t n, hu_str *names, int *ours)
{
	plain(hash, n, names);
	is(hash, hu_order_lanes(n, 32, HU_TREE_BLOCK), names, "the fixed tree", n);
	for (size_t length = names->len ? n : 2; length < n;
		length += n <= 512 ? 1 : length) { /* for long sums only powers of two */
		if (!is(hash, hu_order_slices(n, length, 0), names, "chunk:%zu", length)) {
			if (n % length && !names->len)
				is(hash, hu_order_slices(n, length, 1), names, "openblas:%zu", length);
			continue;
		}
		hu_str_addf(names, ", promote:%zu", length);
		if ((n + (n + length - 1) / length - 1) / ((n + length - 1) / length) == length)
			hu_str_addf(names, ", splitk:%zu", (n + length - 1) / length);
	}
	if (n > 512)
		openblas(hash, n, names);
	tensor_cores(hash, n, 0, names);
	for (size_t promote = 4; !names->len && promote < n && promote <= 4096; promote *= 2)
		tensor_cores(hash, n, promote, names);
	if (!names->len)
		collectives(hash, n, names);
	*ours = names->len > 0;
	for (size_t lanes = 2; !*ours && lanes <= 64; lanes *= 2)
		is(hash, hu_order_lanes(n, lanes, 0), names, "%zu strided lanes folded by halves", lanes);
}
