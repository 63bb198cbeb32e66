/* SPDX-License-Identifier: Apache-2.0
   The tests' side of TAP (Test Anything Protocol 12), as Automake's driver and
   prove read it: one line a test on standard output, diagnostics behind "#".
   A test program ends with `return done_testing();`, or starts with plan(N)
   and ends so too: then a wrong number of tests is a failure. Call these from
   one thread. No function here stops the program but skip_all and bail_out. */
#ifndef HU_T_TAP_H
#define HU_T_TAP_H

#include <stdint.h>

/* Announces N tests. Optional: without it done_testing prints the plan. */
void plan(int n);

/* Every test returns whether it passed. The text describes what must hold. */
int ok(int pass, const char *text, ...) __attribute__((format(printf, 2, 3)));
int is_int(long long got, long long want, const char *text, ...) __attribute__((format(printf, 3, 4)));
/* Bit patterns, printed in hex. A float's bits: is_bits32(bits_of_float(x), 0x3f800347, ...). */
int is_bits32(uint32_t got, uint32_t want, const char *text, ...) __attribute__((format(printf, 3, 4)));
int is_bits64(uint64_t got, uint64_t want, const char *text, ...) __attribute__((format(printf, 3, 4)));
/* NULL equals NULL alone. */
int is_text(const char *got, const char *want, const char *text, ...) __attribute__((format(printf, 3, 4)));
/* |got - want| <= tol; NaN fails, equal infinities pass. TOL is a formula, with its source beside the call. */
int is_near(double got, double want, double tol, const char *text, ...) __attribute__((format(printf, 4, 5)));

uint32_t bits_of_float(float x);
uint64_t bits_of_double(double x);

/* Marks the next N tests as passed because WHY keeps them from running here. */
void skip(int n, const char *why, ...) __attribute__((format(printf, 2, 3)));
/* The whole file does not apply here: prints `1..0 # SKIP why`, exits 0. Before any test. */
void skip_all(const char *why, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Nothing later can make sense: prints `Bail out! why`, exits 255. */
void bail_out(const char *why, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* A comment in the log; newlines get their own "#". */
void diag(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Prints the plan where there was none and returns the exit code: 0 where every
   test passed, at least one ran, and their number was the one planned. */
int done_testing(void);

/* A folder of this test's own, made at the first call; removed with its
   contents by done_testing if every test passed, else named in the log. */
const char *test_dir(void);
/* Path of a file of the source tree: "$srcdir/NAME" ("./NAME" where srcdir is
   unset). The string lives until the next call. */
const char *test_source(const char *name);
#endif
