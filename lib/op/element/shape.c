/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/element/map.h"

#include "lib/op/scalars.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *
print(hu_shape s, char *to, size_t size)
{
	size_t at = 0;

	snprintf(to, size, "scalar");
	for (int i = 0; i < s.rank && at < size; i++)
		at += (size_t)snprintf(to + at, size - at, "%s%zu", i ? "x" : "", s.d[i]);
	return to;
}

hu_status
hu_shape_settle(const hu_call *c, int k, hu_shape *out, hu_shape want)
{
	char a[96], b[96];

	if (k >= c->nout)
		return HU_OK;
	if (out[k].rank == 0 && out[k].d[0] == 0)
		out[k] = want;
	if (!hu_same_shape(out[k], want))
		return hu_fail(HU_EINVAL, "%s: output %d is %s, but the operator computes %s", c->op->name, k,
			print(out[k], a, sizeof a), print(want, b, sizeof b));
	return HU_OK;
}

/* Returns 1 if doubles for all elements, and as much scratch space again, can be addressed. */
static int
countable(hu_shape s)
{
	size_t n = 1;

	for (int i = 0; i < s.rank; i++)
		if (__builtin_mul_overflow(n, s.d[i], &n))
			return 0;
	return n <= SIZE_MAX / 64;
}

hu_status
hu_op_shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	char a[96];

	HU_TRY(hu_attr_check(c));
	HU_TRY(HU_COLUMN(c->op, shape)(c, in, out));
	for (int k = 0; k < c->nout; k++)
		if (!countable(out[k]))
			return hu_fail(HU_EINVAL,
				"%s: overflowing shape: output %d would be %s, more elements than can be addressed",
				c->op->name, k, print(out[k], a, sizeof a));
	return HU_OK;
}

hu_status
hu_shape_expect(const hu_call *c, int k, hu_shape in, hu_shape want)
{
	char a[96], b[96];

	if (!hu_same_shape(in, want))
		return hu_fail(HU_EINVAL, "%s: operand %d is %s, but the operator needs %s", c->op->name, k,
			print(in, a, sizeof a), print(want, b, sizeof b));
	return HU_OK;
}

hu_status
hu_shape_length(const hu_call *c, int k, hu_shape in, size_t n)
{
	if (hu_count(in) != n)
		return hu_fail(HU_EINVAL, "%s: operand %d has %zu elements, but the operator needs %zu", c->op->name, k,
			hu_count(in), n);
	return HU_OK;
}

/* Character out of a text with one for each output; '-' past its end. */
static char
letter_of(const char *text, int out)
{
	for (int k = 0; text && *text && k < out; k++)
		text++;
	return text && *text ? *text : '-';
}

hu_format_id
hu_output_format(const hu_call *c, hu_tensor *const *in, int out)
{
	char like = letter_of(c->op->like, out);

	if (like >= '0' && like <= '9')
		return in[like - '0']->format;
	return out == 0 ? c->fmt.out : c->fmt.compute;
}

int
hu_op_computes(const hu_op *op, int out)
{
	return out > 0 && letter_of(op->like, out) == '-' ? 1 : !op->contract && letter_of(op->same, out) != '=';
}

hu_status
hu_shape_rate(const hu_call *c, const hu_shape *in, int least, int most)
{
	int rate = hu_rate_operand(c), others = c->nin - (rate >= 0);

	if (others < least || others > most)
		return hu_fail(HU_EINVAL, "%s: the last of %d operands %s the learning rate, as scheduled=%d says",
			c->op->name, c->nin, rate < 0 ? "is not" : "is", rate >= 0);
	return rate < 0 ? HU_OK : hu_shape_length(c, rate, in[rate], 1);
}
