/* SPDX-License-Identifier: Apache-2.0
   IDX files and the data set "idx:DIR": hand-made ones, every way they can be
   wrong, and the 10 000 real digits where they are present. */
#include "lib/store/idx.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "t/tool/tap.h"
#include "trainer/data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { N = 7, SIDE = 3 };

static unsigned char image_file[16 + N * SIDE * SIDE] = { 0, 0, 8, 3, 0, 0, 0, N, 0, 0, 0, SIDE, 0, 0, 0, SIDE };
static unsigned char label_file[8 + N] = { 0, 0, 8, 1, 0, 0, 0, N };

static char *
put(const char *name, const void *bytes, size_t n, int gzip)
{
	char *path = hu_path(test_dir(), "%s%s", name, gzip ? ".gz" : "");

	if (gzip) {
		gzFile f = gzopen(path, "wb9");
		if (!f || gzwrite(f, bytes, (unsigned)n) != (int)n || gzclose(f) != Z_OK)
			bail_out("%s cannot be written", path);
	} else if (hu_file_write(path, bytes, n) != HU_OK)
		bail_out("%s", hu_reason());
	return path;
}

static void
drop(char *path)
{
	unlink(path);
	free(path);
}

static void
refused(hu_status st, const char *says)
{
	ok(st == HU_EFILE && strstr(hu_reason(), says) && !strchr(hu_reason(), '\n'), "refused: %s",
		st == HU_OK ? says : hu_reason());
}

static void
reading(void)
{
	for (int gzip = 0; gzip < 2; gzip++) {
		char *ip = put("i", image_file, sizeof image_file, gzip),
		     *lp = put("l", label_file, sizeof label_file, gzip);
		hu_idx i, l;
		if (ok(hu_idx_read_pair(&i, &l, ip, lp, 10) == HU_OK, "a pair%s", gzip ? ", gzip" : "")) {
			ok(i.rank == 3 && i.shape[0] == N && i.shape[1] == SIDE && i.count == N * SIDE * SIDE &&
					!memcmp(i.data, image_file + 16, i.count),
				"images");
			ok(l.rank == 1 && l.count == N && !memcmp(l.data, label_file + 8, N), "labels");
			hu_idx_release(&i);
			hu_idx_release(&l);
		}
		refused(hu_idx_read_pair(&i, &l, lp, ip, 10), "swapped");
		refused(hu_idx_read_pair(&i, &l, ip, lp, 5), "label 5 of image 5; labels from 0 to 4");
		drop(ip);
		drop(lp);
	}
}

static void
cut_everywhere(void)
{
	char *path = put("g", image_file, sizeof image_file, 1), *bytes;
	size_t n, good = 0;
	hu_idx x;

	if (hu_file_read(path, &bytes, &n) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t cut = 0; cut < n; cut++) {
		char *p = put("cut", bytes, cut, 0);
		hu_status st = hu_idx_read(&x, p, 3);
		good += st == HU_EFILE && (strstr(hu_reason(), "cut short") || strstr(hu_reason(), "magic"));
		if (st == HU_OK)
			hu_idx_release(&x);
		drop(p);
	}
	is_int((long long)good, (long long)n, "a gzip file cut anywhere is refused");
	bytes[n - 6] ^= 1; /* of the checksum */
	char *p = put("crc", bytes, n, 0);
	refused(hu_idx_read(&x, p, 3), "damaged");
	drop(p);
	good = 0;
	for (size_t cut = 0; cut < sizeof image_file; cut++) {
		p = put("cut", image_file, cut, 0);
		good += hu_idx_read(&x, p, 3) == HU_EFILE && strstr(hu_reason(), "cut short");
		drop(p);
	}
	is_int((long long)good, (long long)sizeof image_file, "a plain file too");
	free(bytes);
	drop(path);
}

/* Reads the image file with byte AT changed to V. */
static void
changed(size_t at, int v, const char *says)
{
	unsigned char b[sizeof image_file];
	hu_idx x;

	memcpy(b, image_file, sizeof b);
	b[at] = (unsigned char)v;
	char *p = put("changed", b, sizeof b, 0);
	refused(hu_idx_read(&x, p, 3), says);
	drop(p);
}

static void
refusals(void)
{
	unsigned char more[sizeof image_file + 1] = { 0 },
					       none[16] = { 0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 3 };
	hu_idx x, l;

	changed(0, 1, "magic");
	changed(3, 0, "magic");
	changed(3, 5, "magic");
	changed(2, 0x0d, "data type 0x0d");
	changed(3, 2, "2 dimensions");
	changed(4, 255, "cut short");
	changed(7, N - 1, "too many");
	memcpy(more, image_file, sizeof image_file);
	for (int gzip = 0; gzip < 2; gzip++) {
		char *p = put("more", more, sizeof more, gzip);
		refused(hu_idx_read(&x, p, 3), "too many");
		drop(p);
	}
	unsigned char vast[16] = { 0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };
	char *p = put("vast", vast, sizeof vast, 0);
	refused(hu_idx_read(&x, p, 3), "more bytes than an address");
	drop(p);
	refused(hu_idx_read(&x, "/nonexistent", 3), "cannot be opened");
	char *ip = put("none", none, sizeof none, 0), *lp = put("l", (unsigned char[]){ 0, 0, 8, 1, 0, 0, 0, 0 }, 8, 0);
	refused(hu_idx_read_pair(&x, &l, ip, lp, 10), "no images");
	drop(lp);
	lp = put("l", label_file, sizeof label_file, 0);
	refused(hu_idx_read_pair(&x, &l, ip, lp, 10), "do not belong together");
	drop(ip);
	drop(lp);
}

