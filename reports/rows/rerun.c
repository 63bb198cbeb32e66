/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create */
#include "lib/base/show.h"
#include "reports/rows/rerun.h"

#include "lib/base/console/command.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "reports/human.h"
#include "reports/rows/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns 1 where the option is the command's own, and so is the value that it has. */
static int
is_own(const hu_command *c, const hu_args *a, const char *name, const char *value)
{
	const hu_opt *o = c->opts;

	while (o->name && strcmp(o->name, name))
		o++;
	return o->name && (strcmp(name, "out") || hu_outputs_is_own(c, a, value));
}

/* Makes the line, which the caller frees word by word; *shown is its text without the words of `more`. */
static char **
own_line(const hu_command *c, const hu_args *a, const char *more, int *argc, char **shown)
{
	char **argv = hu_xcalloc((size_t)(a->neach + a->nrest) + strlen(more) + 4, sizeof *argv),
	     *words = hu_xstrdup(more), *save = NULL;
	int n = 0;
	hu_str b;

	argv[n++] = hu_xstrdup(c->name);
	for (int i = 0; i < a->neach; i++) {
		const hu_opt *o = &a->opts[a->each[i].opt];
		if (is_own(c, a, o->name, a->each[i].value) && strcmp(o->name, "json"))
			argv[n++] =
				o->arg ? hu_xprintf("--%s=%s", o->name, a->each[i].value) : hu_xprintf("--%s", o->name);
	}
	int own = n;
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (strncmp(w, "--", 2) || !hu_args_given(a, w + 2) || !strcmp(w, "--json"))
			argv[n++] = hu_xstrdup(w);
	if (a->nrest)
		argv[n++] = hu_xstrdup("--");
	for (int i = 0; i < a->nrest; i++)
		argv[n++] = hu_xstrdup(a->rest[i]);
	free(words);

	hu_str_init(&b);
	hu_str_addf(&b, "halfulp %s", c->name);
	for (int i = 0; i < a->nrest; i++) {
		hu_str_add(&b, " ");
		hu_show_word(&b, a->rest[i]);
	}
	for (int i = 1; i < own; i++) {
		hu_str_add(&b, " ");
		hu_show_word(&b, argv[i]);
	}
	*shown = b.s;
	*argc = n;
	return argv;
}

/* Opens a file without a name: in memory, or in TMPDIR where the system has no such files. */
static hu_status
nameless(FILE **f)
{
#ifdef MFD_CLOEXEC
	int of_memory = memfd_create("halfulp-rows", MFD_CLOEXEC);

	if (of_memory >= 0 && (*f = fdopen(of_memory, "w+")))
		return HU_OK;
	if (of_memory >= 0)
		close(of_memory);
#endif
	const char *tmp = getenv("TMPDIR");
	char *path = hu_xprintf("%s/halfulp-rows-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	int fd = mkstemp(path);

	*f = fd < 0 ? NULL : fdopen(fd, "w+");
	hu_status st = *f ? HU_OK
			  : hu_fail(HU_EIO, "%s: %s; TMPDIR names a folder for temporary files", path, strerror(errno));
	if (fd >= 0)
		unlink(path);
	free(path);
	return st;
}

static void
read_all(hu_rerun *o, FILE *f)
{
	char part[4096];
	hu_str all;

	hu_str_init(&all);
	rewind(f);
	for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
		hu_str_addn(&all, part, n);
	o->json = all.s;
	o->n = all.len;
}

hu_status
hu_rerun_run(hu_rerun *o, const hu_command *c, const hu_args *a, const char *more)
{
	hu_command_end end = { 0, NULL };
	FILE *f;
	int argc;

	memset(o, 0, sizeof *o);
	HU_TRY(nameless(&f));
	char **argv = own_line(c, a, more, &argc, &o->command);
	hu_status st = hu_command_run(&end, argc, argv, fileno(f), 1);
	o->code = end.code;
	if (st == HU_OK && end.code <= HU_EXIT_JUDGED)
		read_all(o, f);
	fclose(f);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	free(argv);
	free(end.reason);
	return st;
}

void
hu_rerun_release(hu_rerun *o)
{
	free(o->command);
	free(o->json);
	memset(o, 0, sizeof *o);
}
