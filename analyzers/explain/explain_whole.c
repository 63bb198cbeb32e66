/* SPDX-License-Identifier: Apache-2.0
   Draws how far a whole expression is off, behind the drawings of its operations. */
#include "analyzers/explain/explain_parts.h"

#include "analyzers/expression/correct.h"
#include "analyzers/value/rows.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 64, LISTED = 10 };

/* Appends the titles of the operations among items from to to, without what stands behind " in ". */
static void
say_steps(hu_drawing *d, int from, int to)
{
	int n = 0;

	for (int i = from; i < to; i++) {
		if (d->item[i].kind != HU_DRAWN_TITLE)
			continue;
		const char *text = d->item[i].text, *end = strstr(text, " in "), *by = strstr(text, ": ");
		end = end && (!by || end < by) ? end : by;
		if (++n <= LISTED) {
			char *own = hu_xprintf("%.*s", (int)(end ? end - text : (long)strlen(text)), text);
			hu_drawing_words(d, "Step %d: %s", n, own);
			free(own);
		}
	}
	if (n > LISTED)
		hu_drawing_words(d, "and %d more steps.", n - LISTED);
}

void
hu_explain_whole(hu_explain *x, int from, const hu_arithmetic *a, const hu_explain_result *r)
{
	hu_drawing *d = &x->d;
	int notes = 0, end = d->n;
	mpfr_t exact, shown;
	hu_frame f;

	if (hu_row_exact(x->root, a->f, exact) != HU_OK)
		return;
	const char *name = hu_format_name(a->f.id);
	if (r->ulps == 0)
		hu_drawing_title(d, "%s is exact in %s: the value computed is %.10g", r->text, name, r->value);
	else
		hu_drawing_title(d, "%s is %.5g ulp off in %s: computed %.10g, exactly %.24s", r->text, r->ulps, name,
			r->value, r->exact);
	if (isfinite(r->value) && mpfr_regular_p(exact) && labs((long)mpfr_get_exp(exact)) < 1024) {
		mpfr_init2(shown, DIGITS);
		int more = mpfr_set(shown, exact, MPFR_RNDZ) != 0;
		hu_frame_init(&f);
		hu_explain_rows(&f, a, "exact", shown, more, r->value, 0);
		hu_frame_draw(&f, d, "The exact value of the expression, and what was computed");
		hu_frame_release(&f);
		mpfr_clear(shown);
	}
	if (r->ulps == 0)
		hu_drawing_words(d, "The value computed is the exact one.");
	else
		hu_drawing_words(
			d, "The value computed is %.5g ulp off, %.3g of the exact value.", r->ulps, r->relative);
	if (isfinite(r->ulps) && !hu_mode_draws(a->mode)) {
		double rounded = hu_correct_round(exact, a->f, a->mode, a->flags, 0, &notes);
		hu_drawing_words(d, "The exact value rounded once would be %.10g%s", rounded,
			rounded == r->value ? ", the same." : ".");
	}
	if (from < end)
		say_steps(d, from, end);
	mpfr_clear(exact);
}
