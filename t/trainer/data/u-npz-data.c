/* SPDX-License-Identifier: Apache-2.0
   The data set "npz:FILE": arrays by name, those that a model reads and no others; every way they can be wrong; damaged
   files by the hundred. */
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/store/npy.h"
#include "t/tool/tap.h"
#include "trainer/data/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

enum { ROWS = 20, SIDE = 3 };

typedef struct member {
	const char *name, *dtype;
	int rank;
	size_t shape[8];
	const void *data;
} member;

static char *path, *spec;

/* Writes the members of M up to a NULL name as an archive; one whose dtype is NULL is text that is no array. */
static void
put(const member *m)
{
	zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	char *npy = hu_path(test_dir(), "one"), *bytes[8], *name;
	size_t n, k = 0;

	for (; zip && m[k].name; k++) {
		if (m[k].dtype && hu_npy_write(npy, m[k].dtype, m[k].rank, m[k].shape, m[k].data) != HU_OK)
			bail_out("%s", hu_reason());
		if (m[k].dtype && hu_file_read(npy, &bytes[k], &n) != HU_OK)
			bail_out("%s", hu_reason());
		if (!m[k].dtype) {
			bytes[k] = hu_xstrdup("\x93NUMPY of text");
			n = strlen(bytes[k]);
		}
		name = hu_xprintf("%s.npy", m[k].name);
		if (zip_file_add(zip, name, zip_source_buffer(zip, bytes[k], n, 0), 0) < 0)
			bail_out("%s: %s", path, zip_strerror(zip));
		free(name);
	}
	if (!zip || zip_close(zip))
		bail_out("%s cannot be written", path);
	while (k--)
		free(bytes[k]);
	unlink(npy);
	free(npy);
}

static const hu_dataset_options nothing_said;

static void
refused(const member *m, const char *says)
{
	hu_dataset ds;

	put(m);
	hu_status st = hu_dataset_open(&ds, spec, &nothing_said);
	ok(st == HU_EFILE && strstr(hu_reason(), says) && strstr(hu_reason(), path) && !strchr(hu_reason(), '\n'),
		"refused: %s", st == HU_OK ? says : hu_reason());
	if (st == HU_OK)
		hu_dataset_release(&ds);
}

static double real[ROWS * SIDE * 2], classes[ROWS];
static unsigned char bytes[ROWS * SIDE * 2], small[ROWS];

static void
fill(void)
{
	for (size_t i = 0; i < ROWS * SIDE * 2; i++) {
		real[i] = 0.1 * (double)i - 3;
		bytes[i] = (unsigned char)(7 * i);
	}
	for (size_t i = 0; i < ROWS; i++)
		classes[i] = small[i] = i % 4;
}

static void
reading(void)
{
	const member all[] = { { "notes", NULL, 0, { 0 }, NULL }, { "labels", "f8", 1, { ROWS }, classes },
		{ "x", "f8", 3, { ROWS, SIDE, 2 }, real }, { NULL, NULL, 0, { 0 }, NULL } };
	hu_dataset ds;
	float x[2 * SIDE * 2], y[2];
	int same = 1;

	put(all);
	if (!ok(hu_dataset_open(&ds, spec, &nothing_said) == HU_OK, "x and labels, beside what is no array of numbers"))
		bail_out("%s", hu_reason());
	const hu_data_array *a = hu_dataset_find(&ds, "x"), *b = hu_dataset_find(&ds, "labels");
	ok(ds.narray == 2 && a && b && a->shape.rank == 2 && a->shape.d[0] == SIDE && a->shape.d[1] == 2 &&
			b->shape.rank == 0 && !a->classes && b->classes == 4,
		"their shapes, and four classes");
	ok(ds.n_train == 18 && ds.n_eval == 2, "nine tenths train");
	hu_dataset_batch(&ds, a, (size_t[]){ 19, 1 }, 2, x);
	hu_dataset_batch(&ds, b, (size_t[]){ 19, 1 }, 2, y);
	for (size_t i = 0; i < SIDE * 2; i++)
		same &= x[i] == (float)real[19 * SIDE * 2 + i] && x[SIDE * 2 + i] == (float)real[SIDE * 2 + i];
	ok(same && y[0] == 3 && y[1] == 1, "a batch has float64 rounded to float32, and the classes");
	uint64_t digest = hu_dataset_digest(&ds);
	ok(hu_input_check("m", "x[n,...] labels[n]:class", &ds) == HU_OK &&
			hu_input_check("m", "x[n,a,b]", &ds) == HU_OK,
		"a model that reads this is served");
	ok(hu_input_check("m", "x[n,a,b,c]", &ds) == HU_EINVAL && strstr(hu_reason(), "x[n,3,2]"), "else: %s",
		hu_reason());
	ok(hu_input_check("m", "mask[n]", &ds) == HU_EINVAL && strstr(hu_reason(), "has no mask"), "else: %s",
		hu_reason());
	ok(hu_input_check("m", "x[n,...]:class", &ds) == HU_EINVAL && strstr(hu_reason(), "classes"), "else: %s",
		hu_reason());
	hu_dataset_release(&ds);
	real[5] = nextafter(real[5], 1) + 1e-6;
	put(all);
	ok(hu_dataset_open(&ds, spec, &nothing_said) == HU_OK && hu_dataset_digest(&ds) != digest,
		"the digest knows every element");
	hu_dataset_release(&ds);
}

