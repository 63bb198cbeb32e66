/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "t/tool/tap.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int planned = -1, ran, failed;
static char dir[512];

void
plan(int n)
{
	planned = n;
	printf("1..%d\n", n);
	fflush(stdout);
}

static int
verdict(int pass, const char *text, va_list ap)
{
	char line[512];

	vsnprintf(line, sizeof line, text, ap);
	for (char *c = line; *c; c++)
		if (*c == '#' || *c == '\n')
			*c = ' ';
	printf("%s %d - %s\n", pass ? "ok" : "not ok", ++ran, line);
	failed += !pass;
	fflush(stdout);
	return pass;
}

/* Prints the test's line; its arguments are those of the caller. */
#define VERDICT(pass) do { va_list ap; va_start(ap, text); verdict((pass), text, ap); va_end(ap); } while (0)

int
ok(int pass, const char *text, ...)
{
	VERDICT(pass != 0);
	return pass != 0;
}

int
is_int(long long got, long long want, const char *text, ...)
{
	VERDICT(got == want);
	if (got != want)
		diag("     got: %lld\nexpected: %lld", got, want);
	return got == want;
}

int
is_bits32(uint32_t got, uint32_t want, const char *text, ...)
{
	VERDICT(got == want);
	if (got != want)
		diag("     got: 0x%08" PRIx32 "\nexpected: 0x%08" PRIx32, got, want);
	return got == want;
}

int
is_bits64(uint64_t got, uint64_t want, const char *text, ...)
{
	VERDICT(got == want);
	if (got != want)
		diag("     got: 0x%016" PRIx64 "\nexpected: 0x%016" PRIx64, got, want);
	return got == want;
}

int
is_text(const char *got, const char *want, const char *text, ...)
{
	int same = got && want ? !strcmp(got, want) : got == want;

	VERDICT(same);
	if (!same)
		diag("     got: %s\nexpected: %s", got ? got : "(null)", want ? want : "(null)");
	return same;
}

int
is_near(double got, double want, double tol, const char *text, ...)
{
	int near = fabs(got - want) <= tol || got == want;

	VERDICT(near);
	if (!near)
		diag("     got: %a (%.17g)\nexpected: %a (%.17g)\nwithin %g, off by %g", got, got, want, want, tol,
			got - want);
	return near;
}

uint32_t
bits_of_float(float x)
{
	uint32_t b;

	memcpy(&b, &x, sizeof b);
	return b;
}

uint64_t
bits_of_double(double x)
{
	uint64_t b;

	memcpy(&b, &x, sizeof b);
	return b;
}

static void
say(const char *head, const char *text, va_list ap)
{
	printf("%s ", head);
	vprintf(text, ap);
	putchar('\n');
	fflush(stdout);
}

void
skip(int n, const char *why, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, why);
	vsnprintf(text, sizeof text, why, ap);
	va_end(ap);
	while (n-- > 0)
		printf("ok %d # SKIP %s\n", ++ran, text);
	fflush(stdout);
}

void
skip_all(const char *why, ...)
{
	va_list ap;

	va_start(ap, why);
	say("1..0 # SKIP", why, ap);
	va_end(ap);
	exit(0);
}

void
bail_out(const char *why, ...)
{
	va_list ap;

	va_start(ap, why);
	say("Bail out!", why, ap);
	va_end(ap);
	exit(255);
}

void
diag(const char *text, ...)
{
	char lines[4096], *save = NULL;
	va_list ap;

	va_start(ap, text);
	vsnprintf(lines, sizeof lines, text, ap);
	va_end(ap);
	for (char *l = strtok_r(lines, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		printf("# %s\n", l);
	fflush(stdout);
}

static int
unlink_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st, (void)flag, (void)at;
	return remove(path);
}

int
done_testing(void)
{
	int bad;

	if (planned < 0)
		printf("1..%d\n", ran);
	if (planned >= 0 && planned != ran)
		diag("planned %d tests, ran %d", planned, ran);
	if (failed)
		diag("%d of %d tests failed", failed, ran);
	bad = failed || !ran || (planned >= 0 && planned != ran);
	if (*dir && bad)
		diag("files kept in %s", dir);
	else if (*dir)
		nftw(dir, unlink_one, 16, FTW_DEPTH | FTW_PHYS);
	fflush(stdout);
	return bad;
}

const char *
test_dir(void)
{
	const char *base = getenv("TMPDIR");

	if (*dir)
		return dir;
	snprintf(dir, sizeof dir, "%s/halfulp-test-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(dir))
		bail_out("no temporary folder %s", dir);
	return dir;
}

const char *
test_source(const char *name)
{
	static char path[4096];
	const char *src = getenv("srcdir");

	snprintf(path, sizeof path, "%s/%s", src && *src ? src : ".", name);
	return path;
}
