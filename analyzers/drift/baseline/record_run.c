/* SPDX-License-Identifier: Apache-2.0
   Writing a baseline of runs: what may not become one, and what is said when it is done. */
#include "analyzers/drift/baseline/record_run.h"

#include "analyzers/drift/baseline/coverage.h"
#include "analyzers/drift/baseline/allowance.h"
#include "analyzers/drift/baseline/drift.h"
#include "lib/base/show.h"
#include "lib/base/guard/input.h"
#include "lib/base/mem.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

hu_status
hu_baseline_of_run(const char *dir, hu_baseline *b, hu_coverage_seen *s)
{
	hu_run r;
	unsigned saw;

	HU_TRY(hu_run_open(&r, dir));
	hu_status st = hu_run_finished(&r);
	if (st == HU_OK)
		st = hu_baseline_collect(b, &r);
	if (st == HU_OK && (st = hu_coverage(&saw, &r)) != HU_OK)
		hu_baseline_release(b);
	if (st == HU_OK) {
		s->saw |= saw;
		s->steps += (size_t)json_integer_value(json_object_get(r.manifest, "steps_done"));
	}
	hu_run_release(&r);
	return st;
}

/* What is not finite must be declared by whoever records it. */
static hu_status
refuse_nonfinite(const hu_baseline *b)
{
	size_t n = 0;
	const char *first = NULL;

	for (size_t i = 0; i < b->n; i++)
		if (b->q[i].number && b->q[i].side != HU_SIDE_ANY && !isfinite(b->q[i].value)) {
			first = first ? first : b->q[i].key;
			n++;
		}
	return n ? hu_fail(HU_EINVAL,
			   "%zu quantities are not finite, %s first; --allow-nonfinite declares that this is right", n,
			   first)
		 : HU_OK;
}

/* The range of the metrics whose name ends with SUFFIX, the most that one of them may differ by, and their number. */
static size_t
range_of(const hu_baseline *b, const char *suffix, double *range, double *allowed)
{
	double low = INFINITY, high = -INFINITY;
	size_t end = strlen(suffix), found = 0;

	*allowed = 0;
	for (size_t i = 0; i < b->n; i++) {
		const hu_baseline_quantity *q = &b->q[i];
		size_t n = strlen(q->key);
		if (strncmp(q->key, "metrics/", 8) || n < end || strcmp(q->key + n - end, suffix))
			continue;
		if (!isfinite(q->value))
			continue;
		low = fmin(low, q->value);
		high = fmax(high, q->value);
		*allowed = fmax(*allowed, ldexp(q->ulps, hu_ulp_exponent(q->value, hu_format_of(q->format))));
		found++;
	}
	*range = high - low;
	return found;
}

/* A reference that barely moved proves nothing: the loss must have moved ten times what it may differ. Evaluations say
   so where there are two; one batch's loss differs from the next one's by more than training moves it. */
static hu_status
refuse_idle(const hu_baseline *b)
{
	double range, allowed;

	if (range_of(b, "/eval_loss", &range, &allowed) < 2)
		range_of(b, "/loss", &range, &allowed);
	if (allowed > 0 && !(range >= 10 * allowed))
		return hu_fail(HU_EINVAL,
			"the loss moved by %g and may differ by %g: such a baseline would pass a model that does not "
			"train; train longer",
			range, allowed);
	return HU_OK;
}

/* What the analysis found wrong may be recorded, and not in silence. */
static void
warn_over_bound(const hu_baseline *b, const char *run)
{
	static const char end[] = "/over_bound";
	double over = 0;

	for (size_t i = 0; i < b->n; i++) {
		size_t n = strlen(b->q[i].key);
		if (n >= sizeof end && strncmp(b->q[i].key, "summary/", 8) &&
			!strcmp(b->q[i].key + n + 1 - sizeof end, end) && b->q[i].value > 0)
			over += b->q[i].value;
	}
	if (over > 0)
		fprintf(stderr,
			"halfulp check: warning: %.0f judged outputs of %s left their bound (analysis/faults.tsv), and "
			"the baseline takes that for right\n",
			over, hu_shown(run));
}

/* What moved since the baseline that PATH has, if it has one; a file of another kind is replaced all the same. */
static void
say_moved(hu_str *s, const char *path, const hu_baseline *b)
{
	hu_baseline before;
	struct stat is;

	/* a pipe or a device has no earlier baseline, and reading it could block for ever */
	if (hu_input_stat(path, &is) || !S_ISREG(is.st_mode))
		return;
	if (hu_baseline_read(&before, path) != HU_OK) {
		hu_str_addf(s, "what moved cannot be said: %s\n", hu_reason());
		return;
	}
	hu_coverage_moved(s, &before, b);
	hu_baseline_release(&before);
}

