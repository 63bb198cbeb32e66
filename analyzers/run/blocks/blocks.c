/* SPDX-License-Identifier: Apache-2.0
   The analyzer blocks says of each tensor that a step quantises in a block format what became zero, what saturated,
   which scales its blocks have, how much its values shrank, and what became of the neighbours of outliers: elements of
   blocks whose largest magnitude is many times the others'. A Hadamard transform before the cast is there for these, so
   that what the cast would have lost of them without it stands beside. */
#include "analyzers/run/blocks/tally.h"

#include "lib/base/mem.h"
#include "lib/op/attr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                                        \
	"step call layer tensor blocks elements nonzeros became_zero saturated all_blocks saturated_blocks "           \
	"log2_scale_min log2_scale_median log2_scale_max l2_error shrinkage outlier_blocks neighbours "                \
	"neighbours_zero neighbours_zero_untransformed"
#define SCALES "step tensor log2_scale blocks"

typedef struct tables {
	hu_tsv out, scales;
	int some;
	double zero, saturated, elements;
} tables;

static int
casts_blocks(const hu_call *c)
{
	return !strcmp(c->op->name, "block_cast");
}

static int
has_blocks(const hu_program *p)
{
	for (int i = 0; i < p->nc; i++)
		if (casts_blocks(&p->c[i]))
			return 1;
	return 0;
}

/* The tensor that a Hadamard transform made x of; x itself where none did. */
static int
before_transform(const hu_program *p, int x)
{
	int k = p->t[x].producer;

	return k >= 0 && !strcmp(p->c[k].op->name, "hadamard") ? p->c[k].in[0] : x;
}

static void
rows(hu_tsv *out, hu_tsv *scales, size_t step, const hu_call *c, const hu_info *info, const hu_block_tally *b,
	int transformed)
{
	hu_tsv_int(out, (long long)step);
	hu_tsv_int(out, c->id);
	hu_tsv_text(out, c->layer);
	hu_tsv_text(out, info->name);
	hu_tsv_text(out, hu_attr_text(c, "blocks", ""));
	hu_tsv_int(out, (long long)b->elements);
	hu_tsv_int(out, (long long)b->nonzeros);
	hu_tsv_int(out, (long long)b->zeroed);
	hu_tsv_int(out, (long long)b->saturated);
	hu_tsv_int(out, (long long)b->blocks);
	hu_tsv_int(out, (long long)b->saturated_blocks);
	hu_tsv_measured(out, hu_block_tally_scale(b, 0));
	hu_tsv_measured(out, hu_block_tally_scale(b, 0.5));
	hu_tsv_measured(out, hu_block_tally_scale(b, 1));
	hu_tsv_measured(out, b->exact2 > 0 ? (double)sqrtl(b->error2 / b->exact2) : NAN);
	hu_tsv_measured(out, b->exact2 > 0 ? (double)(b->dot / b->exact2 - 1) : NAN);
	hu_tsv_int(out, (long long)b->outlier_blocks);
	hu_tsv_int(out, (long long)b->neighbours);
	hu_tsv_int(out, (long long)b->neighbours_zero);
	if (transformed)
		hu_tsv_int(out, (long long)b->untransformed_zero);
	else
		hu_tsv_none(out);
	for (int i = 0; i < HU_BLOCK_TALLY_SCALES; i++)
		if (b->scale[i]) {
			hu_tsv_int(scales, (long long)step);
			hu_tsv_text(scales, info->name);
			hu_tsv_int(scales, i - HU_BLOCK_TALLY_BIAS);
			hu_tsv_int(scales, (long long)b->scale[i]);
		}
}

