/* SPDX-License-Identifier: Apache-2.0
   What matmul and the convolutions have in common on the device: y[m,n] = Σ_k A[m,k] B[k,n], with A and B read in place
   through an index map (implicit GEMM). An operator's file supplies its map; gemm_plain.cuh, gemm_tile.cuh and others
   compute. In every kernel k ascends for each output within a part, as the summation models require. */
#ifndef HU_CUDA_GEMM_CUH
#define HU_CUDA_GEMM_CUH

#include "cuda/element/map.cuh"
#include "cuda/base/divide.h"

#include <stdio.h>
#include <string.h>

extern "C" {
#include "lib/base/hash.h"
#include "lib/op/contract/conv.h"
#include "lib/program/gemm.h"
#include "lib/sum/table/parts.h"
}

/* Sizes, geometry as in lib/op/contract/contract.h, and operands. */
typedef struct hu_gemm {
	uint32_t m, n, k, part, parts;
	uint32_t h, w, ci, kh, kw, ho, wo, co, stride_h, stride_w, dilation_h, dilation_w;
	int32_t pad_h, pad_w;
	hu_divisor by_ci, by_kw, by_wo, by_pixels; /* by_pixels divides by ho * wo */
	/* For a data gradient's share (lib/op/contract/conv.h), where placed is 1: the first pixel, the number of rows
	   and columns of pixels, the first tap and the distance from one to the next, and the taps in a row; from_h and
	   from_w are the gradient's pixel that the first tap of the first pixel meets, and each further tap lies back_h
	   or back_w pixels before that. by_share divides by rows * cols. */
	uint32_t row0, col0, rows, cols, tap_h0, tap_w0, step_h, step_w, taps_w;
	int32_t from_h, from_w, back_h, back_w;
	hu_divisor by_share, by_cols, by_co, by_taps_w;
	int placed;
	uint32_t first;            /* the result's element for output (0, 0), if not placed */
	/* The number of products in a launch, and the elements from one's operands and result to the next one's
	   (matmul; elsewhere there is one). */
	uint32_t batches, step_a, step_b, step_y;
	uint32_t terms;            /* term k of element e draws random bits e * terms + k */
	int ta, tb;
	hu_store_operand a, b, sa, sb;   /* sa, sb: scales whose product divides the result; without data: 1 */
	hu_store_result y;
	hu_sum sum;
	uint32_t draw;             /* the stream of the sum's random bits */
	const hu_pulse *pulse;
	hu_slot raw;               /* for the host: where y goes unrounded */
} hu_gemm;

/* Stands for an operand's element outside the image: +0. */
#define HU_OUTSIDE 0xffffffffu

/* On the host: a grid with a block for each rows x columns outputs of each part. All tiles of a part are in the grid's
   first dimension, because that alone reaches 2^31 blocks: the others end at 65535, and a convolution of 512 images has
   more tiles than that in either direction. Neighbours in the grid are neighbours along a row of tiles. The third
   dimension counts products. */
static inline dim3
hu_gemm_grid(const hu_gemm *g, uint32_t rows, uint32_t columns)
{
	return dim3((g->n + columns - 1) / columns * ((g->m + rows - 1) / rows), g->parts,
		g->batches > 1 ? g->batches : 1);
}

enum { HU_MOST_PARTS = 65535, HU_MOST_BATCHES = 65535 };

/* Which tile of which part a block computes: its first output row and column, its part. */
typedef struct hu_gemm_tile_at { uint32_t m0, n0, part; } hu_gemm_tile_at;

HU_DEVICE hu_gemm_tile_at
hu_gemm_tile_here(const hu_gemm *g, uint32_t rows, uint32_t columns)
{
	uint32_t across = (g->n + columns - 1) / columns;
	hu_gemm_tile_at t = { blockIdx.x / across * rows, blockIdx.x % across * columns, blockIdx.y };

	return t;
}

