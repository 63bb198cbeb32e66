/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/record/manifest_parts.h"

#include "cuda/cublas/cublas.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/table/fields.h"

#include <stdio.h>
#include <string.h>

enum { HEX = 24 }; /* bytes of a digest as text */

static const char *
hex(char to[HEX], uint64_t x)
{
	snprintf(to, HEX, "0x%016llx", (unsigned long long)x);
	return to;
}

static json_t *
arrays(const hu_dataset *d)
{
	json_t *all = json_object();

	for (int i = 0; i < d->narray; i++) {
		json_t *shape = json_array();
		for (int k = 0; k < d->array[i].shape.rank; k++)
			json_array_append_new(shape, json_integer((json_int_t)d->array[i].shape.d[k]));
		json_object_set_new(all, d->array[i].name, shape);
	}
	return all;
}

/* The data. Sizes of an image array "x" have keys of their own, as in the first version; those of every array are under
   "arrays", except where there are only images and their labels. */
typedef struct data_row {
	const char *name, *digest;
	long long train, eval, height, width, channels, classes;
	json_t *arrays;
} data_row;

enum { IMAGES = 1, LABELS = 2, ARRAYS = 4 };

#define DATA(name, kind, member, means, ...) HU_FIELD_OF(data_row, name, kind, member, WRITTEN, means, __VA_ARGS__)
static const hu_table_field data_field[] = {
	DATA("name", TEXT, name, "the data set"),
	DATA("digest", TEXT, digest, "a digest of its bytes, or of what they are drawn from"),
	DATA("train", COUNT, train, "samples to train on"),
	DATA("eval", COUNT, eval, "samples to evaluate on"),
	DATA("height", COUNT, height, "of an image, in pixels", .only = IMAGES),
	DATA("width", COUNT, width, "the same", .only = IMAGES),
	DATA("channels", COUNT, channels, "of an image", .only = IMAGES),
	DATA("classes", COUNT, classes, "how many labels there are", .only = LABELS),
	DATA("arrays", JSON, arrays, "the shape of a sample in each array", .only = ARRAYS),
};

json_t *
hu_manifest_dataset(const hu_dataset *d)
{
	const hu_data_array *x = hu_dataset_find(d, "x"), *labels = hu_dataset_find(d, "labels");
	hu_fields table = HU_FIELDS(data_field, data_row);
	char digest[HEX];
	data_row row = { .name = d->name,
		.digest = hex(digest, hu_dataset_digest(d)),
		.train = (long long)d->n_train,
		.eval = (long long)d->n_eval };

	if (x && x->shape.rank == 3) {
		table.with |= IMAGES;
		row.height = (long long)x->shape.d[0];
		row.width = (long long)x->shape.d[1];
		row.channels = (long long)x->shape.d[2];
	}
	if (labels) {
		table.with |= LABELS;
		row.classes = (long long)labels->classes;
	}
	if (!(table.with & IMAGES) || !labels || d->narray > 2) {
		table.with |= ARRAYS;
		row.arrays = arrays(d);
	}
	return hu_fields_object(&table, &row);
}

typedef struct read_row {
	long long from, rows;
	const char *digest;
} read_row;

static const hu_table_field read_field[] = {
	HU_FIELD_OF(read_row, "from_step", COUNT, from, WRITTEN, "the step since which rows are counted"),
	HU_FIELD_OF(read_row, "rows", COUNT, rows, WRITTEN, "how many were read"),
	HU_FIELD_OF(read_row, "digest", TEXT, digest, WRITTEN, "a digest of their bytes"),
};
static const hu_fields read_table = HU_FIELDS(read_field, read_row);

json_t *
hu_manifest_rows(size_t from, size_t rows, uint64_t digest)
{
	char text[HEX];
	read_row row = { (long long)from, (long long)rows, hex(text, digest) };

	return hu_fields_object(&read_table, &row);
}

typedef struct optim_row {
	const char *name, *state, *update;
	double lr, momentum, beta1, beta2, eps, decay;
} optim_row;

enum { MOMENTUM = 1, BETA1 = 2, BETA2 = 4, EPS = 8, STATE = 16, UPDATE = 32 };

#define OPTIM(name, kind, member, means, ...) HU_FIELD_OF(optim_row, name, kind, member, WRITTEN, means, __VA_ARGS__)
static const hu_table_field optim_field[] = {
	OPTIM("name", TEXT, name, "the optimizer"),
	OPTIM("lr", REAL, lr, "the learning rate"),
	OPTIM("momentum", REAL, momentum, "the share of the velocity that stays", .only = MOMENTUM),
	OPTIM("beta1", REAL, beta1, "the share of the first moment that stays", .only = BETA1),
	OPTIM("beta2", REAL, beta2, "the share of the second moment that stays", .only = BETA2),
	OPTIM("eps", REAL, eps, "what is added to a denominator", .only = EPS),
	OPTIM("weight_decay", REAL, decay, "the weight decay"),
	OPTIM("state", TEXT, state, "the format of the moments", .only = STATE),
	OPTIM("update", TEXT, update, "how a weight is rounded", .only = UPDATE),
};

