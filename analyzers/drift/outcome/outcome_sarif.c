/* SPDX-License-Identifier: Apache-2.0
   Outcomes as SARIF 2.1.0 (OASIS, 2020), the format of GitHub's code scanning and of editors: a failure is a result at
   its line of the baseline. */
#include "analyzers/drift/outcome/outcome.h"

#include "lib/base/build.h"
#include "lib/base/show.h"
#include "lib/base/console/show_json.h"
#include "lib/base/mem.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A path as a URI reference (RFC 3986): all but letters, digits and -._~/ becomes %XX. */
static json_t *
uri(const char *path)
{
	hu_str s;

	hu_str_init(&s);
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;
		int plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		hu_str_addf(&s, plain || strchr("-._~/", c) ? "%c" : "%%%02X", c);
	}
	json_t *text = json_string(s.s);
	hu_str_release(&s);
	return text;
}

/* line: 0 where no line of the source says what is right; then the result is about what was judged. */
static json_t *
result(const hu_outcomes *v, const char *name, int line, const char *text)
{
	char hash[17];
	json_t *place = json_pack("{s:{s:o}}", "artifactLocation", "uri", uri(line ? v->source : v->of));

	hu_outcome_fingerprint(hash, v, name);
	if (line)
		json_object_set_new(place, "region", json_pack("{s:i}", "startLine", line));
	return json_pack("{s:s s:s s:{s:s} s:[{s:o s:[{s:s}]}] s:{s:s}}", "ruleId", "drift", "level", "error",
		"message", "text", text, "locations", "physicalLocation", place, "logicalLocations",
		"fullyQualifiedName", name, "partialFingerprints", "halfulp/v1", hash);
}

void
hu_outcomes_sarif(FILE *out, const hu_outcomes *v)
{
	json_t *results = json_array(), *notes = json_array();

	for (size_t i = 0; i < v->n; i++) {
		const hu_outcome *o = &v->v[i];
		if (o->ok)
			continue;
		char *text =
			hu_xprintf("%s: %s%s%s", o->name, o->said, o->detail ? ": " : "", o->detail ? o->detail : "");
		if (v->error)
			json_array_append_new(
				notes, json_pack("{s:s s:{s:s}}", "level", "error", "message", "text", text));
		else if (json_array_size(results) < HU_SARIF_MOST)
			json_array_append_new(results, result(v, o->name, v->source ? o->line : 0, text));
		free(text);
	}
	const char *said[] = { v->why, v->summary };
	for (size_t i = 0; i < 2; i++)
		if (said[i] && *said[i])
			json_array_append_new(
				notes, json_pack("{s:s s:{s:s}}", "level", "note", "message", "text", said[i]));
	json_t *rule = json_pack("{s:s s:s s:{s:s}}", "id", "drift", "name", "NumericalDrift", "shortDescription",
		"text", "A quantity is not what the baseline says that it is.");
	json_t *run = json_pack("{s:{s:{s:s s:s s:[o]}} s:[{s:b s:o}] s:o}", "tool", "driver", "name", "halfulp",
		"version", hu_build_version(), "rules", rule, "invocations", "executionSuccessful", !v->error,
		"toolExecutionNotifications", notes, "results", results);
	json_t *log = json_pack("{s:s s:s s:[o]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json",
		"version", "2.1.0", "runs", run);
	hu_json_write(log, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	fputc('\n', out);
	json_decref(log);
}
