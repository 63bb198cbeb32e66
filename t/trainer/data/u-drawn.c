/* SPDX-License-Identifier: Apache-2.0
   Generated scenes, signals and texts: the same bytes on every machine, a function of seed and index alone, every
   class there, masks where they are asked for, and objects and waveforms that differ from their ground and from each
   other. */
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "t/tool/tap.h"
#include "trainer/data/data.h"
#include "trainer/data/drawn/scenes.h"
#include "trainer/data/drawn/signals.h"
#include "trainer/data/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char masked[] = "x[n,h,w,c] mask[n,h,w]:class";

/* CRC-32 of all arrays, one after another. */
static uint32_t
checksum(const hu_dataset *ds)
{
	uLong c = 0;

	for (int i = 0; i < ds->narray; i++)
		c = crc32(c, ds->array[i].values,
			(uInt)((ds->n_train + ds->n_eval) * hu_array_row_bytes(&ds->array[i])));
	return (uint32_t)c;
}

static hu_dataset
opened(const char *name, const hu_dataset_options *o)
{
	hu_dataset ds;

	if (hu_dataset_open(&ds, name, o) != HU_OK)
		bail_out("%s", hu_reason());
	return ds;
}

static int
same_rows(const hu_dataset *a, size_t i, const hu_dataset *b, size_t j, size_t n)
{
	for (int k = 0; k < a->narray; k++) {
		size_t row = hu_array_row_bytes(&a->array[k]);
		if (memcmp((char *)a->array[k].values + i * row, (char *)b->array[k].values + j * row, n * row))
			return 0;
	}
	return 1;
}

static void
known_answers(const char *name, const char *reads, uint32_t crc)
{
	hu_dataset_options o = { .train = 60, .eval = 10, .seed = 1, .reads = reads };
	hu_dataset a = opened(name, &o), b;

	is_bits32(checksum(&a), crc, "%s: the first 60 of seed 1 and 10 to evaluate", name);
	hu_threads_set(1);
	o.train = 40;
	b = opened(name, &o);
	ok(same_rows(&a, 0, &b, 0, 40) && same_rows(&a, 60, &b, 40, 10), "%s: fewer of them on one thread are the same",
		name);
	hu_dataset_release(&b);
	o.seed = 2;
	b = opened(name, &o);
	ok(!same_rows(&a, 0, &b, 0, 1) && hu_dataset_digest(&a) != hu_dataset_digest(&b), "%s: another seed, others",
		name);
	hu_dataset_release(&a);
	hu_dataset_release(&b);
}

/* Classes as frequent as chance allows: within five standard deviations of a binomial. */
static void
is_even(const int *seen, int classes, int n, const char *what)
{
	double p = 1.0 / classes, worst = 0;

	for (int k = 0; k < classes; k++)
		worst = fmax(worst, fabs(seen[k] - n * p) / sqrt(n * p * (1 - p)));
	ok(worst < 5, "%s: %d classes equally often, the worst %.1f standard deviations off", what, classes, worst);
}

/* Objects cover a part of the image and differ from the ground in colour. */
static void
scenes(void)
{
	enum { SHOTS = 1000, SIZE = 24, PIXELS = SIZE * SIZE };
	unsigned char x[3 * PIXELS], mask[PIXELS], again[3 * PIXELS];
	int seen[10] = { 0 }, many[1000] = { 0 }, small = 0, pale = 0, kinds = 0, most = 0;
	uLong all = 0;

	for (uint64_t i = 0; i < SHOTS; i++) {
		double inside[3] = { 0 }, outside[3] = { 0 }, n = 0, far = 0;
		seen[hu_scenes_draw(x, mask, SIZE, 10, 7, i)]++;
		for (int k = 0; k < PIXELS; k++) {
			n += mask[k];
			for (int c = 0; c < 3; c++)
				*(mask[k] ? &inside[c] : &outside[c]) += x[3 * k + c];
		}
		for (int c = 0; c < 3; c++)
			far = fmax(far, fabs(inside[c] / n - outside[c] / (PIXELS - n)));
		small += n < 12 || n > PIXELS / 2;
		pale += !(far > 25);
	}
	is_even(seen, 10, SHOTS, "scenes");
	is_int(small, 0, "every object covers 12 pixels of 576 or more, and less than half of them");
	is_int(pale, 0, "and differs from the ground by 25 of 255 in some colour");
	for (uint64_t i = 0; i < SHOTS; i++) {
		int class = hu_scenes_draw(again, NULL, 8, 1000, 7, i);
		all = crc32(all, again, 3 * 8 * 8);
		kinds += !many[class]++;
		most = class > most ? class : most;
	}
	is_bits32((uint32_t)all, 0x10247364u, "the pixels of 1000 scenes of every shape, colour and pattern");
	ok(kinds > 550 && most > 980, "of 1000 classes, %d are among the first 1000 scenes, up to %d", kinds, most);
	hu_scenes_draw(x, mask, SIZE, 10, 7, 3);
	hu_scenes_draw(again, NULL, SIZE, 10, 7, 3);
	ok(!memcmp(x, again, sizeof x), "an image does not depend on whether its mask is asked for");
}

