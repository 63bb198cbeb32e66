/* SPDX-License-Identifier: Apache-2.0
   The emulation of moves between tensors of one format: stretches of elements are copied, without a look at each. */
#include "lib/op/move/moves.h"

#include "lib/base/thread.h"
#include "lib/number/round.h"

#include <math.h>

/* COUNT elements of IN from AT on, STEP apart, to TO; NaN becomes the one NaN. */
#define COPY(type)                                                                                                     \
	do {                                                                                                           \
		type *y = (type *)out->data + to;                                                                      \
		const type *v = (const type *)in->data + at;                                                           \
		for (size_t j = 0; j < count; j++) {                                                                   \
			type one = v[(ptrdiff_t)j * step];                                                             \
			y[j] = one != one ? (type)NAN : one;                                                           \
		}                                                                                                      \
	} while (0)

static void
copy(hu_tensor *out, size_t to, const hu_tensor *in, size_t at, ptrdiff_t step, size_t count)
{
	if (hu_is_wide(out->format))
		COPY(double);
	else
		COPY(float);
}

static void
fill(hu_tensor *out, size_t to, double x, size_t count)
{
	for (size_t j = 0; j < count; j++)
		hu_put(out, to + j, x);
}

/* Elements TO to TO + COUNT - 1, which lie in one row and whose runs are not known. */
static void
bisect(const hu_moves *x, hu_tensor *out, size_t to, size_t count)
{
	hu_moved a = x->c->op->moves->from(x, to), b;

	if (count == 1) {
		if (a.operand < 0)
			hu_put(out, to, a.fill);
		else
			copy(out, to, x->in[a.operand], a.at, 0, 1);
		return;
	}
	b = x->c->op->moves->from(x, to + count - 1);
	ptrdiff_t far = (ptrdiff_t)b.at - (ptrdiff_t)a.at;
	if (a.operand >= 0 && a.operand == b.operand && far % (ptrdiff_t)(count - 1) == 0) {
		copy(out, to, x->in[a.operand], a.at, far / (ptrdiff_t)(count - 1), count);
		return;
	}
	bisect(x, out, to, count / 2);
	bisect(x, out, to + count / 2, count - count / 2);
}

/* Elements TO to TO + COUNT - 1, which lie in one row. */
static void
stretch(const hu_moves *x, hu_tensor *out, size_t to, size_t count)
{
	for (size_t n; count; to += n, count -= n) {
		hu_moved a = x->c->op->moves->from(x, to);
		n = a.run && a.run < count ? a.run : count;
		if (!a.run)
			bisect(x, out, to, count);
		else if (a.operand < 0)
			fill(out, to, a.fill, n);
		else
			copy(out, to, x->in[a.operand], a.at, a.step, n);
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
	size_t each = row < 16384 ? row : 16384, parts = (row + each - 1) / each, n = out->n / row * parts;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (out->n > 16384)
	for (size_t i = 0; i < n; i++) {
		size_t first = i % parts * each, left = row - first;
		stretch(x, out, i / parts * row + first, left < each ? left : each);
	}
	return 1;
}
