/* SPDX-License-Identifier: Apache-2.0
   Damaged files by the thousand: valid ones with bytes flipped, cut out, doubled
   and overwritten by telling values, from a fixed seed (HALFULP_SEED sets
   another, HALFULP_FUZZ another number of rounds). A reader passes if it comes
   back each time; under AddressSanitizer also if it never reads beyond.
   Promise: A damaged file is refused in one line, or read as what it says. */
#include "t/fuzz/fuzz.h"
#include "t/store/onnx-model.h"

#include "analyzers/drift/baseline/baseline.h"
#include "analyzers/drift/statistics/score.h"
#include "analyzers/drift/statistics/statistics.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
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

static uint64_t seed = 1;
static size_t rounds = 4000;

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

/* One to four changes, in a block of exactly the result's size, so that one byte beyond is seen. */
static blob
damaged(const blob *b, uint32_t stream, uint64_t round)
{
	static const char *const telling[] = { "9", "-1", "\"", "{", "}", "[", "]", ",", "\xff\xff\xff\xff",
		"99999999999999999999", "18446744073709551615", "\\u0000", "4611686018427387904" };
	blob d = { hu_xmalloc(b->n + 128), b->n };

	memcpy(d.p, b->p, b->n);
	uint32_t changes = 1 + hu_random_at(seed, stream, 0, round).w[0] % 4;
	for (uint32_t c = 1; c <= changes && d.n; c++) {
		hu_random r = hu_random_at(seed, stream, c, round);
		/* Half of all changes fall into the first 32 bytes, where lengths stand. */
		size_t at = r.w[1] % (r.w[3] & 1 && d.n > 32 ? 32 : d.n), len;
		const char *s = telling[r.w[2] % (sizeof telling / sizeof *telling)];
		switch (r.w[0] % 6) {
		case 0: d.p[at] ^= (unsigned char)(1u << r.w[2] % 8); break;
		case 1: d.p[at] = (unsigned char)r.w[2]; break;
		case 2: d.n = at; break;
		case 3:
			len = 1 + r.w[2] % 8;
			len = len > d.n - at ? d.n - at : len;
			memmove(d.p + at, d.p + at + len, d.n - at - len);
			d.n -= len;
			break;
		case 4:
			len = strlen(s);
			memmove(d.p + at + len, d.p + at, d.n - at);
			memcpy(d.p + at, s, len);
			d.n += len;
			break;
		default:
			len = strlen(s) > d.n - at ? d.n - at : strlen(s);
			memcpy(d.p + at, s, len);
		}
	}
	d.p = hu_xrealloc(d.p, d.n);
	return d;
}

/* Hands a valid file to whoever fuzzes longer, x-fuzz.sh: HALFULP_SEEDS is a folder, NAME the file's with dashes. */
static void
hand_out(const char *name, const blob *b)
{
	const char *to = getenv("HALFULP_SEEDS");
	char *file = hu_xstrdup(name);

	for (char *s = file; *s; s++)
		*s = *s == ' ' || *s == '\'' ? '-' : *s;
	char *path = hu_path(to ? to : ".", "%s", file);
	if (to && hu_file_write(path, b->p, b->n) != HU_OK)
		bail_out("%s", hu_reason());
	free(path);
	free(file);
}

/* MANY times the usual rounds. At most SHARE of the damaged files may be taken. */
static void
run_many(const char *name, int (*target)(const uint8_t *, size_t), blob b, uint32_t stream, size_t many, double share)
{
	size_t accepted = 0, all = rounds * many;

	hand_out(name, &b);
	ok(target(b.p, b.n) == 1, "%s: the undamaged file is read", name);
	for (size_t i = 0; i < all; i++) {
		blob d = damaged(&b, stream, i);
		int as_it_was = d.n == b.n && !memcmp(d.p, b.p, b.n); /* a bit that flips twice */
		accepted += as_it_was ? 0 : (size_t)target(d.p, d.n);
		free(d.p);
	}
	ok((double)accepted <= share * (double)all, "%s: %zu damaged files, %zu of them still valid", name, all,
		accepted);
	free(b.p);
}

/* Flips in the data leave a valid file; elsewhere nearly all must be refused. */
static void
run(const char *name, int (*target)(const uint8_t *, size_t), blob b, uint32_t stream)
{
	run_many(name, target, b, stream, 1, 0.6);
}

int
main(void)
{
	if (getenv("HALFULP_SEED"))
		seed = strtoull(getenv("HALFULP_SEED"), NULL, 0);
	if (getenv("HALFULP_FUZZ"))
		rounds = strtoull(getenv("HALFULP_FUZZ"), NULL, 0);
	diag("seed %llu, %zu rounds a reader", (unsigned long long)seed, rounds);
	run("safetensors", fuzz_safetensors, valid_safetensors(), 1);
	run("npy", fuzz_npy, valid_npy(), 2);
	run("jpeg", fuzz_image, valid_jpeg(), 12);
	run("png", fuzz_image, valid_png(), 13);
	run("npz", fuzz_npz, valid_npz(), 5);
	run("idx", fuzz_idx, valid_idx(), 3);
	run("idx, gzip", fuzz_idx, valid_idx_gzip(), 4);
	run_many("onnx", fuzz_onnx, valid_onnx(), 11, 13, 0.6);
	run_many("series, a table", fuzz_series, valid_text(csv), 8, 4, 0.9);
	run_many("series, JSON lines", fuzz_series, valid_text(jsonl), 9, 4, 0.6);
	run_many("rules", fuzz_rules, valid_text(rules), 10, 4, 0.9);
	run_many("scores", fuzz_scores, valid_scores(), 12, 4, 0);
	run_many("statistics", fuzz_statistics, valid_statistics(), 11, 4, 0);
	run_many("scores, their checksum made right", fuzz_scores_signed, valid_scores(), 14, 4, 0.6);
	run_many("statistics, their checksum made right", fuzz_statistics_signed, valid_statistics(), 15, 4, 0.6);
	run("pairs of tensors", fuzz_pair, valid_pair(), 16);
	run_many("baseline", fuzz_baseline, valid_baseline(), 6, 13, 0);
	run_many("baseline, its checksum made right", fuzz_baseline_signed, valid_baseline(), 7, 13, 0.6);
	run_many("a run's trace", fuzz_run, run_file("trace/step-000007.safetensors"), 17, 1, 0);
	run_many("a run's trace, its header's checksum made right", fuzz_run_signed,
		run_file("trace/step-000007.safetensors"), 18, 1, 0.6);
	run_many("a run's manifest", fuzz_manifest, run_file("manifest.json"), 19, 1, 0.6);
	return done_testing();
}
