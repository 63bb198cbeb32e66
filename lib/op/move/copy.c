/* SPDX-License-Identifier: Apache-2.0
   The emulation of moves between tensors of one format: stretches of elements are copied, without a look at each. */
#include "lib/op/move/moves.h"

#include "lib/base/thread.h"
#include "lib/number/round.h"

#include <math.h>
#include <string.h>

/* What is moved to: a tensor, or certified values: the arrays of these, and the operands' trailing parts and errors. */
typedef struct target {
	hu_tensor *out;
	double *hi, *lo, *err;
	const hu_low *low;
} target;

/* COUNT elements of IN from AT on, STEP apart, to TO; NaN becomes the one NaN. */
#define COPY(type, out, in)                                                                                            \
	do {                                                                                                           \
		type *y = (type *)(out) + to;                                                                          \
		const type *v = (const type *)(in) + at;                                                               \
		if (step == 1)                                                                                         \
			for (size_t j = 0; j < count; j++)                                                             \
				y[j] = v[j] != v[j] ? (type)NAN : v[j];                                                \
		else                                                                                                   \
			for (size_t j = 0; j < count; j++) {                                                           \
				type one = v[(ptrdiff_t)j * step];                                                     \
				y[j] = one != one ? (type)NAN : one;                                                   \
			}                                                                                              \
	} while (0)

/* The same of the trailing parts or errors; NULL stands for zeros. */
static void
copy_part(double *out, size_t to, const double *in, size_t at, ptrdiff_t step, size_t count)
{
	if (in)
		COPY(double, out, in);
	else
		memset(out + to, 0, count * sizeof *out);
}

static void
copy(const hu_moves *x, const target *t, size_t to, int operand, size_t at, ptrdiff_t step, size_t count)
{
	const hu_tensor *in = x->in[operand];

	if (t->out && !hu_is_wide(t->out->format)) {
		COPY(float, t->out->data, in->data);
		return;
	}
	COPY(double, t->out ? t->out->data : t->hi, in->data);
	if (t->out)
		return;
	copy_part(t->lo, to, t->low[operand].lo, at, step, count);
	copy_part(t->err, to, t->low[operand].err, at, step, count);
}

static void
fill(const target *t, size_t to, double x, size_t count)
{
	for (size_t j = 0; j < count; j++)
		if (t->out)
			hu_put(t->out, to + j, x);
		else
			t->hi[to + j] = x, t->lo[to + j] = t->err[to + j] = 0;
}

/* Elements TO to TO + COUNT - 1, which lie in one row and whose runs are not known. */
static void
bisect(const hu_moves *x, const target *t, size_t to, size_t count)
{
	hu_moved a = x->c->op->moves->from(x, to), b;

	if (count == 1) {
		if (a.operand < 0)
			fill(t, to, a.fill, 1);
		else
			copy(x, t, to, a.operand, a.at, 0, 1);
		return;
	}
	b = x->c->op->moves->from(x, to + count - 1);
	ptrdiff_t far = (ptrdiff_t)b.at - (ptrdiff_t)a.at;
	if (a.operand >= 0 && a.operand == b.operand && far % (ptrdiff_t)(count - 1) == 0) {
		copy(x, t, to, a.operand, a.at, far / (ptrdiff_t)(count - 1), count);
		return;
	}
	bisect(x, t, to, count / 2);
	bisect(x, t, to + count / 2, count - count / 2);
}

/* Elements TO to TO + COUNT - 1, which lie in one row. */
static void
stretch(const hu_moves *x, const target *t, size_t to, size_t count)
{
	for (size_t n; count; to += n, count -= n) {
		hu_moved a = x->c->op->moves->from(x, to);
		n = a.run && a.run < count ? a.run : count;
		if (!a.run)
			bisect(x, t, to, count);
		else if (a.operand < 0)
			fill(t, to, a.fill, n);
		else
			copy(x, t, to, a.operand, a.at, a.step, n);
	}
}

/* Moves all N elements, in rows. */
static void
move_rows(const hu_moves *x, const target *t, size_t n, size_t row)
{
	size_t each = row < 16384 ? row : 16384, parts = (row + each - 1) / each, all = n / row * parts;

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 16384)
	for (size_t i = 0; i < all; i++) {
		size_t first = i % parts * each, left = row - first;
		stretch(x, t, i / parts * row + first, left < each ? left : each);
	}
}

/* Returns 1 where each float and double that a tensor of the format may hold is a value of the format: where all of -0,
   infinities, NaN and subnormals are. Elsewhere storing changes some. */
static int
holds_all(hu_format f)
{
	return f.special == HU_SPECIAL_IEEE && !f.flags;
}

int
hu_moves_copy(const hu_moves *x, hu_tensor *out)
{
	size_t row = x->c->op->moves->row ? x->c->op->moves->row(x) : 0;
	int sources = x->c->op->moves->sources;

	if (x->c->flags || !holds_all(hu_format_of(out->format)))
		return 0;
	for (int k = 0; k < x->c->nin; k++)
		if (!row || (x->in[k]->format != out->format && (!sources || k < sources)))
			return 0;
	if (!out->n)
		return 1;
	if (x->fill != hu_round(x->fill, hu_format_of(out->format), HU_RNE, 0, 0))
		return 0; /* each element is rounded then, perhaps at random */
	move_rows(x, &(target){ .out = out }, out->n, row);
	return 1;
}

int
hu_moves_copy_parts(const hu_moves *x, const hu_low *low, size_t n, double *hi, double *lo, double *err)
{
	size_t row = x->c->op->moves->row ? x->c->op->moves->row(x) : 0;
	int sources = x->c->op->moves->sources;

	for (int k = 0; k < x->c->nin; k++)
		if (!row || (!hu_is_wide(x->in[k]->format) && (!sources || k < sources)))
			return 0;
	if (row && n)
		move_rows(x, &(target){ .hi = hi, .lo = lo, .err = err, .low = low }, n, row);
	return row != 0;
}
