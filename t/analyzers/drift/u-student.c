/* SPDX-License-Identifier: Apache-2.0
   Limits of Student's t, of sums of squares and the power of a test against published tables: the t table of Abramowitz
   and Stegun (26.10), their table of chi square (26.8), and R's power.t.test. */
#include "analyzers/drift/statistics/power.h"
#include "analyzers/drift/statistics/student.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stddef.h>

int
main(void)
{
	static const struct { double tail; int n; double t; } student[] = {
		{ 0.25, 1, 1 }, { 0.05, 1, 6.313752 },
	
		{ 0.005, 1, 63.656741 }, { 0.025, 2, 4.302653 }, { 0.05, 3, 2.353363 }, { 0.005, 5, 4.032143 },
		{ 0.4, 6, 0.264835 }, { 0.025, 10, 2.228139 }, { 0.0005, 10, 4.586894 }, { 0.01, 30, 2.457262 },
		{ 0.0005, 120, 3.373454 } };
	static const struct { double tail; int n; double x; } squares[] = {
		{ 0.95, 1, 3.841459 }, { 0.5, 1, 0.454936 },
		{ 0.95, 2, 5.991465 }, { 0.1, 2, 0.210721 }, { 0.1, 3, 0.584374 }, { 0.1, 4, 1.063623 },
		{ 0.05, 9, 3.325113 }, { 0.95, 10, 18.307038 }, { 0.995, 30, 53.671962 }, { 0.005, 29, 13.121149 } };

	for (size_t i = 0; i < sizeof student / sizeof *student; i++) {
		double limit = hu_student_limit(student[i].tail, student[i].n);
		ok(fabs(limit - student[i].t) < 1e-6 * fmax(limit, 1),
			"t beyond which %g lies, of %d degrees of freedom: %.6f", student[i].tail, student[i].n, limit);
	}
	for (size_t i = 0; i < sizeof squares / sizeof *squares; i++) {
		double x = hu_chi_square_limit(squares[i].tail, squares[i].n);
		ok(fabs(x - squares[i].x) < 1e-6, "the sum of %d squares below which %g lies: %.6f",
			squares[i].n, squares[i].tail, x);
	}
	/* Without a shift a test is as often red as its level says; at 0 T is positive where its normal part is. */
	ok(fabs(hu_power(hu_student_limit(0.01, 8), 8, 0) - 0.01) < 1e-7, "the power of no difference is the level");
	ok(fabs(hu_power(0, 5, 1.5) - 0.5 * erfc(-1.5 / sqrt(2))) < 1e-7, "at 0 it is the normal distribution's");
	/* power.t.test(n = 20, delta = 1, sd = 1, sig.level = 0.05): power = 0.8689528, of the two sides' upper one */
	double t = hu_student_limit(0.025, 38), power = hu_power(t, 38, sqrt(10));
	ok(fabs(power - 0.8689528) < 2e-7, "R's example: %.7f", power);
	ok(fabs(hu_power_shift(0.025, 38, power) - sqrt(10)) < 1e-5, "and the shift that has this power");
	ok(fabs(hu_power(t, 38, hu_power_shift(0.025, 38, 0.1)) - 0.1) < 1e-7, "a small one as well");
	return done_testing();
}
