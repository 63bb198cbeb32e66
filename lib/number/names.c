/* SPDX-License-Identifier: Apache-2.0
   The names of the rows of formats.def and modes.def. */
#include "lib/number/names.h"

#include <string.h>
#include <strings.h>

const hu_name hu_format_names[HU_FORMATS] = {
#define FORMAT(id, name, bits, ebits, p, emin, emax, max, special, alias, summary) { name, alias, summary },
#include "lib/number/formats.def"
#undef FORMAT
};

const hu_name hu_mode_names[HU_MODES] = {
#define MODE(id, name, alias, summary) { name, alias, summary },
#include "lib/number/modes.def"
#undef MODE
};

static int
known_as(const hu_name *r, const char *name)
{
	size_t n = strlen(name);

	if (!strcasecmp(r->name, name))
		return 1;
	for (const char *s = r->alias; *s;) {
		size_t k = strcspn(s, ",");
		if (k == n && !strncasecmp(s, name, n))
			return 1;
		s += k + (s[k] == ',');
	}
	return 0;
}

int
hu_name_find(const hu_name *rows, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (known_as(&rows[i], name))
			return i;
	return -1;
}
