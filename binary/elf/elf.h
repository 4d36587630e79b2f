/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * A binary image of a profiled process: how it is opened, its identity, its segments and sections, and its debug
 * information. ELF bytes are foreign: a damaged or hostile file makes functions return "not there" or ERROR_FORMAT.
 *
 * Three kinds of addresses are used, all in bytes:
 * - runtime address: in the target's address space
 * - file offset: position in the binary's file; offset = address - start + offset of the mapping
 * - image address: the ELF virtual address (st_value, DW_AT_low_pc, what addr2line takes), which the profile stores
 */

enum { ELF_BUILD_ID_MAX_SIZE = 32 };

/* The identity of a binary: a hash that the linker made. `size` is 0 if the binary has none, which is no error. */
struct elf_build_id {
	uint8_t bytes[ELF_BUILD_ID_MAX_SIZE];
	uint8_t size;
};

/*
 * Finds the GNU build id in the contents of one SHT_NOTE section or PT_NOTE segment (alignment 4 or 8; gABI, "Note
 * Section"). ERROR_FORMAT if a note runs past the end or an id is longer than ELF_BUILD_ID_MAX_SIZE; `id` is untouched
 * then.
 */
COMMON_MUST_CHECK
bool elf_build_id_from_notes(
	const void *notes, size_t size, size_t alignment, struct elf_build_id *id, struct error *err);

/* Writes lower-case hex and a NUL; `text` has room for 2 * ELF_BUILD_ID_MAX_SIZE + 1 characters. */
void elf_build_id_format(const struct elf_build_id *id, char *text);

/* Parses what elf_build_id_format() writes; false if the text is no build id: *id is not to be used then. */
bool elf_build_id_parse(const char *text, struct elf_build_id *id);

/* ---- Images ---- */

/*
 * An opened binary. It keeps the file descriptor, since a deploy may delete the old file, and a read-only mapping.
 * Reference-counted. After opening it is immutable and may be read by several threads, except for elf_image_debug().
 */
struct elf_image;

/* A PT_LOAD segment. */
struct elf_segment {
	uint64_t address;     /* image address */
	uint64_t memory_size; /* bytes in memory, at least file_size */
	uint64_t file_offset;
	uint64_t file_size;
	uint32_t flags; /* PF_X, PF_W, PF_R */
};

/*
 * Opens the file that a process has mapped, by the first of these that works:
 * - /proc/PID/map_files/START-END: also finds deleted files, overlays and files of other mount namespaces; root only
 * - /proc/PID/exe: the program itself, also if deleted
 * - /proc/PID/root/PATH: the file that the process sees under the name; refused if its inode differs from the mapping's
 * - PATH: refused likewise
 * A deleted file is never opened by name, since another file may have the name now. pid 0 (a file of another machine):
 * PATH alone. Only regular files are opened; devices and FIFOs are refused without opening them.
 *
 * path: as in /proc/PID/maps; it may end in " (deleted)"
 * device, inode: as in /proc/PID/maps or PERF_RECORD_MMAP2; inode 0: not known, not checked
 */
struct elf_mapping {
	pid_t pid;
	uint64_t start, end; /* runtime addresses, half-open */
	uint64_t file_offset;
	uint32_t device_major, device_minor;
	uint64_t inode;
	const char *path;
};

/* The size of a mapping's path without the mark " (deleted)", and whether it has that. */
size_t elf_mapped_path_size(const char *path);
bool elf_mapped_is_deleted(const char *path);

/*
 * Opens the file of a mapping, in two steps of which another process may do the first one. elf_open_mapping() returns a
 * descriptor of the mapping's file, or -1 with `err` set. elf_image_of_mapping() makes an image of it, and owns `fd`
 * in any case. `copied`: `fd` is a copy of the file that this describes, as of one that must not be mapped since its
 * file system may hang; NULL: `fd` is the file itself.
 */
int elf_open_mapping(const struct elf_mapping *mapping, struct error *err);
COMMON_MUST_CHECK
bool elf_image_of_mapping(int fd, const struct elf_mapping *mapping, const struct stat *copied,
	struct elf_image **image, struct error *err);

COMMON_MUST_CHECK
bool elf_image_open_path(const char *path, struct elf_image **image, struct error *err);

/* Likewise of a descriptor, which it owns in any case; `path` is what the image is called. */
COMMON_MUST_CHECK
bool elf_image_open_descriptor(int fd, const char *path, struct elf_image **image, struct error *err);

/*
 * Makes an image of a copy of bytes in memory (the vdso, which the caller reads from /proc/PID/mem). `name` is for
 * messages.
 */
COMMON_MUST_CHECK
bool elf_image_open_memory(
	const void *bytes, size_t size, const char *name, struct elf_image **image, struct error *err);

/*
 * Opens a file for reading if it is a regular one that is not the kernel's own (file_open_found()). That is checked
 * before opening: to open a device may have effects, and to open a FIFO lets its writer continue. -1 on failure, with
 * `err` set.
 */
int elf_open_regular(const char *path, struct error *err);

/*
 * Likewise an absolute path that a file tells, as perf.data does. It is walked name by name, so that no name on its way
 * has anything mounted (autofs).
 */
