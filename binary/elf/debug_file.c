/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the separate debug file of an image by its build id or its debug link, and the supplementary one. */
#include "binary/elf/image.h"

#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKSUM_CHUNK_BYTES = 1 << 15 };

static const char *const default_directories[] = { "/usr/lib/debug" };

struct debug_file_search {
	const struct elf_opener *opener; /* NULL: none */
	char root[ELF_ROOT_PATH_BYTES];  /* "": ours */
	const char *const *directories;
	size_t directory_count;
};

const char *const *elf_debug_directories(const struct elf_debug_options *options, size_t *count)
{
	bool is_default = !options || !options->directories;

	*count = is_default ? 1 : options->directory_count;
	return is_default ? default_directories : options->directories;
}

static struct debug_file_search search_of(const struct elf_image *image, const struct elf_debug_options *options)
{
	struct debug_file_search search = { 0 };

	elf_image_root_path(image, search.root);
	search.directories = elf_debug_directories(options, &search.directory_count);
	if (options)
		search.opener = options->opener;
	return search;
}

/* Opens DIR/.build-id/xx/yyyy.debug (GDB manual, "Separate Debug Files"). */
static struct elf_image *open_by_build_id(const struct debug_file_search *search, const struct elf_build_id *id)
{
	char text[2 * ELF_BUILD_ID_MAX_SIZE + 1], path[PATH_MAX];
	struct error ignored;

	if (id->size < 2)
		return NULL;
	elf_build_id_format(id, text);
	for (size_t i = 0; i < search->directory_count; i++) {
		struct elf_image *found;

		snprintf(path, sizeof(path), "%s%s/.build-id/%.2s/%s.debug", search->root, search->directories[i], text,
			text + 2);
		if (!elf_image_open_for(search->opener, ELF_FILE_BUILD_ID, path, &found, &ignored))
			continue;
		if (elf_build_id_equal(&found->build_id, id))
			return found;
		elf_image_unref(found);
	}
	return NULL;
}

/* The same search in our own tree. */
static struct debug_file_search host_search(const struct debug_file_search *search)
{
	struct debug_file_search host = *search;

	host.root[0] = '\0';
	return host;
}

/* The file is read rather than mapped, because another process may write to it meanwhile. */
static bool has_checksum(const struct elf_image *image, uint32_t wanted)
{
	uint8_t chunk[CHECKSUM_CHUNK_BYTES];
	uint32_t crc = 0;

	for (size_t at = 0, size; at < image->size; at += size) {
		size = image->size - at < CHECKSUM_CHUNK_BYTES ? image->size - at : CHECKSUM_CHUNK_BYTES;
		if (!elf_image_read(image, at, chunk, size))
			return false;
		crc = libdeflate_crc32(crc, chunk, size);
	}
	return crc == wanted;
}

/* A search for the debug file that .gnu_debuglink names. */
struct link_search {
	const struct debug_file_search *search;
	const struct elf_image *image;
	uint32_t crc;
	struct error *why; /* set if a file was refused */
	bool *refused;
};

/* Opens a debug file by name. It is used only if its checksum equals the one in the binary. */
static struct elf_image *open_checked(const struct link_search *link, const char *path)
{
	const struct elf_image *image = link->image;
	struct elf_image *found;
	struct error ignored;

	if (!elf_image_open_for(link->search->opener, ELF_FILE_LINK, path, &found, &ignored))
		return NULL;
	/* A debug file may have the name of its binary, which then is the first file found. */
	if (found->identity.inode == image->identity.inode && found->identity.device == image->identity.device) {
		elf_image_unref(found);
		return NULL;
	}
	if (found->build_id.size && image->build_id.size && !elf_build_id_equal(&found->build_id, &image->build_id)) {
		error_set(link->why, ERROR_FORMAT,
			"debug file %s is of another build than %s: not used; install the debug package of the same version",
			path, image->path);
	} else if (!has_checksum(found, link->crc)) {
		error_set(link->why, ERROR_FORMAT,
			"debug file %s has another checksum than %s asks for: not used; install the debug package of the same version",
			path, image->path);
	} else {
		return found;
	}
	*link->refused = true;
	elf_image_unref(found);
	return NULL;
}

/*
 * Copies the name of a file from a section, whose owner may change it while it is looked at. False if it has no end, or
 * is longer than a path may be.
 */
