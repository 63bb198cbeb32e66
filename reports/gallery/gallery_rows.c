/* SPDX-License-Identifier: Apache-2.0
   The rows of gallery.def. */
#include "reports/gallery/gallery.h"

static const struct {
	const char *name, *summary;
} rows[] = {
#define PICTURE(name, summary) { name, summary },
#include "reports/gallery/gallery.def"
#undef PICTURE
};

int
hu_gallery_size(void)
{
	return (int)(sizeof rows / sizeof *rows);
}

const char *
hu_gallery_name(int i)
{
	return rows[i].name;
}

const char *
hu_gallery_summary(int i)
{
	return rows[i].summary;
}
