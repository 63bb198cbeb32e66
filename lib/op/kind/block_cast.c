/* SPDX-License-Identifier: Apache-2.0
   block_cast x: what is left of x in the block format that the attribute blocks names, with its words (block.h). x is a
   matrix of rows of `columns` elements, or of its last axis; blocks run along its rows, with across=1 along its
   columns. A second operand is the scale: of a format with one scale for all, elements are multiplied by it and the
   result by its fp32 inverse, whatever the elements are. The exact value is x; the bound is what rounding an element
   may lose. Stochastic rounding of element i draws by the call's stream. The gradient is the straight-through estimate,
   as fake_quantise has it. */
#include "lib/op/element/map.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/arith.h"
#include "lib/number/block/block.h"
#include "lib/number/draw.h"
#include "lib/op/performed.h"
#include "lib/op/sink.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* What is decoded is rounded to the output's format by draws of other numbers than the elements'. */
#define HU_LAST_ROUNDING ((uint64_t)1 << 40)

/* The matrix whose rows blocks run along. */
typedef struct matrix {
	hu_block b;
	float *x; /* rows x columns */
	size_t rows, columns;
	int across;
} matrix;

static hu_status
format_of(const hu_call *c, hu_block *b)
{
	const char *name = hu_attr_text(c, "blocks", "");

	if (!*name)
		return hu_fail(
			HU_EINVAL, "block_cast: the attribute blocks has to name a block format, such as mxfp8:te");
	return hu_block_find(name, b);
}

/* The place in x of element i of the matrix, and the other way round. */
static size_t
place(const matrix *m, size_t i)
{
	return m->across ? i % m->columns * m->rows + i / m->columns : i;
}
static size_t
number(const matrix *m, size_t place)
{
	return m->across ? place % m->rows * m->columns + place / m->rows : place;
}

/* Sets up the matrix in fp32, to nearest even where x is wider; the data are the caller's to free. */
static hu_status
begin(matrix *m, const hu_call *c, hu_tensor *const *in)
{
	const hu_tensor *x = in[0];
	size_t last = hu_attr_count(c, "columns", hu_last(x->shape));

	HU_TRY(format_of(c, &m->b));
	if (c->nin > 1)
		m->b.given = (float)hu_get(in[1], 0);
	m->across = hu_attr_num(c, "across", 0) != 0;
	m->rows = m->across ? last : last ? x->n / last : 0;
	m->columns = m->across ? last ? x->n / last : 0 : last;
	m->x = hu_alloc((x->n + 1) * sizeof *m->x);
	if (!m->x)
		return hu_fail(HU_ENOMEM, "block_cast: no memory for %zu elements", x->n);
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (x->n > 16384)
	for (size_t i = 0; i < x->n; i++)
		m->x[i] = (float)hu_get(x, place(m, i));
	return HU_OK;
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_format f = hu_format_of(c->fmt.out);
	matrix m;

	HU_TRY(begin(&m, c, in));
	m.b.draws = (hu_stream){ env->seed, hu_fnv1a32(c->seed_name), env->step };
	double whole = hu_block_whole(&m.b, m.x, in[0]->n);
	size_t high = m.b.size ? m.b.rows : m.rows, bands = high ? (m.rows + high - 1) / high : 0;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0]->n > 4096)
	for (size_t k = 0; k < bands; k++)
		hu_block_cast_band(&m.b, m.x, m.x, m.rows, m.columns, k * high, whole);
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0]->n > 16384)
	for (size_t i = 0; i < in[0]->n; i++)
		hu_put(out[0], place(&m, i),
			hu_round_drawn((double)m.x[i], f, c->mode, c->flags, m.b.draws, i + HU_LAST_ROUNDING));
	hu_performed_operations((c->nin > 1 ? 2 : 3) * in[0]->n);
	free(m.x);
	return HU_OK;
}

/* The scale of the block that element i of the matrix is in, whose elements are gathered in `of`. */
static hu_block_scale
scale_at(const matrix *m, size_t i, float *of, double whole)
{
	size_t wide = m->b.size && m->b.size < m->columns ? m->b.size : m->columns,
	       high = m->b.size ? m->b.rows : m->rows, row = i / m->columns / high * high,
	       column = i % m->columns / wide * wide, n = 0;

	for (size_t r = row; r < row + high && r < m->rows; r++)
		for (size_t k = column; k < column + wide && k < m->columns; k++)
			of[n++] = m->x[r * m->columns + k];
	return hu_block_scale_of(&m->b, of, n, whole);
}

