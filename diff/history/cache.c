/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_MAGIC = 0x5349484b, CACHE_VERSION = 3, MAX_FINDINGS = 10000, MAX_FINDING_BYTES = 1 << 20 };

/* The greatest size of one file: a tenth of a directory of caches. */
static const size_t max_cache_bytes = (size_t)256 << 20;

/* The head in front of the bytes, in which damage on the disk is found by a hash. */
struct cache_head {
	uint32_t magic, version;
	uint64_t hash, archive_bytes;
};

bool history_cache_path(const struct buffer *key, char *directory, size_t size, char name[HISTORY_CACHE_NAME_BYTES])
{
	snprintf(name, HISTORY_CACHE_NAME_BYTES, "%016" PRIx64, hash_bytes(key->data, key->size));
	return cache_directory_path("histories", directory, size);
}

void history_cache_deinit(struct history_cache *cache)
{
	for (size_t i = 0; i < cache->finding_count; i++)
		buffer_deinit(&cache->findings[i].bytes);
	free(cache->findings);
	hash_map_deinit(&cache->by_key);
	summary_archive_close(cache->archive);
	buffer_deinit(&cache->bytes);
}

bool history_cache_keep(struct history_cache *cache, uint64_t key, struct buffer *bytes, struct error *err)
{
	struct history_cache_finding *added;
	uint32_t *found;
	bool is_new;

	if (!ARRAY_RESERVE(&cache->findings, &cache->finding_capacity, cache->finding_count + 1, MAX_FINDINGS, err))
		return false;
	found = hash_map_enter(&cache->by_key, &key, (uint32_t)cache->finding_count, &is_new);
	added = &cache->findings[cache->finding_count++];
	*added = (struct history_cache_finding){ key, *bytes, true };
	*found = (uint32_t)(cache->finding_count - 1);
	*bytes = (struct buffer){ 0 };
	cache->has_new_findings = true;
	return true;
}

const struct buffer *history_cache_finding(struct history_cache *cache, uint64_t key)
{
	uint32_t found = hash_map_get(&cache->by_key, &key);

	if (found == HASH_MAP_NONE)
		return NULL;
	cache->findings[found].is_used = true;
	return &cache->findings[found].bytes;
}

static bool cache_read_findings(struct history_cache *cache, struct byte_reader *r, struct error *err)
{
	uint64_t count = byte_reader_uleb128(r);

	for (uint64_t i = 0; i < count && i < MAX_FINDINGS && byte_reader_ok(r); i++) {
		CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(MAX_FINDING_BYTES);
		uint64_t key = byte_reader_u64(r), size = byte_reader_uleb128(r);
		const uint8_t *at = size <= MAX_FINDING_BYTES ? byte_reader_bytes(r, (size_t)size) : NULL;

		if (!at)
			break;
		buffer_append(&bytes, at, (size_t)size);
		if (!buffer_ok(&bytes, err) || !history_cache_keep(cache, key, &bytes, err))
			return false;
		cache->findings[cache->finding_count - 1].is_used = false;
	}
	cache->has_new_findings = false;
	return true;
}

/* Returns whether the bytes are those that were written, by this version. */
static bool cache_is_whole(const struct buffer *bytes, struct cache_head *head)
{
	if (bytes->size < sizeof(*head))
		return false;
	memcpy(head, bytes->data, sizeof(*head));
	return head->magic == CACHE_MAGIC && head->version == CACHE_VERSION &&
	       head->archive_bytes <= bytes->size - sizeof(*head) &&
	       head->hash == hash_bytes(bytes->data + sizeof(*head), bytes->size - sizeof(*head));
}

bool history_cache_read(int fd, struct summary_set *set, struct history_cache *cache, struct error *err)
{
	const struct file_opened file = { (char *)(uintptr_t) "the cache of histories", fd };
	struct cache_head head;
	struct byte_reader rest;
	struct error why = { 0 };
	const char *at;

	hash_map_init(&cache->by_key, sizeof(uint64_t));
	buffer_init(&cache->bytes, max_cache_bytes);
	if (fd < 0 || !file_read_opened(&file, &cache->bytes, &why) || !cache_is_whole(&cache->bytes, &head))
		return true;
	at = cache->bytes.data + sizeof(head);
	if (!summary_archive_open(at, (size_t)head.archive_bytes, set, &cache->archive, &why))
		return true;
	rest = byte_reader_over(at + head.archive_bytes, cache->bytes.size - sizeof(head) - (size_t)head.archive_bytes);
	return cache_read_findings(cache, &rest, err);
}

bool history_cache_write(const struct history_cache *cache, const struct summary_set *set, const size_t *summaries,
	size_t count, const uint8_t (*tags)[SUMMARY_TAG_BYTES], struct buffer *out, struct error *err)
{
	struct cache_head head = { .magic = CACHE_MAGIC, .version = CACHE_VERSION };
	size_t start = out->size, used = 0;

	out->max_bytes = max_cache_bytes;
	buffer_append(out, &head, sizeof(head));
	if (!summary_archive_write(set, summaries, count, tags, out, err))
		return false;
	head.archive_bytes = out->size - start - sizeof(head);
	for (size_t i = 0; i < cache->finding_count; i++)
		used += cache->findings[i].is_used;
	buffer_append_varint(out, used);
	for (size_t i = 0; i < cache->finding_count; i++) {
		const struct history_cache_finding *finding = &cache->findings[i];

		if (!finding->is_used)
			continue;
		buffer_append(out, &finding->key, sizeof(finding->key));
		buffer_append_varint(out, finding->bytes.size);
		buffer_append(out, finding->bytes.data, finding->bytes.size);
	}
	if (!buffer_ok(out, err))
		return false;
	head.hash = hash_bytes(out->data + start + sizeof(head), out->size - start - sizeof(head));
	memcpy(out->data + start, &head, sizeof(head));
	return true;
}