int elf_open_told(const char *path, struct error *err);

struct elf_image *elf_image_ref(struct elf_image *image);
void elf_image_unref(struct elf_image *image); /* NULL is allowed */

/*
 * The root of the directory tree in which a process sees its files, held open: what lies there can be found when the
 * process has ended, or has taken another root. Shared by images; thread-safe. elf_root_create() takes over `fd`, a
 * descriptor of O_PATH. NULL: memory runs out.
 */
struct elf_root;
struct elf_root *elf_root_create(int fd);
struct elf_root *elf_root_ref(struct elf_root *root);
void elf_root_unref(struct elf_root *root); /* NULL is allowed */

/*
 * Says that the file was found in another tree than ours, of which it gets a reference: its debug files are looked for
 * there first. To be called before the image is shared.
 */
void elf_image_set_root(struct elf_image *image, struct elf_root *root);

/* The descriptor of that root, borrowed; -1: the file is in our own tree. */
int elf_image_root(const struct elf_image *image);

/* Writes what the paths of files in that root begin with, for an opener too; "": it is ours. */
enum { ELF_ROOT_PATH_BYTES = 32 };
void elf_image_root_path(const struct elf_image *image, char path[ELF_ROOT_PATH_BYTES]);

/* Borrowed; the path in the target's file system, without " (deleted)". */
const char *elf_image_path(const struct elf_image *image);

/*
 * The file's descriptor, borrowed; -1 if the image is in memory. It is for libraries that read the file themselves, in
 * a child process.
 */
int elf_image_descriptor(const struct elf_image *image);

/*
 * Returns whether the path leads to another file now or to none, as after a deploy. Each call checks the file system,
 * except for a copy, whose file is not looked at again.
 */
bool elf_image_is_deleted(const struct elf_image *image);

/*
 * Distinguishes a file of this machine from every other, and from itself with other contents. A build id does not,
 * since anybody can write one to a file. Times in nanoseconds since 1970. All 0: the image is in memory.
 */
struct elf_file_identity {
	uint64_t device, inode, size;
	int64_t modified_ns, changed_ns;
};

const struct elf_file_identity *elf_image_identity(const struct elf_image *image);

/*
 * Returns whether the file still has the size of its mapping and the same build. A deploy that copies over a file,
 * rather than replacing it, leaves the mapping with bytes of another binary, or without any (SIGBUS).
 */
bool elf_image_is_intact(const struct elf_image *image);

const struct elf_build_id *elf_image_build_id(const struct elf_image *image);
uint16_t elf_image_machine(const struct elf_image *image); /* EM_X86_64, ... */
bool elf_image_is_64bit(const struct elf_image *image);
bool elf_image_is_executable(
	const struct elf_image *image); /* ET_EXEC, or ET_DYN with an interpreter: a program, not a library */
uint64_t elf_image_entry(const struct elf_image *image); /* image address, 0: none */

/* PT_LOAD segments in file order; `*count` of them, borrowed. */
const struct elf_segment *elf_image_segments(const struct elf_image *image, size_t *count);

/* The whole file, borrowed. */
const uint8_t *elf_image_bytes(const struct elf_image *image, size_t *size);

/*
 * Bytes of the file at an image address, borrowed; `*size` is their number up to the segment's end. NULL if they are
 * not in the file.
 */
const uint8_t *elf_image_bytes_at(const struct elf_image *image, uint64_t address, size_t *size);

/* ---- Sections ---- */

/*
 * The bytes of a section. Compressed ones (SHF_COMPRESSED, .zdebug_*) are inflated on first use and kept with the
 * image.
 */
struct elf_section {
	const uint8_t *bytes; /* borrowed from the image */
	size_t size;
	uint64_t address; /* image address; 0 if it is not loaded */
	uint64_t flags;   /* SHF_* */
	uint32_t type;    /* SHT_* */
	uint32_t entry_size;
};

/*
 * Finds a section by name. False if there is none, which is no error: also for SHT_NOBITS, and for all sections once
 * the file was truncated or overwritten with another build. A lock guards inflating.
 */
COMMON_MUST_CHECK
bool elf_image_section(struct elf_image *image, const char *name, struct elf_section *section);

/*
 * Returns whether a compressed section counted as missing because inflating it would have taken memory out of all
 * proportion to the file (elf_image_most_bytes()).
 */
bool elf_image_has_refused(struct elf_image *image);

/* The memory that the image takes beside its mapping: headers, and sections that were inflated. */
uint64_t elf_image_kept_bytes(struct elf_image *image);

/*
 * The most bytes that may be kept of what the file says, whatever it claims: in proportion to the bytes that it really
 * has on disk, without holes.
 */
uint64_t elf_image_most_bytes(const struct elf_image *image);

/*
 * Finds the next section of that name after section `*index`, and sets `*index` to its index. Object files may have
 * several of one name. The search starts at 0.
 */
COMMON_MUST_CHECK
bool elf_image_next_section(struct elf_image *image, const char *name, size_t *index, struct elf_section *section);