static bool copy_file_name(struct byte_reader *r, char name[PATH_MAX])
{
	size_t size = 0;
	const char *string = byte_reader_string(r, &size);

	if (!string || size >= PATH_MAX)
		return false;
	memcpy(name, string, size);
	name[size] = '\0';
	return true;
}

/* Reads file name and checksum from .gnu_debuglink; false if there is none, or none that can be used. */
static bool debug_file_read_link(struct elf_image *image, char name[PATH_MAX], uint32_t *crc)
{
	struct elf_section section;
	struct byte_reader r;

	if (!elf_image_section(image, ".gnu_debuglink", &section))
		return false;
	r = byte_reader_over(section.bytes, section.size);
	if (!copy_file_name(&r, name))
		return false;
	byte_reader_align(&r, 4);
	*crc = byte_reader_u32(&r);
	return byte_reader_ok(&r) && !strchr(name, '/') && name[0] != '\0';
}

static bool find_real_path(const struct debug_file_search *search, const struct elf_image *image, char real[PATH_MAX])
{
	return search->opener ? search->opener->real_path(search->opener->context, real)
			      : realpath(image->path, real) != NULL;
}

/* Searches beside the binary, in .debug beside it, and below each debug directory, in GDB's order. */
static struct elf_image *open_by_link(
	const struct debug_file_search *search, struct elf_image *image, struct error *why, bool *refused)
{
	struct link_search link = { .search = search, .image = image, .why = why, .refused = refused };
	char path[PATH_MAX], real[PATH_MAX], name[PATH_MAX];
	/* The path may be a link, or relative to the current directory. */
	const char *binary = search->root[0] == '\0' && find_real_path(search, image, real) ? real : image->path;
	const char *slash = strrchr(binary, '/');
	int directory_size = slash ? (int)(slash - binary) : 0;
	struct elf_image *found = NULL;

	if (!slash || !debug_file_read_link(image, name, &link.crc))
		return NULL;
	snprintf(path, sizeof(path), "%s%.*s/%s", search->root, directory_size, binary, name);
	found = open_checked(&link, path);
	snprintf(path, sizeof(path), "%s%.*s/.debug/%s", search->root, directory_size, binary, name);
	if (!found)
		found = open_checked(&link, path);
	for (size_t i = 0; !found && i < search->directory_count; i++) {
		snprintf(path, sizeof(path), "%s%s%.*s/%s", search->root, search->directories[i], directory_size,
			binary, name);
		found = open_checked(&link, path);
	}
	return found;
}

static struct elf_image *search_tree(
	const struct debug_file_search *search, struct elf_image *image, struct error *why, bool *refused)
{
	struct elf_image *found = open_by_build_id(search, &image->build_id);

	image->debug_source = ELF_DEBUG_BUILD_ID;
	if (found)
		return found;
	image->debug_source = ELF_DEBUG_LINK;
	return open_by_link(search, image, why, refused);
}

/*
 * A container's file system usually lacks debug files, and anybody may have mapped the file in a tree of their own
 * before whoever else did: our own tree is searched behind it. What is found there is of the same build by its build id
 * or its checksum; what is not, is another distribution's, and nothing to complain of.
 */
static void search_debug(struct elf_image *image, const struct elf_debug_options *options)
{
	struct debug_file_search search = search_of(image, options), host = host_search(&search);
	struct elf_section section;
	bool refused = false, ignored;
	struct error other;

	image->debug = image;
	image->debug_source = ELF_DEBUG_SELF;
	if (elf_image_section(image, ".debug_info", &section))
		return;
	image->debug = search_tree(&search, image, &image->debug_why, &refused);
	/* It may name a further file, which is looked for in the same tree. */
	if (image->debug && image->root)
		elf_image_set_root(image->debug, image->root);
	if (!image->debug && search.root[0])
		image->debug = search_tree(&host, image, &other, &ignored);
	if (image->debug)
		return;
	image->debug = image;
	image->debug_source = refused ? ELF_DEBUG_REFUSED : ELF_DEBUG_NONE;
}

struct elf_image *elf_image_debug(struct elf_image *image, const struct elf_debug_options *options,
	enum elf_debug_source *source, struct error *why)
{
	if (!image->debug_searched) {
		search_debug(image, options);
		image->debug_searched = true;
	}
	*source = image->debug_source;
	if (why && image->debug_source == ELF_DEBUG_REFUSED)
		*why = image->debug_why;
	return image->debug;
}

