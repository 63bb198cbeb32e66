/* SPDX-License-Identifier: Apache-2.0
   The table of analyzers. */
#include "analyzers/run/analyzer.h"

static const hu_analyzer *const table[] = {
#define ANALYZER(id, name, flags, reads) &hu_analyzer_##id,
#include "analyzers/run/analyzers.def"
#undef ANALYZER
	NULL
};

static const char *const reads[] = {
#define ANALYZER(id, name, flags, reads) reads,
#include "analyzers/run/analyzers.def"
#undef ANALYZER
};

static const int flags[] = {
#define ANALYZER(id, name, flags, reads) flags,
#include "analyzers/run/analyzers.def"
#undef ANALYZER
};

const hu_analyzer *
hu_analyzer_at(int i)
{
	return i >= 0 && i < (int)(sizeof table / sizeof *table) ? table[i] : NULL;
}

const char *
hu_analyzer_reads(int i)
{
	return i >= 0 && i < (int)(sizeof reads / sizeof *reads) ? reads[i] : NULL;
}

int
hu_analyzer_flags(int i)
{
	return i >= 0 && i < (int)(sizeof flags / sizeof *flags) ? flags[i] : 0;
}
