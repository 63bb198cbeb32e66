/* SPDX-License-Identifier: Apache-2.0
   Damaged files by the thousand: valid ones with bytes flipped, cut out, doubled
   and overwritten by telling values, from a fixed seed (HALFULP_SEED sets
   another, HALFULP_FUZZ another number of rounds). A reader passes if it comes
   back each time; under AddressSanitizer also if it never reads beyond.
   Promise: A damaged file is refused in one line, or read as what it says. */
#include "t/fuzz/fuzz.h"
#include "t/fuzz/valid-files.h"

#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;
static size_t rounds = 4000;

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
