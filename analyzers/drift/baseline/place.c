/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/baseline/place.h"

#include "analyzers/drift/baseline/baseline_program.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <stdlib.h>
#include <string.h>

void
hu_place_init(hu_place *p, const char *key)
{
	enum { MOST = 8 };
	char *part[MOST], *save = NULL;
	int n = 0;

	*p = (hu_place){ .text = hu_xstrdup(key), .step = -1, .call = -1 };
	for (char *s = strtok_r(p->text, "/", &save); s && n < MOST; s = strtok_r(NULL, "/", &save))
		part[n++] = s;
	p->table = n ? part[0] : "";
	p->column = n ? part[n - 1] : "";
	p->summed = n == 3 && !strcmp(p->table, "summary") ? part[1] : NULL;
	if (n < 3 || part[1][strspn(part[1], "0123456789")] || hu_is_program_row(key))
		return;
	p->step = strtoll(part[1], NULL, 10);
	if (n == 4) { /* TABLE/step/tensor/column */
		p->tensor = part[2];
	} else if (n > 5 && !part[3][strspn(part[3], "0123456789")]) { /* TABLE/step/layer/call/tensor/…/column */
		p->layer = part[2];
		p->call = (int)strtol(part[3], NULL, 10);
		p->tensor = part[4];
	}
}

void
hu_place_release(hu_place *p)
{
	free(p->text);
	memset(p, 0, sizeof *p);
}

void
hu_place_words(hu_str *s, const char *key)
{
	hu_place p;

	hu_place_init(&p, key);
	if (p.summed)
		hu_str_addf(s, "%s of %s over all steps", p.column, p.summed);
	else
		hu_str_addf(s, "%s", p.tensor ? p.column : key);
	if (p.tensor)
		hu_str_addf(s, " of %s", hu_shown(p.tensor));
	if (p.tensor && p.step >= 0)
		hu_str_addf(s, " at step %lld", p.step);
	hu_place_release(&p);
}
