/* SPDX-License-Identifier: Apache-2.0
   Tensor cores: published vectors of V100, A100 and H100, bit for bit: all 5000 rows a set where they are there
   (HALFULP_DATA), and 200 of each everywhere, from t/silicon/tensor-core.npz. Wrong models must differ, and what all
   rows see, the 200 see. `u-tc-vectors --choose` prints which rows those are, for t/silicon/make-sample.py: for each
   wrong model rows that tell it, then subnormal, infinite and zero results and subnormal operands, then rows at equal
   distances. */
#include "lib/store/npz.h"
#include "lib/sum/table/model.h"
#include "lib/sum/tc/status.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static hu_sum
model(const char *text)
{
	hu_sum s;

	if (hu_sum_parse(text, &s) != HU_OK ||
		hu_sum_resolve(&s, s.in, s.in2 == HU_NO_FORMAT ? s.in : s.in2, s.out) != HU_OK)
		bail_out("%s", hu_reason());
	return s;
}

enum {
	ROWS = 200,
	EACH = 5
}; /* rows of a sample; of these at least as many for each wrong model, where there are so many */

/* Where vectors are: a folder of .npy files, or an archive. */
typedef struct source { const char *folder; hu_npz archive; } source;
typedef struct vectors { hu_npy a, b, c, d; size_t n, k; } vectors;

static int
load(const source *from, hu_npy *a, const char *set, const char *what)
{
	char name[4400];

	if (from->folder) {
		snprintf(name, sizeof name, "%s/%s-%s.npy", from->folder, set, what);
		return access(name, R_OK) == 0 && hu_npy_read(a, name) == HU_OK;
	}
	snprintf(name, sizeof name, "%s-%s", set, what);
	for (size_t i = 0; i < from->archive.n; i++)
		if (!strcmp(from->archive.name[i], name)) {
			*a = from->archive.array[i];
			return 1;
		}
	return 0;
}

static int
vectors_of(vectors *v, const source *from, const char *set, const char *output)
{
	if (!load(from, &v->a, set, "a") || !load(from, &v->b, set, "b") || !load(from, &v->c, set, "c") ||
		!load(from, &v->d, set, output))
		return 0;
	v->n = v->d.count;
	v->k = v->a.count / v->n;
	return 1;
}

static void
release(const source *from, vectors *v)
{
	if (!from->folder)
		return; /* the archive's */
	hu_npy_release(&v->a);
	hu_npy_release(&v->b);
	hu_npy_release(&v->c);
	hu_npy_release(&v->d);
}

/* Models that are wrong in one thing. ROUND: to nearest even where the hardware chops, and the other way round for
   fp16. */
enum {
	RIGHT,
	F_MORE,
	F_LESS,
	F_LESS2,
	F_MANY,
	L_HALF,
	L_TWICE,
	KEEP_LESS,
	ROUND,
	ZERO_MORE,
	ZERO_LESS,
	NO_C,
	LATE_C,
	NO_HALVES,
	FLUSH_OUT,
	FLUSH_IN,
	SATURATE,
	WRONGS
};
static const char *const wrong_names[WRONGS] = { "none", "F + 1", "F - 1", "F - 2", "F + 4", "half the block",
	"twice the block", "a bit of the output less", "the other rounding", "zero's exponent - 3",
	"zero's exponent + 3", "no C", "C added last", "one block for halves", "subnormal results flushed",
	"subnormal operands flushed", "overflow to the largest" };

