/* SPDX-License-Identifier: Apache-2.0
   Generated digits: the same bytes on every machine, a function of seed and
   index alone, every class there, and images that a person would accept. */
#include "trainer/data/drawn/digits.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "t/tool/tap.h"
#include "trainer/data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const unsigned char *
bytes(const hu_dataset *ds, const char *name)
{
	return hu_dataset_find(ds, name)->values;
}

/* CRC-32 of all pixels, then all labels. */
static uint32_t
checksum(const hu_dataset *ds)
{
	size_t n = ds->n_train + ds->n_eval;
	const hu_data_array *x = hu_dataset_find(ds, "x");
	uLong c = crc32(0, x->values, (uInt)(n * hu_array_row_bytes(x)));

	return (uint32_t)crc32(c, hu_dataset_find(ds, "labels")->values, (uInt)n);
}

static void
known_answers(void)
{
	hu_dataset_options o = { .train = 100, .eval = 10, .seed = 1 };
	hu_dataset a, b;

	if (hu_dataset_open(&a, "digits", &o) != HU_OK)
		bail_out("%s", hu_reason());
	is_bits32(checksum(&a), 0x8036b46bu, "the first 100 digits of seed 1 and 10 to evaluate");
	ok(!memcmp(bytes(&a, "labels"), "\4\7\3\11\10\7\2\11\6\4", 10), "their first labels");
	hu_threads_set(1);
	o.train = 60;
	ok(hu_dataset_open(&b, "digits", &o) == HU_OK && b.n_train == 60, "fewer of them, on one thread");
	ok(!memcmp(bytes(&a, "x"), bytes(&b, "x"), 60 * 784) && !memcmp(bytes(&a, "labels"), bytes(&b, "labels"), 60),
		"are the same images");
	ok(!memcmp(bytes(&a, "x") + 100 * 784, bytes(&b, "x") + 60 * 784, 10 * 784), "and the same to evaluate");
	hu_dataset_release(&b);
	o.seed = 2;
	ok(hu_dataset_open(&b, "digits", &o) == HU_OK && hu_dataset_digest(&a) != hu_dataset_digest(&b),
		"another seed, other images");
	hu_dataset_release(&b);
	float x[784], y;
	hu_dataset_batch(&a, hu_dataset_find(&a, "x"), (size_t[]){ 109 }, 1, x);
	hu_dataset_batch(&a, hu_dataset_find(&a, "labels"), (size_t[]){ 109 }, 1, &y);
	int same = y == (float)bytes(&a, "labels")[109];
	for (int i = 0; i < 784; i++)
		same &= x[i] == (float)bytes(&a, "x")[109 * 784 + i] / 255.0f;
	ok(same, "a batch is bytes over 255, and the label");
	hu_dataset_release(&a);
	o = (hu_dataset_options){ .size = 33, .train = 20, .eval = 20, .seed = 3 };
	ok(hu_dataset_open(&a, "digits", &o) == HU_OK && a.array[0].shape.d[0] == 33 && a.array[0].shape.d[1] == 33,
		"another size");
	is_bits32(checksum(&a), 0x25aab81eu, "its bytes");
	hu_dataset_release(&a);
}

/* Classes as frequent as chance allows; ink neither missing nor flooding, and inside the frame. */
static void
looks(void)
{
	enum { SHOTS = 2000 };
	unsigned char p[784];
	int seen[10] = { 0 }, faint = 0, full = 0, cut = 0;
	uLong all = 0;

	for (uint64_t i = 0; i < SHOTS; i++) {
		int ink = 0, rim = 0;
		seen[hu_digits_draw(p, 28, 7, i)]++;
		all = crc32(all, p, sizeof p);
		for (int k = 0; k < 784; k++) {
			ink += p[k] > 127;
			rim += (k % 28 == 0 || k % 28 == 27 || k < 28 || k >= 756) && p[k] > 127;
		}
		faint += ink < 15;
		full += ink > 280;
		cut += rim > 4;
	}
	for (int c = 0; c < 10; c++) /* five standard deviations of a binomial with p = 1/10 */
		ok(fabs(seen[c] - SHOTS / 10.0) < 5 * sqrt(SHOTS * 0.09), "class %d: %d of %d", c, seen[c], SHOTS);
	is_bits32((uint32_t)all, 0x188da4dfu, "the pixels of %d digits", SHOTS);
	is_int(faint, 0, "none is nearly blank");
	is_int(full, 0, "none is nearly full");
	ok(cut < SHOTS / 50, "%d of %d leave the frame, fewer than 2 %%", cut, SHOTS);
}

/* Drawn twice as large and averaged, a digit is nearly the small one: size changes the sampling, not the shape. */
static void
sizes(void)
{
	unsigned char small[784], *large = hu_xmalloc(4 * 784);
	double worst = 0;

	for (uint64_t i = 0; i < 20; i++) {
		double diff = 0;
		int a = hu_digits_draw(small, 28, 5, i), b = hu_digits_draw(large, 56, 5, i);
		if (a != b)
			worst = 255;
		for (int y = 0; y < 28; y++)
			for (int x = 0; x < 28; x++) {
				const unsigned char *q = large + 2 * y * 56 + 2 * x;
				diff += fabs((q[0] + q[1] + q[56] + q[57]) / 4.0 - small[y * 28 + x]) / 784;
			}
		if (!(diff <= worst))
			worst = diff;
	}
	/* The noise of the two is apart: its mean absolute value is below 16·0.8, half of it clipped at 0; coverage
	   differs on edges only. */
	ok(worst < 16, "the same shape at another size (mean difference %.2f of 255)", worst);
	free(large);
}

/* Who asks for dimensions alone gets those of the whole set, and no values. */
static void
dimensions(void)
{
	hu_dataset_options o = { .size = 12, .dimensions_only = 1 };
	hu_dataset a;

	ok(hu_dataset_open(&a, "digits", &o) == HU_OK && a.n_train == 10000 && a.n_eval == 2000 && a.narray == 2 &&
			!a.array[0].values && !a.array[1].values && hu_array_row_bytes(&a.array[0]) == 144 &&
			a.array[1].classes == 10,
		"dimensions without values");
	hu_dataset_release(&a);
}

static void
refusals(void)
{
	hu_dataset_options o = { .size = 4 };
	hu_dataset ds;

	ok(hu_dataset_open(&ds, "digits", &o) == HU_EINVAL, "refused: %s", hu_reason());
	o.size = 2000;
	ok(hu_dataset_open(&ds, "digits", &o) == HU_EINVAL, "refused: %s", hu_reason());
	o = (hu_dataset_options){ .train = (size_t)1 << 32 };
	ok(hu_dataset_open(&ds, "digits", &o) == HU_EINVAL, "refused: %s", hu_reason());
	ok(hu_dataset_open(&ds, "digits:7", &o) == HU_EINVAL, "refused: %s", hu_reason());
	ok(hu_dataset_open(&ds, "idx", &o) == HU_EINVAL, "refused: %s", hu_reason());
	size_t rows = 0;
	while (hu_dataset_name(rows))
		rows++;
	ok(rows && hu_dataset_reads(rows - 1) && !hu_dataset_reads(rows), "the table of %zu rows ends", rows);
}

int
main(void)
{
	known_answers();
	looks();
	sizes();
	dimensions();
	refusals();
	return done_testing();
}
