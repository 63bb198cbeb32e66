/* SPDX-License-Identifier: Apache-2.0
   Outcomes in the format that was asked for. */
#include "analyzers/drift/outcome/outcome.h"

#include "lib/base/console/opt.h"

#include <stdlib.h>
#include <string.h>

const char *
hu_outcome_format(const char *given)
{
	const char *all = getenv("HALFULP_RESULTS");

	return given ? given : all && *all ? all : "text";
}

hu_outcomes_writer *
hu_outcomes_writer_find(const char *name)
{
	static const struct {
		const char *name;
		hu_outcomes_writer *write;
	} all[] = { { "text", hu_outcomes_text }, { "json", hu_outcomes_json }, { "tap", hu_outcomes_tap },
		{ "junit", hu_outcomes_junit }, { "github", hu_outcomes_github }, { "gitlab", hu_outcomes_gitlab },
		{ "sarif", hu_outcomes_sarif }, { "markdown", hu_outcomes_markdown } };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(all[i].name, name))
			return all[i].write;
	return NULL;
}

hu_status
hu_outcome_format_check(const char *format)
{
	return hu_outcomes_writer_find(format) ? HU_OK
					       : hu_fail(HU_EINVAL,
							 "--format %s: tap, junit, json, github, gitlab, sarif or "
							 "markdown is needed, or text for a table",
							 format);
}

int
hu_outcomes_end(hu_outcomes *v, const char *format)
{
	int code = v->failed || !v->n ? HU_EXIT_JUDGED : HU_EXIT_OK;

	hu_outcomes_writer_find(format)(stdout, v);
	hu_outcomes_release(v);
	return code;
}
