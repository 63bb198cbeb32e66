/* SPDX-License-Identifier: Apache-2.0
   Tensor cores: every published vector of V100, A100 and H100, bit for bit. */
#include "lib/store/npy.h"
#include "lib/sum/model.h"
#include "lib/sum/tc_status.h"
#include "t/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static hu_sum
model(const char *text)
{
	hu_sum s;

	if (hu_sum_parse(text, &s) != HU_OK || hu_sum_resolve(&s, s.in, s.in2 == HU_NO_FORMAT ? s.in : s.in2, s.out) != HU_OK)
		bail_out("%s", hu_reason());
	return s;
}

static const char *
folder(void)
{
	static char path[4096];
	const char *data = getenv("HALFULP_DATA");

	if (data)
		snprintf(path, sizeof path, "%s/tensor-core", data);
	else
		snprintf(path, sizeof path, "%s", test_source("../shared/data/tensor-core"));
	return path;
}

static int
load(hu_npy *a, const char *set, const char *what)
{
	char path[4400];

	snprintf(path, sizeof path, "%s/%s-%s.npy", folder(), set, what);
	return access(path, R_OK) == 0 && hu_npy_read(a, path) == HU_OK;
}

/* Rows that differ from the hardware's, by the row T of tc.def; N: rows compared. */
static int
differ(const char *set, const char *output, hu_sum s, hu_tc t, int with_c, size_t *n)
{
	hu_npy a, b, c, d;
	int bad = 0;

	*n = 0;
	if (!load(&a, set, "a") || !load(&b, set, "b") || !load(&c, set, "c") || !load(&d, set, output))
		return -1;
	size_t k = a.count / d.count;
	hu_format in = hu_tc_inner(t, hu_format_of(s.in)), out = hu_format_of(s.out);
	for (size_t i = 0; i < d.count; i++) {
		int32_t m[4][64];
		for (size_t j = 0; j < k; j++) {
			hu_tc_split(hu_npy_real(&a, i * k + j), in, &m[0][j], &m[1][j]);
			hu_tc_split(hu_npy_real(&b, i * k + j), in, &m[2][j], &m[3][j]);
		}
		double first = with_c ? hu_round(hu_npy_real(&c, i), out, HU_RNE, 0, 0) : 0;
		double got = hu_tc_sum(m[0], m[1], m[2], m[3], k, 2 * in.p - 2, first, t, out, NULL);
		bad += bits_of_float((float)got) != bits_of_float((float)hu_npy_real(&d, i));
	}
	*n = d.count;
	hu_npy_release(&a);
	hu_npy_release(&b);
	hu_npy_release(&c);
	hu_npy_release(&d);
	return bad;
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

static void
test_vectors(void)
{
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		hu_sum s = model(sets[i].model);
		hu_tc t = hu_tc_of(s.arch, s.in, s.path);
		size_t n;
		int bad = differ(sets[i].set, sets[i].output, s, t, sets[i].with_c, &n);
		if (bad < 0) {
			skip(1, "%s: no vectors in %s (HALFULP_DATA names the folder above)", sets[i].set, folder());
			continue;
		}
		ok(bad == 0 && n == 5000, "%s into %s: %d of %zu rows differ from the hardware's by %s", sets[i].set, sets[i].output, bad, n, sets[i].model);
		/* The same vectors tell wrong parameters, fp16 outputs the block length and the rounding alone. */
		hu_tc w[4] = { t, t, t, t };
		int wrong[4];
		w[0].f++;
		w[1].f--;
		w[2].l /= 2;
		w[3].keep--;
		for (int v = 0; v < 4; v++)
			wrong[v] = differ(sets[i].set, sets[i].output, s, w[v], sets[i].with_c, &n);
		int lengths = strcmp(sets[i].set, "h100-tf32") ? wrong[2] > 100 : wrong[2] == 0; /* 4 products of 8 there */
		ok(lengths && (s.out == HU_FP16 || (wrong[0] > 100 && wrong[1] > 100 && wrong[3] > 100)), "with F+1, F-1, L/2 and one output bit fewer %d, %d, %d and %d do", wrong[0], wrong[1], wrong[2], wrong[3]);
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

/* The status says "equals published vectors" where a set above shows it, and nowhere else; the source names its hardware. */
static void
test_status(void)
{
	static const struct { const char *name; hu_tc t; const char *source; } rows[] = {
#define TC(arch_, in_, paths_, kind_, l_, f_, keep_, zero_, s_, s16_, source_) \
	{ #arch_ " " #in_ " " #kind_, { HU_TC_##arch_, HU_##in_, HU_TC_##paths_, HU_TC_##kind_, l_, f_, keep_, zero_, HU_TC_##s_, HU_TC_##s16_ }, source_ },
#include "lib/sum/tc.def"
#undef TC
	};
	static const char *const hardware[] = { [HU_TC_VOLTA] = "V100", [HU_TC_AMPERE] = "A100", [HU_TC_HOPPER] = "H100", [HU_TC_RTXBLACKWELL] = NULL };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_tc t = rows[i].t;
		const char *source = hu_tc_source(t), *ours = hardware[t.arch];
		for (int half = 0; half < 2; half++) {
			hu_format_id out = half ? HU_FP16 : t.kind == HU_TC_CHAIN ? HU_FP64 : HU_FP32;
			int says = !strcmp(hu_tc_status(t, out), "equals published vectors"), has = has_set(t, out);
			ok(says == has && (!has || (source && ours && strstr(source, ours))), "%s into %s: '%s', and %s set shows it", rows[i].name, hu_format_name(out), hu_tc_status(t, out), has ? "a" : "no");
		}
		ok(source && !strcmp(source, rows[i].source), "%s: its source is found", rows[i].name);
	}
}

int
main(void)
{
	test_status();
	test_vectors();
	return done_testing();
}
