/* SPDX-License-Identifier: Apache-2.0
   A valid file of each kind that the program reads, as bytes, for u-fuzz-files.c to damage. */
#ifndef HU_T_FUZZ_VALID_FILES_H
#define HU_T_FUZZ_VALID_FILES_H

#include "t/fuzz/fuzz.h"
#include "t/store/onnx-model.h"

#include "analyzers/drift/baseline/baseline.h"
#include "analyzers/drift/statistics/score.h"
#include "analyzers/drift/statistics/statistics.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/npy.h"
#include "lib/store/safetensors.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>
#include <zip.h>
#include <zlib.h>

typedef struct blob { unsigned char *p; size_t n; } blob;

static blob
load(const char *path)
{
	blob b;
	char *p;

	if (hu_file_read(path, &p, &b.n) != HU_OK)
		bail_out("%s", hu_reason());
	b.p = (unsigned char *)p;
	return b;
}

static blob
valid_safetensors(void)
{
	static const float v[12];
	char *path = hu_path(test_dir(), "s");
	hu_safetensors_writer w;

	hu_safetensors_begin(&w);
	hu_safetensors_set(&w, "format", "pt");
	hu_safetensors_add(&w, "conv1.w", "F32", 3, (size_t[]){ 2, 3, 1 }, v);
	hu_safetensors_add(&w, "x", "BF16", 1, (size_t[]){ 5 }, v);
	hu_safetensors_add(&w, "t", "I64", 0, NULL, v);
	if (hu_safetensors_commit(&w, path) != HU_OK)
		bail_out("%s", hu_reason());
	blob b = load(path);
	free(path);
	return b;
}

static blob
valid_npy(void)
{
	static const double v[6];
	char *path = hu_path(test_dir(), "n");

	if (hu_npy_write(path, "f8", 2, (size_t[]){ 2, 3 }, v) != HU_OK)
		bail_out("%s", hu_reason());
	blob b = load(path);
	free(path);
	return b;
}

/* A stored and a deflated member, built in memory as numpy.savez and savez_compressed write them. */
static blob
valid_npz(void)
{
	blob b = { NULL, 0 }, npy = valid_npy();
	char *path = hu_path(test_dir(), "z.npz");
	zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);

	for (int i = 0; zip && i < 2; i++) {
		zip_int64_t at = zip_file_add(zip, i ? "b.npy" : "a.npy", zip_source_buffer(zip, npy.p, npy.n, 0), 0);
		if (at < 0 || zip_set_file_compression(zip, (zip_uint64_t)at, i ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0))
			bail_out("%s: %s", path, zip_strerror(zip));
	}
	if (!zip || zip_close(zip))
		bail_out("%s cannot be written", path);
	b = load(path);
	free(npy.p);
	free(path);
	return b;
}

static const unsigned char idx_bytes[] = { 0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9,
	10, 11, 12 };

static blob
valid_idx(void)
{
	blob b = { hu_xmalloc(sizeof idx_bytes), sizeof idx_bytes };

	memcpy(b.p, idx_bytes, sizeof idx_bytes);
	return b;
}

static blob
valid_idx_gzip(void)
{
	char *path = hu_path(test_dir(), "i.gz");
	gzFile f = gzopen(path, "wb");

	if (!f || gzwrite(f, idx_bytes, sizeof idx_bytes) != (int)sizeof idx_bytes || gzclose(f) != Z_OK)
		bail_out("%s cannot be written", path);
	blob b = load(path);
	free(path);
	return b;
}

/* A small photograph of libjpeg's own making, progressive, so that it has many scans. */
static blob
valid_jpeg(void)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr own;
	unsigned char row[3 * 19], *line = row;
	unsigned long n = 0;
	blob b = { NULL, 0 };

	c.err = jpeg_std_error(&own);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &b.p, &n);
	c.image_width = 19;
	c.image_height = 13;
	c.input_components = 3;
	c.in_color_space = JCS_RGB;
	jpeg_set_defaults(&c);
	jpeg_simple_progression(&c);
	jpeg_start_compress(&c, TRUE);
	while (c.next_scanline < c.image_height) {
		for (size_t i = 0; i < sizeof row; i++)
			row[i] = (unsigned char)(i * i + 31 * c.next_scanline);
		jpeg_write_scanlines(&c, &line, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	b.n = n;
	return b;
}

static blob
valid_png(void)
{
	unsigned char pixel[4 * 9 * 7];
	png_image i = { .version = PNG_IMAGE_VERSION, .width = 9, .height = 7, .format = PNG_FORMAT_RGBA };
	blob b = { NULL, 0 };

	for (size_t k = 0; k < sizeof pixel; k++)
		pixel[k] = (unsigned char)(k * k / 3);
	if (!png_image_write_to_memory(&i, NULL, &b.n, 0, pixel, 0, NULL))
		bail_out("%s", i.message);
	b.p = hu_xmalloc(b.n);
	png_image_write_to_memory(&i, b.p, &b.n, 0, pixel, 0, NULL);
	return b;
}

/* Rows of every kind: numbers, their absence, digests, what is not finite, tolerances. */
static blob
valid_baseline(void)
{
	static const char *const values[] = { "0.30000000000000004", "12", "-0", "1e-320", "nan", "-",
		"0x0123456789abcdef", "-inf", "65504", "0.0078125" };
	static const char *const settings[] = { "halfulp", "model", "policy", "dataset", "seed", "summation_tree" };
	char *path = hu_path(test_dir(), "b.tsv"), key[32];
	hu_baseline b;

	memset(&b, 0, sizeof b);
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		hu_baseline_set(&b, settings[i], "x%zu", i);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		snprintf(key, sizeof key, "replay/7/dense%zu.w/ulp_max", i);
		hu_baseline_add(&b, key, values[i], (hu_baseline_side)(i % HU_SIDES), i % 2 ? HU_FP32 : HU_FP64);
		b.q[b.n - 1].ulps = i % 3;
		b.q[b.n - 1].tolerance = i % 4 ? 0 : 0.125;
	}
	hu_baseline_sort(&b);
	if (hu_baseline_write(&b, path, "as it was", "by hand", "") != HU_OK)
		bail_out("%s", hu_reason());
	hu_baseline_release(&b);
	blob file = load(path);
	free(path);
	return file;
}

