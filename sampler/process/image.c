/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/image.h"
#include "sampler/process/jit_map.h"

#include <elf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

enum { MAX_IMAGES = 1 << 20, MAX_NOTES_BYTES = 1 << 16, MAX_OWN_MAPS_BYTES = 1 << 24 };

/* Bounds of what a hostile file or process may have any number of. */
enum { MOST_BIASES = 16, MOST_MAPPINGS_APART = 64 };

/*
 * A file is known by device and inode, or by its path where a recording has no inode; memory without a file by the
 * process, and which of the programs that it has executed: `inode` is then the number of that one.
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

bool image_is_nameless(const struct elf_mapping *mapped)
{
	return strncmp(mapped->path, "/memfd:", 7) == 0;
}

static enum profile_mapping_kind image_kind_of(const struct process_table *table, const struct elf_mapping *mapped)
{
	const char *path = mapped->path;

	if (strcmp(path, "[vdso]") == 0)
		return PROFILE_MAPPING_VDSO;
	if (jit_map_is_dump(mapped))
		return PROFILE_MAPPING_ANON;
	if (strncmp(path, "/anon_hugepage", 14) == 0 || table->host.functions->is_memory(table->host.context, mapped))
		return PROFILE_MAPPING_ANON;
	if (path[0] == '/' && path[1] != '/' && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/SYSV", 5) != 0)
		return PROFILE_MAPPING_FILE;
	return PROFILE_MAPPING_ANON;
}

static struct image_key process_image_key_of(
	const struct elf_mapping *mapped, enum profile_mapping_kind kind, uint32_t life)
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
		key.inode = life;
		break;
	case PROFILE_MAPPING_KERNEL:
	case PROFILE_MAPPING_VDSO:
		break;
	}
	return key;
}

struct vdso_pages {
	uint64_t start;
	size_t size;
};

static bool take_vdso_entry(void *context, const struct elf_maps_entry *entry, struct error *err)
{
	struct vdso_pages *pages = context;

	(void)err;
	if (entry->mapping.start == pages->start)
		pages->size = (size_t)(entry->mapping.end - entry->mapping.start);
	return true;
}

/* The kernel maps the same vdso into every 64-bit process, so our own can be read even when the process has ended. */
bool image_open_vdso(struct elf_image **image, struct error *err)
{
	const void *bytes = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct vdso_pages pages = { .start = (uint64_t)(uintptr_t)bytes };
	struct buffer text;

	buffer_init(&text, MAX_OWN_MAPS_BYTES);
	if (bytes && file_read("/proc/self/maps", &text, err)) {
		buffer_append_byte(&text, '\0');
		if (!buffer_ok(&text, err) || !elf_maps_parse(text.data, getpid(), take_vdso_entry, &pages, err))
			pages.size = 0;
	}
	buffer_deinit(&text);
	if (pages.size == 0)
		return error_set(err, ERROR_NOT_FOUND, "cannot find our own vdso");
	return elf_image_open_memory(bytes, pages.size, "[vdso]", image, err);
}

/* Finds the range from the first to the last executable byte, in image addresses. */
static void process_image_span_of(const struct elf_image *elf, struct profile_mapping *mapping)
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

/* An image whose unwind tables cannot be had is an image without them: its frames are found in other ways, or not. */
static void process_image_make_table(struct process_table *table, struct process_image *image)
{
	const char *path = elf_image_path(image->elf);
	struct error why;
	bool is_made = frame_table_create(image->elf, FRAME_RULES, &image->table, &why);

	if (is_made && !elf_image_has_refused(image->elf))
		return;
	table->images_without_tables++;
	if (table->notices && !is_made)
		buffer_printf(table->notices, "%s: its unwind tables are not used, so stacks may end there: %s\n", path,
			why.message);
	else if (table->notices)
		buffer_printf(table->notices,
			"%s: its unwind tables are not used, so stacks may end there: inflated they would be far larger than the file\n",
			path);
}

/* Notes since when the process executes its program, where the recording has seen that. */
static bool process_image_expect_names(struct process_table *table, const struct process *process,
	const struct elf_mapping *mapped, struct process_image *image, struct error *err)
{
	if (!table->host.functions->expect_jit_map(table->host.context, mapped, image, err))
		return false;
	if (image->jit_map.pid != 0 && process->begun_ns != 0)
		image->jit_map.begun_ns = jit_map_unix_ns(process->begun_ns);
	return true;
}

void image_end_program(struct process_table *table, const struct process *process, uint64_t clock_ns)
{
	const struct elf_mapping mapped = { .pid = process->pid };
	struct image_key key = process_image_key_of(&mapped, PROFILE_MAPPING_ANON, process->life);
	uint32_t id = hash_map_get(&table->by_file, &key);

	if (id != HASH_MAP_NONE && table->images[id].jit_map.pid != 0)
		table->images[id].jit_map.ended_ns = jit_map_unix_ns(clock_ns);
}