/* Bytes are images: the same batch and the same digest as the data set that reads images makes of them. */
static void
images(void)
{
	const member all[] = { { "x", "u1", 4, { ROWS, SIDE, 2, 1 }, bytes }, { "labels", "u1", 1, { ROWS }, small },
		{ NULL, NULL, 0, { 0 }, NULL } };
	hu_dataset_options o = { .split = 15 };
	hu_dataset ds, same = { .n_train = 15, .n_eval = ROWS - 15 };
	hu_data_array *a, *b;
	float x[SIDE * 2];
	int over = 1;

	put(all);
	if (hu_dataset_open(&ds, spec, &o) != HU_OK ||
		hu_dataset_add(&same, &o, "x", HU_ARRAY_PIXELS, hu_shape3(SIDE, 2, 1), 0, &a) != HU_OK ||
		hu_dataset_add(&same, &o, "labels", HU_ARRAY_BYTES, hu_shape0(), 4, &b) != HU_OK)
		bail_out("%s", hu_reason());
	memcpy(a->values, bytes, sizeof bytes);
	memcpy(b->values, small, sizeof small);
	ok(ds.n_train == 15 && hu_dataset_digest(&ds) == hu_dataset_digest(&same), "bytes have the digest of images");
	hu_dataset_batch(&ds, &ds.array[0], (size_t[]){ 7 }, 1, x);
	for (size_t i = 0; i < SIDE * 2; i++)
		over &= x[i] == (float)bytes[7 * SIDE * 2 + i] / 255.0f;
	ok(over, "and are divided by 255");
	hu_dataset_release(&ds);
	hu_dataset_release(&same);
}

/* Arrays of other names, for models to come: whatever the model's row reads is there, and nothing else. */
static void
named(void)
{
	const member all[] = { { "tokens", "u1", 2, { ROWS, SIDE * 2 }, bytes },
		{ "mask", "f8", 2, { ROWS, SIDE * 2 }, real }, { "x", "f8", 1, { ROWS }, real },
		{ NULL, NULL, 0, { 0 }, NULL } };
	hu_dataset_options o = { .reads = "tokens[n,t]:class mask[n,t]" };
	hu_dataset ds;

	put(all);
	ok(hu_dataset_open(&ds, spec, &o) == HU_OK && ds.narray == 2 && !strcmp(ds.array[0].name, "tokens") &&
			!strcmp(ds.array[1].name, "mask") && ds.array[0].classes > 200 && !ds.array[1].classes &&
			hu_input_check("m", o.reads, &ds) == HU_OK,
		"tokens and mask");
	float x[SIDE * 2];
	hu_dataset_batch(&ds, &ds.array[0], (size_t[]){ 2 }, 1, x);
	ok(x[1] == (float)bytes[2 * SIDE * 2 + 1], "tokens of bytes are numbers, not pixels");
	hu_dataset_release(&ds);
}

#define END                                                                                                            \
	{                                                                                                              \
		NULL, NULL, 0, { 0 }, NULL                                                                             \
	}

