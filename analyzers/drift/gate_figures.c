/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/gate_figures.h"

#include "analyzers/drift/baseline/place.h"
#include "lib/base/build.h"
#include "lib/base/console/plot_text.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/guard/children.h"
#include "lib/base/mem.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 12, SECONDS = 30 }; /* rows of a figure; how long gnuplot may take */

/* One figure: the rows that it takes from the findings, as text, and how they are drawn. Okabe and Ito's colours. */
typedef struct figure {
	const char *name, *title, *script;
	size_t (*rows)(hu_str *data, const json_t *findings);
} figure;

#define HEAD                                                                                                           \
	"set encoding utf8\nset minussign\n"                                                                           \
	"set terminal svg size 860,%d background '#ffffff' enhanced font 'sans-serif,14'\nset output '%s.svg'\n"       \
	"set datafile separator '\\t'\nset key at graph 1, graph 1.14 right top horizontal noenhanced samplen 1.4\n"   \
	"set border 3 lc rgb '#666666' lw 0.8\nset tics nomirror out scale 0.6 textcolor rgb '#222222'\n"              \
	"set grid back lt 1 lc rgb '#DDDDDD' lw 0.6\nset lmargin at screen 0.1\nset rmargin at screen 0.98\n"          \
	"set tmargin at screen 0.84\nset bmargin at screen 0.22\n"                                                     \
	"set label 1 '{/:Bold %s}' at screen 0.015, screen 0.94 left textcolor rgb '#222222'\n"
#define BLUE "'#0072B2'"
#define RED "'#D55E00'"

