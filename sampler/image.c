/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/proc.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IMAGES = 1 << 20, MAX_VDSO_BYTES = 1 << 16 };

/* A file is known by device and inode; memory without a file by the process. The hash of the path tells JIT dumps of one inode 0.
 */
struct image_key {
	uint64_t inode, path_hash;
	uint32_t major, minor;
	int32_t pid;
	uint32_t kind;
};

void image_keys_init(struct hash_map *map)
{
	hash_map_init(map, sizeof(struct image_key));
}

static enum profile_mapping_kind kind_of(const struct elf_mapping *mapped)
{
	const char *path = mapped->path;

	if (strcmp(path, "[vdso]") == 0)
		return PROFILE_MAPPING_VDSO;
	if (path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) != 0 && strncmp(path, "/dev/", 5) != 0 &&
		strncmp(path, "/SYSV", 5) != 0)
		return PROFILE_MAPPING_FILE;
	return PROFILE_MAPPING_ANON;
}

static struct image_key key_of(const struct elf_mapping *mapped, enum profile_mapping_kind kind)
{
	struct image_key key = { .kind = kind };

	switch (kind) {
	case PROFILE_MAPPING_FILE:
		key.inode = mapped->inode;
		key.major = mapped->device_major;
		key.minor = mapped->device_minor;
		key.path_hash = mapped->inode ? 0 : hash_bytes(mapped->path, strlen(mapped->path));
		break;
	case PROFILE_MAPPING_JIT:
	case PROFILE_MAPPING_ANON:
		key.pid = mapped->pid;
		break;
	case PROFILE_MAPPING_KERNEL:
	case PROFILE_MAPPING_VDSO:
		break;
	}
	return key;
}

static bool open_vdso(const struct elf_mapping *mapped, struct elf_image **image, struct error *err)
{
	CLEANUP(cleanup_free) uint8_t *bytes = NULL;
	CLEANUP(cleanup_close) int fd = -1;
	size_t size = mapped->end - mapped->start;
	char path[64];

	if (size > MAX_VDSO_BYTES)
		return error_set(err, ERROR_FORMAT, "vdso of %zu bytes", size);
	bytes = malloc(size);
	if (!bytes)
		return error_set_memory(err);
	snprintf(path, sizeof(path), "/proc/%d/mem", mapped->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, bytes, size, (off_t)mapped->start) != (ssize_t)size)
		return error_set(err, ERROR_NOT_FOUND, "cannot read the vdso of pid %d", mapped->pid);
	return elf_image_open_memory(bytes, size, "[vdso]", image, err);
}

/* The pid as the process itself sees it: perf maps are named by it. */
static int32_t innermost_pid(int32_t pid)
{
	char path[64], line[256];
	int32_t inner = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) == 0 && last)
			inner = atoi(last + 1);
	}
	if (file)
		fclose(file);
	return inner;
}

/* Executable memory without a file is a JIT's when the process writes a perf map. */
static bool find_jit_map(const struct elf_mapping *mapped, struct process_image *image, struct error *err)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", mapped->pid, innermost_pid(mapped->pid));
	if (access(path, R_OK) != 0)
		return true;
	image->jit_map = strdup(path);
	return image->jit_map ? true : error_set_memory(err);
}

/* From the first to the last executable byte, in image addresses. */
static void span_of(const struct elf_image *elf, struct profile_mapping *mapping)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(elf, &count);
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		uint64_t end = segments[i].address + segments[i].memory_size;

		if (!(segments[i].flags & PF_X))
			continue;
		if (!found) {
			mapping->start = segments[i].address;
			mapping->file_offset = segments[i].file_offset;
			mapping->end = end;
		} else if (end > mapping->end) {
			mapping->end = end;
		}
		found = true;
	}
}

static bool open_image(struct process_table *table, const struct elf_mapping *mapped, enum profile_mapping_kind kind,
	struct process_image *image, struct error *err)
{
	struct error why;
	bool opened;

	if (kind == PROFILE_MAPPING_ANON)
		return find_jit_map(mapped, image, err);
	opened = kind == PROFILE_MAPPING_VDSO ? open_vdso(mapped, &image->elf, &why)
					      : elf_image_open_mapping(mapped, &image->elf, &why);
	if (!opened) {
		if (table->notices)
			buffer_printf(table->notices, "%s: its code stays unnamed\n", why.message);
		return true;
	}
	return cfi_table_create(image->elf, &image->table, err);
}

