/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/input.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
hu_input_at(const char *reads, int i, hu_input *in)
{
	char class[8] = "";

	for (; i && *reads; i--) {
		reads += strcspn(reads, " ");
		reads += strspn(reads, " ");
	}
	if (!*reads)
		return 0;
	memset(in, 0, sizeof *in);
	int found = sscanf(reads, "%31[a-z_]%63[^] ]]:%7[a-z]", in->name, in->shape, class);
	HU_ASSERT(found >= 2 && !strncmp(in->shape, "[n", 2) && (found == 2 || !strcmp(class, "class")));
	strcat(in->shape, "]"); /* there is room: the format of sscanf leaves one byte */
	for (const char *s = in->shape; *s; s++)
		in->rank += *s == ',';
	in->more = strstr(in->shape, "...") != NULL;
	in->classes = found == 3;
	return 1;
}

/* Returns 1 where a row of that shape fits `in`. */
static int
fits(const hu_input *in, hu_shape shape)
{
	const char *s = in->shape + 2; /* behind "[n" */

	for (int k = 0; *s == ',' && k < shape.rank; k++, s += 1 + strcspn(s + 1, ",]"))
		if (s[1] >= '0' && s[1] <= '9' && strtoull(s + 1, NULL, 10) != shape.d[k])
			return 0;
	return in->more ? shape.rank >= in->rank : shape.rank == in->rank;
}

/* Returns a shape as text: [n,28,28,1]. */
static char *
shape_text(hu_shape s)
{
	hu_str b;

	hu_str_init(&b);
	hu_str_add(&b, "[n");
	for (int k = 0; k < s.rank; k++)
		hu_str_addf(&b, ",%zu", s.d[k]);
	hu_str_add(&b, "]");
	return b.s;
}

static hu_status
check_one(const char *model, const hu_input *in, const hu_dataset *ds)
{
	const hu_data_array *a = hu_dataset_find(ds, in->name);
	hu_status st = HU_OK;

	if (!a)
		return hu_fail(HU_EINVAL, "model %s reads %s%s, and data set %s has no %s", model, in->name, in->shape,
			ds->name, in->name);
	char *has = shape_text(a->shape);
	if (!fits(in, a->shape))
		st = hu_fail(HU_EINVAL, "model %s reads %s%s, and data set %s has %s%s", model, in->name, in->shape,
			ds->name, in->name, has);
	else if (in->classes && !a->classes)
		st = hu_fail(HU_EINVAL, "model %s reads classes from %s, which are any numbers in data set %s", model,
			in->name, ds->name);
	free(has);
	return st;
}

hu_status
hu_input_check(const char *model, const char *reads, const hu_dataset *ds)
{
	hu_input in;

	for (int i = 0; hu_input_at(reads, i, &in); i++)
		HU_TRY(check_one(model, &in, ds));
	return HU_OK;
}

int
hu_input_named(const char *reads, const char *name)
{
	hu_input in;

	for (int i = 0; hu_input_at(reads, i, &in); i++)
		if (!strcmp(in.name, name))
			return 1;
	return 0;
}

const char *
hu_input_default(const char *reads)
{
	const char *name;

	for (size_t i = 0; (name = hu_dataset_name(i)); i++) {
		hu_dataset ds;
		if (hu_dataset_is_file(name) ||
			hu_dataset_open(&ds, name,
				&(hu_dataset_options){ .reads = reads, .dimensions_only = 1 }) != HU_OK)
			continue;
		hu_status st = hu_input_check("", reads, &ds);
		hu_dataset_release(&ds);
		if (st == HU_OK)
			return name;
	}
	return NULL;
}
