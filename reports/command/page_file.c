/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/command/page_file.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
hu_page_file_ends(const char *out, const char *suffix)
{
	size_t n = out ? strlen(out) : 0, m = strlen(suffix);

	return n > m && !strcmp(out + n - m, suffix);
}

hu_status
hu_page_file_refuse(const char *out, const char *suffix, const char *what)
{
	return hu_page_file_ends(out, suffix) ? hu_fail(HU_EINVAL, "--out %s: %s; name a folder", hu_shown(out), what)
					      : HU_OK;
}

hu_status
hu_page_file_write(const hu_str *page, const char *out, const char *what, int json)
{
	int is_file = hu_page_file_ends(out, ".html");
	char *path = is_file ? hu_xstrdup(out) : hu_path(out, "index.html");
	hu_status st = is_file ? HU_OK : hu_make_dirs(out);

	if (st == HU_OK)
		st = hu_file_write(path, page->s, page->len);
	if (st == HU_OK && json)
		printf("{\n \"page\": \"%s\"\n}\n", hu_shown(path));
	else if (st == HU_OK)
		printf("%s: the page of %s\n", hu_shown(path), what);
	free(path);
	return st;
}