static bool process_image_open_image(struct process_table *table, const struct process *process,
	const struct elf_mapping *mapped, enum profile_mapping_kind kind, struct process_image *image,
	struct error *err)
{
	const struct process_host *host = &table->host;
	struct elf_section build_info;
	struct error why;

	if (kind == PROFILE_MAPPING_ANON)
		return process_image_expect_names(table, process, mapped, image, err);
	if (!host->functions->open(host->context, mapped, kind, &image->elf, &why)) {
		if (table->notices)
			buffer_printf(table->notices, "%s: its code stays unnamed\n", why.message);
		return true;
	}
	image->is_go = elf_image_section(image->elf, ".go.buildinfo", &build_info);
	process_image_make_table(table, image);
	return true;
}

static bool process_image_describe(struct process_table *table, const struct process *process,
	const struct elf_mapping *mapped, enum profile_mapping_kind kind, struct process_image *image,
	struct error *err)
{
	struct profile_mapping mapping = { .kind = kind, .start = 0, .end = UINT64_MAX };
	char build_id[2 * ELF_BUILD_ID_MAX_SIZE + 1] = "";
	const char *path = mapped->path;

	if (image->elf) {
		path = table->host.functions->path(image->elf, mapped);
		mapping.deleted = table->host.functions->is_deleted(image->elf);
		elf_build_id_format(elf_image_build_id(image->elf), build_id);
		process_image_span_of(image->elf, &mapping);
	}
	/* A name without the pid, for the same code in another run is the same module; the offset keeps processes, and
	 * the programs of each, apart. */
	if (kind == PROFILE_MAPPING_ANON) {
		path = "//anon";
		mapping.file_offset = (uint64_t)mapped->pid | (uint64_t)process->life << 32;
	}
	if (!profile_intern(table->profile, path, &mapping.path, err) ||
		!profile_intern(table->profile, build_id, &mapping.build_id, err))
		return false;
	/* Nothing but the open file itself tells builds at one path apart where they have no build ID. */
	return (image->elf && build_id[0] == '\0' ? profile_add_other_mapping : profile_add_mapping)(
		table->profile, &mapping, &image->mapping_id, err);
}

/* The biases that a mapping may have: one for each segment of which it shows bytes. */
struct bias_candidates {
	uint64_t items[MOST_BIASES];
	size_t count;
};

static void add_candidate(struct bias_candidates *candidates, uint64_t bias)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->items[i] == bias)
			return;
	if (candidates->count < MOST_BIASES)
		candidates->items[candidates->count++] = bias;
}

/*
 * A mapping is made of whole pages, and shows bytes of each segment that lies in them: linkers pack segments without
 * padding (lld, mold), or put two of one page at distant addresses (BOLT, hot and cold code). Executable segments come
 * first, in the order of the headers, in which loaders map them.
 */
static void process_image_find_candidates(
	const struct elf_image *elf, const struct elf_mapping *mapped, struct bias_candidates *candidates)
{
	uint64_t offset = mapped->file_offset, end = offset + (mapped->end - mapped->start);
	size_t count;
	const struct elf_segment *segments = elf_image_segments(elf, &count);

	*candidates = (struct bias_candidates){ 0 };
	for (int wanted = 1; wanted >= 0; wanted--)
		for (size_t i = 0; i < count; i++)
			if (((segments[i].flags & PF_X) != 0) == wanted && segments[i].file_offset < end &&
				offset < segments[i].file_offset + segments[i].file_size)
				add_candidate(candidates,
					segments[i].address - segments[i].file_offset + offset - mapped->start);
	if (candidates->count == 0)
		add_candidate(candidates, offset - mapped->start);
}

static bool process_image_is_candidate(const struct bias_candidates *candidates, uint64_t bias)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->items[i] == bias)
			return true;
	return false;
}

/*
 * Finds a candidate among the biases that the process has for other mappings of the image: a loader moves all segments
 * of an image by one distance (gABI, "Program Header"). They lie near each other.
 */
static bool find_shared_bias(const struct process_table *table, const struct process *process, uint32_t image,
	const struct elf_mapping *mapped, const struct bias_candidates *candidates, uint64_t *bias)
{
	const struct process_mappings *mappings = &process->mappings;
	size_t below = ARRAY_COUNT_UP_TO(mappings->items, mappings->count, start, mapped->start);
	size_t first = below > MOST_MAPPINGS_APART ? below - MOST_MAPPINGS_APART : 0;

	for (size_t i = first; i < mappings->count && i < below + MOST_MAPPINGS_APART; i++) {
		const struct process_mapping *other = &mappings->items[i];
		uint32_t place = other->covered_place == PROFILE_NONE ? other->place : other->covered_place;

		*bias = table->places[place].bias;
		if (table->places[place].image == image && process_image_is_candidate(candidates, *bias))
			return true;
	}
	return false;
}

