/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/recorded.h"

#include "sampler/process/image.h"
#include "sampler/process/jit_map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char running_symbols[] = "/proc/kallsyms", running_notes[] = "/sys/kernel/notes";
enum { MAX_BUILD_IDS = 1 << 20, MAX_KALLSYMS_LINES = 1 << 16, BUILD_ID_TEXT = 2 * ELF_BUILD_ID_MAX_SIZE + 1 };

/* Ids are stored in 20 bytes and may be shorter: trailing zeros do not count. */
static bool is_recorded_id(const struct elf_build_id *recorded, const struct elf_build_id *found)
{
	if (found->size == 0 || found->size > recorded->size || memcmp(recorded->bytes, found->bytes, found->size) != 0)
		return false;
	for (size_t i = found->size; i < recorded->size; i++)
		if (recorded->bytes[i] != 0)
			return false;
	return true;
}

void recorded_files_deinit(struct recorded_files *files)
{
	hash_map_deinit(&files->by_path);
	free(files->ids);
	*files = (struct recorded_files){ 0 };
}

bool recorded_files_add(
	struct recorded_files *files, const char *path, const struct elf_build_id *id, struct error *err)
{
	uint64_t key = hash_bytes(path, elf_mapped_path_size(path));
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(&files->ids, &files->id_capacity, files->id_count + 1, MAX_BUILD_IDS, err) ||
		!hash_map_add(&files->by_path, &key, (uint32_t)files->id_count, &value, &added, err))
		return false;
	files->ids[*value] = *id;
	files->id_count += added;
	return true;
}

/* The build id that was recorded under a path; NULL: not known. */
static const struct elf_build_id *recorded_id_of(const struct recorded_files *files, const char *path)
{
	uint64_t key = hash_bytes(path, elf_mapped_path_size(path));
	uint32_t id = hash_map_get(&files->by_path, &key);

	return id == HASH_MAP_NONE || files->ids[id].size == 0 ? NULL : &files->ids[id];
}

/* ---- Opening ---- */

/* The vdso is that of this process: the kernel has one for all. */
static int open_own_vdso(struct error *err)
{
	CLEANUP(elf_image_cleanup) struct elf_image *vdso = NULL;
	const uint8_t *bytes;
	size_t size;
	int fd;

	if (!image_open_vdso(&vdso, err))
		return -1;
	bytes = elf_image_bytes(vdso, &size);
	fd = file_in_memory("vdso", err);
	if (fd >= 0 && !file_write_all(fd, bytes, size)) {
		error_set_errno(err, errno, "cannot copy our own vdso");
		close(fd);
		return -1;
	}
	return fd;
}

/* A reader that was taken over gets no other file by asking for it as a binary. */
static int open_binary(const char *path, struct error *err)
{
	char magic[SELFMAG] = { 0 };
	int fd = strcmp(path, "[vdso]") == 0 ? open_own_vdso(err) : elf_open_told(path, err);

	if (fd < 0 || (pread(fd, magic, sizeof(magic), 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0))
		return fd;
	close(fd);
	error_set(err, ERROR_FORMAT, "%s is no ELF file", path);
	return -1;
}

static int open_map(const char *path, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };
	const struct jit_place place = { .path = (char *)(uintptr_t)path, .user = geteuid() };
	struct file_opened map = { 0 };

	*err = (struct error){ .code = ERROR_NOT_FOUND };
	buffer_init(&notices, PATH_MAX + 512);
	if (!jit_map_is_recorded(path) || !jit_map_open(&place, &map, &notices, err))
		return -1;
	if (notices.size > 0)
		error_set(err, ERROR_PERMISSION, "%.*s", (int)notices.size - 1, notices.data);
	free(map.name);
	return map.name ? map.fd : -1;
}

/* Returns whether a path is that of a copy of the kernel's symbols, which begin with a folder of a build id. */
static bool is_cached_kernel(const char *cache, const char *path)
{
	static const char folder[] = "/.build-id/", name[] = "/kallsyms";
	size_t size = cache ? strlen(cache) : 0, path_size = strlen(path);

	return cache && strncmp(path, cache, size) == 0 && strncmp(path + size, folder, sizeof(folder) - 1) == 0 &&
	       path_size > sizeof(name) && strcmp(path + path_size - (sizeof(name) - 1), name) == 0 &&
	       !strstr(path + size, "/..");
}