static double
one_row(const vectors *v, size_t i, hu_sum s, hu_tc t, int with_c, int wrong)
{
	hu_format given = hu_format_of(s.in), out = hu_format_of(s.out), to = out;
	int32_t m[4][64];
	double c = with_c && wrong != NO_C ? hu_round(hu_npy_real(&v->c, i), out, HU_RNE, 0, 0) : 0, y;

	t.f += wrong == F_MORE ? 1 : wrong == F_LESS ? -1 : wrong == F_LESS2 ? -2 : wrong == F_MANY ? 4 : 0;
	t.l = wrong == L_HALF ? t.l / 2 : wrong == L_TWICE && t.kind != HU_TC_HALVES ? t.l * 2 : t.l;
	t.zero += wrong == ZERO_MORE ? 3 : wrong == ZERO_LESS ? -3 : 0;
	t.keep -= wrong == KEEP_LESS;
	if (wrong == ROUND && out.p == 24)
		t.keep = 29; /* the last block's result, rounded below */
	if (wrong == ROUND && out.p == 11) {
		to.p = 12; /* hu_tc_finish rounds what is not fp16 toward zero */
		t.keep = 10;
	}
	hu_format inner = hu_tc_inner(t, given);
	int fraction = 2 * inner.p - 2;
	if (wrong == NO_HALVES && t.kind == HU_TC_HALVES) {
		t.kind = HU_TC_BLOCK;
		t.l *= 2;
	}
	for (size_t j = 0; j < v->k; j++) {
		double a = hu_npy_real(&v->a, i * v->k + j), b = hu_npy_real(&v->b, i * v->k + j);
		if (wrong == FLUSH_IN) {
			a = fabs(a) < ldexp(1, given.emin) ? 0 : a;
			b = fabs(b) < ldexp(1, given.emin) ? 0 : b;
		}
		hu_tc_split(a, inner, &m[0][j], &m[1][j]);
		hu_tc_split(b, inner, &m[2][j], &m[3][j]);
	}
	y = hu_tc_sum(m[0], m[1], m[2], m[3], v->k, fraction, wrong == LATE_C ? 0 : c, t, to, NULL);
	if (wrong == LATE_C)
		y = hu_round(y + c, out, out.p == 11 ? HU_RNE : HU_RZ, 0, 0);
	if (wrong == FLUSH_OUT && fabs(y) < ldexp(1, out.emin))
		y = 0;
	if (wrong == SATURATE && isinf(y))
		y = copysign(out.max, y);
	return y;
}

static int
differs(const vectors *v, size_t i, hu_sum s, hu_tc t, int with_c, int wrong)
{
	return bits_of_float((float)one_row(v, i, s, t, with_c, wrong)) != bits_of_float((float)hu_npy_real(&v->d, i));
}

static const struct { const char *set, *output, *model; int with_c; } sets[] = {
	{ "v100-fp16", "d-fp32", "tc:volta,in=fp16,out=fp32", 1 },
	{ "v100-fp16", "d-fp16", "tc:volta,in=fp16,out=fp16", 1 },
	{ "a100-fp16", "d-fp32", "tc:ampere,in=fp16,out=fp32", 1 },
	{ "a100-fp16", "d-fp16", "tc:ampere,in=fp16,out=fp16", 1 },
	{ "a100-bf16", "d-fp32", "tc:ampere,in=bf16,out=fp32", 1 },
	{ "a100-tf32", "d-fp32", "tc:ampere,in=tf32,out=fp32", 1 },
	{ "h100-fp16", "d-fp32", "tc:hopper,in=fp16,out=fp32", 1 },
	{ "h100-fp16", "d-fp16", "tc:hopper,in=fp16,out=fp16", 1 },
	{ "h100-bf16", "d-fp32", "tc:hopper,in=bf16,out=fp32", 1 },
	{ "h100-tf32", "d-fp32", "tc:hopper,in=tf32,out=fp32", 1 },
	{ "h100-e4m3", "d-fp32", "tc:hopper,in=e4m3,out=fp32,path=wgmma", 0 },
	{ "h100-e4m3", "d-fp16", "tc:hopper,in=e4m3,out=fp16,path=mma", 1 },
	{ "h100-e5m2", "d-fp32", "tc:hopper,in=e5m2,out=fp32,path=wgmma", 0 },
	{ "h100-e5m2", "d-fp16", "tc:hopper,in=e5m2,out=fp16,path=mma", 1 },
};

enum { SETS = sizeof sets / sizeof *sets };

static hu_sum sums[SETS];
static hu_tc rows[SETS];

