/* SPDX-License-Identifier: Apache-2.0
   Generated reviews: the same tokens on every machine, a function of seed and index alone, and labels that a reader of
   the words arrives at: the sentence is parsed here by other rules than those that wrote it. */
#include "trainer/data/drawn/reviews.h"

#include "lib/base/thread.h"
#include "t/tool/tap.h"
#include "trainer/data/data.h"

#include <string.h>

static const struct { const char *word; int value; } sentiments[] = {
#define WORD(text, kind, value) { text, kind value },
#define ADJECTIVE 1 *
#define VERB 1 *
#define SPECIAL 0 *
#define ARTICLE 0 *
#define NOUN 0 *
#define COPULA 0 *
#define NEGATION 0 *
#define INTENSIFIER 0 *
#define PRONOUN 0 *
#define LINK 0 *
#define CONTRAST 0 *
#include "trainer/data/drawn/words.def"
};

static int
among(const char *word, const char *words)
{
	const char *at = strstr(words, word);

	return at && at[strlen(word)] == ' ' && (at == words || at[-1] == ' ');
}

/* Reads a review word by word: what was said before an adjective or verb changes its sentiment, and everything after a
   "but" or "yet" counts double for each of them. */
static double
sentiment(const unsigned char *token, size_t n)
{
	double all = 0, factor = 1, weight = 1;

	for (size_t i = 0; i < n; i++) {
		const char *w = hu_review_word(token[i]);
		if (among(w, "not never hardly "))
			factor *= -1;
		if (among(w, "very really "))
			factor *= 2;
		if (among(w, "extremely "))
			factor *= 3;
		if (among(w, "somewhat slightly "))
			factor /= 2;
		if (among(w, "but yet "))
			weight = 2;
		if (sentiments[token[i]].value) {
			all += weight * factor * sentiments[token[i]].value;
			factor = 1;
		}
	}
	return all;
}

static const unsigned char *
bytes(const hu_dataset *ds, const char *name)
{
	return hu_dataset_find(ds, name)->values;
}

static void
show(const hu_dataset *ds, size_t row)
{
	size_t length = ds->array[0].shape.d[0];
	char text[1024] = "";

	for (size_t i = 0; i < length && bytes(ds, "mask")[row * length + i]; i++) {
		strcat(text, i ? " " : "");
		strcat(text, hu_review_word(bytes(ds, "tokens")[row * length + i]));
	}
	diag("%d: %s", bytes(ds, "labels")[row], text);
}

static void
labels(size_t length)
{
	hu_dataset_options o = { .train = 4000, .eval = 1000, .seed = 3, .length = length };
	size_t wrong = 0, positive = 0, shape = 0, most = 0;
	hu_dataset ds;

	if (hu_dataset_open(&ds, "reviews", &o) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < 5000; i++) {
		const unsigned char *t = bytes(&ds, "tokens") + i * length, *s = bytes(&ds, "segments") + i * length,
				    *m = bytes(&ds, "mask") + i * length;
		size_t n = 0, title = 0;
		while (n < length && m[n])
			n++;
		while (title < n && !s[title])
			title++;
		double x = sentiment(t, n);
		wrong += !((x > 0) == bytes(&ds, "labels")[i] && x != 0);
		positive += bytes(&ds, "labels")[i];
		most = n > most ? n : most;
		shape += t[0] == 2 && t[title - 1] == 3 && t[n - 1] == 3;
		for (size_t k = n; k < length; k++)
			shape -= t[k] || s[k] || m[k];
	}
	ok(!wrong, "length %zu: %zu of 5000 labels are not those of their words", length, wrong);
	ok(positive > 2250 && positive < 2750, "%zu are positive", positive);
	ok(shape == 5000, "each is [CLS] title [SEP] body [SEP], then padding");
	ok(most <= length && most + 7 > (length < 35 ? length : 35), "the longest has %zu tokens", most);
	show(&ds, 0);
	show(&ds, 1);
	hu_dataset_release(&ds);
}

static void
known_answers(void)
{
	hu_dataset_options o = { .train = 100, .eval = 10, .seed = 1 };
	hu_dataset a, b;
	float x[24];

	if (hu_dataset_open(&a, "reviews", &o) != HU_OK)
		bail_out("%s", hu_reason());
	is_bits64(hu_dataset_digest(&a), 0xa6814d08e3cae232, "the first 100 reviews of seed 1 and 10 to evaluate");
	hu_threads_set(1);
	o.train = 60;
	ok(hu_dataset_open(&b, "reviews", &o) == HU_OK && b.n_train == 60, "fewer of them, on one thread");
	ok(!memcmp(bytes(&a, "tokens"), bytes(&b, "tokens"), 60 * 24) &&
			!memcmp(bytes(&a, "tokens") + 100 * 24, bytes(&b, "tokens") + 60 * 24, 10 * 24),
		"are the same reviews");
	hu_dataset_release(&b);
	o.seed = 2;
	ok(hu_dataset_open(&b, "reviews", &o) == HU_OK && hu_dataset_digest(&a) != hu_dataset_digest(&b),
		"another seed, other reviews");
	hu_dataset_release(&b);
	hu_dataset_batch(&a, hu_dataset_find(&a, "tokens"), (size_t[]){ 109 }, 1, x);
	int same = 1;
	for (int i = 0; i < 24; i++)
		same &= x[i] == (float)bytes(&a, "tokens")[109 * 24 + i];
	ok(same, "a batch has token numbers as they are");
	hu_dataset_release(&a);
	o.length = 13;
	ok(hu_dataset_open(&a, "reviews", &o) == HU_EINVAL, "refused: %s", hu_reason());
}

int
main(void)
{
	known_answers();
	labels(14);
	labels(24);
	labels(40);
	return done_testing();
}
