/* SPDX-License-Identifier: Apache-2.0
   lib/base: hashes against published values, tables and files there and back, options. */
#include "lib/base/hash.h"
#include "lib/base/failed.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt.h"
#include "lib/base/show.h"
#include "lib/base/tsv.h"
#include "t/tool/tap.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
test_hashes(void)
{
	/* The FNV reference list, and splitmix64's first output from seed 0. */
	is_bits64(hu_fnv1a64("a"), 0xaf63dc4c8601ec8cu, "FNV-1a 64 of \"a\"");
	is_bits64(hu_fnv1a64("foobar"), 0x85944171f73967e8u, "FNV-1a 64 of \"foobar\"");
	is_bits32(hu_fnv1a32("foobar"), 0xbf9cf968u, "FNV-1a 32 of \"foobar\"");
	is_bits64(hu_mix64(0x9e3779b97f4a7c15u), 0xe220a8397b1dcdafu, "splitmix64's finaliser");
	ok(hu_digest_term(1, 2, 3) != hu_digest_term(1, 3, 2) && hu_digest_term(1, 2, 3) != hu_digest_term(2, 2, 3),
		"a digest's terms tell index, bits and name apart");
}

static const char *
nth(const void *of, size_t i)
{
	return ((const char *const *)of)[i];
}

static void
test_strings(void)
{
	static const char *const names[] = { "float32", "mixed_float16", "bfloat16" };

	is_text(hu_nearest("mixd_float16", names, 3), "mixed_float16", "the nearest name");
	is_text(hu_nearest("FLOAT32", names, 3), "float32", "without regard to case");
	is_text(hu_nearest("mix", names, 3), "mixed_float16", "a name that was begun");
	is_text(hu_nearest("zebra", names, 3), NULL, "none is near");
	static const char *const order[] = { "", "a", "a.2", "a.02x", "a.3", "a.10", "a.10.w", "ab", "b", "step-0020",
		"step-100", "step-99999999999999999999", "step-100000000000000000000" };
	int ascending = 1;
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
			int o = hu_str_order(order[i], order[k]);
			ascending &= (o > 0) - (o < 0) == (i > k) - (i < k);
		}
	ok(ascending && hu_str_order("a1", "a01") && hu_str_order("a1", "a01") == -hu_str_order("a01", "a1"),
		"digits in names are numbers, and 01 is not 1");
	ok(hu_match("conv*,dense1", "conv3") && hu_match("conv*,dense1", "dense1") &&
			!hu_match("conv*,dense1", "dense2"),
		"patterns separated by commas");
	static const char *const made[] = { "conv1", NULL, "dense2" };
	static const struct { const char *patterns, *idle; } fits[] = { { "conv*", NULL }, { "dense2,conv1", NULL },
		{ "conv*,densa*,x", "densa*" }, { "dense1", "dense1" }, { "", "" }, { ",", "" } };
	for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
		char *idle = hu_str_unmatched(fits[i].patterns, nth, made, 3);
		is_text(idle, fits[i].idle, "the pattern of '%s' that no name fits", fits[i].patterns);
		free(idle);
	}
}

