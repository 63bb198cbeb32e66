/* SPDX-License-Identifier: Apache-2.0
   The emulation of gradients of moves in float32: stretches of dy are added to where they came from, without a look at
   each element. Threads work on different columns of the rows, so the order of every sum is that of moves.h. */
#include "lib/op/move/moves.h"

#include "lib/base/hash.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/philox.h"

#include <string.h>

static void
add(float *sum, const hu_moved *a, ptrdiff_t step, const float *dy, size_t count)
{
	sum += a->at;
	if (step == 1)
		for (size_t j = 0; j < count; j++)
			sum[j] += dy[j];
	else
		for (size_t j = 0; j < count; j++)
			sum[(ptrdiff_t)j * step] += dy[j];
}

/* Adds elements `from` to `from` + `count` - 1 of dy, which lie in one row of the forward call's output and whose runs
   are not known. */
static void
bisect(const hu_moves *x, float *sum, const float *dy, size_t from, size_t count)
{
	hu_moved a = x->c->op->moves->from(x, from), b = count > 1 ? x->c->op->moves->from(x, from + count - 1) : a;
	ptrdiff_t far = (ptrdiff_t)b.at - (ptrdiff_t)a.at, step = count > 1 ? far / (ptrdiff_t)(count - 1) : 0;

	if (count == 1 || (a.operand == 0 && b.operand == 0)) {
		if (a.operand == 0)
			add(sum, &a, step, dy + from, count);
		return;
	}
	bisect(x, sum, dy, from, count / 2);
	bisect(x, sum, dy, from + count / 2, count - count / 2);
}

/* Adds elements `from` to `from` + `count` - 1 of dy, which lie in one row of the forward call's output. */
static void
stretch(const hu_moves *x, float *sum, const float *dy, size_t from, size_t count)
{
	for (size_t n; count; from += n, count -= n) {
		hu_moved a = x->c->op->moves->from(x, from);
		n = a.run && a.run < count ? a.run : count;
		if (!a.run)
			bisect(x, sum, dy, from, count);
		else if (a.operand == 0)
			add(sum, &a, a.step, dy + from, n);
	}
}

/* How many parts a row is cut into: more than one only where elements of different columns are never from the same
   element. */
static size_t
parts_of(const hu_moves *x, size_t row)
{
	hu_moved a = x->c->op->moves->from(x, 0), b = x->c->op->moves->from(x, row - 1);

	if (!x->c->op->moves->apart || row < 2 || a.operand || b.operand || a.at == b.at)
		return 1;
	return row < (size_t)hu_threads() ? row : (size_t)hu_threads();
}

int
hu_moves_sum(const hu_moves *x, const hu_call *c, const hu_tensor *dy, hu_tensor *out, const hu_env *env)
{
	size_t row = x->c->op->moves->row ? x->c->op->moves->row(x) : 0;
	hu_stream stream = { env->seed, hu_fnv1a32(c->seed_name), env->step };

	if (!row || !dy->n || c->fmt.compute != HU_FP32 || hu_is_wide(dy->format) || hu_is_wide(out->format))
		return 0;
	float *sum = out->data;
	size_t parts = parts_of(x, row);
	memset(sum, 0, out->n * sizeof *sum);
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (dy->n > 16384)
	for (size_t k = 0; k < parts; k++) {
		size_t first = row * k / parts, count = row * (k + 1) / parts - first;
		for (size_t i = 0; i < dy->n; i += row)
			stretch(x, sum, dy->data, i + first, count);
	}
	enum { BLOCK = 4096 };
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (out->n > 16384)
	for (size_t i = 0; i < out->n; i += BLOCK)
		hu_bulk_round(sum + i, sum + i, out->n - i < BLOCK ? out->n - i : BLOCK, out->format, c->mode, c->flags,
			&stream, i);
	return 1;
}