/* Rows that a model differs in, for each wrong one; -1: no vectors. */
static int
count(const source *from, size_t set, int *bad, size_t *n)
{
	vectors v;

	if (!vectors_of(&v, from, sets[set].set, sets[set].output))
		return -1;
	memset(bad, 0, WRONGS * sizeof *bad);
	for (int w = 0; w < WRONGS; w++)
		for (size_t i = 0; i < v.n; i++)
			bad[w] += differs(&v, i, sums[set], rows[set], sets[set].with_c, w);
	*n = v.n;
	release(from, &v);
	return 0;
}

static void
test_vectors(const source *all, const source *sample)
{
	int seen = 0, also = 0;

	for (size_t i = 0; i < SETS; i++) {
		size_t n, few;
		int bad[WRONGS], some[WRONGS], none = count(all, i, bad, &n) < 0;
		if (count(sample, i, some, &few) < 0)
			bail_out("t/silicon/tensor-core.npz lacks %s", sets[i].set);
		ok(some[RIGHT] == 0 && few == ROWS,
			"%s into %s: %d of the sample's %zu rows differ from the hardware's by %s", sets[i].set,
			sets[i].output, some[RIGHT], few, sets[i].model);
		/* h100-tf32 has 4 products of 8. F and the output's bits are fp32's: fp16 outputs tell the block length
		   and the rounding alone. */
		int lengths = strcmp(sets[i].set, "h100-tf32") ? some[L_HALF] >= EACH : some[L_HALF] == 0;
		int fp16 = sums[i].out == HU_FP16;
		ok(lengths && some[ROUND] >= EACH &&
				(fp16 || (some[F_MORE] >= EACH && some[F_LESS] >= EACH && some[KEEP_LESS] >= EACH)),
			"of these, with F+1, F-1, L/2, one output bit fewer and the other rounding %d, %d, %d, %d and "
			"%d do",
			some[F_MORE], some[F_LESS], some[L_HALF], some[KEEP_LESS], some[ROUND]);
		if (none) {
			skip(2, "%s: all 5000 rows are absent (HALFULP_DATA names the folder above tensor-core)",
				sets[i].set);
			continue;
		}
		ok(bad[RIGHT] == 0 && n == 5000, "%s into %s: %d of %zu rows differ from the hardware's by %s",
			sets[i].set, sets[i].output, bad[RIGHT], n, sets[i].model);
		int missed = 0;
		for (int w = 1; w < WRONGS; w++) {
			seen += bad[w] > 0;
			also += bad[w] > 0 && some[w] > 0;
			missed += bad[w] > 0 && !some[w];
			if (bad[w] && !some[w])
				diag("%s into %s: %s: %d of 5000 rows tell it, none of the sample", sets[i].set,
					sets[i].output, wrong_names[w], bad[w]);
		}
		ok(!missed, "%s into %s: every wrong model that all rows tell, the sample tells", sets[i].set,
			sets[i].output);
	}
	if (seen)
		diag("wrong models told by all rows: %d; by the sample too: %d", seen, also);
}

/* Takes rows that SEES is true of until EACH have been. */
static void
take(unsigned char *taken, const unsigned char *sees, size_t n, size_t *count_taken)
{
	int have = 0;

	for (size_t i = 0; i < n; i++)
		have += taken[i] && sees[i];
	for (size_t i = 0; i < n && have < EACH && *count_taken < ROWS; i++)
		if (sees[i] && !taken[i]) {
			taken[i] = 1;
			have++;
			++*count_taken;
		}
}

