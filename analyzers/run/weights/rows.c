/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/weights/rows.h"

#include <math.h>

/* A tensor, or all parameters or all other states of a step. */
typedef struct row {
	long long step, elements, moved, gradients, kept, gradients_judged, updates_judged, exact_moves, lost;
	long long gradients_unjudged, kept_unjudged, nonfinite;
	double l2_update, l2_judged, l2_share_lost, cosine, length;
	const char *tensor, *layer, *format, *role, *verdict, *because;
} row;

#define COLUMN(...) HU_FIELD_OF(row, __VA_ARGS__)
static const hu_table_field row_columns[] = {
	COLUMN("step", COUNT, step, ANYWHERE, "the traced step"),
	COLUMN("tensor", TEXT, tensor, ANYWHERE, "the tensor, or all of the role"),
	COLUMN("layer", TEXT, layer, ANYWHERE, "its layer"),
	COLUMN("format", TEXT, format, ANYWHERE, "its format"),
	COLUMN("role", TEXT, role, ANYWHERE, "parameter, state, or next: what the stored states do to the next step"),
	COLUMN("elements", COUNT, elements, ANYWHERE, "its elements"),
	COLUMN("moved", COUNT, moved, ANYWHERE, "elements whose bits changed"),
	COLUMN("gradients", COUNT, gradients, ANYWHERE, "elements with a gradient that is not 0"),
	COLUMN("kept", COUNT, kept, ANYWHERE, "those of them whose bits did not change"),
	COLUMN("gradients_judged", COUNT, gradients_judged, ANYWHERE, "elements whose exact gradient is known"),
	COLUMN("updates_judged", COUNT, updates_judged, ANYWHERE, "elements whose exact update is known"),
	COLUMN("exact_moves", COUNT, exact_moves, ANYWHERE, "those of them that the exact step moves"),
	COLUMN("lost", COUNT, lost, ANYWHERE, "those of them that kept their bits"),
	COLUMN("gradients_unjudged", COUNT, gradients_unjudged, ANYWHERE,
		"gradients that are not 0, without an exact update"),
	COLUMN("kept_unjudged", COUNT, kept_unjudged, ANYWHERE, "those of them whose bits did not change"),
	COLUMN("l2_update", REAL, l2_update, ANYWHERE, "the L2 norm of the update"),
	COLUMN("l2_judged", REAL, l2_judged, ANYWHERE, "that of elements whose exact update is known"),
	COLUMN("l2_share_lost", MEASURED, l2_share_lost, ANYWHERE, "the share of the exact update that was lost"),
	COLUMN("cosine", MEASURED, cosine, ANYWHERE, "the cosine of the angle between both updates"),
	COLUMN("nonfinite", COUNT, nonfinite, ANYWHERE, "elements of which an update is not finite"),
	COLUMN("verdict", TEXT, verdict, ANYWHERE, "what became of the update"),
	COLUMN("because", TEXT, because, ANYWHERE, "why elements were not judged"),
	COLUMN("length", MEASURED, length, ANYWHERE, "of the step, in lengths of the exact one"),
};
#undef COLUMN

const hu_fields hu_weight_rows = HU_FIELDS(row_columns, row);

/* N where something is there, else what was not measured. */
static long long
where(int there, size_t n)
{
	return there ? (long long)n : -1;
}

void
hu_weight_row(hu_tsv *t, size_t step, const hu_info *info, int parameter, const hu_weight *w, const char *because)
{
	double share = hu_harm_share(&w->harm);
	row r = { .step = (long long)step,
		.tensor = info ? info->name : "all",
		.layer = info ? info->layer : "all",
		.format = info ? hu_format_name(info->format) : "-",
		.role = parameter ? "parameter" : "state",
		.elements = (long long)w->n,
		.moved = (long long)w->moved,
		.gradients = where(w->with_gradient > 0, w->gradients),
		.kept = where(w->with_gradient > 0, w->kept),
		.gradients_judged = (long long)w->gradient_judged,
		.updates_judged = (long long)w->judged,
		.exact_moves = where(w->judged > 0, w->exact_moves),
		.lost = where(w->judged > 0, w->lost),
		.gradients_unjudged = (long long)w->gradients_unjudged,
		.kept_unjudged = (long long)w->kept_unjudged,
		.l2_update = (double)sqrtl(w->real2),
		.l2_judged = (double)sqrtl(w->real2_judged),
		.l2_share_lost = share,
		.cosine = isnan(share) ? NAN : hu_harm_cosine(&w->harm),
		.nonfinite = (long long)w->harm.nonfinite,
		.verdict = hu_weight_verdict(w, parameter),
		.because = because,
		.length = hu_harm_length(&w->harm) };

	hu_fields_tsv_row(t, &hu_weight_rows, &r);
}

void
hu_weight_next_row(hu_tsv *t, size_t step, const hu_next_step *s)
{
	row r = { .step = (long long)step,
		.tensor = "all",
		.layer = "all",
		.format = "-",
		.role = "next",
		.elements = (long long)s->n,
		.moved = -1,
		.gradients = -1,
		.kept = -1,
		.gradients_judged = -1,
		.updates_judged = -1,
		.exact_moves = -1,
		.lost = -1,
		.gradients_unjudged = -1,
		.kept_unjudged = -1,
		.l2_update = (double)sqrtl(s->harm.got2),
		.l2_judged = (double)sqrtl(s->harm.exact2),
		.l2_share_lost = NAN,
		.cosine = hu_harm_cosine(&s->harm),
		.nonfinite = (long long)s->dead,
		.verdict = hu_next_step_verdict(s),
		.because = "",
		.length = hu_harm_length(&s->harm) };

	hu_fields_tsv_row(t, &hu_weight_rows, &r);
}
