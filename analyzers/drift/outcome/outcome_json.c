/* SPDX-License-Identifier: Apache-2.0
   Outcomes as JSON. */
#include "analyzers/drift/outcome/outcome.h"

#include "lib/base/console/show_json.h"

/* What is told of an outcome where whoever judged has no fields of its own. */
#define COLUMN(...) HU_FIELD_OF(hu_outcome, __VA_ARGS__)
static const hu_table_field own[] = {
	COLUMN("quantity", TEXT, name, ANYWHERE, "what was judged"),
	COLUMN("ok", FLAG, ok, ANYWHERE, "whether it holds"),
	COLUMN("said", TEXT, said, ANYWHERE, "what was found"),
	COLUMN("detail", TEXT, detail, ANYWHERE, "of a failure, what it rests on"),
	COLUMN("moved", MEASURED, moved, ANYWHERE, "how far it moved"),
	COLUMN("allowed", MEASURED, allowed, ANYWHERE, "how far it may move"),
};

void
hu_outcomes_json(FILE *out, const hu_outcomes *v)
{
	const hu_fields plain = HU_FIELDS(own, hu_outcome);
	json_t *o = json_copy(v->head);

	if (v->list)
		json_object_set_new(o, v->list,
			v->fields.n ? hu_fields_array(&v->fields, v->rows, v->n) : hu_fields_array(&plain, v->v, v->n));
	hu_json_write(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	fputc('\n', out);
	json_decref(o);
}
