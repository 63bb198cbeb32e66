/* SPDX-License-Identifier: Apache-2.0
   Cosines and sines of all fractions of turns of up to 400 parts, twice around, against MPFR. */
#include "lib/import/signal_node/turn.h"
#include "t/tool/tap.h"

#include <mpfr.h>

enum { PARTS = 400 };

int
main(void)
{
	mpfr_t angle, want, off;
	size_t wrong = 0, zeros = 0, n, k;

	mpfr_inits2(200, angle, want, off, (mpfr_ptr)0);
	for (n = 1; n <= PARTS; n++)
		for (k = 0; k < 2 * n; k++)
			for (int sine = 0; sine < 2; sine++) {
				double y = sine ? hu_sin_turn(k, n) : hu_cos_turn(k, n);
				mpfr_const_pi(angle, MPFR_RNDN);
				mpfr_mul_ui(angle, angle, 2 * k, MPFR_RNDN);
				mpfr_div_ui(angle, angle, n, MPFR_RNDN);
				(sine ? mpfr_sin : mpfr_cos)(want, angle, MPFR_RNDN);
				mpfr_sub_d(off, want, y, MPFR_RNDN);
				/* MPFR's own angle is off by 2^-195, so that a zero comes out as less than 2^-190 */
				zeros += y == 0 && mpfr_cmpabs_ui(want, 0) != 0 && mpfr_get_exp(want) > -190;
				wrong += y != 0 && fabs(mpfr_get_d(off, MPFR_RNDA)) > 0x1p-51 * fabs(y);
			}
	is_int((long long)wrong, 0, "every value is within 2^-51 of itself");
	is_int((long long)zeros, 0, "what is 0 is 0, and nothing else is");
	ok(hu_cos_turn(1, 6) == 0.5 && hu_cos_turn(1, 3) == -0.5 && hu_sin_turn(1, 12) == 0.5 &&
			hu_sin_turn(1, 2) == 0 && hu_cos_turn(3, 4) == 0 && hu_sin_turn(3, 4) == -1,
		"halves, ones and zeros are exact");
	mpfr_clears(angle, want, off, (mpfr_ptr)0);
	mpfr_free_cache();
	return done_testing();
}