/*
 * Finds a section of which only the first `bytes` are needed. If it is compressed, perhaps no more than these are
 * inflated, and its checksum is not verified then. `section->size` is the number of bytes available.
 */
COMMON_MUST_CHECK
bool elf_image_section_start(struct elf_image *image, const char *name, uint64_t bytes, struct elf_section *section);

/* Returns whether a section, by the index that symbols use, holds loaded code; false if there is no such section. */
bool elf_image_section_is_code(const struct elf_image *image, uint32_t index);

/*
 * Finds .eh_frame and its header by PT_GNU_EH_FRAME, also in files without section headers. Either may be missing (size
 * 0).
 */
void elf_image_eh_frame(struct elf_image *image, struct elf_section *eh_frame, struct elf_section *eh_frame_hdr);

/*
 * Serves the SIGBUS handler (si_code BUS_ADRERR) of a program. If a mapped file was truncated, this maps a page of
 * zeros in place of the lost page, so that the read continues and finds damaged bytes. Without such a handler,
 * truncating a mapped file while it is read ends the program. Sections requested afterwards are "not there".
 * Async-signal-safe. False if `address` is not in such a page.
 */
bool elf_image_fill_lost_page(const void *address);

/* ---- Debug files ---- */

/* The use that another file of an image is opened for. It decides where the file may lie. */
enum elf_file_use {
	ELF_FILE_BUILD_ID, /* a debug file, by its build id in a debug directory */
	ELF_FILE_LINK,     /* the debug file or the dwz file that a section of the image names */
	ELF_FILE_SPLIT,    /* a .dwo or .dwp file */
	ELF_FILE_FETCHED,  /* a debug file from a server, by the image's build id; the path is for messages */
};

/*
 * Opens the other files of one image for code that must not open files itself, such as a confined child process
 * (symbolize/broker.h). Thread-safe.
 */
struct elf_opener {
	/* Opens a regular file for reading. The descriptor belongs to the caller; -1 on failure, with `err` set. */
	int (*open)(void *context, enum elf_file_use use, const char *path, struct error *err);
	/* Writes the path of the image without links, PATH_MAX bytes; false if it is not known. */
	bool (*real_path)(void *context, char *path);
	void *context;
};

/* Opens an image by a path that foreign bytes may have named. `opener` NULL: the process opens the file itself. */
COMMON_MUST_CHECK
bool elf_image_open_for(const struct elf_opener *opener, enum elf_file_use use, const char *path,
	struct elf_image **image, struct error *err);

struct elf_debug_options {
	const char *const *directories; /* NULL: /usr/lib/debug */
	size_t directory_count;
	const struct elf_opener *opener; /* NULL: the process opens the files itself */
};

/* The directories in which debug files are kept, below the root; borrowed. `options` may be NULL. */
const char *const *elf_debug_directories(const struct elf_debug_options *options, size_t *count);

enum elf_debug_source {
	ELF_DEBUG_SELF,     /* the image's own .debug_info */
	ELF_DEBUG_BUILD_ID, /* DIR/.build-id/xx/yyyy.debug */
	ELF_DEBUG_LINK,     /* .gnu_debuglink, CRC checked */
	ELF_DEBUG_NONE,     /* there is no debug information; the image itself is returned */
	ELF_DEBUG_REFUSED,  /* a debuglink was found, but its CRC or build id is wrong; the image itself is returned */
};

/*
 * The image that has the debug information: the image itself, or its separate file, which is opened once and kept.
 * Borrowed from `image`. Missing debug information is no failure. `why` may be NULL; for ELF_DEBUG_REFUSED it is
 * set to a line on that.
 */
struct elf_image *elf_image_debug(struct elf_image *image, const struct elf_debug_options *options,
	enum elf_debug_source *source, struct error *why);

/* The dwz file that .gnu_debugaltlink or .debug_sup names, opened once and kept; borrowed. NULL if there is none. */
struct elf_image *elf_image_debug_alt(struct elf_image *image, const struct elf_debug_options *options);

/* Returns whether such a file is named and was not found, so that names are missing: `why` then has a line on it. */
bool elf_image_lacks_alt(struct elf_image *image, const struct elf_debug_options *options, struct error *why);

static inline void elf_image_cleanup(struct elf_image **image)
{
	elf_image_unref(*image);
}

/* ---- /proc/PID/maps ---- */

struct elf_maps_entry {
	struct elf_mapping mapping; /* path borrowed from the text */
	bool executable;
};

/*
 * Reads one line of /proc/PID/maps without its newline. `line` is changed: the path is unescaped in place. ERROR_FORMAT
 * if it is malformed. An anonymous mapping has the path "".
 */
COMMON_MUST_CHECK
bool elf_maps_parse_line(char *line, pid_t pid, struct elf_maps_entry *entry, struct error *err);

/*
 * Calls `take` for every line of a text of /proc/PID/maps, which is changed. A line that is malformed is passed over:
 * it costs the process one mapping. Fails if `take` does.
 */
COMMON_MUST_CHECK
bool elf_maps_parse(char *text, pid_t pid,
	bool (*take)(void *context, const struct elf_maps_entry *entry, struct error *err), void *context,
	struct error *err);
