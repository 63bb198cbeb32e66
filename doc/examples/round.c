/* SPDX-License-Identifier: Apache-2.0
   A first program with halfulp's numbers. Compile and run it:

       cc round.c $(pkg-config --cflags --libs halfulp-number) -o round && ./round e4m3 0.1 300 1e6 */
#include <halfulp/number.h>

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	hu_format_id id;

	if (hu_format_find(argc > 1 ? argv[1] : "fp16", &id) != HU_OK) {
		fprintf(stderr, "%s\n", hu_reason());
		return 2;
	}
	hu_format f = hu_format_of(id);
	printf("%s: %d bits, largest %g, unit roundoff %g\n", hu_format_name(id), f.bits, f.max, hu_unit(f));
	for (int i = 2; i < argc; i++) {
		double x = strtod(argv[i], NULL);
		hu_rounded r = hu_round_full(x, f, HU_RNE, 0, 0);
		printf("%s -> %.10g, code 0x%llx, %s%s%s, error %.3g ulp\n", argv[i], r.value,
			(unsigned long long)hu_encode(r.value, f),
			r.ternary > 0   ? "rounded up"
			: r.ternary < 0 ? "rounded down"
			: r.flags       ? "no number"
					: "exact",
			r.flags & HU_OVERFLOW ? ", overflow" : "", r.flags & HU_UNDERFLOW ? ", underflow" : "",
			hu_error_ulps(r.value, x, f));
	}

	/* Arrays: a thousand stochastic roundings of 2049 to fp16, whose neighbours are 2048 and 2050. */
	float v[1000], sum = 0;
	hu_stream bits = { 42, 0, 0 };
	for (int i = 0; i < 1000; i++)
		v[i] = 2049;
	hu_bulk_round(v, v, 1000, HU_FP16, HU_SR, 0, &bits, 0);
	for (int i = 0; i < 1000; i++)
		sum += v[i] - 2048;
	printf("mean of 1000 stochastic roundings of 2049 to fp16: %g\n", 2048 + sum / 1000);
	return 0;
}