/* Unit variance about zero, and two channels of which the second is the first, later and weaker. */
static void
signals(void)
{
	enum { SHOTS = 800, N = HU_SIGNAL_SAMPLES };
	float x[2 * N];
	int seen[HU_SIGNAL_CLASSES] = { 0 };
	double least = HUGE_VAL, most = 0, related = 0;
	uLong all = 0;

	for (uint64_t i = 0; i < SHOTS; i++) {
		double square = 0, best = 0;
		seen[hu_signals_draw(x, 7, i)]++;
		all = crc32(all, (const unsigned char *)x, sizeof x);
		for (int k = 0; k < 2 * N; k++)
			square += (double)x[k] * x[k] / (2 * N);
		for (int d = 0; d < 20; d++) {
			double both = 0, a = 0, b = 0;
			for (int k = 0; k + d < N; k++) {
				both += (double)x[2 * k] * x[2 * (k + d) + 1];
				a += (double)x[2 * k] * x[2 * k];
				b += (double)x[2 * (k + d) + 1] * x[2 * (k + d) + 1];
			}
			best = fmax(best, both / sqrt(a * b));
		}
		related += best / SHOTS;
		least = fmin(least, square);
		most = fmax(most, square);
	}
	is_even(seen, HU_SIGNAL_CLASSES, SHOTS, "signals");
	is_bits32((uint32_t)all, 0x65e5bd7bu, "the samples of %d signals", SHOTS);
	ok(least > 0.05 && most < 4, "their mean squares lie between %.2f and %.2f", least, most);
	ok(related > 0.4 && related < 0.95, "channels are correlated at their delay by %.2f in the mean", related);
}

static void
dimensions(void)
{
	hu_dataset_options o = { .size = 300, .classes = 1000, .dimensions_only = 1 };
	hu_dataset a = opened("scenes", &o);

	ok(a.n_train == 4000 && a.narray == 2 && !a.array[0].values && a.array[0].shape.d[2] == 3 &&
			a.array[1].classes == 1000 && a.array[1].kind == HU_ARRAY_FLOATS,
		"1000 classes do not fit bytes");
	hu_dataset_release(&a);
	o = (hu_dataset_options){ .reads = masked, .dimensions_only = 1 };
	a = opened("scenes", &o);
	ok(a.narray == 3 && a.array[2].shape.d[0] == 32 && a.array[2].classes == 2, "a mask where it is read");
	hu_dataset_release(&a);
	o.size = 4;
	ok(hu_dataset_open(&a, "scenes", &o) == HU_EINVAL, "refused: %s", hu_reason());
	o = (hu_dataset_options){ .eval = (size_t)1 << 32 };
	ok(hu_dataset_open(&a, "scenes", &o) == HU_EINVAL, "refused: %s", hu_reason());
	ok(hu_dataset_open(&a, "signals", &o) == HU_EINVAL, "refused: %s", hu_reason());
}

int
main(void)
{
	known_answers("scenes", masked, 0x15e65cf4u);
	known_answers("signals", NULL, 0x6e59b6c6u);
	known_answers("reviews", NULL, 0x2e6029a5u);
	known_answers("sentences", NULL, 0xdd9b2344u);
	scenes();
	signals();
	dimensions();
	ok(hu_input_named(masked, "x") && hu_input_named(masked, "mask") && !hu_input_named(masked, "labels"),
		"which arrays a model reads: %s", masked);
	return done_testing();
}
