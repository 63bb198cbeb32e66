/* SPDX-License-Identifier: Apache-2.0
   The data set "reviews": generated sentences about films with negation, intensifiers and contrast, and whether they
   are positive. words.def has the vocabulary. The i-th training review does not depend on how many are asked for, nor
   does the i-th evaluation review; these are numbered from 2^32 on. */
#include "trainer/data/drawn/reviews.h"

#include "lib/base/hash.h"
#include "lib/number/philox.h"
#include "trainer/data/data.h"

#include <string.h>

typedef enum kind {
	SPECIAL, ARTICLE, NOUN, COPULA, NEGATION, INTENSIFIER, ADJECTIVE, PRONOUN, VERB, LINK, CONTRAST, KINDS
} kind;

static const struct { const char *text; kind kind; int value; } words[] = {
#define WORD(text, kind, value) { text, kind, value },
#include "trainer/data/drawn/words.def"
};

enum { WORDS = sizeof words / sizeof *words, PAD = 0, CLS = 2, SEP = 3 };

enum { LENGTH = 24, LONGEST = 512, TRAIN = 10000, EVAL = 2000, CLAUSE = 6, MOST_CLAUSES = 4 };

static const uint64_t eval_from = (uint64_t)1 << 32;

/* A review as it is written: where its words go, and the random words read so far. A review reads fewer than DRAWS. */
typedef struct pen {
	unsigned char *token;
	size_t n;
	uint64_t seed, index;
	uint32_t attempt, drawn;
} pen;

enum { DRAWS = 64 };

static uint32_t
below(pen *p, uint32_t n)
{
	uint64_t w = hu_random_word(p->seed, hu_fnv1a32("reviews"), p->attempt, p->index * DRAWS + p->drawn++);

	HU_ASSERT(p->drawn <= DRAWS);
	return (uint32_t)(w * n >> 32);
}

static void
put(pen *p, size_t token)
{
	p->token[p->n++] = (unsigned char)token;
}

/* Writes a word of this kind and returns its value. */
static int
word(pen *p, kind k)
{
	size_t first = 0, n = 0;

	while (words[first].kind != k)
		first++;
	while (first + n < WORDS && words[first + n].kind == k)
		n++;
	size_t w = first + below(p, (uint32_t)n);
	put(p, w);
	return words[w].value;
}

/* Writes "[never] [very] GOOD", where GOOD is an adjective or verb, and returns twice its sentiment. */
static int
opinion(pen *p, kind good)
{
	int sign = below(p, 3) ? 1 : word(p, NEGATION), factor = below(p, 2) ? 2 : word(p, INTENSIFIER);

	return sign * factor * word(p, good);
}

/* Writes "the plot was OPINION" or "we OPINION the plot". */
static int
clause(pen *p)
{
	int sentiment;

	if (below(p, 2)) {
		word(p, ARTICLE);
		word(p, NOUN);
		word(p, COPULA);
		return opinion(p, ADJECTIVE);
	}
	word(p, PRONOUN);
	sentiment = opinion(p, VERB);
	word(p, ARTICLE);
	word(p, NOUN);
	return sentiment;
}

/* Writes one review and returns its sentiment; *title gets the number of tokens up to the first [SEP]. */
static int
review(pen *p, size_t clauses, size_t *title)
{
	int sentiment = 0, weight = 1;

	put(p, CLS);
	word(p, ARTICLE);
	sentiment += opinion(p, ADJECTIVE);
	word(p, NOUN);
	put(p, SEP);
	*title = p->n;
	for (size_t i = 0; i < clauses; i++) {
		if (i)
			weight = below(p, 2) ? word(p, CONTRAST) : (word(p, LINK), weight);
		sentiment += weight * clause(p);
	}
	put(p, SEP);
	return sentiment;
}

int
hu_review_draw(
	unsigned char *token, unsigned char *segment, unsigned char *mask, size_t length, uint64_t seed, uint64_t index)
{
	size_t room = (length - HU_REVIEW_SHORTEST) / (CLAUSE + 1) + 1, title = 0;
	unsigned char text[8 + MOST_CLAUSES * (CLAUSE + 1)];
	int sentiment = 0;
	pen p = { .token = text, .seed = seed, .index = index };

	for (; !sentiment; p.attempt++) {
		p.n = p.drawn = 0;
		size_t clauses = 1 + below(&p, (uint32_t)(room < MOST_CLAUSES ? room : MOST_CLAUSES));
		sentiment = review(&p, clauses, &title);
	}
	HU_ASSERT(p.n <= length && p.n <= sizeof text);
	for (size_t i = 0; i < length; i++) {
		token[i] = i < p.n ? text[i] : PAD;
		segment[i] = i >= title && i < p.n;
		mask[i] = i < p.n;
	}
	return sentiment > 0;
}

const char *
hu_review_word(size_t token)
{
	return token < WORDS ? words[token].text : NULL;
}

hu_status
hu_dataset_reviews(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	size_t length = o->length ? o->length : LENGTH, train = o->train ? o->train : TRAIN,
	       eval = o->eval ? o->eval : EVAL;
	hu_data_array *tokens, *segments, *mask, *labels;

	(void)arg;
	if (length < HU_REVIEW_SHORTEST || length > LONGEST)
		return hu_fail(HU_EINVAL, "data set reviews: length %zu; from %d to %d tokens can be written", length,
			HU_REVIEW_SHORTEST, LONGEST);
	if (train >= eval_from || eval >= eval_from)
		return hu_fail(HU_EINVAL, "data set reviews: fewer than 2^32 reviews of each kind can be written");
	ds->n_train = train;
	ds->n_eval = eval;
	HU_TRY(hu_dataset_add(ds, o, "tokens", HU_ARRAY_BYTES, hu_shape1(length), WORDS, &tokens));
	HU_TRY(hu_dataset_add(ds, o, "segments", HU_ARRAY_BYTES, hu_shape1(length), 2, &segments));
	HU_TRY(hu_dataset_add(ds, o, "mask", HU_ARRAY_BYTES, hu_shape1(length), 2, &mask));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape0(), 2, &labels));
	if (o->dimensions_only)
		return HU_OK;
	unsigned char *t = tokens->values, *s = segments->values, *m = mask->values, *l = labels->values;
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < train + eval; i++)
		l[i] = (unsigned char)hu_review_draw(t + i * length, s + i * length, m + i * length, length, o->seed,
			i < train ? i : eval_from + i - train);
	return HU_OK;
}