/* At most what x may lose under the scale s: the step of the elements around it, or half of that, where it does not
   saturate. Factors computed in fp32 steps make the quotient off by five roundings at most, and what is decoded is
   rounded to fp32, and to the output's format. */
static double
lost(const hu_block *b, hu_block_scale s, double x, const hu_call *c)
{
	hu_format f = hu_format_of(b->element), to = hu_format_of(c->fmt.out);
	double a = fabs(x), scale = s.scale / (double)b->times, most = hu_block_largest(b) * scale, step, e;

	if (hu_isnan(scale) || !hu_isfinite(a))
		return INFINITY;
	if (b->element == HU_NO_FORMAT) {
		step = scale / hu_block_steps(b);
	} else {
		int at = a > 0 && scale > 0 ? hu_exponent(a / scale * (1 + 0x1p-20)) : f.emin;
		step = hu_pow2((at < f.emin ? f.emin : at) - f.p + 1) * scale;
	}
	if (fmin(a + step, most) * (1 + 0x1p-20) > (double)FLT_MAX)
		return INFINITY; /* what is decoded may be an infinity */
	e = b->mode == HU_RNE || b->mode == HU_RNA || b->mode == HU_RNZ ? step / 2 : step;
	e = scale == 0 ? a : a > most ? fmax(a - most, e) : e;
	if (!(c->flags & HU_SATURATE) && fmin(a + step, most) * (1 + 0x1p-10) > to.max)
		return INFINITY;
	e = a > to.max ? fmax(e, a - to.max) : e;
	return (e + (a + step) * (0x1p-21 + hu_pow2(1 - to.p)) + hu_pow2(to.emin - to.p + 1) + 0x1p-149) *
	       (1 + 0x1p-50);
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *to)
{
	size_t block, last = (size_t)-1;
	hu_block_scale s = { .scale = 0 };
	matrix m;

	(void)out;
	HU_TRY(begin(&m, c, in));
	float *of = hu_alloc((in[0]->n + 1) * sizeof *of);
	if (!of) {
		free(m.x);
		return hu_fail(HU_ENOMEM, "block_cast: no memory for %zu elements", in[0]->n);
	}
	double whole = hu_block_whole(&m.b, m.x, in[0]->n);
	size_t wide = m.b.size ? m.b.size : in[0]->n, high = m.b.size ? m.b.rows : in[0]->n;
	for (size_t i = 0; i < n; i++) {
		size_t at = number(&m, element ? element[i] : i);
		block = at / m.columns / high * (m.columns / wide + 1) + at % m.columns / wide;
		if (block != last)
			s = scale_at(&m, at, of, whole);
		last = block;
		to[i] = lost(&m.b, s, hu_get(in[0], element ? element[i] : i), c);
	}
	free(of);
	free(m.x);
	return HU_OK;
}

/* A range looks through the whole tensor for its scale, as a scaled cast's does. */
static size_t
grain(const hu_call *c, const hu_shape *in, size_t *row)
{
	enum { RANGES = 16 };

	(void)c;
	(void)row;
	return hu_count(in[0]) / RANGES + 1;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_block b;

	HU_TRY(format_of(c, &b));
	if (c->nin > 1 && (b.kind != HU_BLOCK_SINGLE || b.size))
		return hu_fail(HU_EINVAL,
			"block_cast: blocks=%s: only formats with one scale for all, as fp8tensor, take it as an "
			"operand",
			b.name);
	if (c->nin > 1)
		HU_TRY(hu_shape_length(c, 1, in[1], 1));
	size_t columns = hu_attr_count(c, "columns", hu_last(in[0]));
	if (columns && hu_count(in[0]) % columns)
		return hu_fail(
			HU_EINVAL, "block_cast: %zu elements are no rows of columns=%zu", hu_count(in[0]), columns);
	return hu_shape_settle(c, 0, out, in[0]);
}

/* A comparison for the block's amax, unless the scale is given, a product or quotient and a rounding each. */
static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = (c->nin > 1 ? 2 : 3) * (double)hu_count(in[0]);
}

static double
workspace(const hu_call *c, const hu_shape *in, int threads)
{
	(void)c;
	(void)threads;
	return 2 * (double)hu_count(in[0]) * sizeof(float);
}

static const hu_grad grad[] = {
	{ "=", "d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_block_cast = {
	.name = "block_cast", .summary = "rounds to a block format, whose elements share scales, and back", .min_in = 1,
	.max_in = 2, .nout = 1, .same = "=", .attrs = "blocks across columns", .cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_NONE,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = hu_map_reference_same, .bound = bound,
		.enclose = hu_map_enclose_same, .grain = grain, .workspace = workspace,
	},
	.grad = grad,
};
