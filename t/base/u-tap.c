/* SPDX-License-Identifier: Apache-2.0
   The TAP functions tell what failed: each case runs in a child, whose output
   and exit code are compared. A test library that passes everything would pass
   every other test. */
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int code;
static char out[4096];
static const char *self;

static void passes(void) { ok(1, "a %s", "b"); is_text("x", "x", "text"); is_near(INFINITY, INFINITY, 0, "inf"); }
static void fails(void) { ok(0, "a # b"); }
static void differs(void) { is_bits32(0x3c00, 0x3c01, "bits"); }
static void unlike(void) { is_text(NULL, "x", "text"); }
static void not_a_number(void) { is_near(NAN, NAN, INFINITY, "NaN"); }
static void nothing(void) { }
static void too_few(void) { plan(2); ok(1, "one"); }
static void skips(void) { skip_all("no %s", "device"); }
static void skips_two(void) { skip(2, "why"); }

static void (*const cases[])(
	void) = { passes, fails, differs, unlike, not_a_number, nothing, too_few, skips, skips_two };

/* Runs case F in a new process of this program: the counters of a fork would go on from ours. */
static void
run(void (*f)(void))
{
	int end[2];
	size_t n = 0;
	char which[2] = "0";

	while (cases[which[0] - '0'] != f)
		which[0]++;
	fflush(stdout);
	if (pipe(end))
		bail_out("no pipe");
	pid_t child = fork();
	if (child < 0)
		bail_out("no process");
	if (!child) {
		dup2(end[1], 1);
		close(end[0]);
		close(end[1]);
		execl(self, self, which, (char *)NULL);
		_exit(127);
	}
	close(end[1]);
	for (ssize_t k; (k = read(end[0], out + n, sizeof out - 1 - n)) > 0;)
		n += (size_t)k;
	out[n] = 0;
	close(end[0]);
	waitpid(child, &code, 0);
	code = WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

int
main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 1) {
		cases[argv[1][0] - '0']();
		return done_testing();
	}
	run(passes);
	is_text(out, "ok 1 - a b\nok 2 - text\nok 3 - inf\n1..3\n", "passing tests, then the plan");
	is_int(code, 0, "and exit 0");
	run(fails);
	ok(strstr(out, "not ok 1 - a   b\n") != NULL, "a failure; a # would begin a directive");
	is_int(code, 1, "and exit 1");
	run(differs);
	ok(strstr(out, "not ok 1") && strstr(out, "#      got: 0x00003c00\n# expected: 0x00003c01\n"),
		"bits are shown in hex");
	run(unlike);
	ok(!strncmp(out, "not ok 1", 8), "NULL is no text");
	run(not_a_number);
	ok(!strncmp(out, "not ok 1", 8), "NaN is near nothing");
	run(nothing);
	is_int(code, 1, "no test at all is a failure");
	run(too_few);
	is_int(code, 1, "fewer tests than planned are a failure");
	run(skips);
	is_text(out, "1..0 # SKIP no device\n", "skip_all");
	is_int(code, 0, "and exit 0");
	run(skips_two);
	is_text(out, "ok 1 # SKIP why\nok 2 # SKIP why\n1..2\n", "skip");
	return done_testing();
}