/* The result's element for output (m, 0); and for the i-th output, counted row by row. */
HU_DEVICE uint32_t
hu_gemm_row(const hu_gemm *g, uint32_t m)
{
	if (!g->placed)
		return g->first + blockIdx.z * g->step_y + m * g->n;
	uint32_t n = hu_quotient(m, g->by_share), pixel = m - n * g->by_share.by, i = hu_quotient(pixel, g->by_cols),
		 l = pixel - i * g->cols;
	return ((n * g->h + g->row0 + i * g->stride_h) * g->w + g->col0 + l * g->stride_w) * g->n;
}
HU_DEVICE uint32_t
hu_gemm_element(const hu_gemm *g, uint32_t i)
{
	return g->placed ? hu_gemm_row(g, i / g->n) + i % g->n : g->first + blockIdx.z * g->step_y + i;
}

/* Stores the i-th output: y = sum / scale, rounded. */
HU_DEVICE_CALL void
hu_gemm_store(const hu_gemm *g, uint32_t i, double v)
{
	if (g->sa.data)
		v = v / (hu_load_f64(&g->sa, 0) * hu_load_f64(&g->sb, 0));
	hu_store_f64(&g->y, hu_gemm_element(g, i), v);
}

/* Stores two outputs of row m from column n on, as floats, the second of which may be past the end; to sums unless that
   is NULL. */
HU_DEVICE void
hu_gemm_put2(const hu_gemm *g, float *sums, uint32_t m, uint32_t n, const float *v)
{
	size_t at = sums ? (size_t)m * g->n + n : hu_gemm_row(g, m) + n;
	int both = n + 1 < g->n;

	if (sums || (g->y.kind == HU_KIND_F32 && g->y.exact && !g->sa.data)) {
		float *to = sums ? sums + at : (float *)g->y.data + at, x = v[0], y = v[1];
		if (!sums) { /* every NaN is stored as the one quiet NaN */
			x = x != x ? hu_from_bits32(0x7fc00000u) : x;
			y = y != y ? hu_from_bits32(0x7fc00000u) : y;
		}
		to[0] = x;
		if (both)
			to[1] = y;
	} else if (g->y.kind == HU_KIND_CODE16 && !g->y.exact && !g->sa.data) {
		uint32_t x = hu_value_code(&g->y.code, hu_quick_f32(&g->y.code, v[0])),
			 y = hu_value_code(&g->y.code, hu_quick_f32(&g->y.code, v[1]));
		uint16_t *to = (uint16_t *)g->y.data + at;
		if (both && g->n % 2 == 0) {
			*(uint32_t *)to = x | y << 16;
		} else {
			to[0] = (uint16_t)x;
			if (both)
				to[1] = (uint16_t)y;
		}
	} else {
		hu_gemm_store(g, m * g->n + n, (double)v[0]);
		if (both)
			hu_gemm_store(g, m * g->n + n + 1, (double)v[1]);
	}
}

HU_DEVICE double
hu_gemm_f64(const hu_store_operand *o, uint32_t at)
{
	return at == HU_OUTSIDE ? 0.0 : hu_load_f64(o, at);
}
HU_DEVICE float
hu_gemm_f32(const hu_store_operand *o, uint32_t at)
{
	return at == HU_OUTSIDE ? 0.0f : hu_load_f32(o, at);
}

/* Adds two sums: floats natively, doubles in the format of s. */
HU_DEVICE float hu_gemm_plus(const hu_short *, float a, float b) { return a + b; }
HU_DEVICE double
hu_gemm_plus(const hu_short *s, double a, double b)
{
	return s->native ? a + b : hu_short_add(s, a, b);
}

/* gemm_parts.cu: fails with one line for gemm=mma or bulk if no matrix unit computes the call. compiled is the
   compute capability, times ten, that the call's kernels were compiled for. */
extern "C" hu_status HU_SIDE(gemm_no_mma)(hu_work *w, const hu_gemm *g, int compiled);

/* gemm_parts.cu: computes outputs from their part sums, [part][row][column], which are floats (or doubles) with values
   of f. */
extern "C" hu_status HU_SIDE(gemm_parts)(hu_work *w, const hu_gemm *g, const void *sums, int doubles, hu_format_id f);

/* gemm_turn.cu: transposes k x rows bytes to rows x k; k is a multiple of 4. */
extern "C" hu_status HU_SIDE(gemm_turn)(hu_work *w, const void *from, void *to, uint32_t k, uint32_t rows);

