/* SPDX-License-Identifier: Apache-2.0
   The data set "sentences": generated reviews (reviews.h) one after the other, cut into samples of equal length, and
   for each token the one after it. A sample is made of reviews of its own, so that the i-th training sample does not
   depend on how many are asked for, nor does the i-th evaluation sample. */
#include "trainer/data/data.h"
#include "trainer/data/drawn/reviews.h"

#include <string.h>

enum { LENGTH = 24, LONGEST = 512, TRAIN = 10000, EVAL = 2000, REVIEW = 35 };

/* Reviews of evaluation samples are numbered from here on. */
static const uint64_t eval_from = (uint64_t)1 << 32;

/* Writes length + 1 tokens of the reviews of sample `index`, which begin with [CLS] each. */
static void
draw(unsigned char *text, size_t length, uint64_t seed, uint64_t index)
{
	unsigned char token[REVIEW], segment[REVIEW], mask[REVIEW];
	size_t each = length / HU_REVIEW_SHORTEST + 2, n = 0;

	for (size_t k = 0; n <= length; k++) {
		HU_ASSERT(k < each + 8);
		hu_review_draw(token, segment, mask, REVIEW, seed, index * (LONGEST + 1) + k);
		for (size_t i = 0; i < REVIEW && mask[i] && n <= length; i++)
			text[n++] = token[i];
	}
}

hu_status
hu_dataset_sentences(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	size_t length = o->length ? o->length : LENGTH, classes = 0;
	hu_data_array *tokens, *labels;

	(void)arg;
	while (hu_review_word(classes))
		classes++;
	ds->n_train = o->train ? o->train : TRAIN;
	ds->n_eval = o->eval ? o->eval : EVAL;
	if (length > LONGEST)
		return hu_fail(HU_EINVAL, "data set sentences: length %zu; from 1 to %d tokens can be written", length,
			LONGEST);
	if (ds->n_train >= eval_from || ds->n_eval >= eval_from)
		return hu_fail(HU_EINVAL, "data set sentences: fewer than 2^32 samples of each kind can be written");
	HU_TRY(hu_dataset_add(ds, o, "tokens", HU_ARRAY_BYTES, hu_shape1(length), classes, &tokens));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape1(length), classes, &labels));
	if (o->dimensions_only)
		return HU_OK;
	unsigned char *t = tokens->values, *l = labels->values;
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < ds->n_train + ds->n_eval; i++) {
		unsigned char text[LONGEST + 1];
		draw(text, length, o->seed, i < ds->n_train ? i : eval_from + i - ds->n_train);
		memcpy(t + i * length, text, length);
		memcpy(l + i * length, text + 1, length);
	}
	return HU_OK;
}