static void
one_class(void)
{
	static const double none[ROWS];
	hu_dataset ds;

	put((member[]){ { "x", "f8", 1, { ROWS }, real }, { "labels", "f8", 1, { ROWS }, none }, END });
	if (!ok(hu_dataset_open(&ds, spec, &nothing_said) == HU_OK, "labels that are all 0"))
		bail_out("%s", hu_reason());
	is_int((long long)hu_dataset_find(&ds, "labels")->classes, 1, "are of one class");
	hu_dataset_release(&ds);
}

static void
refusals(void)
{
	static const double odd[ROWS] = { [4] = 1.5 }, less[ROWS] = { [3] = -1 }, nan_at[ROWS] = { [6] = NAN },
			    huge[ROWS] = { [2] = 1e39 }, many[ROWS] = { [1] = 1 << 20 };
	const member y = { "labels", "f8", 1, { ROWS }, classes };

	refused((member[]){ { "x", "f8", 2, { ROWS, 2 }, real }, END }, "no array labels; there are x");
	refused((member[]){ y, END }, "no array x; there are labels");
	refused((member[]){ { "x", "f8", 2, { ROWS - 1, 2 }, real }, y, END }, "labels has 20 rows where x has 19");
	refused((member[]){ { "x", "f8", 0, { 0 }, real }, y, END }, "0 dimensions");
	refused((member[]){ { "x", "f8", 2, { ROWS, 0 }, real }, y, END }, "rows without elements");
	refused((member[]){ { "x", "f8", 1, { ROWS }, nan_at }, y, END }, "element 6 is nan");
	refused((member[]){ { "x", "f8", 1, { ROWS }, huge }, y, END }, "element 2 is 1e+39");
	refused((member[]){ { "x", "f8", 1, { ROWS }, real }, { "labels", "f8", 1, { ROWS }, odd }, END },
		"element 4 is 1.5");
	refused((member[]){ { "x", "f8", 1, { ROWS }, real }, { "labels", "f8", 1, { ROWS }, less }, END },
		"element 3 is -1");
	refused((member[]){ { "x", "f8", 1, { ROWS }, real }, { "labels", "f8", 1, { ROWS }, many }, END },
		"0 to 1048575");
	refused((member[]){ { "x", NULL, 0, { 0 }, NULL }, y, END }, "x.npy");
}

/* A valid archive with bytes changed: it is refused in one line, or is a data set all of whose rows can be read. */
static void
damaged(void)
{
	const member all[] = { { "x", "f8", 3, { ROWS, SIDE, 2 }, real }, { "labels", "f8", 1, { ROWS }, classes },
		END };
	size_t n, refusals = 0, rounds = 400, broken = 0;
	float x[ROWS * SIDE * 2];
	char *valid;

	put(all);
	if (hu_file_read(path, &valid, &n) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < rounds; i++) {
		char *b = hu_xmalloc(n);
		size_t length = i % 4 ? n : (size_t)((double)n * hu_uniform(hu_random_at(1, 1, (uint32_t)i, 0)));
		hu_dataset ds;
		memcpy(b, valid, n);
		for (size_t k = 0; k < 1 + i % 3; k++)
			b[(size_t)((double)n * hu_uniform(hu_random_at(1, 2, (uint32_t)i, k)))] ^=
				(char)(1 << (i + k) % 8);
		if (hu_file_write(path, b, length) != HU_OK)
			bail_out("%s", hu_reason());
		hu_status st = hu_dataset_open(&ds, spec, &nothing_said);
		if (st == HU_OK) {
			for (size_t r = 0; r < ds.n_train + ds.n_eval && hu_count(ds.array[0].shape) <= ROWS; r++)
				hu_dataset_batch(&ds, &ds.array[0], &r, 1, x);
			hu_dataset_release(&ds);
		} else {
			refusals++;
			broken += !*hu_reason() || strchr(hu_reason(), '\n') != NULL;
		}
		free(b);
	}
	ok(!broken && refusals > rounds / 2, "%zu of %zu damaged archives are refused, each in one line", refusals,
		rounds);
	free(valid);
}

int
main(void)
{
	path = hu_path(test_dir(), "d.npz");
	spec = hu_xprintf("npz:%s", path);
	fill();
	reading();
	images();
	named();
	one_class();
	refusals();
	damaged();
	unlink(path);
	free(path);
	free(spec);
	return done_testing();
}
