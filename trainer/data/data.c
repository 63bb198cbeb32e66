/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/data.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "trainer/data/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
	const char *name, *argument, *reads;
	hu_status (*open)(hu_dataset *, const char *, const hu_dataset_options *);
} row;

static const row rows[] = {
#define DATASET(id, argument, reads, summary) { #id, argument, reads, hu_dataset_##id },
#include "trainer/data/datasets.def"
#undef DATASET
};

enum { ROWS = sizeof rows / sizeof *rows };

static const row *
find(const char *name)
{
	size_t n = strcspn(name, ":");

	for (size_t i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == n && !memcmp(rows[i].name, name, n))
			return &rows[i];
	return NULL;
}

/* Returns the data set's name as it is written on a command line. */
static char *
usage(const row *r)
{
	return hu_xprintf("%s%s", r->name, r->argument);
}

static hu_status
unknown(const char *name)
{
	char *bare = hu_xprintf("%.*s", (int)strcspn(name, ":"), name);
	const char *names[ROWS];
	hu_str known;

	hu_str_init(&known);
	for (size_t i = 0; i < ROWS; i++) {
		char *text = usage(&rows[i]);
		names[i] = rows[i].name;
		hu_str_addf(&known, "%s%s", i ? ", " : "", text);
		free(text);
	}
	const char *near = hu_nearest(bare, names, ROWS);
	if (near)
		hu_fail(HU_EINVAL, "unknown data set '%s'; did you mean %s?", bare, near);
	else
		hu_fail(HU_EINVAL, "unknown data set '%s'; there are %s", bare, known.s);
	hu_str_release(&known);
	free(bare);
	return HU_EINVAL;
}

/* Checks that the argument is there exactly where r's row asks for one. */
static hu_status
check_argument(const row *r, const char *arg)
{
	char *text = usage(r);
	hu_status st = HU_OK;

	if (*r->argument && (!arg || !*arg))
		st = hu_fail(HU_EINVAL, "data set %s needs a path after its name: %s", r->name, text);
	else if (!*r->argument && arg)
		st = hu_fail(HU_EINVAL, "data set %s takes nothing after its name; its sizes are options", r->name);
	free(text);
	return st;
}

hu_status
hu_dataset_open(hu_dataset *ds, const char *name, const hu_dataset_options *o)
{
	const row *r = find(name);
	const char *arg = strchr(name, ':');

	memset(ds, 0, sizeof *ds);
	if (!r)
		return unknown(name);
	HU_TRY(check_argument(r, arg ? arg + 1 : NULL));
	hu_status st = r->open(ds, arg ? arg + 1 : NULL, o);
	if (st != HU_OK) {
		hu_dataset_release(ds);
		return st;
	}
	ds->name = hu_xstrdup(name);
	return HU_OK;
}

void
hu_dataset_release(hu_dataset *ds)
{
	for (int i = 0; i < ds->narray; i++)
		free(ds->array[i].values);
	hu_made_free(ds->made);
	free(ds->name);
	memset(ds, 0, sizeof *ds);
}

const hu_data_array *
hu_dataset_find(const hu_dataset *ds, const char *name)
{
	for (int i = 0; i < ds->narray; i++)
		if (!strcmp(ds->array[i].name, name))
			return &ds->array[i];
	return NULL;
}

static size_t
element_bytes(const hu_data_array *a)
{
	return a->kind == HU_ARRAY_FLOATS ? sizeof(float) : 1;
}

size_t
hu_array_row_bytes(const hu_data_array *a)
{
	return hu_count(a->shape) * element_bytes(a);
}

const char *
hu_array_shape_text(const hu_data_array *a, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "%zu", a->shape.d[0]);

	for (int k = 1; k < a->shape.rank && n < size; k++)
		n += (size_t)snprintf(out + n, size - n, "x%zu", a->shape.d[k]);
	return out;
}

hu_status
hu_dataset_add(hu_dataset *ds, const hu_dataset_options *o, const char *name, hu_data_array_kind kind, hu_shape shape,
	size_t classes, hu_data_array **out)
{
	hu_data_array *a = &ds->array[ds->narray];
	size_t bytes;

	HU_ASSERT(ds->narray < HU_ARRAYS && strlen(name) < sizeof a->name);
	*a = (hu_data_array){ .kind = kind, .shape = shape, .classes = classes };
	strcpy(a->name, name);
	*out = a;
	if (!o->dimensions_only && (__builtin_mul_overflow(hu_array_row_bytes(a), ds->n_train + ds->n_eval, &bytes) ||
					   !(a->values = hu_alloc(bytes ? bytes : 1))))
		return hu_fail(HU_ENOMEM, "no memory for the data: %zu rows of %zu bytes of %s",
			ds->n_train + ds->n_eval, hu_array_row_bytes(a), name);
	ds->narray++;
	return HU_OK;
}

hu_status
hu_dataset_split(hu_dataset *ds, size_t n, size_t at, const char *what)
{
	if (!at)
		at = n - (n + 9) / 10;
	if (!at || at >= n)
		return hu_fail(HU_EINVAL, "split %zu: %s has %zu rows, and some must be left to evaluate", at, what, n);
	ds->n_train = at;
	ds->n_eval = n - at;
	return HU_OK;
}

/* Elements of a batch from which a second thread pays: waking a team takes about 50 microseconds, in which one thread
   converts some 50 000. */
enum { THREADS_FROM = 1 << 18 };

