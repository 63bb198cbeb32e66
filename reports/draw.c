/* SPDX-License-Identifier: Apache-2.0
   The part of figure.h that depends on the system: it finds the .gp files and runs gnuplot. */
#include "reports/figure.h"

#include "lib/base/build.h"
#include "lib/base/guard/children.h"
#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 2 };

hu_status
hu_report_source(const char *name, char **text, size_t *n)
{
	char *inside = hu_xprintf("reports/%s", name), *path = hu_build_find(inside);
	hu_status st = path ? hu_file_read(path, text, n) : HU_OK;
	int there = path != NULL;

	free(inside);
	free(path);
	if (there)
		return st;
	return hu_fail(HU_EUNABLE,
		"reports/%s is neither in %s nor in %s: install halfulp again, or set HALFULP_SHARE to the folder that "
		"holds reports/",
		name, HU_PKGDATADIR, HU_TOP_SRCDIR);
}

/* Runs gnuplot in the child process, with argument in dir, after the commands first where there are some; its output
   goes into the file log. Does not return. */
static void
become_gnuplot(const char *dir, const char *first, const char *argument, const char *log)
{
	const char *given = getenv("GNUPLOT");
	char path[PATH_MAX];
	/* a path is meant from where the program was started */
	const char *named = given && strchr(given, '/') && realpath(given, path) ? path : given;
	int in = open("/dev/null", O_RDONLY);

	if (chdir(dir))
		_exit(126);
	int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	/* -d: the user's settings file must not change the figures */
	char *plain[] = { "gnuplot", "-d", (char *)argument, NULL },
	     *after[] = { "gnuplot", "-d", "-e", (char *)first, (char *)argument, NULL },
	     **words = first ? after : plain;
	if (named && *named) {
		execvp(named, words);
	} else {
		execvp(HU_GNUPLOT, words);
		execvp("gnuplot", words);
	}
	_exit(127);
}

static hu_status
start(const char *dir, const char *first, const char *argument, const char *log, pid_t *pid)
{
	pid_t self = getpid();

	fflush(NULL);
	*pid = fork();
	if (*pid < 0)
		return hu_fail(HU_EUNABLE, "gnuplot could not be started: %s", strerror(errno));
	if (!*pid) {
		hu_end_with(self);
		become_gnuplot(dir, first, argument, log);
	}
	return HU_OK;
}

static hu_status
absent(void)
{
	return hu_fail(HU_EUNABLE,
		"gnuplot was not found, figures need it: install gnuplot-nox (Debian, Ubuntu) or gnuplot (others), "
		"or set GNUPLOT to its path; report -o - does without");
}

enum { VERSION_SECONDS = 15, DRAW_SECONDS = 120 };

static hu_status
hangs(const char *what, int seconds)
{
	const char *named = getenv("GNUPLOT");

	return hu_fail(HU_EUNABLE,
		"gnuplot took more than %d seconds %s and was killed: is %s the gnuplot that is meant (GNUPLOT names "
		"it)?",
		seconds, what, named && *named ? named : HU_GNUPLOT);
}

hu_status
hu_gnuplot_check(void)
{
	pid_t pid;

	HU_TRY(start("/", NULL, "--version", "/dev/null", &pid));
	int code = hu_wait_for(pid, VERSION_SECONDS);
	if (code == 126)
		return hu_fail(
			HU_EUNABLE, "gnuplot could not be started: the system gives it no files to read and write");
	return code == 0 ? HU_OK : code == HU_WAIT_HANGS ? hangs("to say its version", VERSION_SECONDS) : absent();
}

/* Finds the line of gnuplot's log that names the fault: gnuplot prints the command, a caret, then `"file" line N:
   …`. */
static void
complaint(const char *path, char *out, size_t room)
{
	char *text = NULL, *save = NULL;
	size_t n;

	snprintf(out, room, "no message");
	if (hu_file_read(path, &text, &n) != HU_OK)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (line[strspn(line, " \t^")])
			snprintf(out, room, "%s", line);
	free(text);
}

static hu_status
check(const hu_figure *f, const char *dir, const char *formats, int code)
{
	char *log = hu_path(dir, "%s.log", f->stem), *all = hu_xstrdup(formats), *save = NULL, said[400];
	hu_status st = HU_OK;

	complaint(log, said, sizeof said);
	if (code == 127)
		st = absent();
	else if (code == HU_WAIT_HANGS) {
		char *what = hu_xprintf("to draw %s", f->stem);
		st = hangs(what, DRAW_SECONDS);
		free(what);
	} else if (code < 0)
		st = hu_fail(HU_EUNABLE, "gnuplot was ended by signal %d (%s) while it drew %s: %s", -code,
			strsignal(-code), f->stem, said);
	else if (code)
		st = hu_fail(HU_EUNABLE, "gnuplot could not draw %s: %s", f->stem, said);
	for (char *s = strtok_r(all, " ", &save); s && st == HU_OK; s = strtok_r(NULL, " ", &save)) {
		char *path = hu_path(dir, "%s.%s", f->stem, s), *text = NULL;
		size_t n = 0;
		if (hu_file_read(path, &text, &n) != HU_OK || n < 200)
			st = hu_fail(HU_EUNABLE,
				"gnuplot drew no %s.%s: %s; is the disk full, does this gnuplot have the cairo "
				"terminals?",
				f->stem, s, said);
		free(text);
		free(path);
	}
	if (unlink(log) && errno != ENOENT && st == HU_OK) /* it would be moved into the page with the figures */
		st = hu_fail(HU_EIO, "%s: cannot be removed: %s", log, strerror(errno));
	free(log);
	free(all);
	return st;
}

hu_status
hu_figures_draw(const hu_figures *f, const char *dir, const char *formats, hu_figure_width width)
{
	char *first = hu_xprintf("formats = '%s'; narrow = %d", formats, width == HU_FIGURE_COLUMN);
	struct {
		pid_t pid;
		const hu_figure *f;
	} job[AT_ONCE] = { 0 };
	hu_status st = HU_OK;
	hu_progress bar;
	int next = 0, running = 0;

	hu_progress_start(&bar, "figures", (size_t)f->n);
	while (running || (st == HU_OK && next < f->n)) {
		int k = 0;
		while (k < AT_ONCE && job[k].f)
			k++;
		if (k < AT_ONCE && st == HU_OK && next < f->n) {
			const hu_figure *g = &f->at[next++];
			if (g->why) {
				hu_progress_step(&bar, 1);
				continue;
			}
			char *script = hu_xprintf("%s.gp", g->stem), *log = hu_xprintf("%s.log", g->stem);
			st = start(dir, first, script, log, &job[k].pid);
			if (st == HU_OK) {
				job[k].f = g;
				running++;
			}
			free(script);
			free(log);
			continue;
		}
		for (k = 0; !job[k].f; k++)
			;
		int code = hu_wait_for(job[k].pid, DRAW_SECONDS);
		hu_status one = check(job[k].f, dir, formats, code);
		st = st == HU_OK ? one : st;
		job[k].f = NULL;
		running--;
		hu_progress_step(&bar, 1);
	}
	hu_progress_end(&bar);
	free(first);
	return st;
}