static int open_kernel(const struct recording_file *recording, const char *path, struct error *err)
{
	int fd = -1;

	if (strcmp(path, running_symbols) == 0 || strcmp(path, running_notes) == 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	else if (is_cached_kernel(recording->cache_directory, path))
		return elf_open_regular(path, err);
	if (fd < 0)
		error_set_errno(err, errno, "cannot open %s", path);
	return fd;
}

static int open_stream(const struct recording_file *recording, const char *path, struct error *err)
{
	size_t size = recording->directory ? strlen(recording->directory) : 0;
	int fd = -1;

	errno = ENOENT;
	if (recording->directory && strncmp(path, recording->directory, size) == 0 && path[size] == '/' &&
		!strchr(path + size + 1, '/'))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		error_set_errno(err, errno, "%s", path);
	return fd;
}

int recording_open(const struct recording_file *recording, enum recording_use use, const char *path, struct error *err)
{
	if (recording->opener)
		return recording->opener->open(recording->opener->context, use, path, err);
	switch (use) {
	case RECORDING_BINARY:
		return open_binary(path, err);
	case RECORDING_MAP:
		return open_map(path, err);
	case RECORDING_KERNEL:
		return open_kernel(recording, path, err);
	case RECORDING_STREAM:
		return open_stream(recording, path, err);
	}
	error_set(err, ERROR_USAGE, "no file has that use");
	return -1;
}

static bool open_as_recorded(const struct recorded_files *files, const char *path, const struct elf_build_id *id,
	struct elf_image **image, struct error *err)
{
	CLEANUP(elf_image_cleanup) struct elf_image *found = NULL;
	char recorded_text[BUILD_ID_TEXT], found_text[BUILD_ID_TEXT];
	int fd = recording_open(files->recording, RECORDING_BINARY, path, err);

	if (fd < 0 || !elf_image_open_descriptor(fd, path, &found, err))
		return false;
	if (id && !is_recorded_id(id, elf_image_build_id(found))) {
		elf_build_id_format(id, recorded_text);
		elf_build_id_format(elf_image_build_id(found), found_text);
		return error_set(err, ERROR_NOT_FOUND,
			"%s is another build (%.16s...) than the recorded one (%.16s...)", path,
			found_text[0] ? found_text : "no id", recorded_text);
	}
	*image = TAKE(found);
	return true;
}

/* perf's layout: ~/.debug/.build-id/xx/yyyy is a link to a folder that holds the file as `elf` or `vdso`, or to the
 * file itself. */
static bool recorded_open_cached(
	const struct recorded_files *files, const struct elf_build_id *id, struct elf_image **image, struct error *err)
{
	static const char *const names[] = { "/elf", "/vdso", "" };
	char path[PATH_MAX], text[BUILD_ID_TEXT];

	elf_build_id_format(id, text);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s%s", files->recording->cache_directory, text,
			text + 2, names[i]);
		if (open_as_recorded(files, path, id, image, err))
			return true;
	}
	return false;
}

bool recorded_files_open(const struct recorded_files *files, const char *path, const struct elf_build_id *id,
	struct elf_image **image, struct error *err)
{
	struct error ignored;

	if (open_as_recorded(files, path, id, image, err))
		return true;
	if (id && files->recording->cache_directory && recorded_open_cached(files, id, image, &ignored))
		return true;
	/* The error for the file itself is kept, as the better reason. */
	return false;
}

void recorded_files_init(struct recorded_files *files, const struct recording_file *recording)
{
	static const struct recording_file none = { 0 };

	*files = (struct recorded_files){ .recording = recording ? recording : &none };
	hash_map_init(&files->by_path, sizeof(uint64_t));
}

/* ---- The host of processes that are known by records alone ---- */

static bool recorded_read_process(struct process_table *table, struct process *process, struct error *err)
{
	(void)table;
	(void)process;
	(void)err;
	return true;
}

static void recorded_read_comm(int32_t pid, int32_t tid, char name[PROC_COMM_BYTES])
{
	(void)pid;
	(void)tid;
	name[0] = '\0';
}

static void recorded_identify(int32_t pid, struct profile_process *process)
{
	(void)pid;
	(void)process;
}

static bool recorded_account_of(int32_t pid, uint64_t *account)
{
	(void)pid;
	(void)account;
	return false;
}

static bool recorded_is_alive(int32_t pid)
{
	(void)pid;
	return false;
}

static bool recorded_is_outside(const struct record *record)
{
	(void)record;
	return false;
}

static ssize_t recorded_read_memory(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count)
{
	(void)context;
	(void)pid;
	(void)into;
	(void)from;
	(void)from_count;
	return -1;
}

static bool recorded_is_memory(void *context, const struct elf_mapping *mapping)
{
	(void)context;
	return image_is_nameless(mapping);
}

static bool recorded_expect_jit_map(
	void *context, const struct elf_mapping *mapping, struct process_image *image, struct error *err)
{
	(void)context;
	return jit_map_expect_recorded(mapping, image, err);
}

/* Nothing grows any more. */
static int recorded_watch_jit_map(void *context, const struct jit_place *place)
{
	(void)context;
	(void)place;
	return -1;
}

static bool recorded_open_jit_map(void *context, const struct jit_place *place, struct file_opened *file,
	struct buffer *notices, struct error *err)
{
	const struct recorded_files *files = context;
	struct error why = { 0 };
	int fd = place->path ? recording_open(files->recording, RECORDING_MAP, place->path, &why) : -1;

