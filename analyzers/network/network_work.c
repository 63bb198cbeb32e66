/* SPDX-License-Identifier: Apache-2.0
   What says that two processes do the same work on a model: options, and the contents of the files that they name. */
#include "analyzers/network/network.h"

#include "lib/base/build.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/parts/parts.h"
#include "lib/store/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Appends the checksum of each file that a word of the list names. */
static hu_status
add_files(hu_str *s, const char *list)
{
	char *all = hu_xstrdup(list), *save = NULL, hex[17];
	hu_status st = HU_OK;
	struct stat is;
	double bytes;

	for (char *w = strtok_r(all, ",", &save); w && st == HU_OK; w = strtok_r(NULL, ",", &save))
		if (!stat(w, &is) && S_ISREG(is.st_mode) && (st = hu_run_checksum(w, &bytes, hex)) == HU_OK)
			hu_str_addf(s, " %s", hex);
	free(all);
	return st;
}

hu_status
hu_network_work(char **text, const hu_args *a, const char *except)
{
	char *more = hu_xprintf("%s shard part resume json", except), *options = hu_parts_command(a, more);
	hu_status st = HU_OK;
	hu_str s;

	hu_str_init(&s);
	hu_str_add(&s, options);
	for (int i = 0; i < a->nrest && st == HU_OK; i++)
		st = add_files(&s, a->rest[i]);
	for (int i = 0; i < a->neach && st == HU_OK; i++)
		if (a->opts[a->each[i].opt].arg)
			st = add_files(&s, a->each[i].value);
	*text = hu_xprintf("%s by halfulp %s with options and files %016llx", a->nrest ? a->rest[0] : "",
		hu_build_version(), (unsigned long long)hu_fnv1a64(s.s));
	hu_str_release(&s);
	free(options);
	free(more);
	return st;
}

char *
hu_network_place(const char *command, const hu_args *a)
{
	const char *path = a->nrest ? a->rest[0] : "", *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
		   *dot = strrchr(base, '.');

	return hu_xprintf("runs/%s-%.*s", command, (int)(dot ? (size_t)(dot - base) : strlen(base)), base);
}
