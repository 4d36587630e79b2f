/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_objects_fixture.h"

#include "common/common.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <string.h>

/* The first id is the object's own; a link's program follows its own id. */
static bool read_object(const char *path, struct kernel_object *object)
{
	static const char *const names[] = { "prog_id", "map_id", "link_id" };
	CLEANUP(cleanup_fclose) FILE *file = fopen(path, "re");
	char line[256], name[16];
	uint32_t id;

	while (file && fgets(line, sizeof(line), file))
		for (int kind = 0; kind < KERNEL_OBJECT_KINDS; kind++)
			if (sscanf(line, "%15[a-z_]: %u", name, &id) == 2 && strcmp(name, names[kind]) == 0) {
				*object = (struct kernel_object){ (enum kernel_object_kind)kind, id };
				return true;
			}
	return false;
}

size_t kernel_objects_of(pid_t pid, struct kernel_object *objects)
{
	const struct dirent *entry;
	char path[320];
	size_t count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	directory = opendir(path);
	while (directory && count < KERNEL_OBJECTS_MOST && (entry = readdir(directory))) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, entry->d_name);
		count += entry->d_name[0] != '.' && read_object(path, &objects[count]);
	}
	if (directory)
		closedir(directory);
	return count;
}

size_t kernel_objects_count(const struct kernel_object *objects, size_t count, enum kernel_object_kind kind)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += objects[i].kind == kind;
	return found;
}

/*
 * The object is not opened: the kernel clears an array of programs when its last descriptor is closed, and one that is
 * opened anew meanwhile stays for ever.
 */
bool kernel_object_exists(const struct kernel_object *object)
{
	static int (*const next_of[KERNEL_OBJECT_KINDS])(
		__u32, __u32 *) = { bpf_prog_get_next_id, bpf_map_get_next_id, bpf_link_get_next_id };
	__u32 next;

	return next_of[object->kind](object->id - 1, &next) == 0 && next == object->id;
}
