/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/check/why.h"

#include "analyzers/drift/baseline/baseline_begin.h"
#include "analyzers/drift/baseline/baseline_program.h"
#include "analyzers/run/analyzer.h"
#include "lib/base/console/spec.h"
#include "lib/base/console/opt.h"
#include "lib/base/mem.h"
#include "lib/base/tsv.h"

#include <stdlib.h>
#include <string.h>

/* Lines of the environment that say what ran the training; all others are what it was told. */
static const char *const machine[] = { "halfulp", "backend", "device", "gemm", "compiler", "simd", NULL };
/* Lines that follow from others, or have a cause of their own here. */
static const char *const derived[] = { "summation_tree", "casts", "calls", "dataset_digest", "seed", HU_ANALYSIS_NOTE,
	NULL };

static int
in(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (!strcmp(*list, word))
			return 1;
	return 0;
}

/* Whether both environments have KEY, and differ in it. */
static int
differs(const hu_check_report *r, const char *key)
{
	const char *was = hu_baseline_env(r->want, key), *is = hu_baseline_env(r->got, key);

	return was && is && strcmp(was, is);
}

/* A setting as whoever gave it wrote it: of a manifest's seventeen digits those that it takes. */
static void
add_value(hu_str *s, const char *text)
{
	char shortest[HU_TSV_REAL];
	double x;

	if (text && strchr(text, '.') && hu_parse_real(text, &x)) {
		hu_tsv_real_text(shortest, x);
		text = shortest;
	}
	hu_str_add(s, text ? text : "nothing");
}

/* Appends "lr 0.001 -> 0.002, beta2 …" of settings, or of what ran them, and returns their number. */
static size_t
add_settings(hu_str *s, const hu_check_report *r, int of_machine)
{
	enum { MOST = 3 };
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		const hu_baseline *b = pass ? r->got : r->want;
		for (size_t i = 0; i < b->nenv; i++) {
			const char *key = b->env[i].key, *was = hu_baseline_env(r->want, key),
				   *is = hu_baseline_env(r->got, key);
			if (in(machine, key) != of_machine || in(derived, key) || (pass && was) ||
				(was && is && !strcmp(was, is)) || (of_machine && (!was || !is)))
				continue;
			if (n++ >= MOST)
				continue;
			hu_str_addf(s, "%s%s ", n > 1 ? ", " : "", hu_spec_setting(key));
			add_value(s, was);
			hu_str_add(s, " -> ");
			add_value(s, is);
		}
	}
	if (n > MOST)
		hu_str_addf(s, " and %zu more", n - MOST);
	return n;
}

/* Appends the first call that is another one and the number of the others; returns how many there are. */
static size_t
add_program(hu_str *s, const hu_check_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const hu_finding *f = &r->f[i];
		if (f->held < HU_DRIFT || !hu_is_program_row((f->want ? f->want : f->got)->key) || n++)
			continue;
		char *change = hu_program_row_change(f);
		hu_str_add(s, change);
		free(change);
	}
	if (n > 1)
		hu_str_addf(s, " (and %zu more)", n - 1);
	return n;
}

/* What of two programs is known to differ: the order of sums, the casts. */
static const char *
kind_of_program(const hu_check_report *r)
{
	int sums = differs(r, "summation_tree"), casts = differs(r, "casts");

	return sums && casts ? "other summation trees and other casts"
	       : sums        ? "another summation tree"
	       : casts       ? "other casts"
			     : "another program, with the same summation trees and casts";
}

/* Appends the first step, or the exercise, that the baseline has and the run has not; returns 0 where there is none. */
static int
add_missing(hu_str *s, const hu_check_report *r)
{
	hu_str lines;

	hu_str_init(&lines);
	hu_missing_steps(&lines, r->want, r->got, r->run);
	int found = lines.len > 0;
	hu_str_addn(s, lines.s, strcspn(lines.s, "\n"));
	hu_str_release(&lines);
	return found;
}

long long
hu_check_first_other(const hu_check_report *r)
{
	long long first = -1, step;

	for (size_t i = 0; i < r->failed; i++) {
		const char *key = (r->f[i].want ? r->f[i].want : r->f[i].got)->key;
		int end = 0;
		if (sscanf(key, "metrics/%lld/digest%n", &step, &end) == 1 && end && !key[end] && step >= 0 &&
			(first < 0 || step < first))
			first = step;
	}
	return first;
}

/* Nothing that was told differs. Inputs of step 0 are then the same, so that the first call whose own error moved is
   the one whose arithmetic did; in later steps the inputs have moved as well. */
static void
add_arithmetic(hu_str *s, const hu_check_report *r, const hu_place *first)
{
	hu_str m;
	long long diverged = hu_check_first_other(r);

	diverged = diverged < 0 ? 0 : diverged; /* without digests the first step is where to look */
	hu_str_init(&m);
	if (add_settings(&m, r, 1)) {
		hu_str_addf(s, "another version or machine (%s): settings, data, seed and programs are the same", m.s);
	} else if (hu_begin_add_call(s, r->f, r->n, r->got)) {
		; /* which says it all */
	} else if (first && !strcmp(first->table, "exercise")) {
		hu_str_add(s, "the check for overflow, or the rule of the loss scale: steps of the exercise moved, and "
			      "settings, data, seed, programs and version are the same");
	} else if (first && first->call >= 0 && first->step == 0) {
		hu_str_addf(s,
			"the arithmetic of call %d: settings, data, seed, programs and version are the same, and it is "
			"the first call of step 0 whose error moved",
			first->call);
	} else if (first && first->call >= 0) {
		hu_str_addf(s,
			"the arithmetic of a call, or the weights that it began with: settings, data, seed, programs "
			"and version are the same; --trace steps=%lld in both runs names the call",
			diverged);
	} else {
		hu_str_addf(s,
			"the arithmetic of a step that was not traced, or the weights that it began with: settings, "
			"data, seed, programs and version are the same; --trace steps=%lld in both runs names the "
			"call",
			diverged);
	}
	hu_str_release(&m);
}

void
hu_check_cause(hu_str *s, const hu_check_report *r, const hu_place *first)
{
	hu_str settings, program;

	hu_str_init(&settings);
	hu_str_init(&program);
	size_t nsettings = add_settings(&settings, r, 0), nprogram = add_program(&program, r);
	if (differs(r, "dataset_digest"))
		hu_str_addf(s, "other input data: their digest is %s, and %s in the baseline",
			hu_baseline_env(r->got, "dataset_digest"), hu_baseline_env(r->want, "dataset_digest"));
	else if (differs(r, "seed"))
		hu_str_addf(s, "another seed: %s in the baseline, %s now", hu_baseline_env(r->want, "seed"),
			hu_baseline_env(r->got, "seed"));
	else if (nsettings)
		hu_str_addf(s, "another setting: %s%s%s", settings.s, nprogram ? ", which makes " : "", program.s);
	else if (nprogram)
		hu_str_addf(s, "%s, though the settings are the same: %s", kind_of_program(r), program.s);
	else if (add_missing(s, r))
		; /* other steps are another analysis as well */
	else if (differs(r, HU_ANALYSIS_NOTE))
		hu_str_addf(s, "another analysis: %s in the baseline, %s now",
			hu_baseline_env(r->want, HU_ANALYSIS_NOTE), hu_baseline_env(r->got, HU_ANALYSIS_NOTE));
	else if (!hu_begin_add_cause(s, r->f, r->n))
		add_arithmetic(s, r, first);
	hu_str_release(&settings);
	hu_str_release(&program);
}
