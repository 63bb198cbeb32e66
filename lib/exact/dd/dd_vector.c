/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/exact/dd/dd_vector.h"

#include "lib/exact/dd/ddw.h"

static hu_dd
dot(const hu_dd *x, const hu_dd *m, size_t n, size_t stride)
{
	hu_dd sum = hu_dd_of(0);

	for (size_t d = 0; d < n; d++)
		sum = hu_dd_add(sum, hu_dd_mul(x[d], m[d * stride]));
	return sum;
}

#ifdef HU_DDW
enum { EIGHT = HU_DDW_LANES };

/* Two times eight sums at once, because each waits for its last addition. */
HU_DDW_CODE static size_t
dots(hu_dd *y, const hu_dd *x, const hu_dd *m, size_t n, size_t stride, size_t count)
{
	size_t j = 0;

	for (; j + EIGHT <= count; j += EIGHT) {
		int two = j + 2 * EIGHT <= count;
		size_t next = two ? EIGHT : 0;
		hu_ddw a = hu_ddw_of(0), b = a;
		for (size_t d = 0; d < n; d++) {
			hu_ddw s = hu_ddw_all(x[d]);
			a = hu_ddw_add(a, hu_ddw_mul(s, hu_ddw_load(m + d * stride + j)));
			if (two)
				b = hu_ddw_add(b, hu_ddw_mul(s, hu_ddw_load(m + d * stride + j + next)));
		}
		__mmask8 again = hu_ddw_doubtful(a) | (two ? hu_ddw_doubtful(b) : 0);
		hu_ddw_store(y + j, a);
		if (two)
			hu_ddw_store(y + j + next, b);
		for (size_t i = 0; again && i < EIGHT + next; i++)
			y[j + i] = dot(x, m + j + i, n, stride);
		j += next;
	}
	return j;
}

HU_DDW_CODE static size_t
add(hu_dd *y, hu_dd s, const hu_dd *x, size_t n)
{
	hu_ddw by = hu_ddw_all(s);
	size_t i = 0;

	for (; i + EIGHT <= n; i += EIGHT) {
		hu_ddw r = hu_ddw_add(hu_ddw_load(y + i), hu_ddw_mul(by, hu_ddw_load(x + i)));
		if (!hu_ddw_doubtful(r))
			hu_ddw_store(y + i, r);
		else
			for (size_t k = i; k < i + EIGHT; k++)
				y[k] = hu_dd_add(y[k], hu_dd_mul(s, x[k]));
	}
	return i;
}

HU_DDW_CODE static size_t
exponentials(hu_dd *t, hu_dd less, size_t n)
{
	hu_ddw by = hu_ddw_all(less);
	size_t i = 0;

	for (; i + EIGHT <= n; i += EIGHT) {
		hu_ddw r = hu_ddw_exp(hu_ddw_sub(hu_ddw_load(t + i), by));
		if (!hu_ddw_doubtful(r))
			hu_ddw_store(t + i, r);
		else
			for (size_t k = i; k < i + EIGHT; k++)
				t[k] = hu_dd_exp(hu_dd_sub(t[k], less));
	}
	return i;
}

#define EIGHTS(WHAT) (hu_ddw_wanted() ? (WHAT) : 0)
#else
#define EIGHTS(WHAT) 0
#endif

void
hu_dd_vector_dots(hu_dd *y, const hu_dd *x, const hu_dd *m, size_t n, size_t stride, size_t count)
{
	for (size_t j = EIGHTS(dots(y, x, m, n, stride, count)); j < count; j++)
		y[j] = dot(x, m + j, n, stride);
}

void
hu_dd_vector_add(hu_dd *y, hu_dd s, const hu_dd *x, size_t n)
{
	for (size_t i = EIGHTS(add(y, s, x, n)); i < n; i++)
		y[i] = hu_dd_add(y[i], hu_dd_mul(s, x[i]));
}

void
hu_dd_vector_exp(hu_dd *t, hu_dd less, size_t n)
{
	for (size_t i = EIGHTS(exponentials(t, less, n)); i < n; i++)
		t[i] = hu_dd_exp(hu_dd_sub(t[i], less));
}
