/* SPDX-License-Identifier: Apache-2.0
   Generates one review at a time, for the data set "reviews" and its tests. */
#ifndef HU_TRAINER_DATA_DRAWN_REVIEWS_H
#define HU_TRAINER_DATA_DRAWN_REVIEWS_H

#include <stddef.h>
#include <stdint.h>

/* Writes review `index` of seed as `length` token numbers: [CLS], a title, [SEP], a body of one to four clauses, [SEP],
   and [PAD] to the end. segment is 0 up to the first [SEP] and 1 in the body, mask is 1 where there is a token and 0
   on [PAD]. Returns the label: 1 where the sentiment is positive, 0 where it is negative; it is never zero. The review
   is a pure function of seed, index and the number of clauses that length has room for. Safe to call from several
   threads. */
int hu_review_draw(unsigned char *token, unsigned char *segment, unsigned char *mask, size_t length, uint64_t seed,
	uint64_t index);

/* Returns the word of a token number; NULL past the last. */
const char *hu_review_word(size_t token);

/* Tokens that the shortest review takes. */
enum { HU_REVIEW_SHORTEST = 14 };
#endif