static double
value(const json_t *finding, const char *key)
{
	const json_t *v = json_object_get(finding, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Appends place, baseline, run of each finding about a column of a table that is finite in both; the place is the step,
   where it has one, or the call. Returns how many there were. */
static size_t
pairs(hu_str *data, const json_t *findings, const char *table, const char *column, int by_step)
{
	size_t rows = 0, i;
	json_t *f;

	json_array_foreach((json_t *)(size_t)findings, i, f)
	{
		hu_place p;
		hu_place_init(&p, json_string_value(json_object_get(f, "quantity")));
		double was = value(f, "baseline"), is = value(f, "run");
		long long at = by_step ? (long long)p.step : p.call;
		if (!strcmp(p.table, table) && !strcmp(p.column, column) && (!by_step || at >= 0) && isfinite(was) &&
			isfinite(is)) {
			hu_str_addf(data, "%lld\t%.17g\t%.17g\n", at, was, is);
			rows++;
		}
		hu_place_release(&p);
	}
	return rows;
}

/* step, baseline, run of the evaluations' losses, or of the steps' where there are no two evaluations. */
static size_t
losses(hu_str *data, const json_t *findings)
{
	static const char *const columns[] = { "eval_loss", "loss" };
	size_t rows = 0;

	for (size_t k = 0; k < 2 && rows < 2; k++) {
		data->len = 0;
		rows = pairs(data, findings, "metrics", columns[k], 1);
	}
	return rows;
}

/* call, baseline, run: the mean error of each call, in ulps. */
static size_t
errors(hu_str *data, const json_t *findings)
{
	return pairs(data, findings, "replay", "ulp_mean", 0);
}

/* quantity, 100 (run - baseline) / |baseline|, worst first, of those that failed. */
static size_t
worst(hu_str *data, const json_t *findings)
{
	size_t rows = 0, i;
	json_t *f;

	json_array_foreach((json_t *)(size_t)findings, i, f)
	{
		double was = value(f, "baseline"), is = value(f, "run");
		if (rows == MOST || json_is_true(json_object_get(f, "ok")) || !isfinite(was) || !isfinite(is) ||
			was == 0)
			continue;
		hu_str name;
		hu_str_init(&name);
		hu_place_words(&name, json_string_value(json_object_get(f, "quantity")));
		hu_plot_cell(data, name.s);
		hu_str_release(&name);
		hu_str_addf(data, "\t%.17g\n", 100 * (is - was) / fabs(was));
		rows++;
	}
	return rows;
}

static const figure figures[] = {
	{ "drift-loss", "Loss over steps",
		HEAD "set xlabel 'step' offset 0, 0.3\nset ylabel 'loss' offset 1.4, 0\nset offsets graph 0.02, graph "
		     "0.02, graph 0.05, graph 0.05\n"
		     "plot '%s.tsv' using 1:2 smooth unique with linespoints lw 2 pt 7 ps 0.8 lc rgb " BLUE
		     " title 'baseline', "
		     "'' using 1:3 smooth unique with linespoints lw 2 pt 6 ps 1.1 lc rgb " RED " title 'this run'\n",
		losses },
	{ "drift-errors", "Mean rounding error of each call, in ulps",
		HEAD "set xlabel 'call, in the order of the step' offset 0, 0.3\nset ylabel 'mean error, ulps' offset "
		     "1.4, 0\nset logscale y\n"
		     "set format y '10^{%%T}'\n"
		     "plot '%s.tsv' using 1:($2 > 0 ? $2 : NaN) with points pt 7 ps 0.6 lc rgb " BLUE
		     " title 'baseline', "
		     "'' using 1:($3 > 0 ? $3 : NaN) with points pt 6 ps 0.9 lc rgb " RED " title 'this run'\n",
		errors },
	{ "drift-worst", "Quantities that failed, the worst first",
		HEAD "set xlabel 'change, %%' offset 0, 0.3\nset yzeroaxis\nset grid noytics xtics\nset yrange [*:*] "
		     "reverse\nunset key\n"
		     "set border 1\nset ytics noenhanced font ',12' scale 0\nset style fill solid\n"
		     "set lmargin at screen 0.5\n"
		     "plot '%s.tsv' using ($2/2):0:($2/2):(0.32):ytic(1) with boxxy lc rgb " RED "\n",
		worst },
};

/* Runs gnuplot on the file SCRIPT in DIR; what it says is of no use here. */
static int
draws(const char *dir, const char *script)
{
	static int hangs; /* what hung once is not waited for again */
	pid_t self = getpid(), pid = hangs ? -1 : fork();

	if (pid < 0)
		return 0;
	if (!pid) {
		hu_end_with(self);
		int nowhere = open("/dev/null", O_RDWR);
		if (nowhere < 0 || chdir(dir) || dup2(nowhere, 0) < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0)
			_exit(126);
		execlp(hu_build_gnuplot(), hu_build_gnuplot(), "-d", script, (char *)NULL);
		execlp("gnuplot", "gnuplot", "-d", script, (char *)NULL);
		_exit(127);
	}
	int code = hu_wait_for(pid, SECONDS);
	hangs = code == HU_WAIT_HANGS;
	return code == 0;
}

int
hu_gate_draw(const char *dir, const char *name, const char *script)
{
	char *path = hu_path(dir, "%s", name);
	int ok = hu_file_write(path, script, strlen(script)) == HU_OK && draws(dir, name);

	free(path);
	return ok;
}

/* Data, script and picture of one figure. */
static int
draw(const figure *f, const char *dir, const hu_str *data)
{
	char *tsv = hu_path(dir, "%s.tsv", f->name), *file = hu_xprintf("%s.gp", f->name);
	hu_str script;

	hu_str_init(&script);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	hu_str_addf(&script, f->script, 340, f->name, f->title, f->name); /* a script of the table above */
#pragma GCC diagnostic pop
	int ok = hu_file_write(tsv, data->s, data->len) == HU_OK && hu_gate_draw(dir, file, script.s);
	hu_str_release(&script);
	free(tsv);
	free(file);
	return ok;
}

void
hu_gate_figures(hu_str *s, const char *run, const char *check)
{
	json_t *j = json_loads(check, 0, NULL), *findings = json_object_get(j, "findings");
	char *dir = hu_path(run, "gate");
	size_t drawn = 0, wanted = 0;

	for (size_t i = 0; json_is_array(findings) && i < sizeof figures / sizeof *figures; i++) {
		hu_str data;
		hu_str_init(&data);
		if (figures[i].rows(&data, findings) > 1) {
			wanted++;
			if (hu_make_dirs(dir) == HU_OK && draw(&figures[i], dir, &data)) {
				hu_str_addf(
					s, "\n![%s](%s/%s.svg)\n", figures[i].title, hu_shown(dir), figures[i].name);
				drawn++;
			}
		}
		hu_str_release(&data);
	}
	if (drawn)
		hu_str_addf(s,
			"\nThe figures, their data and scripts are in `%s/`: blue is the baseline, red this run.\n",
			hu_shown(dir));
	else if (wanted)
		hu_str_add(s,
			"\nNo figure was drawn, since gnuplot was not found or the run's folder cannot be written.\n");
	free(dir);
	json_decref(j);
}
