/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sds.c needs of redis' allocator. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static void *with_size(void *p, size_t *usable)
{
	if (usable)
		*usable = malloc_usable_size(p);
	return p;
}
void *zmalloc(size_t size)
{
	return malloc(size);
}
void *zrealloc(void *p, size_t size)
{
	return realloc(p, size);
}
void *ztrymalloc(size_t size)
{
	return malloc(size);
}
void zfree(void *p)
{
	free(p);
}
void zfree_usable(void *p, size_t *usable)
{
	with_size(p, usable);
	free(p);
}
size_t zmalloc_size(void *p)
{
	return malloc_usable_size(p);
}
size_t zmalloc_usable_size(void *p)
{
	return malloc_usable_size(p);
}
void *zmalloc_usable(size_t size, size_t *usable)
{
	return with_size(malloc(size), usable);
}
void *zrealloc_usable(void *p, size_t size, size_t *usable)
{
	return with_size(realloc(p, size), usable);
}
void *ztrymalloc_usable(size_t size, size_t *usable)
{
	return with_size(malloc(size), usable);
}
void *ztryrealloc_usable(void *p, size_t size, size_t *usable)
{
	return with_size(realloc(p, size), usable);
}
void *extend_to_usable(void *p, size_t size)
{
	(void)size;
	return p;
}
void _serverAssert(const char *a, const char *b, int c)
{
	printf("%s %s %d\n", a, b, c);
	abort();
}
int ll2string(char *s, size_t size, long long value)
{
	return snprintf(s, size, "%lld", value);
}
int ull2string(char *s, size_t size, unsigned long long value)
{
	return snprintf(s, size, "%llu", value);
}