/* Says what computes the call, if w->ran asks for it. */
#define HU_GEMM_SAY(w, ...) ((w)->ran ? (void)snprintf((w)->ran, HU_RAN, __VA_ARGS__) : (void)0)
/* Says something more. */
static inline void
hu_gemm_add(const hu_work *w, const char *words)
{
	if (w->ran)
		snprintf(w->ran + strlen(w->ran), HU_RAN - strlen(w->ran), "%s", words);
}

/* On the host: sets the geometry of a convolution whose image and kernel are known. HU_EUNABLE names the call if the
   kernels cannot compute it. */
static inline hu_status
hu_gemm_conv(const hu_work *w, hu_gemm *g, const char *op)
{
	const hu_call *c = w->call;
	hu_conv_axis v, q;

	HU_TRY(hu_conv_axis_of(&v, c, HU_AXIS_HEIGHT, g->h, g->kh));
	HU_TRY(hu_conv_axis_of(&q, c, HU_AXIS_WIDTH, g->w, g->kw));
	if (hu_attr_num(c, "groups", 1) != 1)
		return hu_fail(HU_EUNABLE,
			"call %d (%s, layer %s): groups=%g, but the device computes only convolutions of one group: "
			"use --backend cpu",
			c->id, op, c->layer, hu_attr_num(c, "groups", 1));
	if (hu_attr_num(c, "order", 0) != 0 && g->kh * g->kw > 1)
		return hu_fail(HU_EUNABLE,
			"call %d (%s, layer %s): order=%g, but the device adds a convolution's terms one tap after "
			"another: use --backend cpu",
			c->id, op, c->layer, hu_attr_num(c, "order", 0));
	/* Positions are 32-bit: the last output's last tap, and the last pixel seen from the first tap. */
	if ((double)v.out * (double)v.stride + (double)v.taps * (double)v.dilation + (double)v.n + (double)v.before >
			INT32_MAX ||
		(double)q.out * (double)q.stride + (double)q.taps * (double)q.dilation + (double)q.n +
				(double)q.before >
			INT32_MAX)
		return hu_fail(HU_EUNABLE,
			"call %d (%s, layer %s): its padding, stride or dilation reaches beyond the device's 2^31 "
			"places: use --backend cpu",
			c->id, op, c->layer);
	g->ho = (uint32_t)v.out;
	g->wo = (uint32_t)q.out;
	g->stride_h = (uint32_t)v.stride;
	g->stride_w = (uint32_t)q.stride;
	g->dilation_h = (uint32_t)v.dilation;
	g->dilation_w = (uint32_t)q.dilation;
	g->pad_h = (int32_t)v.before;
	g->pad_w = (int32_t)q.before;
	g->by_ci = hu_divisor_of(g->ci);
	g->by_kw = hu_divisor_of(g->kw);
	g->by_wo = hu_divisor_of(g->wo);
	g->by_pixels = hu_divisor_of(g->ho * g->wo);
	return HU_OK;
}

/* On the host: sets the parts of a sum of g->k terms. */
static inline void
hu_gemm_split(const hu_work *w, hu_gemm *g)
{
	g->part = (uint32_t)hu_attr_num(w->call, "part", 0);
	if (!g->part || g->part > g->k)
		g->part = g->k;
	g->parts = g->k ? (g->k + g->part - 1) / g->part : 1;
}

/* On the host: sets everything but sizes and geometry. */
static inline hu_status
hu_gemm_of(hu_work *w, hu_gemm *g)
{
	const hu_call *c = w->call;
	int scaled = hu_attr_num(c, "scaled", 0) != 0 && c->nin == 4;

	g->a = hu_operand_of(w->in[0], HU_AT_EACH);
	g->b = hu_operand_of(w->in[1], HU_AT_EACH);
	if (scaled) {
		g->sa = hu_operand_of(w->in[2], HU_AT_ONE);
		g->sb = hu_operand_of(w->in[3], HU_AT_ONE);
	}
	g->y = hu_result_begin(w, w->out[0], &g->raw, 1);
	g->pulse = w->pulse;
	g->sum = c->sum;
	g->draw = hu_draw_stream(c->seed_name);
	g->terms = g->k;
	hu_gemm_split(w, g);
	return hu_sum_resolve(&g->sum, w->in[0]->format, w->in[1]->format, c->fmt.acc);
}
#endif
