/* SPDX-License-Identifier: Apache-2.0
   The table of the exponential function: powers of two with a fraction, as MPFR rounds them. */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/exact/dd/dd_exp.h"

#include <mpfr.h>
#include <pthread.h>

enum { STEPS = HU_DD_EXP_STEPS, BITS = 256 };

static hu_dd table[STEPS + 1];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static void
fill(void)
{
	mpfr_t x;

	mpfr_init2(x, BITS);
	for (int i = 0; i <= STEPS; i++) {
		mpfr_set_si_2exp(x, i - STEPS / 2, -8, MPFR_RNDN);
		mpfr_exp2(x, x, MPFR_RNDN);
		double h = mpfr_get_d(x, MPFR_RNDN);
		mpfr_sub_d(x, x, h, MPFR_RNDN);
		double l = mpfr_get_d(x, MPFR_RNDN);
		table[i] = (hu_dd){ h, l, fabs(l) * 0x1p-52 };
	}
	mpfr_clear(x);
}

const hu_dd *
hu_dd_exp_table(void)
{
	pthread_once(&filled, fill);
	return table;
}