/* What stands of a text from elsewhere. */
static void
test_shown(void)
{
	static const struct { const char *text, *shown;
	} rows[] = {
		{ "", "" },
		{ "conv1.w@fp16", "conv1.w@fp16" },
		{ "na\xc3\xafve \xe9\x87\x8d \xf0\x9f\x98\x80 C:\\x",
			"na\xc3\xafve \xe9\x87\x8d \xf0\x9f\x98\x80 C:\\x" },
		{ "a\tb\nc\rd", "a\\tb\\nc\\rd" },
		{ "\x1b[31m\x01\x7f", "\\x1b[31m\\x01\\x7f" },
		{ "\xc2\x9b"
		  "2J\xc2\xa0",
			"\\u009b2J\xc2\xa0" },
		{ "\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8\xef\xbb\xbf", "\\u202e\\u2066\\u061c\\u2028\\ufeff" },
		{ "\xff\xc3(\xe2\x80", "\\xff\\xc3(\\xe2\\x80" },
		{ "\xc0\x8a\xed\xa0\x80\xf4\x90\x80\x80", "\\xc0\\x8a\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int same = !strcmp(rows[i].text, rows[i].shown);
		is_text(hu_shown(rows[i].text), rows[i].shown, "shown: %s", rows[i].shown);
		ok(hu_plain(rows[i].text) == same && hu_plain(rows[i].shown) &&
				(hu_shown(rows[i].text) == rows[i].text) == same,
			"plain or not, and what is shown is");
	}
	const char *first = hu_shown("1\n");
	for (int i = 2; i < 9; i++)
		hu_shown("9\n");
	is_text(first, "1\\n", "seven calls later it is still there");
	ok(hu_fail(HU_EFILE, "%s: gone", "a\x1b\nb") == HU_EFILE && !strcmp(hu_reason(), "a\\x1b\\nb: gone"),
		"reasons are shown: %s", hu_reason());
	unsigned wrong = 0;
	for (unsigned c = 1; c < 0x110000; c++) { /* every character by itself against Unicode's list */
		char utf8[5] = "";
		if (c < 0x80)
			utf8[0] = (char)c;
		else if (c < 0x800)
			utf8[0] = (char)(0xc0 | c >> 6), utf8[1] = (char)(0x80 | (c & 63));
		else if (c < 0x10000)
			utf8[0] = (char)(0xe0 | c >> 12), utf8[1] = (char)(0x80 | (c >> 6 & 63)),
			utf8[2] = (char)(0x80 | (c & 63));
		else
			utf8[0] = (char)(0xf0 | c >> 18), utf8[1] = (char)(0x80 | (c >> 12 & 63)),
			utf8[2] = (char)(0x80 | (c >> 6 & 63)), utf8[3] = (char)(0x80 | (c & 63));
		static const unsigned bidi[] = { 0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066,
			0x2067, 0x2068, 0x2069, 0x2028, 0x2029, 0xfeff };
		int bad = c < 32 || (c > 126 && c < 160) || (c >= 0xd800 && c <= 0xdfff);
		for (size_t i = 0; i < sizeof bidi / sizeof *bidi; i++)
			bad |= c == bidi[i];
		wrong += hu_plain(utf8) == bad;
	}
	is_int(wrong, 0, "every character of Unicode is judged");
}

static void
test_tables(void)
{
	static const double values[] = { 0.1, 1e-320, 0x1.fffffffffffffp1023, -0.0, 3, 65504, 1.0 / 3 };
	enum { N = sizeof values / sizeof *values };
	char *path = hu_path(test_dir(), "table.tsv");
	hu_tsv t;
	hu_table r;

	hu_tsv_init(&t);
	hu_tsv_note(&t, "version", "%d\nsecond line", 3);
	hu_tsv_header(&t, "name value");
	for (int i = 0; i < N; i++) {
		hu_tsv_int(&t, i);
		hu_tsv_real(&t, values[i]);
	}
	hu_tsv_text(&t, "none");
	hu_tsv_measured(&t, NAN);
	hu_tsv_note(&t, "late", "1");
	ok(hu_tsv_write(&t, path) == HU_OK, "a table is written");
	ok(hu_table_read(&r, path) == HU_OK && r.rows == N + 1 && r.columns == 2, "and read");
	is_text(hu_table_note(&r, "version"), "3 second line", "a note stays on one line");
	ok(!strncmp(r.data, "# version: 3 second line", 24) && !strcmp(r.note[1], "late: 1") &&
			!strcmp(r.column[0], "name"),
		"a late note stands above the header");
	int same = 0;
	for (int i = 0; i < N; i++)
		same += bits_of_double(hu_table_real(&r, i, hu_table_column(&r, "value"))) == bits_of_double(values[i]);
	is_int(same, N, "numbers keep every bit");
	ok(isnan(hu_table_real(&r, N, 1)) && !strcmp(hu_table_cell(&r, N, 1), "-"), "'-' reads as NaN");
	is_int(hu_table_column(&r, "other"), -1, "an unknown column");
	hu_table_release(&r);

	hu_file_write(path, "a\tb\n1\t2\n3\n", 10);
	ok(hu_table_read(&r, path) == HU_EFILE && strstr(hu_reason(), ":3:"), "a short row is refused by line: %s",
		hu_reason());
	hu_file_write(path, "a\tb\n1\t\x1b\n", 8);
	ok(hu_table_read(&r, path) == HU_EFILE && strstr(hu_reason(), ":2: there are characters"),
		"and one that is not to be printed: %s", hu_reason());
	hu_file_write(path, "a\tb\n1\t\0\n", 8);
	ok(hu_table_read(&r, path) == HU_EFILE && strstr(hu_reason(), "byte 6 is zero"), "and a zero byte: %s",
		hu_reason());
	hu_file_write(path, "a\tb\n1\t2", 7);
	ok(hu_table_read(&r, path) == HU_EFILE && strstr(hu_reason(), "cut short"),
		"a table without its last newline is refused: %s", hu_reason());
	free(path);
}

static void
test_files(void)
{
	char *path = hu_path(test_dir(), "deep/er/file"), *dir = hu_path(test_dir(), "deep/er"), *data;
	size_t n;
	hu_outfile o;

	ok(hu_make_dirs(dir) == HU_OK && hu_make_dirs(dir) == HU_OK, "folders are made, twice");
	ok(hu_file_write(path, "old", 3) == HU_OK, "a file is written");
	ok(hu_outfile_open(&o, path) == HU_OK, "an output opens");
	fputs("new", o.f);
	hu_outfile_abandon(&o);
	ok(hu_file_read(path, &data, &n) == HU_OK && n == 3 && !strcmp(data, "old"),
		"an abandoned output leaves the old file");
	free(data);
	ok(hu_file_read(dir, &data, &n) == HU_EFILE, "a folder is no file: %s", hu_reason());
	ok(hu_file_write("/dev/full/x", "a", 1) == HU_EIO, "a file that cannot be made: %s", hu_reason());
	is_int(hu_exit_code(HU_EIO), 4, "which is exit code 4");
	free(path);
	free(dir);
}

static void
test_options(void)
{
	static const hu_opt opts[] = { { "seed", "N", "1", "" }, { "set", "K=V", NULL, "" }, { "json", NULL, NULL, "" },
		{ NULL, NULL, NULL, NULL } };
	char number[] = "-1.5", line_[] = "--seed=7",
	     *line[] = { "cmd", line_, number, "--set", "a=1", "--set=b=2", "--json", "two" },
	     *bad[] = { "cmd", "--sede=7" }, *lacking[] = { "cmd", "--seed" }, *word[] = { "cmd", "--seed", "7x" };
	hu_args a;
	long long n;
	double x;

	ok(hu_args_parse(&a, opts, 8, line) == HU_OK, "a line parses");
	ok(hu_args_int(&a, "seed", 0, 9, &n) == HU_OK && n == 7, "an integer");
	is_text(hu_args_nth(&a, "set", 1), "b=2", "a repeated option");
	is_text(hu_args_nth(&a, "set", 2), NULL, "and its end");
	ok(hu_args_given(&a, "json") == 1 && a.nrest == 2 && !strcmp(a.rest[0], "-1.5") && !strcmp(a.rest[1], "two"),
		"switches and positional arguments, negative numbers among them");
	ok(hu_args_int(&a, "seed", 8, 9, &n) == HU_EINVAL, "out of range: %s", hu_reason());
	hu_args_release(&a);
	ok(hu_args_parse(&a, opts, 2, bad) == HU_EINVAL && strstr(hu_reason(), "--seed"), "a typing error: %s",
		hu_reason());
	hu_args_release(&a);
	ok(hu_args_parse(&a, opts, 2, lacking) == HU_EINVAL, "a missing value: %s", hu_reason());
	hu_args_release(&a);
	hu_args_parse(&a, opts, 3, word);
	ok(hu_args_int(&a, "seed", 0, 9, &n) == HU_EINVAL, "no integer: %s", hu_reason());
	hu_args_release(&a);
	ok(hu_parse_real("2^-20", &x) && x == 0x1p-20 && hu_parse_real("0x1.8p1", &x) && x == 3 &&
			!hu_parse_real("3,5", &x) && !hu_parse_real("", &x),
		"numbers: powers of two, hex, and what is none");
}

/* A real has the fewest digits that are the number again: of 100,000 by the plain search for them. */
static void
test_reals(void)
{
	size_t wrong = 0;

	for (uint64_t i = 0; i < 100000; i++) {
		char got[HU_TSV_REAL], want[HU_TSV_REAL];
		uint64_t u = hu_mix64(i);
		double x;
		if (i % 4 == 1)
			u &= 0xfff0000000000000; /* powers of two, below which numbers are nearer */
		if (i % 4 == 2)
			u &= 0xffffffffe0000000; /* those with the significand of a float */
		memcpy(&x, &u, sizeof x);
		x = i % 4 == 3 ? (double)(int64_t)(u >> 40) / 1000 : x;
		if (isnan(x))
			continue;
		int digits = x == floor(x) && fabs(x) < 1e15 ? 17 : 1;
		do
			snprintf(want, sizeof want, "%.*g", digits, x);
		while (strtod(want, NULL) != x && digits++ < 17);
		hu_tsv_real_text(got, x);
		wrong += strcmp(got, want) != 0;
	}
	ok(!wrong, "reals in tables have the fewest digits: %zu have not", wrong);
}

/* What stands where a file is to go need not be one. */
static void
test_places(void)
{
	char *path = hu_path(test_dir(), "target"), *to = hu_path(test_dir(), "link"),
	     *fifo = hu_path(test_dir(), "pipe"), *data = NULL, got[8] = "";
	size_t n = 0;
	struct stat st;

	hu_failed_forget(); /* a failure of the tests before, after which a command would write no file */
	ok(hu_file_write(path, "old", 3) == HU_OK && !symlink(path, to) && hu_file_write(to, "through", 7) == HU_OK &&
			!lstat(to, &st) && S_ISLNK(st.st_mode),
		"a link stays one");
	ok(hu_file_read(path, &data, &n) == HU_OK && n == 7, "and its target is written");
	free(data);
	int made = !mkfifo(fifo, 0600), reader = open(fifo, O_RDONLY | O_NONBLOCK);
	ok(made && hu_file_write(fifo, "abc", 3) == HU_OK && !lstat(fifo, &st) && S_ISFIFO(st.st_mode) &&
			read(reader, got, sizeof got) == 3 && !memcmp(got, "abc", 3),
		"a pipe is written to, and stays one");
	close(reader);
	ok(hu_file_write(test_dir(), "a", 1) == HU_EIO, "a folder is refused: %s", hu_reason());
	free(path);
	free(to);
	free(fifo);
}

int
main(void)
{
	test_hashes();
	test_strings();
	test_shown();
	test_tables();
	test_reals();
	test_files();
	test_places();
	test_options();
	return done_testing();
}
