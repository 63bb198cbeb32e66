/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/probe/probe_command.h"

#include "analyzers/probe/probe_device.h"
#include "cuda/device/device.h"
#include "lib/base/console/show_json.h"
#include "lib/base/build.h"
#include "lib/base/mem.h"
#include "lib/base/table/fields.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An answer: what was asked of which instruction, what came out, what the model and a paper have. */
typedef struct line {
	const char *instruction, *probe, *inputs, *device, *model, *tabled, *verdict;
} line;

static const hu_table_field field[] = {
	{ .name = "instruction",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, instruction),
		.least = 27,
		.means = "the matrix instruction that was probed" },
	{ .name = "probe",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, probe),
		.least = 14,
		.means = "the probe's name in the papers" },
	{ .name = "inputs",
		.kind = HU_FIELD_PROSE,
		.offset = offsetof(line, inputs),
		.least = 76,
		.rank = 1,
		.means = "what is multiplied and added" },
	{ .name = "device",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, device),
		.least = 24,
		.means = "what the device gives" },
	{ .name = "model",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, model),
		.least = 24,
		.rank = 2,
		.means = "what the model gives" },
	{ .name = "tabled",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, tabled),
		.least = 24,
		.rank = 3,
		.means = "what the papers found on the device" },
	{ .name = "verdict",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, verdict),
		.least = 9,
		.means = "PASS, DIFFERS, or what else is to be said" },
};
static const hu_fields fields = HU_FIELDS(field, line);

typedef struct table {
	hu_probe_device dev;
	const char *backend;
	hu_tsv tsv;
	const char *file;
	json_t *json;
	hu_status wrote;
	int headed, differ;
	hu_fitted shown;
	long long random;
	uint64_t seed;
	hu_sum only;
} table;

static void
say(table *t, line l)
{
	hu_fields_tsv_row(&t->tsv, &fields, &l);
	if (t->file && t->wrote == HU_OK)
		t->wrote = hu_tsv_save(&t->tsv, t->file);
	if (t->json) {
		json_array_append_new(t->json, hu_fields_object(&fields, &l));
		return;
	}
	if (!t->headed)
		hu_fields_begin(&t->shown, &fields);
	t->headed = 1;
	hu_fields_row(&t->shown, &fields, &l);
	fflush(stdout);
}

/* Finds the model of the device's architecture for its present instruction. */
static hu_status
model_of(const table *t, hu_sum *s)
{
	*s = t->only;
	s->arch = t->dev.arch;
	s->in = s->in2 = s->out = HU_NO_FORMAT;
	s->path = hu_format_of(t->dev.i->in).bits == 8 ? t->dev.i->path
						       : 0; /* for other operands the units have one model */
	return hu_sum_resolve(s, t->dev.i->in, t->dev.i->in, t->dev.i->out);
}

/* Returns the answer with the same name and text; NULL where the operands gave none. */
static const hu_probe *
same(const hu_probe *p, size_t n, const hu_probe *as)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(p[i].name, as->name) && !strcmp(p[i].what, as->what))
			return &p[i];
	return NULL;
}

static hu_status
probes(table *t, hu_sum s)
{
	static hu_probe own[HU_PROBES], model[HU_PROBES];
	hu_probe_unit u = hu_probe_unit_of(&t->dev, s), m = hu_probe_model(s, t->dev.i->k);
	hu_tc row = hu_tc_of_sum(s);
	size_t n = hu_probe_table(&u, row, own), k = hu_probe_table(&m, row, model);

	HU_TRY(t->dev.failed);
	for (size_t i = 0; i < k; i++) {
		const hu_probe *p = same(own, n, &model[i]);
		const char *got = p ? p->got : "none";
		int equal = !strcmp(got, model[i].got);
		t->differ += !equal;
		say(t, (line){ t->dev.i->name, model[i].name, model[i].what, got, model[i].got, model[i].want,
			       !equal                              ? "DIFFERS"
			       : model[i].result == HU_PROBE_OPEN ? "open: as the model"
			       : model[i].result == HU_PROBE_FAIL ? "as the model, not as tabled"
								   : "PASS" });
	}
	return HU_OK;
}

static hu_status
tile(table *t, hu_sum s)
{
	size_t differ;
	char got[32];

	HU_TRY(hu_probe_repeat(&t->dev, s, 3, &differ));
	snprintf(got, sizeof got, "%zu", differ);
	t->differ += differ != 0;
	say(t, (line){ t->dev.i->name, "P32 tile", "sums that differ where all rows and columns are alike, three times",
		       got, "0", "0", differ ? "DIFFERS" : "PASS" });
	return HU_OK;
}

