/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/record/machine.h"

#include "lib/base/failed.h"
#include "lib/base/guard/guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

const char *
hu_machine_processor(void)
{
	static char name[128];
	char line[512];
	FILE *f = *name ? NULL : fopen("/proc/cpuinfo", "r");

	if (!f && !*name)
		hu_guard_note("/proc/cpuinfo");
	while (f && fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !colon)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
		break;
	}
	if (f && ferror(f))
		hu_guard_note("/proc/cpuinfo");
	if (f)
		fclose(f);
	if (!*name)
		strcpy(name, "unknown processor");
	return name;
}

const char *
hu_machine_system(void)
{
	static char name[256];
	struct utsname u;

	if (!uname(&u))
		snprintf(name, sizeof name, "%.60s %.100s %.60s", u.sysname, u.release, u.machine);
	else
		hu_failed_note(HU_EXIT_ENV, "the system does not say its name");
	return name;
}
