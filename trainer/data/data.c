/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/data.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *reads, *summary;
	hu_status (*open)(hu_dataset *, const char *, const hu_dataset_options *);
} rows[] = {
#define DATASET(id, reads, summary) { #id, reads, summary, hu_dataset_##id },
#include "trainer/data/datasets.def"
#undef DATASET
};

enum { ROWS = sizeof rows / sizeof *rows };

static hu_status
unknown(const char *bare)
{
	const char *names[ROWS];

	for (size_t i = 0; i < ROWS; i++)
		names[i] = rows[i].name;
	const char *near = hu_nearest(bare, names, ROWS);
	if (near)
		return hu_fail(HU_EINVAL, "unknown data set '%s'; did you mean %s?", bare, near);
	return hu_fail(HU_EINVAL, "unknown data set '%s'; there are digits and idx:DIR", bare);
}

hu_status
hu_dataset_open(hu_dataset *ds, const char *name, const hu_dataset_options *o)
{
	char *bare = hu_xstrdup(name), *arg = strchr(bare, ':');
	size_t i = 0;

	memset(ds, 0, sizeof *ds);
	if (arg)
		*arg++ = 0;
	while (i < ROWS && strcmp(rows[i].name, bare))
		i++;
	hu_status st = i < ROWS ? rows[i].open(ds, arg, o) : unknown(bare);
	free(bare);
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
	free(ds->pixels);
	free(ds->labels);
	free(ds->name);
	memset(ds, 0, sizeof *ds);
}

size_t
hu_dataset_pixels(const hu_dataset *ds)
{
	return ds->height * ds->width * ds->channels;
}

void
hu_dataset_batch(const hu_dataset *ds, const size_t *index, size_t n, float *x, float *labels)
{
	size_t each = hu_dataset_pixels(ds);

	for (size_t i = 0; i < n; i++) {
		HU_ASSERT(index[i] < ds->n_train + ds->n_eval);
		const unsigned char *p = ds->pixels + index[i] * each;
		for (size_t j = 0; j < each; j++)
			x[i * each + j] = (float)p[j] / 255.0f;
		labels[i] = (float)ds->labels[index[i]];
	}
}

/* Four bytes a term, low byte first; the last term of an image is padded with zeros. */
static uint64_t
digest_images(const hu_dataset *ds)
{
	size_t each = hu_dataset_pixels(ds), words = (each + 3) / 4;
	uint64_t name = hu_fnv1a64("images"), sum = 0;

	for (size_t i = 0; i < ds->n_train + ds->n_eval; i++)
		for (size_t w = 0; w < words; w++) {
			const unsigned char *p = ds->pixels + i * each + w * 4;
			uint32_t bits = 0;
			for (size_t b = 0; b < 4 && w * 4 + b < each; b++)
				bits |= (uint32_t)p[b] << 8 * b;
			sum += hu_digest_term(name, i * words + w, bits);
		}
	return sum;
}

uint64_t
hu_dataset_digest(const hu_dataset *ds)
{
	const size_t sizes[] = { ds->n_train, ds->n_eval, ds->height, ds->width, ds->channels, ds->classes };
	uint64_t sum = digest_images(ds), name = hu_fnv1a64("labels");

	for (size_t i = 0; i < ds->n_train + ds->n_eval; i++)
		sum += hu_digest_term(name, i, ds->labels[i]);
	name = hu_fnv1a64("sizes");
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		sum += hu_digest_term(name, i, sizes[i]);
	return sum;
}

const char *
hu_dataset_name(size_t i)
{
	return i < ROWS ? rows[i].name : NULL;
}

const char *
hu_dataset_summary(size_t i)
{
	return i < ROWS ? rows[i].summary : NULL;
}

const char *
hu_dataset_reads(size_t i)
{
	return i < ROWS ? rows[i].reads : NULL;
}