json_t *
hu_manifest_optimizer(const hu_optim_options *o)
{
	static const char *const reads[] = { "momentum", "beta1", "beta2", "eps" };
	hu_fields table = HU_FIELDS(optim_field, optim_row);
	optim_row row = { o->row->name, o->state ? hu_format_name((hu_format_id)(o->state - 1)) : NULL,
		o->kahan ? "kahan" : "sr", o->lr, o->momentum, o->beta1, o->beta2, o->eps, o->weight_decay };

	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
		table.with |= hu_word_in(o->row->reads, reads[i]) ? (unsigned)MOMENTUM << i : 0;
	table.with |= (o->state ? STATE : 0) | (o->update != HU_RNE || o->kahan ? UPDATE : 0);
	return hu_fields_object(&table, &row);
}

enum { MOVES = 1 }; /* the scale is not always the first */

#define SCALE(name, kind, member, means, ...) HU_FIELD_OF(hu_scaler, name, kind, member, WRITTEN, means, __VA_ARGS__)
static const hu_table_field scale_field[] = {
	SCALE("rule", TEXT, name, "the rule"),
	SCALE("init", REAL, init, "the first scale"),
	SCALE("growth", REAL, growth, "what the scale is multiplied by when it grows", .only = MOVES),
	SCALE("backoff", REAL, backoff, "what it is multiplied by when it falls", .only = MOVES),
	SCALE("interval", INT, interval, "steps without an overflow until it grows", .only = MOVES),
	SCALE("floor", REAL, floor, "the least scale", .only = MOVES),
	SCALE("cap", REAL, cap, "the largest scale", .only = MOVES),
	SCALE("hysteresis", INT, hysteresis, "at which overflow the scale falls", .only = MOVES),
};

json_t *
hu_manifest_scaling(const hu_scaler *r)
{
	hu_fields table = HU_FIELDS(scale_field, hu_scaler);

	table.with = strcmp(r->name, "none") && strcmp(r->name, "static") ? MOVES : 0;
	return hu_fields_object(&table, r);
}

typedef struct product_row {
	int call;
	const char *op, *layer, *ran;
} product_row;

static const hu_table_field product_field[] = {
	HU_FIELD_OF(product_row, "call", INT, call, WRITTEN, "the call's number"),
	HU_FIELD_OF(product_row, "op", TEXT, op, WRITTEN, "its operator"),
	HU_FIELD_OF(product_row, "layer", TEXT, layer, WRITTEN, "its layer"),
	HU_FIELD_OF(product_row, "ran", TEXT, ran, WRITTEN, "what computed it"),
};
static const hu_fields product_table = HU_FIELDS(product_field, product_row);

typedef struct products_row {
	const char *asked;
	json_t *calls, *algorithms;
} products_row;

enum { ALGORITHMS = 1 };

static const hu_table_field products_field[] = {
	HU_FIELD_OF(products_row, "asked", TEXT, asked, WRITTEN, "the kernels that were asked for"),
	HU_FIELD_OF(products_row, "calls", JSON, calls, WRITTEN, "what computed each product"),
	HU_FIELD_OF(products_row, "algorithms", JSON, algorithms, WRITTEN, "cuBLASLt's algorithms, a line for each",
		.only = ALGORITHMS),
};

json_t *
hu_manifest_products(const hu_session *s)
{
	const hu_program *p = s->programs.train;
	hu_fields table = HU_FIELDS(products_field, products_row);
	char line[512];

	if (!s->backend->ran)
		return NULL;
	products_row all = { s->config->gemm ? s->config->gemm : "auto", json_array(), NULL };
	for (int i = 0; i < p->nc; i++) {
		product_row row = { i, p->c[i].op->name, p->c[i].layer, s->backend->ran(s->train, i) };
		if (row.ran)
			json_array_append_new(all.calls, hu_fields_object(&product_table, &row));
	}
	for (size_t i = 0; hu_cublas_line(i, line, sizeof line); i++) {
		all.algorithms = all.algorithms ? all.algorithms : json_array();
		json_array_append_new(all.algorithms, json_string(line));
	}
	table.with = all.algorithms ? ALGORITHMS : 0;
	return hu_fields_object(&table, &all);
}
