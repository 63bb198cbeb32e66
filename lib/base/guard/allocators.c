/* SPDX-License-Identifier: Apache-2.0
   Hands the x-functions of mem.h to the libraries (allocators.h). */
#define _GNU_SOURCE
#define XXH_STATIC_LINKING_ONLY /* the size of a state */
#include "lib/base/guard/allocators.h"

#include "lib/base/mem.h"

#include <dlfcn.h>
#include <gmp.h>
#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdlib.h>
#include <xxhash.h>

static void *
resized(void *p, size_t from, size_t to)
{
	(void)from;
	return hu_xrealloc(p, to);
}

static void
freed(void *p, size_t n)
{
	(void)n;
	free(p);
}

/* As libcrypto calls them: with the line that asks, and with 0 bytes for nothing. */
static void *
crypto_made(size_t n, const char *file, int line)
{
	(void)file, (void)line;
	return n ? hu_xmalloc(n) : NULL;
}

static void
crypto_freed(void *p, const char *file, int line)
{
	(void)file, (void)line;
	free(p);
}

static void *
crypto_resized(void *p, size_t n, const char *file, int line)
{
	(void)file, (void)line;
	if (n)
		return hu_xrealloc(p, n);
	free(p);
	return NULL;
}

typedef int set_crypto(void *(*)(size_t, const char *, int), void *(*)(void *, size_t, const char *, int),
	void (*)(void *, const char *, int));

static void *
protobuf_made(void *data, size_t n)
{
	(void)data;
	return hu_xmalloc(n);
}

static void
protobuf_freed(void *data, void *p)
{
	(void)data;
	free(p);
}

XXH3_state_t *
hu_allocators_hash(void)
{
	XXH3_state_t *s = XXH3_createState();

	if (!s)
		hu_mem_end(sizeof *s);
	return s;
}

ProtobufCAllocator hu_allocators_protobuf = { protobuf_made, protobuf_freed, NULL };

void
hu_allocators_set(void)
{
	set_crypto *crypto = (set_crypto *)dlsym(RTLD_DEFAULT, "CRYPTO_set_mem_functions");

	mp_set_memory_functions(hu_xmalloc, resized, freed);
	json_set_alloc_funcs(hu_xmalloc, free);
	if (crypto)
		crypto(crypto_made, crypto_resized, crypto_freed);
}
