/* SPDX-License-Identifier: Apache-2.0
   Names of formats and rounding modes. */
#include "lib/number/format.h"

#include "lib/number/custom.h"
#include "lib/number/names.h"

static int
is_custom(hu_format_id id)
{
	return ((int)id & HU_CUSTOM) != 0;
}

const char *
hu_format_name(hu_format_id id)
{
	return is_custom(id) ? hu_custom_name(id) : (int)id < HU_FORMATS ? hu_format_names[id].name : "-";
}

const char *
hu_format_summary(hu_format_id id)
{
	return is_custom(id) ? hu_custom_summary(id) : (int)id < HU_FORMATS ? hu_format_names[id].summary : "-";
}

const char *
hu_format_aliases(hu_format_id id)
{
	return (int)id < HU_FORMATS ? hu_format_names[id].alias : "";
}

const char *hu_mode_name(hu_mode m) { return hu_mode_names[m].name; }
const char *hu_mode_summary(hu_mode m) { return hu_mode_names[m].summary; }
