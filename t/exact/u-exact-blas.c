/* SPDX-License-Identifier: Apache-2.0
   The BLAS that the exact engine loads: what it says where there is none, that a library whose sums
   of integers are not exact is refused, and that an honest one is used and named. The libraries are compiled here. */
#include "lib/base/str.h"
#include "lib/exact/blas.h"
#include "lib/base/mem.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char said[512];

/* In a process of its own, HALFULP_BLAS being NAME (NULL: unset): fills SAID; 1 where products work and this one is
   right. */
static int
try(const char *name)
{
	int line[2], status;

	fflush(NULL);
	if (pipe(line))
		return -1;
	pid_t child = fork();
	if (child == 0) {
		double a[3 * 2] = { 1, 2, 3, 4, 5, 0x1p40 }, b[3 * 2] = { 1, -1, 1, -1, 0x1p12, 1 },
			     c[4] = { 0, 0, 0, 7 };
		if (name)
			setenv("HALFULP_BLAS", name, 1);
		else
			unsetenv("HALFULP_BLAS");
		const char *text = hu_blas_describe();
		if (write(line[1], text, strlen(text)) < 0)
			_exit(3);
		/* a is 3 x 2: columns (1,3,5) and (2,4,2^40) */
		int there = hu_blas_product(c, 2, 2, 3, a, b);
		if (there != hu_blas_works() || (!there && hu_blas_pays(1, 1)))
			_exit(3);
		_exit(!there                                                                              ? 0
			: c[0] == 4 + 5 * 0x1p12 && c[1] == 1 && c[2] == 6 + 0x1p52 && c[3] == 0x1p40 + 1 ? 1
													  : 2);
	}
	close(line[1]);
	ssize_t n = read(line[0], said, sizeof said - 1);
	said[n > 0 ? n : 0] = 0;
	close(line[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* A CBLAS that computes in TYPE; NULL where it cannot be compiled. */
static char *
library(const char *type)
{
	const char *cc = getenv("CC");
	char *source = hu_xprintf("%s/%s.c", test_dir(), type), *object = hu_xprintf("%s/lib%s.so", test_dir(), type);
	FILE *f = fopen(source, "w");

	if (!f)
		return NULL;
	fprintf(f,
		"void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, "
		"const double *b, int ldb, double beta, double *c, int ldc)\n"
		"{ for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { %s s = beta * c[i * ldc + j];\n"
		"  for (int x = 0; x < k; x++) s += (%s)(alpha * a[x * lda + i]) * (%s)b[x * ldb + j];\n"
		"  c[i * ldc + j] = s; } (void)o; (void)ta; (void)tb; }\n",
		type, type, type);
	fclose(f);
	char *command =
		hu_xprintf("%s -shared -fPIC -O1 -o %s %s >/dev/null 2>&1", cc && *cc ? cc : "cc", object, source);
	int failed = system(command);
	free(command);
	free(source);
	return failed ? NULL : object;
}

int
main(void)
{
	is_int(try("none"), 0, "HALFULP_BLAS=none: no products");
	ok(strstr(said, "none") != NULL, "and it says so: %s", said);
	is_int(try("no-such-library"), 0, "a library that is not there: no products");
	ok(strstr(said, "no-such-library") != NULL, "and its name is said: %s", said);
	is_int(try("/lib/x86_64-linux-gnu/libm.so.6"), 0, "a library without cblas_dgemm: no products");
	ok(strstr(said, "none") != NULL, "and it says so: %s", said);
	char *honest = library("double"), *lying = library("float");
	if (honest && lying) {
		is_int(try(honest), 1, "one that computes in double is used");
		ok(strstr(said, honest) != NULL, "and named");
		is_int(try(lying), 0, "one that computes in float is refused");
		ok(strstr(said, "not exact") != NULL, "and it says why: %s", said);
	} else {
		skip(4, "no compiler makes a shared library here");
	}
	int own = try(NULL);
	ok(own == 0 || own == 1, "this build's own choice is absent or right: %s", said);
	free(honest);
	free(lying);
	return done_testing();
}
