/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/gallery/child.h"

#include "lib/base/build.h"
#include "lib/base/file.h"
#include "lib/base/guard/children.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Cuts the line into words in place; returns a list that ends with NULL, which the caller frees. */
static char **
words_of(char *line)
{
	char **word = NULL;
	int n = 0, cap = 0;

	for (char *s = line; *(s += strspn(s, " "));) {
		char *to = s;
		HU_GROW(word, n, cap);
		word[n++] = s;
		for (int quoted = 0; *s && (quoted || *s != ' '); s++)
			if (*s == '\'')
				quoted = !quoted;
			else
				*to++ = *s;
		s += *s == ' ';
		*to = 0;
	}
	HU_GROW(word, n, cap);
	word[n] = NULL;
	return word;
}

/* Becomes this program in the child process: out and err are paths. Does not return. */
static void
become(char **word, const char *work, const char *out, const char *err)
{
	int in = open("/dev/null", O_RDONLY), o = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666),
	    e = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	char *self = hu_build_program(); /* before the folder is another one */

	if (!self || in < 0 || o < 0 || e < 0 || chdir(work))
		_exit(126);
	if (dup2(in, 0) < 0 || dup2(o, 1) < 0 || dup2(e, 2) < 0)
		_exit(126);
	execv(self, word);
	_exit(127);
}

static hu_status
failed(const char *figure, const char *command, int code, const char *err)
{
	char *text = NULL, *last = NULL, *save = NULL;
	size_t n;

	if (hu_file_read(err, &text, &n) == HU_OK)
		for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
			last = l;
	hu_status st = hu_fail(HU_EUNABLE, "figure %s: `%s` ended with exit code %d: %s", figure, command, code,
		last ? last : "it said nothing");
	free(text);
	return st;
}

hu_status
hu_child(const char *figure, const char *command, const char *work, char **data, size_t *n)
{
	char *line = hu_xstrdup(command), **word = words_of(line), *out = hu_xprintf("%s/.out", work),
	     *err = hu_xprintf("%s/.err", work);
	int status = 0;
	hu_status st = HU_OK;

	fflush(NULL);
	pid_t self = getpid(), pid = fork();
	if (!pid) {
		hu_end_with(self);
		become(word, work, out, err);
	}
	if (pid < 0)
		st = hu_fail(HU_EUNABLE, "no process can be started: %s", strerror(errno));
	while (st == HU_OK && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			st = hu_fail(HU_EUNABLE, "figure %s: `%s` cannot be waited for: %s", figure, command,
				strerror(errno));
	int ended = WIFEXITED(status) ? WEXITSTATUS(status) : HU_EXIT_ENV;
	/* what a command judged to fail, as two files that differ, it has printed whole */
	if (st == HU_OK && ended != HU_EXIT_OK && !(data && ended == HU_EXIT_JUDGED))
		st = failed(figure, command, WIFEXITED(status) ? WEXITSTATUS(status) : -1, err);
	if (st == HU_OK && data)
		st = hu_file_read(out, data, n);
	free(word);
	free(line);
	free(out);
	free(err);
	return st;
}
