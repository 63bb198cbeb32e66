/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/terminal.h"

#include "lib/base/mem.h"
#include "reports/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 34, CURVE = 34, MOST_BARS = 16 };

static const hu_selection *
data_of(const hu_figures *f, const char *name, int run, int part)
{
	for (int i = 0; i < f->n; i++)
		if (!strcmp(f->at[i].name, name) && f->at[i].run == run)
			return part < f->at[i].parts && f->at[i].part[part].rows ? &f->at[i].part[part] : NULL;
	return NULL;
}

/* Prints numbers without the marks that raise exponents in the page; they read well without. */
static void
print_numbers(const hu_report_run *r)
{
	for (const hu_number *n = hu_numbers; n->label && r->summary; n++) {
		char *value = hu_number_value(r, n), *note = hu_number_note(r, n);
		printf("  %-26s %s%s%s%s\n", n->label, value, *note ? "   (" : "", note, *note ? ")" : "");
		free(value);
		free(note);
	}
}

static void
print_verdict(const hu_report_run *r)
{
	const char *word = r->summary ? hu_json_text(r->summary, "verdict_word") : NULL;
	size_t i;
	json_t *s;

	printf("\n%s: %s\n", r->label,
		r->summary ? word ? word : "no verdict" : "not analyzed (halfulp analyze makes a verdict)");
	json_array_foreach(r->summary ? hu_json_at(r->summary, "verdict") : NULL, i, s) if (json_is_string(s))
		printf("  %s\n", json_string_value(s));
}

/* Prints CURVE columns in steps of an eighth of a line, each the mean of its rows. */
static void
print_curve(const hu_selection *s, int run, const char *label)
{
	static const char *const level[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	char number[16];
	size_t first = 0, n = 0;
	double low = INFINITY, high = -INFINITY, mean[CURVE];
	int used = 0;

	snprintf(number, sizeof number, "%d", run + 1);
	for (size_t r = 0; r < s->rows; r++)
		if (!strcmp(hu_selection_cell(s, r, "run"), number)) {
			first = n ? first : r;
			n++;
		}
	for (int c = 0; c < CURVE; c++) {
		size_t from = first + n * (size_t)c / CURVE, to = first + n * (size_t)(c + 1) / CURVE;
		double sum = 0;
		if (from == to)
			continue;
		for (size_t r = from; r < to; r++)
			sum += hu_selection_real(s, r, "loss");
		mean[used] = sum / (double)(to - from);
		low = fmin(low, mean[used]);
		high = fmax(high, mean[used++]);
	}
	printf("  %-24.24s ", label);
	for (int c = 0; c < used; c++)
		fputs(level[high > low ? (int)(7.999 * (mean[c] - low) / (high - low)) : 0], stdout);
	if (used)
		printf("  %.4g to %.4g", mean[0], mean[used - 1]);
	else
		printf("no finite loss");
	putchar('\n');
}

typedef struct bars {
	const char *title, *figure;
	int part;
	const char *column, *divide, *name[3]; /* a bar's value is column / divide; names are up to NULL */
	double low, high;
	hu_quantity unit;
} bars;

static const bars charts[] = {
	{ "Largest rounding errors in ulps (bars from 1/8 to 4096)", "ulp", 0, "ulp_max", NULL, { "layer", "op", NULL },
		0.125, 4096, HU_UNIT_ULP },
	{ "Nonzero values that casts turned into zero, by step (bars from 1e-6 to 1)", "underflow", 0, "became_zero",
		"nonzeros", { "layer", "class", "step" }, 1e-6, 1, HU_UNIT_SHARE },
	{ "Share of each update's norm lost to swamping (bars from 1e-4 to 1)", "swamping", 1, "l2_share_lost", NULL,
		{ "tensor", NULL, NULL }, 1e-4, 1, HU_UNIT_SHARE },
};

typedef struct bar {
	double x;
	size_t row;
} bar;

static int
worst_first(const void *a, const void *b)
{
	const bar *p = a, *q = b;

	return p->x != q->x ? (p->x < q->x) - (p->x > q->x) : (p->row > q->row) - (p->row < q->row);
}

static void
print_bar(const bars *c, const hu_selection *s, const bar *b)
{
	double full = (log(b->x) - log(c->low)) / (log(c->high) - log(c->low)) * BAR;
	char *value = hu_human(b->x, c->unit);
	hu_str name;

	hu_str_init(&name);
	for (int i = 0; i < 3 && c->name[i]; i++)
		hu_str_addf(&name, "%s%s", i ? " " : "", hu_selection_cell(s, b->row, c->name[i]));
	printf("  %-30s ", name.len > 30 ? name.s + name.len - 30 : name.s);
	for (int i = 0; i < BAR; i++)
		fputs(i < full ? "█" : "·", stdout);
	printf(" %s\n", value);
	hu_str_release(&name);
	free(value);
}

/* Prints logarithmic bars for the rows with the largest values. */
static void
print_bars(const bars *c, const hu_selection *s)
{
	bar *all = hu_xmalloc((s->rows + 1) * sizeof *all);
	size_t n = 0;

	for (size_t r = 0; r < s->rows; r++) {
		double x = hu_selection_real(s, r, c->column) / (c->divide ? hu_selection_real(s, r, c->divide) : 1);
		if (x > 0)
			all[n++] = (bar){ x, r };
	}
	qsort(all, n, sizeof *all, worst_first);
	printf("\n%s\n", c->title);
	for (size_t i = 0; i < n && i < MOST_BARS; i++)
		print_bar(c, s, &all[i]);
	if (n > MOST_BARS)
		printf("  and %zu more\n", n - MOST_BARS);
	if (!n)
		printf("  none\n");
	free(all);
}

hu_status
hu_terminal(const hu_report_runs *runs, const hu_figures *figures)
{
	int focus = runs->focus;
	const hu_selection *loss = data_of(figures, "loss", -1, 0);

	for (int i = 0; i < runs->n; i++)
		print_verdict(&runs->at[i]);
	printf("\nIn numbers: %s\n", runs->at[focus].label);
	print_numbers(&runs->at[focus]);
	if (loss) {
		printf("\nTraining loss\n");
		for (int i = 0; i < runs->n; i++)
			print_curve(loss, i, runs->at[i].label);
	}
	for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) {
		const hu_selection *s = data_of(figures, charts[i].figure, focus, charts[i].part);
		if (s)
			print_bars(&charts[i], s);
	}
	if (fflush(stdout) || ferror(stdout))
		return hu_fail(HU_EIO, "standard output: %s", strerror(errno));
	return HU_OK;
}
