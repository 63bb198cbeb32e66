/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/bench/bench_rows.h"

#include "lib/base/console/show_json.h"
#include "lib/base/build.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "trainer/device/gpu.h"
#include "trainer/record/machine.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const hu_bench_column machine = { "machine", 8, -1, 1, NULL };

static void
add_column(hu_bench_sink *s, const hu_bench_column *c)
{
	enum { SENTENCE = 24 };
	int prose = c->decimals < 0 && c->width == 1, narrow = hu_fitted_width() != SIZE_MAX;

	hu_fitted_column_add(&s->shown, (hu_fitted_column){ .heading = c->heading ? c->heading : c->name,
						.left = c->decimals < 0,
						.rank = c->rank,
						.least = prose && narrow ? SENTENCE : c->width,
						.prose = prose });
}

static void
add_cell(hu_bench_sink *s, const hu_bench_column *c, const json_t *v)
{
	char text[64];

	if (!v || json_is_null(v))
		hu_fitted_cell(&s->shown, "-");
	else if (json_is_string(v))
		hu_fitted_cell(&s->shown, json_string_value(v));
	else {
		snprintf(text, sizeof text, "%.*f", c->decimals < 0 ? 0 : c->decimals, json_number_value(v));
		hu_fitted_cell(&s->shown, text);
	}
}

/* Prints a row, and before the first the table's head. The machine comes first: last columns are long texts. */
static void
print_row(hu_bench_sink *s, json_t *row)
{
	if (!s->headed) {
		if (s->many)
			add_column(s, &machine);
		for (const hu_bench_column *c = s->bench->columns; c->name; c++)
			add_column(s, c);
		hu_fitted_begin(&s->shown, hu_fitted_width());
		s->headed = 1;
	}
	if (s->many)
		add_cell(s, &machine, json_object_get(row, machine.name));
	for (const hu_bench_column *c = s->bench->columns; c->name; c++)
		add_cell(s, c, json_object_get(row, c->name));
	hu_fitted_flush(&s->shown);
	fflush(stdout);
}

static void
write_cell(hu_tsv *t, const json_t *v)
{
	if (json_is_string(v))
		hu_tsv_text(t, *json_string_value(v) ? json_string_value(v) : "-");
	else if (json_is_integer(v))
		hu_tsv_int(t, json_integer_value(v));
	else if (json_is_number(v))
		hu_tsv_real(t, json_number_value(v));
	else
		hu_tsv_none(t);
}

static void
begin_tsv(hu_bench_sink *s)
{
	hu_str columns;
	char device[320], why[256];
	hu_gpu g;

	hu_str_init(&columns);
	for (const hu_bench_column *c = s->bench->columns; c->name; c++)
		hu_str_addf(&columns, "%s ", c->name);
	hu_str_add(&columns, machine.name);
	hu_tsv_init(&s->tsv);
	hu_tsv_note(&s->tsv, "table", "bench-%s", s->bench->name);
	hu_tsv_note(&s->tsv, "halfulp", "%s", hu_build_version());
	hu_tsv_note(&s->tsv, "compiler", "%s", hu_build_compiler());
	hu_tsv_note(&s->tsv, "system", "%s", hu_machine_system());
	hu_tsv_note(
		&s->tsv, "processor", "%s, %d threads, SIMD %s", hu_machine_processor(), hu_threads(), hu_simd_name());
	if (hu_gpu_find(&g, why, sizeof why))
		hu_tsv_note(&s->tsv, "device", "%s", hu_gpu_text(&g, device, sizeof device));
	hu_tsv_header(&s->tsv, columns.s);
	hu_str_release(&columns);
}

void
hu_bench_rows_begin(hu_bench_sink *s, int json)
{
	s->all = json ? json_array() : NULL;
	if (s->file)
		begin_tsv(s);
}

/* Appends the row to --json's array: a key for each column, null where nothing was measured, then what else it says. */
static void
append(hu_bench_sink *s, json_t *row)
{
	json_t *whole = json_object();

	for (const hu_bench_column *c = s->bench->columns; c->name; c++)
		json_object_set_new(whole, c->name, json_null());
	json_object_update(whole, row);
	json_array_append_new(s->all, whole);
}

static hu_status
take(hu_bench_sink *s, json_t *row)
{
	const char *why = json_string_value(json_object_get(row, "why"));

	if (why || !s->all)
		hu_progress_end(s->bar);
	if (why)
		fprintf(stderr, "%s\n", why);
	s->wrong += json_integer_value(json_object_get(row, "wrong"));
	json_object_del(row, "why");
	json_object_del(row, "wrong");
	if (s->all)
		append(s, row);
	else
		print_row(s, row);
	if (!s->file)
		return HU_OK;
	for (const hu_bench_column *c = s->bench->columns; c->name; c++)
		write_cell(&s->tsv, json_object_get(row, c->name));
	write_cell(&s->tsv, json_object_get(row, machine.name));
	return hu_tsv_save(&s->tsv, s->file);
}

hu_status
hu_bench_rows_take(hu_bench_sink *s, json_t *rows)
{
	for (size_t i = 0; i < json_array_size(rows); i++)
		HU_TRY(take(s, json_array_get(rows, i)));
	return HU_OK;
}

void
hu_bench_rows_end(hu_bench_sink *s, hu_status st)
{
	if (s->all && st == HU_OK) {
		hu_json_write(s->all, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	if (!s->all)
		hu_fitted_left_out(&s->shown, "--json and -o FILE.tsv have all");
	hu_fitted_release(&s->shown);
	json_decref(s->all);
	if (s->file)
		hu_tsv_release(&s->tsv);
}