static void
choose(const source *all)
{
	for (size_t first = 0, next; first < SETS; first = next) {
		unsigned char taken[5000] = { 0 }, sees[5000];
		size_t chosen = 0;
		for (next = first; next < SETS && !strcmp(sets[next].set, sets[first].set); next++) {
			vectors v;
			if (!vectors_of(&v, all, sets[next].set, sets[next].output) || v.n != sizeof taken)
				bail_out("%s: the 5000 rows are absent", sets[next].set);
			double tiny = ldexp(1, hu_format_of(sums[next].out).emin),
			       small = ldexp(1, hu_format_of(sums[next].in).emin);
			for (int w = 1; w < WRONGS + 4; w++) {
				for (size_t i = 0; i < v.n; i++) {
					double y = hu_npy_real(&v.d, i);
					int subnormal = 0;
					for (size_t j = i * v.k; w == WRONGS + 3 && j < (i + 1) * v.k; j++)
						subnormal +=
							hu_npy_real(&v.a, j) != 0 && fabs(hu_npy_real(&v.a, j)) < small;
					sees[i] = w < WRONGS ? differs(&v, i, sums[next], rows[next], sets[next].with_c,
								       w) != 0
						  : w == WRONGS     ? y != 0 && fabs(y) < tiny
						  : w == WRONGS + 1 ? !isfinite(y)
						  : w == WRONGS + 2 ? y == 0
								    : subnormal > 0;
				}
				take(taken, sees, v.n, &chosen);
			}
			release(all, &v);
		}
		for (size_t i = 0; chosen < ROWS;
			i = (i + 23) % sizeof taken) /* 23 and 5000 have no common factor: every row in the end */
			if (!taken[i]) {
				taken[i] = 1;
				chosen++;
			}
		printf("%s", sets[first].set);
		for (size_t i = 0; i < sizeof taken; i++)
			if (taken[i])
				printf(" %zu", i);
		printf("\n");
	}
}

/* Whether a set is of the row T and output OUT. */
static int
has_set(hu_tc t, hu_format_id out)
{
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		hu_sum s = model(sets[i].model);
		hu_tc of = hu_tc_of(s.arch, s.in, s.path);
		if (of.arch == t.arch && of.in == t.in && of.kind == t.kind && of.paths == t.paths && s.out == out)
			return 1;
	}
	return 0;
}

/* The status says "equals published vectors" where a set above shows it, and nowhere else; the source names its
   hardware. */
static void
test_status(void)
{
	static const struct { const char *name; hu_tc t; const char *source; } known[] = {
#define TC(arch_, in_, paths_, kind_, l_, f_, keep_, zero_, s_, s16_, source_)                                         \
	{ #arch_ " " #in_ " " #kind_,                                                                                  \
		{ HU_TC_##arch_, HU_##in_, HU_TC_##paths_, HU_TC_##kind_, l_, f_, keep_, zero_, HU_TC_##s_,            \
			HU_TC_##s16_ },                                                                                \
		source_ },
#include "lib/sum/tc/tc.def"
#undef TC
	};
	static const char *const hardware[] = {
		[HU_TC_VOLTA] = "V100", [HU_TC_AMPERE] = "A100", [HU_TC_HOPPER] = "H100", [HU_TC_RTXBLACKWELL] = NULL
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		hu_tc t = known[i].t;
		const char *from = hu_tc_source(t), *ours = hardware[t.arch];
		for (int half = 0; half < 2; half++) {
			hu_format_id out = half ? HU_FP16 : t.kind == HU_TC_CHAIN ? HU_FP64 : HU_FP32;
			int says = !strcmp(hu_tc_status(t, out), "equals published vectors"), has = has_set(t, out);
			ok(says == has && (!has || (from && ours && strstr(from, ours))),
				"%s into %s: '%s', and %s set shows it", known[i].name, hu_format_name(out),
				hu_tc_status(t, out), has ? "a" : "no");
		}
		ok(from && !strcmp(from, known[i].source), "%s: its source is found", known[i].name);
	}
}

int
main(int argc, char **argv)
{
	static char path[4096];
	const char *data = getenv("HALFULP_DATA");
	source all = { path, { 0 } }, sample = { NULL, { 0 } };

	if (data)
		snprintf(path, sizeof path, "%s/tensor-core", data);
	else
		snprintf(path, sizeof path, "%s", test_source("../shared/data/tensor-core"));
	for (size_t i = 0; i < SETS; i++) {
		sums[i] = model(sets[i].model);
		rows[i] = hu_tc_of(sums[i].arch, sums[i].in, sums[i].path);
	}
	if (argc > 1 && !strcmp(argv[1], "--choose")) {
		choose(&all);
		return 0;
	}
	test_status();
	if (hu_npz_read(&sample.archive, test_source("t/silicon/tensor-core.npz")) != HU_OK)
		bail_out("%s", hu_reason());
	test_vectors(&all, &sample);
	hu_npz_release(&sample.archive);
	return done_testing();
}