static hu_status
compute_call(hu_analysis *a, hu_trace *t, const hu_call *c, hu_tsv *out, hu_tsv *scales, hu_block_tally *b)
{
	const hu_program *p = a->run->train;
	int x = c->in[0], y = c->out[0], plain = before_transform(p, x);

	b->elements = 0;
	int scale = c->nin > 1 ? c->in[1] : x; /* one that another call found, or that the block's values give */
	if (!t->t[x].data || !t->t[y].data || !t->t[plain].data || !t->t[scale].data)
		return HU_OK;
	HU_TRY(hu_run_trace_need(&t->file, scale));
	HU_TRY(hu_run_trace_need(&t->file, x));
	HU_TRY(hu_run_trace_need(&t->file, y));
	HU_TRY(hu_run_trace_need(&t->file, plain));
	hu_env env = { (uint64_t)json_integer_value(json_object_get(a->run->manifest, "seed")), (uint32_t)t->step };
	HU_TRY(hu_block_tally_count(b, c, &t->t[x], &t->t[y], &t->t[plain], c->nin > 1 ? &t->t[scale] : NULL, &env));
	rows(out, scales, t->step, c, &p->t[y], b, plain != x);
	return HU_OK;
}

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	w->some = has_blocks(a->run->train);
	hu_analysis_begin(a, &w->out, "blocks", COLUMNS);
	hu_tsv_note(&w->out, "rows",
		"each tensor that is cast to a block format, all elements; saturated: beyond the largest element under "
		"its block's scale; shrinkage: the cast's projection on what it was made of, less 1; outlier blocks: "
		"their largest magnitude is %d times the root mean square of the others or more, before a Hadamard "
		"transform if there is one; neighbours: their other elements; neighbours_zero: of such blocks' "
		"elements, that are not 0, those that the cast made 0, and untransformed: those that it would have "
		"made 0 without the transform",
		HU_BLOCK_TALLY_OUTLIER);
	hu_analysis_begin(a, &w->scales, "block-scales", SCALES);
	hu_tsv_note(
		&w->scales, "rows", "how many blocks of a tensor have a scale from 2^log2_scale on; of scale 0: none");
	return HU_OK;
}

static hu_status
compute(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	const hu_program *p = a->run->train;
	hu_block_tally *b = hu_xcalloc(1, sizeof *b);
	double zero = 0, saturated = 0, elements = 0;
	hu_tsv out, scales;
	hu_status st = HU_OK;

	if (u->call >= 0 || !((const tables *)tables_of)->some) {
		free(b);
		return HU_OK;
	}
	hu_analysis_rows_init(&out, COLUMNS);
	hu_analysis_rows_init(&scales, SCALES);
	for (int i = 0; i < p->nc && st == HU_OK; i++)
		if (casts_blocks(&p->c[i])) {
			st = compute_call(a, t, &p->c[i], &out, &scales, b);
			zero += (double)(b->elements ? b->zeroed : 0);
			saturated += (double)(b->elements ? b->saturated : 0);
			elements += (double)(b->elements ? b->nonzeros : 0);
		}
	hu_analysis_rows(r, &out);
	hu_analysis_rows(r, &scales);
	hu_pack_real(r, &zero);
	hu_pack_real(r, &saturated);
	hu_pack_real(r, &elements);
	hu_tsv_release(&out);
	hu_tsv_release(&scales);
	free(b);
	return st;
}

static hu_status
merge(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	double zero = 0, saturated = 0, elements = 0;
	tables *w = tables_of;

	(void)a;
	(void)s;
	if (u->call >= 0 || !w->some)
		return HU_OK;
	hu_analysis_rows(r, &w->out);
	hu_analysis_rows(r, &w->scales);
	hu_pack_real(r, &zero);
	hu_pack_real(r, &saturated);
	hu_pack_real(r, &elements);
	w->zero += zero;
	w->saturated += saturated;
	w->elements += elements;
	return HU_OK;
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	if (!w->some) {
		hu_str_add(&a->said, "no tensor is cast to a block format");
		return HU_OK;
	}
	hu_str_addf(&a->said,
		"casts to block formats made %.3g %% of %.0f nonzero elements zero, and %.3g %% saturated",
		w->elements > 0 ? 100 * w->zero / w->elements : 0, w->elements,
		w->elements > 0 ? 100 * w->saturated / w->elements : 0);
	hu_status st = hu_analysis_write(a, &w->scales, "block-scales.tsv"),
		  wrote = hu_analysis_write(a, &w->out, "blocks.tsv");
	return st == HU_OK ? wrote : st;
}

static void
release(void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_release(&w->out);
	hu_tsv_release(&w->scales);
}

const hu_analyzer hu_analyzer_blocks = { "blocks",
	"what casts to block formats made zero or saturated, their scales, and what became of outliers' neighbours",
	sizeof(tables), begin, compute, merge, NULL, end, release, NULL };