static int
shaped(const hu_dataset *ds)
{
	hu_shape s = ds->array[0].shape;

	return s.rank == 3 && s.d[0] == SIDE && s.d[1] == SIDE && s.d[2] == 1 && !strcmp(ds->array[0].name, "x") &&
	       !strcmp(ds->array[1].name, "labels");
}

static void
data_set(void)
{
	char *name = hu_xprintf("idx:%s", test_dir());
	hu_dataset_options o = { 0 };
	hu_dataset ds;

	refused(hu_dataset_open(&ds, name, &o), "neither");
	char *ip = put("train-images-idx3-ubyte", image_file, sizeof image_file, 0);
	refused(hu_dataset_open(&ds, name, &o), "train-labels-idx1-ubyte is not");
	char *lp = put("train-labels.idx1-ubyte", label_file, sizeof label_file, 1);
	ok(hu_dataset_open(&ds, name, &o) == HU_OK && ds.n_train == 6 && ds.n_eval == 1, "one pair: nine tenths train");
	uint64_t whole = hu_dataset_digest(&ds);
	hu_dataset_release(&ds);
	o.split = 4;
	ok(hu_dataset_open(&ds, name, &o) == HU_OK && ds.n_train == 4 && ds.n_eval == 3 && ds.array[1].classes == 10 &&
			shaped(&ds),
		"split 4");
	ok(hu_dataset_digest(&ds) != whole, "the digest knows the split");
	float x[2 * SIDE * SIDE], y[2];
	hu_dataset_batch(&ds, &ds.array[0], (size_t[]){ 6, 1 }, 2, x);
	hu_dataset_batch(&ds, &ds.array[1], (size_t[]){ 6, 1 }, 2, y);
	int same = y[0] == label_file[8 + 6] && y[1] == label_file[8 + 1];
	for (int i = 0; i < SIDE * SIDE; i++)
		same &= x[i] == (float)image_file[16 + 6 * 9 + i] / 255.0f &&
			x[9 + i] == (float)image_file[16 + 9 + i] / 255.0f;
	ok(same, "a batch is bytes over 255, and the labels");
	hu_dataset_release(&ds);
	o.split = N;
	ok(hu_dataset_open(&ds, name, &o) == HU_EINVAL, "a split that leaves nothing: %s", hu_reason());
	o.split = 0;
	char *it = put("t10k-images-idx3-ubyte", image_file, sizeof image_file, 1),
	     *lt = put("t10k-labels-idx1-ubyte", label_file, sizeof label_file, 1);
	ok(hu_dataset_open(&ds, name, &o) == HU_OK && ds.n_train == N && ds.n_eval == N &&
			!memcmp((unsigned char *)ds.array[0].values + N * 9, image_file + 16, N * 9),
		"both pairs: train, then t10k");
	hu_dataset_release(&ds);
	o.split = 5;
	ok(hu_dataset_open(&ds, name, &o) == HU_OK && ds.n_train == 5 && ds.n_eval == 2,
		"both pairs and a split: the train pair alone");
	hu_dataset_release(&ds);
	drop(ip);
	drop(lp);
	drop(it);
	drop(lt);
	free(name);
	ok(hu_dataset_open(&ds, "idx", &o) == HU_EINVAL && hu_dataset_open(&ds, "digist", &o) == HU_EINVAL &&
			strstr(hu_reason(), "digits"),
		"names: %s", hu_reason());
}

static void
real_digits(void)
{
	const char *data = getenv("HALFULP_DATA");
	char *dir = data ? hu_path(data, "mnist") : hu_xstrdup(test_source("../shared/data/mnist")),
	     *name = hu_xprintf("idx:%s", dir);
	hu_dataset_options o = { .split = 9000 };
	hu_dataset ds;

	if (!hu_exists(dir))
		skip(3, "%s is absent; HALFULP_DATA names the folder that holds mnist/", dir);
	else {
		ok(hu_dataset_open(&ds, name, &o) == HU_OK && ds.n_train == 9000 && ds.n_eval == 1000 &&
				hu_array_row_bytes(&ds.array[0]) == 784,
			"10 000 real digits");
		/* Computed once by another program, from data.h's and hash.h's words. */
		is_bits64(hu_dataset_digest(&ds), 0xfbf064dad52da99cu, "their digest");
		/* The first ten labels of the MNIST test set, as published with it. */
		ok(!memcmp(ds.array[1].values, "\7\2\1\0\4\1\4\11\5\11", 10), "their first labels");
		hu_dataset_release(&ds);
	}
	free(dir);
	free(name);
}

int
main(void)
{
	for (size_t i = 0; i < N * SIDE * SIDE; i++)
		image_file[16 + i] = (unsigned char)(i * 37 + 11);
	for (size_t i = 0; i < N; i++)
		label_file[8 + i] = (unsigned char)i;
	reading();
	cut_everywhere();
	refusals();
	data_set();
	real_digits();
	return done_testing();
}
