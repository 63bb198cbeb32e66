/* SPDX-License-Identifier: Apache-2.0
   Makes a model a unit that can be probed. */
#include "analyzers/probe/probe.h"

/* Places of an instruction that hold no product are 0 times 0, in as many blocks as it has, since they change a sum of
   -0. */
static double
model_dot(const hu_probe_unit *u, const double *a, const double *b, size_t n, double c)
{
	double x[64], y[64];

	if (!u->most)
		return hu_model_tc(a, b, n, c, u->s, NULL);
	for (size_t k = 0; k < n || k == 0; k += (size_t)u->most) {
		for (size_t i = 0; i < (size_t)u->most; i++) {
			x[i] = k + i < n ? a[k + i] : 0;
			y[i] = k + i < n ? b[k + i] : 0;
		}
		c = hu_model_tc(x, y, (size_t)u->most, c, u->s, NULL);
	}
	return c;
}

static double
model_payload(const hu_probe_unit *u)
{
	double a = (double)hu_from_bits32(hu_tc_tf32(0x7f800001)), b = 1;

	return hu_model_tc(&a, &b, 1, 0, u->s, NULL);
}

hu_probe_unit
hu_probe_model(hu_sum s, int most)
{
	return (hu_probe_unit){ .s = s, .most = most, .dot = model_dot, .payload = model_payload };
}
