/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/formats/flush.h"

void
hu_flush_add(hu_flush *u, double exact, double got, hu_format f)
{
	hu_underflow_count(&u->count, exact, got, f);
	u->overflow += hu_isfinite(exact) && !hu_isfinite(got);
	hu_harm_add(&u->harm, got, exact, got == 0 && exact != 0);
}

void
hu_flush_add_all(hu_flush *u, const double *exact, const double *got, size_t n, hu_format f)
{
	hu_underflow count = u->count;
	size_t overflow = 0;

	for (size_t i = 0; i < n; i++) {
		hu_underflow_count(&count, exact[i], got[i], f);
		overflow += (size_t)(hu_isfinite(exact[i]) && !hu_isfinite(got[i]));
	}
	u->count = count;
	u->overflow += overflow;
	hu_harm_add_all(&u->harm, got, exact, n);
}

void
hu_flush_merge(hu_flush *u, const hu_flush *other)
{
	hu_underflow_add(&u->count, &other->count);
	u->overflow += other->overflow;
	hu_harm_merge(&u->harm, &other->harm);
}

double
hu_flush_share(const hu_flush *u)
{
	return u->count.nonzeros ? (double)u->count.zeroed / (double)u->count.nonzeros : 0;
}
