/* SPDX-License-Identifier: Apache-2.0
   Keeps the first failure of the system (failed.h). */
#include "lib/base/failed.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char first[1024];
static int code_of_first;

void
hu_failed_note(int code, const char *reason)
{
	pthread_mutex_lock(&lock);
	if (!code_of_first) {
		snprintf(first, sizeof first, "%s", reason);
		code_of_first = code;
	}
	pthread_mutex_unlock(&lock);
}

int
hu_failed(const char **reason)
{
	*reason = first;
	return code_of_first;
}

void
hu_failed_forget(void)
{
	pthread_mutex_lock(&lock);
	code_of_first = 0;
	pthread_mutex_unlock(&lock);
}