/*
 * Image address - runtime address of an image's bytes. Where file offsets leave several segments, the addresses of what
 * is mapped already decide; of an image that is not mapped yet, that it lies at its own addresses (ET_EXEC, prelink),
 * else the order of the headers.
 */
static uint64_t bias_of(const struct process_table *table, const struct process *process, uint32_t image,
	const struct elf_mapping *mapped)
{
	struct bias_candidates candidates;
	uint64_t shared;

	process_image_find_candidates(table->images[image].elf, mapped, &candidates);
	if (candidates.count == 1)
		return candidates.items[0];
	if (find_shared_bias(table, process, image, mapped, &candidates, &shared))
		return shared;
	return process_image_is_candidate(&candidates, 0) ? 0 : candidates.items[0];
}

static bool add_image(struct process_table *table, const struct process_image *image, uint32_t *id, struct error *err)
{
	if (!ARRAY_RESERVE(&table->images, &table->image_capacity, table->image_count + 1, MAX_IMAGES, err))
		return false;
	table->images[table->image_count] = *image;
	*id = (uint32_t)table->image_count++;
	return true;
}

bool image_add_names(struct process_table *table, uint32_t *image, struct error *err)
{
	struct process_image made = { .latest_place = PROFILE_NONE };
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_JIT, .end = UINT64_MAX };

	return profile_intern(table->profile, PROFILE_JIT_MODULE, &mapping.path, err) &&
	       profile_add_mapping(table->profile, &mapping, &made.mapping_id, err) &&
	       add_image(table, &made, image, err);
}

/* The memory that an image takes beside its mapped file. */
static uint64_t image_bytes(const struct process_image *image)
{
	return (image->elf ? elf_image_kept_bytes(image->elf) : 0) +
	       (image->table ? frame_table_bytes(image->table) : 0);
}

/* Returns whether finding out what is mapped may open a file: the path alone does not tell. */
static bool may_be_opened(const struct elf_mapping *mapped)
{
	return image_is_nameless(mapped) || elf_mapped_is_deleted(mapped->path);
}

static bool process_image_make_image(struct process_table *table, const struct process *process,
	const struct elf_mapping *mapped, enum profile_mapping_kind kind, uint32_t *id, struct error *err)
{
	struct process_image image = {
		.latest_place = PROFILE_NONE,
		.is_file = kind == PROFILE_MAPPING_FILE,
		.is_vdso = kind == PROFILE_MAPPING_VDSO,
	};

	if (process_image_open_image(table, process, mapped, kind, &image, err) &&
		process_image_describe(table, process, mapped, kind, &image, err) && add_image(table, &image, id, err))
		return true;
	elf_image_unref(image.elf);
	frame_table_destroy(image.table);
	jit_place_deinit(&image.jit_map);
	jit_place_deinit(&image.inherited_map);
	return false;
}

/*
 * Returns whether the file was overwritten in place, as cp does: it then holds another binary under the same inode, and
 * needs an image of its own.
 */
static bool was_written_over(const struct process_table *table, uint32_t image)
{
	const struct elf_image *elf = table->images[image].elf;

	return elf && !table->host.functions->is_intact(elf);
}

/*
 * Finds a binary that is open already by its inode. That it is a binary was found out when it was opened, which is not
 * done again for each of its mappings.
 */
static bool process_image_find_binary(
	const struct process_table *table, const struct elf_mapping *mapped, uint32_t *image)
{
	struct image_key key = process_image_key_of(mapped, PROFILE_MAPPING_FILE, 0);

	if (mapped->inode == 0 || jit_map_is_dump(mapped))
		return false;
	*image = hash_map_get(&table->by_file, &key);
	return *image != HASH_MAP_NONE && table->images[*image].elf && !was_written_over(table, *image);
}

