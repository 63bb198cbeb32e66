/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/gemm.h"

#include "lib/base/str.h"

#include <string.h>

static const char *const names[] = {
#define GEMM(id, name, summary) name,
#include "lib/program/gemms.def"
#undef GEMM
};

const char hu_gemm_help[] = "products on a device"
#define GEMM(id, name, summary) "; " name ": " summary
#include "lib/program/gemms.def"
#undef GEMM
;

const char *
hu_gemm_name(hu_gemm_way way)
{
	return names[way];
}

hu_status
hu_gemm_find(const char *name, hu_gemm_way *way)
{
	*way = HU_GEMM_AUTO;
	if (!name)
		return HU_OK;
	for (int i = 0; i < HU_GEMM_WAYS; i++)
		if (!strcmp(names[i], name)) {
			*way = (hu_gemm_way)i;
			return HU_OK;
		}
	const char *near = hu_nearest(name, names, HU_GEMM_WAYS);
	return hu_fail(HU_EINVAL, "gemm=%s: there is no way of that name%s%s; known:"
#define GEMM(id, name, summary) " " name
#include "lib/program/gemms.def"
#undef GEMM
	               , name, near ? "; did you mean " : "", near ? near : "");
}
