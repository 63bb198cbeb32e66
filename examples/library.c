/* SPDX-License-Identifier: Apache-2.0
   libhalfulp from C: formats and rounding, an exact sum, summation models with their bounds, one operator judged.

       cc library.c $(pkg-config --cflags --libs halfulp) -o library && ./library */
#include <halfulp/halfulp.h>

#include <stdio.h>
#include <stdlib.h>

/* Ends this program, as the library itself never does, where a call failed. */
static void
must(halfulp_status st)
{
	if (st == HALFULP_OK)
		return;
	fprintf(stderr, "library: %s\n", halfulp_reason());
	exit(1);
}

enum { N = 1000 };

int
main(void)
{
	const halfulp_format *fp16, *bf16, *fp64;
	double a[N], b[N], y, exact, error, bound;
	halfulp_exact *sum;
	halfulp_sum *model;

	must(halfulp_format_find(&fp16, "fp16"));
	must(halfulp_format_find(&bf16, "bfloat16"));
	must(halfulp_format_find(&fp64, "fp64"));
	y = 0.1;
	must(halfulp_round(&y, &y, 1, bf16, HALFULP_RNE, 0, 0, 0));
	printf("0.1 in %s, of %d bits, is %.9g\n", halfulp_format_name(bf16), halfulp_format_bits(bf16), y);

	/* 1000 products of 0.1 and 1 in fp16, added in fp16 */
	for (int i = 0; i < N; i++) {
		a[i] = 0.1;
		b[i] = 1;
	}
	must(halfulp_round(a, a, N, fp16, HALFULP_RNE, 0, 0, 0));
	must(halfulp_exact_dot(&sum, a, b, N));
	must(halfulp_exact_round(&exact, sum, fp64, HALFULP_RNE, 0));
	const char *models[] = { "sequential,acc=fp16", "pairwise,acc=fp16", "kahan,acc=fp16" };
	for (int m = 0; m < 3; m++) {
		must(halfulp_sum_parse(&model, models[m], fp16, fp16, fp16));
		must(halfulp_sum_dot(&y, model, a, b, N, 0));
		must(halfulp_sum_bound(&bound, model, a, b, N));
		must(halfulp_exact_error(&error, sum, y));
		printf("%-20s %-8.6g exactly %.8g: error %.4g, at most %.4g\n", halfulp_sum_text(model), y, exact,
			error, bound);
		halfulp_sum_free(model);
	}
	halfulp_exact_free(sum);

	/* A softmax in bf16 and the same with one wrong element, judged */
	const double x[] = { 0, 1, 2, 3, 0, 0, 0, 0 };
	const size_t shape[] = { 2, 4 };
	double got[8];
	halfulp_call *call;
	halfulp_judgement *judgement;
	must(halfulp_call_new(&call, "softmax"));
	must(halfulp_call_operand(call, 0, x, shape, 2, bf16));
	must(halfulp_call_run(call, 0, got, 8));
	for (int wrong = 0; wrong < 2; wrong++) {
		got[5] += wrong * 0.25;
		must(halfulp_call_judge(&judgement, call, 0, got, 8));
		size_t worst = halfulp_judgement_worst(judgement);
		printf("softmax: %zu of %zu elements beyond the bound; the worst is element %zu, %.4g ulps\n",
			halfulp_judgement_beyond(judgement), halfulp_judgement_count(judgement), worst,
			halfulp_judgement_ulps(judgement)[worst]);
		halfulp_judgement_free(judgement);
	}
	halfulp_call_free(call);
	if (halfulp_format_find(&fp16, "fp17") != HALFULP_OK)
		printf("a failure: %s\n", halfulp_reason());
	return 0;
}
