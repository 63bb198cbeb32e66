/* SPDX-License-Identifier: Apache-2.0
   Two processes do the same work on a model where options and the contents of the files that they name are the same. */
#include "analyzers/network/network_parts.h"

#include "lib/base/build.h"
#include "lib/base/guard/input.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int
is_file(const char *path)
{
	struct stat is;

	return !hu_input_stat(path, &is) && S_ISREG(is.st_mode);
}

/* Appends a file's path or a list, in which a file has its name and its contents' checksum, wherever it lies. */
static hu_status
say_files(hu_str *to, const char *list)
{
	int whole = is_file(list);
	hu_status st = HU_OK;

	for (const char *at = list; st == HU_OK; at++) {
		size_t n = whole ? strlen(at) : strcspn(at, ",");
		char *word = hu_xprintf("%.*s", (int)n, at), *slash = strrchr(word, '/'), hex[17];
		double bytes;
		if (!is_file(word))
			hu_str_add(to, word);
		else if ((st = hu_run_checksum(word, &bytes, hex)) == HU_OK)
			hu_str_addf(to, "%s#%s", slash ? slash + 1 : word, hex);
		free(word);
		at += n;
		if (!*at)
			break;
		hu_str_add(to, ",");
	}
	return st;
}

/* Sets *text to the line, which names every option but those in `except`. */
static hu_status
say_work(char **text, const hu_args *a, const char *except)
{
	char *more = hu_xprintf("%s shard shard:part resume json", except), *options;
	hu_status st = hu_parts_options(&options, a, more, say_files);
	hu_str s;

	hu_str_init(&s);
	hu_str_addf(&s, "by halfulp %s of", hu_build_version());
	for (int i = 0; i < a->nrest && st == HU_OK; i++) {
		hu_str_add(&s, " ");
		st = say_files(&s, a->rest[i]);
	}
	hu_str_addf(&s, ", options %s", *options ? options : "none");
	*text = s.s;
	free(options);
	free(more);
	return st;
}

/* runs/COMMAND-MODEL */
static char *
usual_place(const char *command, const hu_args *a)
{
	const char *path = a->nrest ? a->rest[0] : "", *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
		   *dot = strrchr(base, '.');

	return hu_xprintf("runs/%s-%.*s", command, (int)(dot ? (size_t)(dot - base) : strlen(base)), base);
}

hu_status
hu_network_parts_init(hu_network_parts *p, hu_share_work *w, const char *command, const char *place, const hu_args *a,
	const char *except, hu_status st)
{
	p->place = place ? hu_xstrdup(place) : usual_place(command, a);
	p->folder = hu_path(p->place, "parts");
	if (st == HU_OK)
		st = say_work(&p->text, a, except);
	w->command = command;
	w->text = p->text;
	w->folder = p->folder;
	w->place = p->place;
	return st;
}

void
hu_network_parts_release(hu_network_parts *p)
{
	free(p->text);
	free(p->folder);
	free(p->place);
}