static blob
valid_onnx(void)
{
	blob b;

	b.p = pb_pack(pb_sample(), &b.n);
	return b;
}

/* All of its own dtypes, with numbers that are not finite. */
static blob
valid_pair(void)
{
	static const unsigned char v[8 * 40] = { 0, 0x3c, 0, 0x7c, 1, 0xfe, 0x80, 0x3f, 0, 0, 0xc0, 0x7f, 0xff, 0xff };
	static const char *const dtypes[] = { "F64", "F32", "F16", "BF16", "F8_E4M3", "I64", "U8", "BOOL" };
	char *path = hu_path(test_dir(), "pair");
	hu_safetensors_writer w;

	hu_safetensors_begin(&w);
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		hu_safetensors_add(&w, dtypes[i], dtypes[i], 1, (size_t[]){ 40 }, v);
	if (hu_safetensors_commit(&w, path) != HU_OK)
		bail_out("%s", hu_reason());
	blob b = load(path);
	free(path);
	return b;
}

static const char *const settings[] = { "halfulp", "model", "policy", "dataset", "seed", "summation_tree" };

static blob
valid_scores(void)
{
	char *path = hu_path(test_dir(), "scores.tsv");
	hu_scores s = { .column = "eval_dice",
		.better = 1,
		.by = { .n = 3, .seed = { 1, 2, 3 } },
		.value = { 0.5, 0.75, 0.5 } };

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		hu_baseline_set(&s.by.of, settings[i], "x%zu", i);
	if (hu_scores_write(&s, path, "as it was") != HU_OK)
		bail_out("%s", hu_reason());
	hu_scores_release(&s);
	blob file = load(path);
	free(path);
	return file;
}

/* Three seeds, two quantities. */
static blob
valid_statistics(void)
{
	char *path = hu_path(test_dir(), "s.tsv");
	hu_statistics *s = hu_xcalloc(1, sizeof *s);

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		hu_baseline_set(&s->by.of, settings[i], "x%zu", i);
	s->n = 2;
	s->by.n = 3;
	for (int i = 0; i < 2; i++) {
		snprintf(s->q[i].name, sizeof s->q[i].name, "loss/%d", i);
		s->q[i].s = 2.75; /* of -3, -5.5 and -8 it is 2.5 */
		s->q[i].tau = 0;
		for (int k = 0; k < 3; k++)
			s->q[i].value[k] = s->q[i].repeat[k] = 0.5 * k - 3.0 * (s->by.seed[k] = k + 1);
	}
	if (hu_statistics_write(s, path, "as it was") != HU_OK)
		bail_out("%s", hu_reason());
	hu_statistics_release(s);
	free(s);
	blob file = load(path);
	free(path);
	return file;
}

/* A table with quotes, JSON lines with objects in objects, and rules of every kind. */
static blob
valid_text(const char *text)
{
	return (blob){ (unsigned char *)hu_xstrdup(text), strlen(text) };
}

static const char csv[] = "step,loss,\"a \"\"tag\"\"\",\n0,2.5,x,\n1,nan,\"y,z\",\n2,1e-3,-,\n\n10,-inf,\"\",\n";
static const char jsonl[] = "{\"step\": 0, \"loss\": 2.5, \"lr\": {\"a\": [1, 2]}}\n"
	"{\"step\": 1, \"loss\": NaN, \"tag\": \"a\\\"NaN\"}\n"
	"{\"step\": 2, \"loss\": -Infinity, \"ok\": true, \"none\": null}\n";
static const char rules[] = "# rules\ngrad.*: ulps(fp16) <= 2, nonfinite <= 1\nlogits, out: rel <= 1e-5 # both\n"
	"a:0: exact, optional\ntime: ignore\n*: cosine >= 0.9999, sqnr >= 40, l2 <= 2^-8, abs <= 0x1p-3\n";

static blob
run_file(const char *name)
{
	char *path = fuzz_run_file(name);
	blob b = load(path);

	free(path);
	return b;
}
#endif