static hu_status
random_sums(table *t, hu_sum s)
{
	hu_probe_random r;
	char what[64], got[32];

	HU_TRY(hu_probe_random_run(&t->dev, s, (size_t)t->random, t->seed, &r));
	snprintf(what, sizeof what, "%zu sums, seed %llu: bits that differ", r.sums, (unsigned long long)t->seed);
	snprintf(got, sizeof got, "%zu", r.differ);
	t->differ += r.differ != 0;
	say(t, (line){ t->dev.i->name, "random", what, got, "0", "", r.differ ? "DIFFERS" : "PASS" });
	if (r.differ)
		fprintf(stderr, "%s: %s\n", t->dev.i->name, r.first);
	return HU_OK;
}

static hu_status
instruction(table *t, const hu_instruction *i)
{
	hu_sum s;

	hu_status st = hu_probe_take(&t->dev, i);
	if (st == HU_EUNABLE) {
		fprintf(stderr, "%s\n", hu_reason());
		say(t, (line){ i->name, "", "", "", "", "", "no code in this build" });
		return HU_OK;
	}
	HU_TRY(st);
	HU_TRY(model_of(t, &s));
	HU_TRY(probes(t, s));
	HU_TRY(tile(t, s));
	return t->random ? random_sums(t, s) : HU_OK;
}

static void
begin(table *t)
{
	char name[128] = "";

	hu_tsv_init(&t->tsv);
	hu_tsv_note(&t->tsv, "table", "probe");
	hu_tsv_note(&t->tsv, "halfulp", "%s", hu_build_version());
	hu_tsv_note(&t->tsv, "backend", "%s", t->backend);
	if (!strcmp(t->backend, "cuda") && hu_device_count() && hu_device_name(0, name, sizeof name))
		hu_tsv_note(&t->tsv, "device", "%s", name);
	hu_fields_tsv_header(&t->tsv, &fields);
}

/* Reads --model, which names the architecture that the shim models, and one type of operand to probe alone. */
static hu_status
chosen(const hu_args *a, hu_sum *only)
{
	HU_TRY(hu_sum_parse(hu_args_text(a, "model"), only));
	if (only->id != HU_SUM_TC || only->arch < HU_TC_AMPERE)
		return hu_fail(HU_EINVAL, "--model: with --backend, tc:ampere or newer: the kernels' instructions are "
					  "those of capability 8.0");
	return HU_OK;
}

static int
wanted(const hu_instruction *i, const hu_sum *only, hu_tc_arch arch)
{
	return hu_instruction_of(i, arch) && (!only->path || only->path == i->path || hu_format_of(i->in).bits > 8) &&
	       (only->in == HU_NO_FORMAT || only->in == i->in) && (only->out == HU_NO_FORMAT || only->out == i->out);
}

static hu_status
run(table *t, const hu_args *a)
{
	long long seed;
	int done = 0;

	HU_TRY(chosen(a, &t->only));
	HU_TRY(hu_args_int(a, "sample", 0, 1ll << 40, &t->random));
	HU_TRY(hu_args_int(a, "seed", 0, 1ll << 53, &seed));
	t->seed = (uint64_t)seed;
	HU_TRY(hu_probe_open(&t->dev, t->backend, t->only.arch));
	for (int i = 0; hu_instruction_at(i); i++)
		if (wanted(hu_instruction_at(i), &t->only, t->dev.arch)) {
			HU_TRY(instruction(t, hu_instruction_at(i)));
			done++;
		}
	return done ? HU_OK
		    : hu_fail(HU_EINVAL,
			      "--model %s: no kernel has such an instruction (analyzers/probe/instructions.def)",
			      hu_args_text(a, "model"));
}

int
hu_probe_command(const hu_args *a)
{
	table t = { .backend = hu_args_text(a, "backend"),
		.file = hu_args_text(a, "out"),
		.json = hu_args_given(a, "json") ? json_array() : NULL };

	begin(&t);
	hu_status st = run(&t, a);
	hu_probe_close(&t.dev);
	if (st == HU_OK && t.json) {
		hu_json_write(t.json, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		putchar('\n');
	}
	if (!t.json)
		hu_fitted_left_out(&t.shown, "--json and -o FILE.tsv have all");
	json_decref(t.json);
	hu_tsv_release(&t.tsv);
	hu_fitted_release(&t.shown);
	if (st == HU_OK)
		st = t.wrote;
	if (st != HU_OK)
		return hu_complain(st);
	if (t.differ)
		fprintf(stderr,
			"halfulp probe: %d rows differ from the model; lib/sum/tc/tc.def and open.def say what it "
			"rests on\n",
			t.differ);
	return t.differ ? HU_EXIT_JUDGED : HU_EXIT_OK;
}
