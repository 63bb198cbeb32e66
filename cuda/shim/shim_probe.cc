/* SPDX-License-Identifier: Apache-2.0
   Computes on the host what the instructions of probe_unit.h answer: each thread computes its own four outputs by the
   model of lib/sum/tc/tc.h, from the words that the lanes exchange or that are in shared memory. */
#include "cuda/probe/probe_unit.h"

extern "C" {
#include "lib/number/code.h"
}

static hu_format_id
format_of(int kind)
{
	switch (kind) {
	case HU_PROBE_W_F16:
	case HU_PROBE_W_F16_F16: return HU_FP16;
	case HU_PROBE_W_BF16: return HU_BF16;
	case HU_PROBE_W_TF32: return HU_TF32;
	case HU_PROBE_E5M2:
	case HU_PROBE_E5M2_F16:
	case HU_PROBE_W_E5M2:
	case HU_PROBE_W_E5M2_F16: return HU_E5M2;
	default: /* the kinds with E4M3 in their names */
		return HU_E4M3;
	}
}

/* Value k of a row of eight words. */
static double
value(const uint32_t *words, unsigned k, hu_format f)
{
	unsigned each = f.id == HU_TF32 ? 1 : 32 / (unsigned)f.bits;

	if (each == 1)
		return (double)hu_from_bits32(hu_tc_tf32(words[k]));
	return hu_decode(words[k / each] >> k % each * (unsigned)f.bits & ((1u << f.bits) - 1), f);
}

/* The outputs of two rows and two columns of eight words each. */
static void
sums(float *d, int kind, const uint32_t (*rows)[8], const uint32_t (*columns)[8], hu_tc_arch arch, int path)
{
	hu_format f = hu_format_of(format_of(kind)), out = hu_format_of(hu_probe_half_out(kind) ? HU_FP16 : HU_FP32);
	hu_tc t = hu_tc_of(arch, f.id, path);
	unsigned depth = f.id == HU_TF32 ? 8 : 256 / (unsigned)f.bits;
	int32_t am[2][32], ae[2][32], bm[2][32], be[2][32];

	for (unsigned k = 0; k < depth; k++)
		for (unsigned i = 0; i < 2; i++) {
			hu_tc_split(value(rows[i], k, f), hu_tc_inner(t, f), &am[i][k], &ae[i][k]);
			hu_tc_split(value(columns[i], k, f), hu_tc_inner(t, f), &bm[i][k], &be[i][k]);
		}
	for (unsigned i = 0; i < 4; i++)
		d[i] = (float)hu_tc_sum(am[i / 2], ae[i / 2], bm[i % 2], be[i % 2], depth, 2 * hu_tc_inner(t, f).p - 2,
			(double)d[i], t, out, NULL);
}

typedef struct piece { uint32_t a[4], b[2]; } piece;

extern "C" void
hu_shim_probe_mma(int kind, float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch arch, const char *file, int line)
{
	piece mine = { { a[0], a[1], a[2], a[3] }, { b[0], b[1] } };
	const unsigned char *all = hu_shim_meet(&mine, sizeof mine, "mma", file, line);
	unsigned g = hu_shim_lane() / 4, t = hu_shim_lane() % 4;
	uint32_t rows[2][8], columns[2][8];

	for (unsigned w = 0; w < 8; w++)
		for (unsigned i = 0; i < 2; i++) {
			piece p;
			memcpy(&p, all + (g * 4 + w % 4) * HU_SHIM_PIECE, sizeof p);
			rows[i][w] = p.a[w / 4 * 2 + i];
			memcpy(&p, all + ((t * 2 + i) * 4 + w % 4) * HU_SHIM_PIECE, sizeof p);
			columns[i][w] = p.b[w / 4];
		}
	sums(d, kind, rows, columns, arch, HU_TC_MMA);
}

extern "C" void
hu_shim_probe_wgmma(int kind, float *d, const unsigned char *shared, hu_tc_arch arch)
{
	unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4, column = lane % 4 * 2;
	uint32_t rows[2][8], columns[2][8];

	for (unsigned w = 0; w < 8; w++)
		for (unsigned i = 0; i < 2; i++) {
			memcpy(&rows[i][w], shared + hu_probe_place(row + 8 * i, w), 4);
			memcpy(&columns[i][w], shared + HU_PROBE_W_A + hu_probe_place(column + i, w), 4);
		}
	sums(d, kind, rows, columns, arch, HU_TC_WGMMA);
}