static void
to_floats(const hu_data_array *a, const unsigned char *p, float *out)
{
	size_t each = hu_count(a->shape);

	if (a->kind == HU_ARRAY_FLOATS)
		memcpy(out, p, each * sizeof *out);
	else if (a->kind == HU_ARRAY_BYTES)
		for (size_t j = 0; j < each; j++)
			out[j] = (float)p[j];
	else
		for (size_t j = 0; j < each; j++)
			out[j] = (float)p[j] / 255.0f;
}

hu_status
hu_dataset_batch(const hu_dataset *ds, const hu_data_array *a, const size_t *index, size_t n, float *out)
{
	size_t each = hu_count(a->shape);
	hu_made_rows made;

	for (size_t i = 0; i < n; i++)
		HU_ASSERT(index[i] < ds->n_train + ds->n_eval);
	if (ds->made && a == ds->array) {
		HU_TRY(hu_made_rows_get(&made, ds->made, index, n));
#pragma omp parallel for schedule(static) if (n * each >= THREADS_FROM)
		for (size_t i = 0; i < n; i++)
			to_floats(a, made.row[i], out + i * each);
		hu_made_rows_release(&made);
		return HU_OK;
	}
	HU_ASSERT(a->values);
#pragma omp parallel for schedule(static) if (n * each >= THREADS_FROM)
	for (size_t i = 0; i < n; i++)
		to_floats(a, (const unsigned char *)a->values + index[i] * hu_array_row_bytes(a), out + i * each);
	return HU_OK;
}

void
hu_dataset_ask(const hu_dataset *ds, const size_t *index, size_t n)
{
	if (ds->made)
		hu_made_ask(ds->made, index, n);
}

/* The digest of row i of pixels, four bytes to a term, low byte first; the last term is padded with zeros. */
static uint64_t
digest_row(size_t i, const unsigned char *pixel, size_t each)
{
	size_t words = (each + 3) / 4;
	uint64_t name = hu_fnv1a64("images"), sum = 0;

	for (size_t w = 0; w < words; w++) {
		uint32_t bits = 0;
		for (size_t b = 0; b < 4 && w * 4 + b < each; b++)
			bits |= (uint32_t)pixel[w * 4 + b] << 8 * b;
		sum += hu_digest_term(name, i * words + w, bits);
	}
	return sum;
}

static uint64_t
digest_pixels(const hu_dataset *ds, const hu_data_array *a)
{
	size_t each = hu_count(a->shape);
	uint64_t sum = 0;

	for (size_t i = 0; i < ds->n_train + ds->n_eval; i++)
		sum += digest_row(i, (const unsigned char *)a->values + i * each, each);
	return sum;
}

/* Adds any other array to the digest, one element to a term: a class as its number, however it is stored, another float
   as its code. */
static uint64_t
digest_elements(const hu_dataset *ds, const hu_data_array *a)
{
	size_t n = (ds->n_train + ds->n_eval) * hu_count(a->shape);
	uint64_t name = hu_fnv1a64(a->name), sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t bits;
		if (a->kind != HU_ARRAY_FLOATS)
			bits = ((const unsigned char *)a->values)[i];
		else if (a->classes)
			bits = (uint32_t)((const float *)a->values)[i];
		else
			memcpy(&bits, (const float *)a->values + i, sizeof bits);
		sum += hu_digest_term(name, i, bits);
	}
	return sum;
}

uint64_t
hu_dataset_digest(const hu_dataset *ds)
{
	uint64_t sizes = hu_fnv1a64("sizes"), sum = 0;
	size_t n = 0;

	sum += hu_digest_term(sizes, n++, ds->n_train);
	sum += hu_digest_term(sizes, n++, ds->n_eval);
	for (int i = 0; i < ds->narray; i++) {
		const hu_data_array *a = &ds->array[i];
		sum += ds->made && !i		      ? hu_made_digest(ds->made)
		       : a->kind == HU_ARRAY_PIXELS ? digest_pixels(ds, a)
						    : digest_elements(ds, a);
		for (int k = 0; k < a->shape.rank; k++)
			sum += hu_digest_term(sizes, n++, a->shape.d[k]);
		if (a->classes)
			sum += hu_digest_term(sizes, n++, a->classes);
	}
	return sum;
}

hu_status
hu_dataset_read_rows(const hu_dataset *ds, const char *wanted, size_t *number, uint64_t *digest)
{
	enum { SOME = 256 };
	size_t index[SOME], n = 0, kept = 0, each = hu_count(ds->array[0].shape);

	*number = *digest = 0;
	if (ds->made)
		hu_made_bytes(ds->made, &kept);
	for (size_t i = 0; i < kept; i++) {
		if (wanted[i])
			index[n++] = i;
		if (n == SOME || (n && i + 1 == kept)) {
			hu_made_rows r;
			HU_TRY(hu_made_rows_get(&r, ds->made, index, n));
			for (size_t k = 0; k < n; k++)
				*digest += digest_row(index[k], r.row[k], each);
			hu_made_rows_release(&r);
			*number += n;
			n = 0;
		}
	}
	return HU_OK;
}

const char *
hu_dataset_name(size_t i)
{
	return i < ROWS ? rows[i].name : NULL;
}

const char *
hu_dataset_reads(size_t i)
{
	return i < ROWS ? rows[i].reads : NULL;
}

int
hu_dataset_takes(const char *name, const char *option)
{
	const row *r = find(name);

	return r && hu_word_in(r->reads, option);
}

int
hu_dataset_is_file(const char *name)
{
	const row *r = find(name);

	return r && *r->argument;
}

size_t
hu_dataset_path(const char *name)
{
	const row *r = find(name);
	const char *colon = strchr(name, ':');

	return r && *r->argument && colon ? (size_t)(colon + 1 - name) : 0;
}
