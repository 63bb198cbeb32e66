/* SPDX-License-Identifier: Apache-2.0
   Runs Graphviz' dot on a graph, and reads the positions that it prints (-Tplain). */
#include "reports/model/layout.h"

#include "lib/base/guard/children.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 30, INCH = 72 }; /* how long dot may take; pixels of an inch */

/* Writes the graph for dot: nodes are numbers, so that no name is read as a program. */
static void
write_graph(FILE *to, const hu_layout *l)
{
	fputs("digraph g { nodesep=0.25; ranksep=0.4; node [shape=box, fixedsize=true, label=\"\"];\n", to);
	for (size_t i = 0; i < l->n; i++)
		fprintf(to, "%zu [width=%.4f, height=%.4f];\n", i, l->wide[i] / INCH, l->high[i] / INCH);
	for (size_t e = 0; e < l->nedge; e++)
		fprintf(to, "%zu -> %zu;\n", l->edge[e].from, l->edge[e].to);
	fputs("}\n", to);
}

/* Becomes dot in the child process. Does not return. */
static void
become_dot(FILE *in, FILE *out)
{
	const char *given = getenv("DOT");
	char *words[] = { "dot", "-Tplain", NULL };

	if (dup2(fileno(in), 0) < 0 || dup2(fileno(out), 1) < 0 || !freopen("/dev/null", "w", stderr))
		_exit(126);
	execvp(given && *given ? given : "dot", words);
	_exit(errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 127 : 126);
}

/* Sets *code as hu_wait_for returns it. */
static hu_status
run(FILE *in, FILE *out, int *code)
{
	fflush(NULL);
	if (ferror(in) || fseek(in, 0, SEEK_SET))
		return hu_fail(HU_EUNABLE, "a temporary file for dot cannot be written: %s", strerror(errno));
	pid_t self = getpid(), pid = fork();
	if (pid < 0)
		return hu_fail(HU_EUNABLE, "dot could not be started: %s", strerror(errno));
	if (!pid) {
		hu_end_with(self);
		become_dot(in, out);
	}
	*code = hu_wait_for(pid, SECONDS);
	if (*code == 126)
		return hu_fail(HU_EUNABLE, "dot could not be started: the system gives it no files or no process");
	if (fseek(out, 0, SEEK_SET))
		return hu_fail(HU_EUNABLE, "the layout by dot cannot be read: %s", strerror(errno));
	return HU_OK;
}

/* Reads the points of an edge line. Returns 0 where they are none. */
static int
read_edge(hu_layout *l, char *words)
{
	char *save = NULL, *from = strtok_r(words, " ", &save), *to = strtok_r(NULL, " ", &save),
	     *count = strtok_r(NULL, " ", &save);
	size_t n = count ? strtoul(count, NULL, 10) : 0, e = 0;

	if (n < 4 || n % 3 != 1 || n > 10000)
		return 0;
	while (e < l->nedge &&
		(l->edge[e].xy || l->edge[e].from != strtoul(from, NULL, 10) || l->edge[e].to != strtoul(to, NULL, 10)))
		e++;
	if (e == l->nedge)
		return 0;
	l->edge[e].points = n;
	l->edge[e].xy = hu_xcalloc(2 * n, sizeof *l->edge[e].xy);
	for (size_t i = 0; i < 2 * n; i++) {
		char *w = strtok_r(NULL, " ", &save);
		if (!w)
			return 0;
		l->edge[e].xy[i] = i % 2 ? l->height - INCH * strtod(w, NULL) : INCH * strtod(w, NULL);
	}
	return 1;
}

/* Sets *placed to 1 where every node and edge has its place. HU_EUNABLE where the answer could not be read to its
   end. */
static hu_status
read_plain(hu_layout *l, FILE *out, int *placed)
{
	size_t nodes = 0, edges = 0, room = 0, at;
	double scale, x, y;
	char *line = NULL;
	int good = 1;

	while (good && getline(&line, &room, out) > 0) {
		if (sscanf(line, "graph %lf %lf %lf", &scale, &x, &y) == 3) {
			l->width = INCH * x;
			l->height = INCH * y;
		} else if (sscanf(line, "node %zu %lf %lf", &at, &x, &y) == 3 && at < l->n) {
			l->x[at] = INCH * x;
			l->y[at] = l->height - INCH * y;
			nodes++;
		} else if (!strncmp(line, "edge ", 5)) {
			good = read_edge(l, line + 5);
			edges++;
		}
	}
	free(line);
	if (good && !feof(out))
		return hu_fail(HU_EUNABLE, "the layout by dot cannot be read: %s", strerror(errno));
	*placed = good && nodes == l->n && edges == l->nedge;
	return HU_OK;
}

static void
forget(hu_layout *l)
{
	for (size_t e = 0; e < l->nedge; e++) {
		free(l->edge[e].xy);
		l->edge[e].xy = NULL;
	}
	l->width = l->height = 0;
}

hu_status
hu_layout_dot(hu_layout *l)
{
	FILE *in = tmpfile(), *out = tmpfile();
	int code = 0, placed = 0;
	hu_status st = HU_OK;

	if (!in || !out)
		st = hu_fail(HU_EUNABLE, "a temporary file for dot cannot be made: %s", strerror(errno));
	if (st == HU_OK) {
		write_graph(in, l);
		st = run(in, out, &code);
	}
	if (st == HU_OK && code == 0)
		st = read_plain(l, out, &placed);
	if (st == HU_OK && code == 0 && !placed) {
		forget(l);
		l->why = hu_xstrdup("Graphviz’ dot gave no layout");
	} else if (st == HU_OK && code == HU_WAIT_HANGS) {
		l->why = hu_xprintf("Graphviz’ dot took more than %d seconds", SECONDS);
	} else if (st == HU_OK && code == 127) {
		l->why = hu_xstrdup("Graphviz’ dot is not installed");
	} else if (st == HU_OK && code) {
		l->why = hu_xprintf("Graphviz’ dot failed with code %d", code);
	}
	if (st != HU_OK)
		forget(l);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
	return st;
}