static bool describe(struct process_table *table, const struct elf_mapping *mapped, enum profile_mapping_kind kind,
	struct process_image *image, struct error *err)
{
	struct profile_mapping mapping = { .kind = kind, .start = 0, .end = UINT64_MAX };
	char build_id[2 * ELF_BUILD_ID_MAX_SIZE + 1] = "", anonymous[64];
	const char *path = mapped->path;

	if (image->elf) {
		path = elf_image_path(image->elf);
		mapping.deleted = elf_image_is_deleted(image->elf);
		elf_build_id_format(elf_image_build_id(image->elf), build_id);
		span_of(image->elf, &mapping);
	}
	if (kind == PROFILE_MAPPING_ANON) {
		snprintf(anonymous, sizeof(anonymous), image->jit_map ? "/tmp/perf-%d.map" : "//anon", innermost_pid(mapped->pid));
		path = anonymous;
		mapping.kind = image->jit_map ? PROFILE_MAPPING_JIT : kind;
	}
	return profile_intern(table->profile, path, &mapping.path, err) &&
	       profile_intern(table->profile, build_id, &mapping.build_id, err) &&
	       profile_add_mapping(table->profile, &mapping, &image->mapping_id, err);
}

/* By the PT_LOAD that holds the mapping's first byte; a mapping begins on a page, a segment may begin behind it. */
static uint64_t bias_of(const struct elf_image *elf, const struct elf_mapping *mapped)
{
	const uint64_t page_mask = ~(uint64_t)0xfff;
	size_t count;
	const struct elf_segment *segments = elf_image_segments(elf, &count);
	uint64_t offset = mapped->file_offset, end = offset + (mapped->end - mapped->start);

	for (size_t i = 0; i < count; i++) {
		const struct elf_segment *segment = &segments[i];

		if (!(segment->flags & PF_X) || (segment->file_offset & page_mask) >= end ||
			offset >= segment->file_offset + segment->file_size)
			continue;
		return segment->address - segment->file_offset + offset - mapped->start;
	}
	return offset - mapped->start;
}

static bool add_image(struct process_table *table, const struct process_image *image, uint32_t *id, struct error *err)
{
	if (!ARRAY_RESERVE(&table->images, &table->image_capacity, table->image_count + 1, MAX_IMAGES, err))
		return false;
	table->images[table->image_count] = *image;
	*id = (uint32_t)table->image_count++;
	return true;
}

static bool make_image(struct process_table *table, const struct elf_mapping *mapped, enum profile_mapping_kind kind, uint32_t *id,
	struct error *err)
{
	struct process_image image = { 0 };

	if (open_image(table, mapped, kind, &image, err) && describe(table, mapped, kind, &image, err) &&
		add_image(table, &image, id, err))
		return true;
	elf_image_unref(image.elf);
	cfi_table_destroy(image.table);
	free(image.jit_map);
	return false;
}

bool image_of_mapping(
	struct process_table *table, const struct elf_mapping *mapped, uint32_t *image, uint64_t *bias, struct error *err)
{
	enum profile_mapping_kind kind = kind_of(mapped);
	struct image_key key = key_of(mapped, kind);
	const struct elf_image *elf;
	uint32_t *value;
	bool added;

	*image = hash_map_get(&table->by_file, &key);
	if (*image == HASH_MAP_NONE &&
		(!make_image(table, mapped, kind, image, err) || !hash_map_add(&table->by_file, &key, *image, &value, &added, err)))
		return false;
	elf = table->images[*image].elf;
	if (kind == PROFILE_MAPPING_VDSO && elf)
		*bias = 0 - mapped->start;
	else
		*bias = elf ? bias_of(elf, mapped) : kind == PROFILE_MAPPING_FILE ? mapped->file_offset - mapped->start : 0;
	return true;
}

bool process_table_kernel(struct process_table *table, uint32_t *mapping_id, struct error *err)
{
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_KERNEL, .end = UINT64_MAX };
	struct process_image image = { 0 };

	if (table->kernel_image == PROFILE_NONE) {
		if (!profile_intern(table->profile, "[kernel.kallsyms]", &mapping.path, err) ||
			!profile_add_mapping(table->profile, &mapping, &image.mapping_id, err) ||
			!add_image(table, &image, &table->kernel_image, err))
			return false;
	}
	*mapping_id = table->images[table->kernel_image].mapping_id;
	return true;
}