/* Finds an image, or makes it for the user who pays for that; PROFILE_NONE: he cannot. */
static bool process_image_find_image(struct process_table *table, struct process *process,
	const struct elf_mapping *mapped, uint32_t *image, struct error *err)
{
	/* To find out what it is, a file without a name is opened. */
	struct owner *owner = owners_at(&table->owners, process->owner);
	bool has_paid = may_be_opened(mapped) && owner_pay_opening(&table->owners, owner, &process->work);
	enum profile_mapping_kind kind;
	struct image_key key;
	uint32_t *value;
	bool added;

	*image = PROFILE_NONE;
	if (may_be_opened(mapped) && !has_paid)
		return true;
	kind = image_kind_of(table, mapped);
	key = process_image_key_of(mapped, kind, process->life);
	*image = hash_map_get(&table->by_file, &key);
	if (*image != HASH_MAP_NONE && !was_written_over(table, *image))
		return true;
	if (!has_paid && !owner_pay_opening(&table->owners, owner, &process->work)) {
		*image = PROFILE_NONE;
		return true;
	}
	if (!process_image_make_image(table, process, mapped, kind, image, err) ||
		!hash_map_add(&table->by_file, &key, *image, &value, &added, err))
		return false;
	*value = *image;
	owner_count_image(owner, image_bytes(&table->images[*image]));
	return true;
}

/* Image address - runtime address. */
static uint64_t bias_in(
	const struct process_table *table, const struct process *process, uint32_t id, const struct elf_mapping *mapped)
{
	const struct process_image *image = &table->images[id];

	if (image->elf)
		return image->is_vdso ? 0 - mapped->start : bias_of(table, process, id, mapped);
	return image->is_file ? mapped->file_offset - mapped->start : 0;
}

/* Returns whether two images are of one binary, of which an overlay may show several files. */
static bool process_image_is_same(const struct process_table *table, uint32_t a, uint32_t b)
{
	const struct elf_image *first = table->images[a].elf, *second = table->images[b].elf;
	const struct elf_build_id *ids[2] = { elf_image_build_id(first), elf_image_build_id(second) };

	return a == b || (ids[0]->size > 0 && ids[0]->size == ids[1]->size &&
				 memcmp(ids[0]->bytes, ids[1]->bytes, ids[0]->size) == 0);
}

bool image_may_be(const struct process_table *table, const struct process_place *found,
	const struct process_place *believed, const struct elf_mapping *mapped)
{
	const struct process_image *image = &table->images[found->image];
	const struct process_image *other = &table->images[believed->image];
	struct bias_candidates candidates;

	/* A file that cannot be opened may be any; of memory that has none nothing more is known. */
	if (!image->elf)
		return !other->elf || mapped->path[0] == '/';
	if (!other->elf || !process_image_is_same(table, found->image, believed->image))
		return false;
	if (believed->bias == found->bias || image->is_vdso)
		return believed->bias == found->bias;
	process_image_find_candidates(image->elf, mapped, &candidates);
	return process_image_is_candidate(&candidates, believed->bias);
}

bool image_of_mapping(struct process_table *table, struct process *process, const struct elf_mapping *mapped,
	struct process_place *place, struct error *err)
{
	uint32_t image;

	if (!process_image_find_binary(table, mapped, &image) &&
		!process_image_find_image(table, process, mapped, &image, err))
		return false;
	*place = (struct process_place){ .image = image };
	if (image == PROFILE_NONE)
		return true;
	/* The mapping may be added when other code of the process is known already. */
	if (jit_map_is_dump(mapped) && !process_image_expect_names(table, process, mapped, &table->images[image], err))
		return false;
	place->bias = bias_in(table, process, image, mapped);
	return true;
}

void image_build_id_of_notes(const struct file_opened *file, struct elf_build_id *id)
{
	struct buffer notes;
	struct error ignored;

	*id = (struct elf_build_id){ 0 };
	buffer_init(&notes, MAX_NOTES_BYTES);
	if (!file_read_opened(file, &notes, &ignored) ||
		!elf_build_id_from_notes(notes.data, notes.size, sizeof(uint32_t), id, &ignored))
		id->size = 0;
	buffer_deinit(&notes);
}

void image_kernel_build_id(struct elf_build_id *id)
{
	static char path[] = "/sys/kernel/notes";
	CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC);

	*id = (struct elf_build_id){ 0 };
	if (fd >= 0)
		image_build_id_of_notes(&(struct file_opened){ path, fd }, id);
}

bool process_table_kernel(struct process_table *table, uint32_t *mapping_id, struct error *err)
{
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_KERNEL, .end = UINT64_MAX };
	struct process_image image = { 0 };
	char build_id[2 * ELF_BUILD_ID_MAX_SIZE + 1];
	struct elf_build_id id;

	if (table->kernel_image == PROFILE_NONE) {
		table->host.functions->kernel_build_id(table->host.context, &id);
		elf_build_id_format(&id, build_id);
		if (!profile_intern(table->profile, "[kernel.kallsyms]", &mapping.path, err) ||
			!profile_intern(table->profile, build_id, &mapping.build_id, err) ||
			!profile_add_mapping(table->profile, &mapping, &image.mapping_id, err) ||
			!add_image(table, &image, &table->kernel_image, err))
			return false;
	}
	*mapping_id = table->images[table->kernel_image].mapping_id;
	return true;
}
