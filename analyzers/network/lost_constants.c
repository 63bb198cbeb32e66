/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/network/lost_constants.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>

/* The value of constant T, 0 where its elements have several or it is none. */
static double
value_of(const hu_version *v, int t)
{
	const hu_tensor *c = &v->constant[t];
	double x = v->p->t[t].producer < 0 && c->data && c->n && v->p->t[t].cls != HU_OTHER ? hu_get(c, 0) : 0;

	for (size_t i = 1; i < c->n && x != 0; i++)
		if (hu_get(c, i) != x)
			return 0;
	return isfinite(x) ? x : 0;
}

/* Of constant T, how many finite elements become infinite in F; *most is the largest of them. */
static size_t
overflows(double *most, const hu_version *v, int t, hu_format_id f)
{
	const hu_tensor *c = &v->constant[t];
	hu_format to = hu_format_of(f);
	size_t n = 0;

	if (v->p->t[t].producer >= 0 || !c->data || v->p->t[t].cls == HU_OTHER || hu_is_wide(f) || f == HU_FP32)
		return 0;
	for (size_t i = 0; i < c->n; i++) {
		double x = hu_get(c, i);
		if (!isfinite(x) || isfinite(hu_round(x, to, HU_RNE, 0, 0)))
			continue;
		*most = !n || fabs(x) > fabs(*most) ? x : *most;
		n++;
	}
	return n;
}

/* Adds constant T, as call C reads it, where that has lost it. */
static size_t
add(hu_lost_constant *list, size_t n, const hu_version *v, const hu_call *c, int t)
{
	const hu_program *p = v->p;
	hu_format_id f = p->t[c->op->role == HU_ROLE_CAST ? c->out[0] : t].format;
	double x = value_of(v, t), is = x != 0 ? hu_round(x, hu_format_of(f), HU_RNE, 0, 0) : 0;
	size_t lost = v->constant[t].n;

	if (x == 0 || (is != 0 && isfinite(is))) {
		if (!(lost = overflows(&x, v, t, f)))
			return n;
		is = copysign(INFINITY, x);
	}
	for (size_t k = 0; k < n; k++)
		if (list[k].was == x && list[k].format == f)
			return n;
	list[n] = (hu_lost_constant){ x, is, f, c->layer, lost, v->constant[t].n };
	return n + 1;
}

size_t
hu_lost_constants(hu_lost_constant *list, const hu_version *v, int call)
{
	const hu_program *p = v->p;
	char *wanted = hu_xcalloc((size_t)p->nt + 1, 1);
	size_t n = 0;

	for (int i = call; i >= 0; i--) {
		const hu_call *c = &p->c[i];
		if (i != call && !wanted[c->out[0]])
			continue;
		for (int k = 0; k < c->nin; k++) {
			wanted[c->in[k]] = 1;
			if (n < HU_LOST_CONSTANTS)
				n = add(list, n, v, c, c->in[k]);
		}
	}
	free(wanted);
	return n;
}