/* Whether two runs have the same quantities with the same bits: other threads, instruction sets, compilers. */
static int
agree(const hu_baseline *a, const hu_baseline *b)
{
	int same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = !strcmp(a->q[i].key, b->q[i].key) && !strcmp(a->q[i].text, b->q[i].text);
	return same;
}

/* Refuses a run, the k-th of A's line behind the first, that is not B's run bit for bit where B has no tolerances, and
   one that is beyond the tolerances that it has. */
static hu_status
refuse_apart(const hu_args *a, const hu_baseline *b, const hu_baseline *other, size_t k, double ulps)
{
	size_t n, failed;
	hu_finding *f = hu_drift_compare(b, other, &n, &failed);
	const char *key = failed ? (f->want ? f->want : f->got)->key : "";
	hu_status st = HU_OK;

	if (failed && ulps > 0)
		st = hu_fail(HU_EINVAL,
			"%s is not within --ulps %g of %s: %zu quantities are beyond, %s first; --statistics measures "
			"what chance may move, --score what trainings are worth",
			hu_shown(a->rest[k + 1]), ulps, hu_shown(a->rest[0]), failed, hu_shown(key));
	else if (failed)
		st = hu_fail(HU_EINVAL,
			"%s is not %s bit for bit: %zu quantities differ, %s first; --statistics measures what chance "
			"may move, --score what trainings are worth, and --ulps K says how far elements may be apart",
			hu_shown(a->rest[k + 1]), hu_shown(a->rest[0]), failed, hu_shown(key));
	free(f);
	return st;
}

hu_status
hu_baseline_record_run(const hu_args *a, const char *path, hu_baseline *b, hu_coverage_seen *saw)
{
	size_t more = (size_t)a->nrest - 1, read = 0, same = 0;
	hu_baseline *others = hu_xcalloc(more + 1, sizeof *others);
	char measured[256] = "one run: every quantity keeps its bits";
	double ulps;
	hu_str moved, unseen;
	hu_status st = hu_args_real(a, "ulps", 0, 0x1p52, &ulps);

	if (st == HU_OK && !hu_args_text(a, "reason"))
		st = hu_fail(HU_EINVAL, "--reason TEXT is needed: why these numbers are right");
	for (; st == HU_OK && read < more; read++)
		st = hu_baseline_of_run(a->rest[read + 1], &others[read], saw);
	for (size_t k = 0; k < read; k++)
		same += agree(b, &others[k]);
	if (st == HU_OK && more && same == more) {
		snprintf(measured, sizeof measured, "%zu runs agree bit for bit: every quantity keeps its bits",
			more + 1);
	} else if (st == HU_OK && more && ulps > 0) {
		hu_baseline_span(b, others, more);
		snprintf(measured, sizeof measured, "%zu runs", more + 1);
	}
	if (st == HU_OK && ulps > 0) {
		size_t n = strlen(measured);
		hu_baseline_allow(b, ulps);
		snprintf(measured + n, sizeof measured - n,
			"; %g ulps of each tensor's own format, and what follows from them", ulps);
	}
	for (size_t k = 0; st == HU_OK && k < more; k++)
		st = refuse_apart(a, b, &others[k], k, ulps);
	if (st == HU_OK && !hu_args_given(a, "allow-nonfinite"))
		st = refuse_nonfinite(b);
	if (st == HU_OK)
		st = refuse_idle(b);
	hu_str_init(&moved);
	hu_str_init(&unseen);
	if (st == HU_OK) {
		hu_coverage_text(&unseen, saw->saw, saw->steps);
		say_moved(&moved, path, b);
		st = hu_baseline_write(b, path, hu_args_text(a, "reason"), measured, unseen.s);
	}
	for (size_t k = 0; k < read; k++)
		hu_baseline_release(&others[k]);
	free(others);
	if (st == HU_OK)
		warn_over_bound(b, a->rest[0]);
	if (st == HU_OK)
		printf("%zu quantities recorded in %s\n%s%s%s%s", b->n, hu_shown(path),
			more && same == more ? "the runs agree bit for bit, and this is the entry of all of them\n"
					     : "",
			moved.s, unseen.len ? "what this baseline could not see:\n" : "", unseen.s);
	hu_str_release(&moved);
	hu_str_release(&unseen);
	return st;
}
