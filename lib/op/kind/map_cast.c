/* SPDX-License-Identifier: Apache-2.0
   map_cast x: what is left of x where each block of `size` elements, in the order of memory, is its largest magnitude
   times values of the map of codes that the attribute map names (lib/number/block/map.h): the values nearest to fp32(x
   / s), s being the magnitude or 1e-12 if that is larger, times s in fp32. A block with an element that is not finite
   becomes NaN. The exact value is x. */
#include "lib/op/element/map.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/arith.h"
#include "lib/number/block/map.h"
#include "lib/op/performed.h"
#include "lib/op/sink.h"

#include <math.h>
#include <stdlib.h>

static size_t
block_of(const hu_call *c)
{
	return hu_attr_count(c, "size", 256);
}

/* The scale of the block that element i is in. */
static float
scale_at(const hu_call *c, const hu_tensor *x, size_t i)
{
	size_t size = block_of(c), first = i / size * size, end = first + size < x->n ? first + size : x->n;
	float most = 1e-12f;

	for (size_t k = first; k < end; k++) {
		float a = fabsf((float)hu_get(x, k));
		if (!hu_isfinite((double)a))
			return hu_from_bits32(0x7fc00000u);
		most = a > most ? a : most;
	}
	return most;
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	size_t size = block_of(c), n = in[0]->n, blocks = (n + size - 1) / size;
	hu_code_map m;

	HU_TRY(hu_code_map_find(hu_attr_text(c, "map", ""), &m));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 4096)
	for (size_t b = 0; b < blocks; b++) {
		float s = scale_at(c, in[0], b * size);
		for (size_t i = b * size; i < n && i < (b + 1) * size; i++) {
			float x = (float)hu_get(in[0], i), y = s;
			if (hu_isfinite((double)s))
				y = m.value[hu_code_map_nearest(&m, x / s)] * s;
			hu_store(c, env, out[0], i, (double)y);
		}
	}
	hu_performed_operations(3 * n);
	return HU_OK;
}

/* Half the wider of the steps beside the nearest value, or the way to an end that x lies beyond, times the scale. x and
   the scale are rounded to fp32, the quotient and the product too, and the result to the output's format. */
static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *to)
{
	hu_format f = hu_format_of(hu_output_format(c, in, out));
	hu_code_map m;

	HU_TRY(hu_code_map_find(hu_attr_text(c, "map", ""), &m));
	for (size_t i = 0; i < n; i++) {
		size_t at = element ? element[i] : i;
		double s = (double)scale_at(c, in[0], at), x = hu_get(in[0], at), step = 0;
		if (hu_isnan(s)) {
			to[i] = INFINITY;
			continue;
		}
		int k = hu_code_map_nearest(&m, (float)(x / s));
		for (int j = k > 0 ? k - 1 : 0; j <= k && j + 1 < m.n; j++)
			step = fmax(step, (double)m.value[j + 1] - (double)m.value[j]);
		double off = fmax(step / 2, fabs(x / s - (double)m.value[k])) * s, most = fabs(x) + off;
		to[i] = most * (1 + 0x1p-20) > f.max && !(c->flags & HU_SATURATE)
				? INFINITY
				: off + most * (0x1p-21 + hu_pow2(1 - f.p)) + hu_pow2(f.emin - f.p + 1) + 0x1p-149;
		if (most > f.max)
			to[i] = INFINITY;
	}
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_code_map m;

	HU_TRY(hu_code_map_find(hu_attr_text(c, "map", ""), &m));
	return hu_shape_settle(c, 0, out, in[0]);
}

/* A comparison for the largest magnitude, the quotient and the product. */
static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 3 * (double)hu_count(in[0]);
}

const hu_op hu_op_map_cast = {
	.name = "map_cast", .summary = "rounds blocks to their largest magnitude times values of a map", .min_in = 1,
	.max_in = 1, .nout = 1, .same = "=", .attrs = "map size", .cls = HU_CLASS_FIXED, .parity = HU_PARITY_NONE,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = hu_map_reference_same, .bound = bound,
		.enclose = hu_map_enclose_same,
	},
};