/* A reference to a file with shared debug information; the id is borrowed from the image that holds it. */
struct alt_link {
	char name[PATH_MAX];
	const uint8_t *id;
	size_t id_size;
	bool is_standard; /* it comes from .debug_sup */
};

/* Reads .gnu_debugaltlink: a file name and the build id of the file (dwz(1)). */
static bool read_alt_link(struct elf_image *image, struct alt_link *link)
{
	struct elf_section section;
	struct byte_reader r;

	if (!elf_image_section(image, ".gnu_debugaltlink", &section))
		return false;
	r = byte_reader_over(section.bytes, section.size);
	if (!copy_file_name(&r, link->name))
		return false;
	link->id_size = byte_reader_left(&r);
	link->id = byte_reader_bytes(&r, link->id_size);
	link->is_standard = false;
	return link->id_size > 0 && link->id_size <= ELF_BUILD_ID_MAX_SIZE;
}

/* Reads .debug_sup (DWARF 5, 7.3.6). The shared file has the same section, with the same checksum and no name. */
static bool read_sup(struct elf_image *image, bool is_supplementary, struct alt_link *link)
{
	enum { VERSION = 5 };
	struct elf_section section;
	struct byte_reader r;

	if (!elf_image_section(image, ".debug_sup", &section))
		return false;
	r = byte_reader_over(section.bytes, section.size);
	if (byte_reader_u16(&r) != VERSION || byte_reader_u8(&r) != is_supplementary)
		return false;
	if (!copy_file_name(&r, link->name))
		return false;
	link->id_size = byte_reader_uleb128(&r);
	link->id = byte_reader_bytes(&r, link->id_size);
	link->is_standard = true;
	return link->id && link->id_size > 0;
}

static bool is_linked(struct elf_image *found, const struct alt_link *link)
{
	const struct elf_build_id *id = &found->build_id;
	struct alt_link own = { .id = id->bytes, .id_size = id->size };

	if (link->is_standard && !read_sup(found, true, &own))
		return false;
	return own.id_size == link->id_size && memcmp(own.id, link->id, own.id_size) == 0;
}

static struct elf_image *search_alt(struct elf_image *image, const struct debug_file_search *search)
{
	const struct debug_file_search host = host_search(search);
	struct elf_image *found = NULL;
	struct elf_build_id id = { 0 };
	const char *slash = strrchr(image->path, '/');
	/* The path of a file that was found in the tree begins with it; that of what a process has mapped does not. */
	const char *root = strncmp(image->path, search->root, strlen(search->root)) == 0 ? "" : search->root;
	struct alt_link link;
	struct error ignored;
	char path[PATH_MAX];

	if (!read_alt_link(image, &link) && !read_sup(image, false, &link))
		return NULL;
	/* A relative name is relative to the directory of the file that holds it, as in Debian's packages. */
	if (link.name[0] == '/')
		snprintf(path, sizeof(path), "%s%s", search->root, link.name);
	else
		snprintf(path, sizeof(path), "%s%.*s%s", root, slash ? (int)(slash + 1 - image->path) : 0, image->path,
			link.name);
	if (elf_image_open_for(search->opener, ELF_FILE_LINK, path, &found, &ignored) && is_linked(found, &link))
		return found;
	elf_image_unref(found);
	if (link.is_standard)
		return NULL;
	id.size = (uint8_t)link.id_size;
	memcpy(id.bytes, link.id, id.size);
	found = open_by_build_id(search, &id);
	return found || !search->root[0] ? found : open_by_build_id(&host, &id);
}

struct elf_image *elf_image_debug_alt(struct elf_image *image, const struct elf_debug_options *options)
{
	if (!image->debug_alt_searched) {
		struct debug_file_search search = search_of(image, options);

		image->debug_alt = search_alt(image, &search);
		image->debug_alt_searched = true;
	}
	return image->debug_alt;
}

bool elf_image_lacks_alt(struct elf_image *image, const struct elf_debug_options *options, struct error *why)
{
	struct alt_link link;

	if ((!read_alt_link(image, &link) && !read_sup(image, false, &link)) || elf_image_debug_alt(image, options))
		return false;
	error_set(why, ERROR_NOT_FOUND,
		"%.200s: its debug information refers to %.200s (dwz), which is not there, so inlined functions of it are '[unnamed]'; "
		"install the debug package that has it",
		image->path, link.name);
	return true;
}