	if (fd < 0 && why.message[0] && notices)
		buffer_printf(notices, "%s\n", why.message);
	if (fd < 0)
		return true;
	*file = (struct file_opened){ strdup(place->path), fd };
	if (file->name)
		return true;
	close(fd);
	return error_set_memory(err);
}

static bool recorded_open_mapped(void *context, const struct elf_mapping *mapped, enum profile_mapping_kind kind,
	struct elf_image **image, struct error *err)
{
	const struct recorded_files *files = context;

	(void)kind;
	return recorded_files_open(files, mapped->path, recorded_id_of(files, mapped->path), image, err);
}

/* The path that was recorded, though the binary may have been found elsewhere. */
static const char *recorded_path(const struct elf_image *image, const struct elf_mapping *mapped)
{
	(void)image;
	return mapped->path;
}

static bool recorded_is_deleted(const struct elf_image *image)
{
	(void)image;
	return false;
}

static bool recorded_is_intact(const struct elf_image *image)
{
	(void)image;
	return true;
}

static void recorded_kernel_build_id(const void *context, struct elf_build_id *id)
{
	const struct recorded_files *files = context;

	*id = files->kernel;
}

struct process_host recorded_files_host(struct recorded_files *files)
{
	static const struct process_host_functions functions = {
		.read_process = recorded_read_process,
		.read_comm = recorded_read_comm,
		.account_of = recorded_account_of,
		.identify = recorded_identify,
		.is_alive = recorded_is_alive,
		.is_outside = recorded_is_outside,
		.read_memory = recorded_read_memory,
		.is_memory = recorded_is_memory,
		.open = recorded_open_mapped,
		.path = recorded_path,
		.is_deleted = recorded_is_deleted,
		.is_intact = recorded_is_intact,
		.expect_jit_map = recorded_expect_jit_map,
		.watch_jit_map = recorded_watch_jit_map,
		.open_jit_map = recorded_open_jit_map,
		.kernel_build_id = recorded_kernel_build_id,
	};

	return (struct process_host){ .functions = &functions, .context = files };
}

/* ---- The kernel ---- */

/* The address of a kernel symbol; 0: not found. A copy of the symbols may be whatever its directory's owner put there.
 */
static uint64_t symbol_address(const struct recording_file *recording, const char *kallsyms, const char *name)
{
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	struct error ignored;
	char line[1024];
	int fd = recording_open(recording, RECORDING_KERNEL, kallsyms, &ignored);

	if (fd < 0)
		return 0;
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	for (size_t i = 0; file && i < MAX_KALLSYMS_LINES && fgets(line, sizeof(line), file); i++) {
		struct text_cursor text = text_over(line, strlen(line)), found;
		uint64_t address;

		if (!text_take_hex(&text, &address) || text_left(text) < 3)
			continue;
		text.at += 3; /* " T " */
		found = text_take_word(&text, "\t\n");
		if (text_is(found, name))
			return address;
	}
	return 0;
}

uint64_t recorded_kernel_text(void)
{
	return symbol_address(&(const struct recording_file){ 0 }, running_symbols, "_text");
}

static bool is_running_kernel(const struct recorded_files *files, const char *release)
{
	CLEANUP(cleanup_close) int notes = -1;
	struct elf_build_id own = { 0 };
	struct utsname name;
	struct error ignored;

	if (files->kernel.size == 0)
		return release && uname(&name) == 0 && strcmp(release, name.release) == 0;
	notes = recording_open(files->recording, RECORDING_KERNEL, running_notes, &ignored);
	if (notes >= 0)
		image_build_id_of_notes(&(struct file_opened){ (char *)(uintptr_t)running_notes, notes }, &own);
	return is_recorded_id(&files->kernel, &own);
}

bool recorded_kernel_find(const struct recorded_files *files, const char *release, uint64_t text, const char *text_name,
	struct recorded_kernel *kernel, struct error *err)
{
	const struct recording_file *recording = files->recording;
	char path[PATH_MAX] = "", id[BUILD_ID_TEXT];
	bool is_running = is_running_kernel(files, release);
	uint64_t now = 0, cached = 0;

	*kernel = (struct recorded_kernel){ 0 };
	if (files->kernel.size > 0 && recording->cache_directory) {
		elf_build_id_format(&files->kernel, id);
		snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s/kallsyms", recording->cache_directory, id, id + 2);
		cached = now = symbol_address(recording, path, text_name);
	}
	/* A copy from the same boot is a plain file, which is read ten times faster than the kernel's list. */
	if ((now == 0 || now != text) && is_running) {
		now = symbol_address(recording, running_symbols, text_name);
		if (now != 0)
			snprintf(path, sizeof(path), "%s", running_symbols);
		else
			now = cached;
	}
	if (now == 0)
		return true;
	kernel->moved = text ? now - text : 0;
	kernel->is_running = is_running && symbol_address(recording, running_symbols, text_name) == now;
	kernel->kallsyms = strdup(path);
	return kernel->kallsyms ? true : error_set_memory(err);
}
