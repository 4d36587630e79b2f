/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <libelf.h>
#include <sys/types.h>

/*
 * A binary image of a profiled process: how it is opened, who it is, where its parts lie, and where its debug
 * information is. ELF bytes are foreign: everything here survives a damaged or hostile file, and says "not there" or
 * ERROR_FORMAT.
 *
 * Addresses. Three are in use, all in bytes:
 *   runtime address   in the target's address space
 *   file offset       where the byte lies in the binary's file; a mapping says offset = address - start + mapping
 * offset image address     the ELF virtual address (st_value, DW_AT_low_pc, what addr2line takes): the one the profile
 * keeps
 */

enum { ELF_BUILD_ID_MAX_SIZE = 32 };

/* The identity of a binary: what the linker hashed. `size` is 0 where a binary has none, which is an answer, not an
 * error. */
struct elf_build_id {
	uint8_t bytes[ELF_BUILD_ID_MAX_SIZE];
	uint8_t size;
};

/*
 * Finds the GNU build id in the contents of one SHT_NOTE section or PT_NOTE segment (alignment 4 or 8; gABI, "Note
 * Section"). Fails with ERROR_FORMAT when a note runs past the end or an id is longer than ELF_BUILD_ID_MAX_SIZE; `id`
 * is then untouched.
 */
COMMON_MUST_CHECK
bool elf_build_id_from_notes(
	const void *notes, size_t size, size_t alignment, struct elf_build_id *id, struct error *err);

/* Lower-case hex and a NUL; `text` has room for 2 * ELF_BUILD_ID_MAX_SIZE + 1 characters. */
void elf_build_id_format(const struct elf_build_id *id, char *text);

/* ---- Images ---- */

/*
 * One opened binary. Holds its file descriptor (a deploy deletes the old file) and a read-only mapping of it.
 * Reference-counted; immutable once open and safe to read from several threads, save for elf_image_debug() and
 * elf_image_libelf().
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
 * Opens what a process has mapped, by the first of these that works:
 *   /proc/PID/map_files/START-END   also deleted files, overlays and files of other mount namespaces; root only
 *   /proc/PID/exe                   the program itself, also deleted
 *   /proc/PID/root/PATH             what the process itself sees under the name; refused when its inode is not the
 * mapped one PATH                            likewise A deleted file is never looked for under its name: what is there
 * now is another one. pid 0 (a file of another machine): PATH alone. Only regular files are opened: devices and FIFOs
 * are refused without being touched.
 *
 * path        as /proc/PID/maps prints it; a trailing " (deleted)" is understood
 * device, inode  as /proc/PID/maps or PERF_RECORD_MMAP2 gives them; inode 0: not known, not checked
 */
struct elf_mapping {
	pid_t pid;
	uint64_t start, end; /* runtime addresses, half-open */
	uint64_t file_offset;
	uint32_t device_major, device_minor;
	uint64_t inode;
	const char *path;
};

COMMON_MUST_CHECK
bool elf_image_open_mapping(const struct elf_mapping *mapping, struct elf_image **image, struct error *err);

COMMON_MUST_CHECK
bool elf_image_open_path(const char *path, struct elf_image **image, struct error *err);

/* Takes a copy of bytes that lie in memory (the vdso, read through /proc/PID/mem by the caller). `name` is for
 * messages. */
COMMON_MUST_CHECK
bool elf_image_open_memory(
	const void *bytes, size_t size, const char *name, struct elf_image **image, struct error *err);

struct elf_image *elf_image_ref(struct elf_image *image);
void elf_image_unref(struct elf_image *image); /* NULL is taken */

/* Borrowed; the path it was opened for (without " (deleted)"), as the target sees it. */
const char *elf_image_path(const struct elf_image *image);

/* The descriptor of the file, borrowed; -1: the image lies in memory. For libraries that read a file themselves, in a
 * child process. */
int elf_image_descriptor(const struct elf_image *image);

/* Whether the file under the path is no longer this one: replaced or deleted, as after a deploy; asked of the file each
 * time. */
bool elf_image_is_deleted(const struct elf_image *image);

/*
 * Tells a file of this machine from every other, and from itself with other content: unlike a build id, which anybody
 * may write into any file. Times in nanoseconds since 1970. All 0: it lies in memory.
 */
struct elf_file_identity {
	uint64_t device, inode, size;
	int64_t modified_ns, changed_ns;
};

const struct elf_file_identity *elf_image_identity(const struct elf_image *image);

/*
 * Whether the file is still as long as its mapping and still the same build. A deploy that copies over a file, in place
 * of replacing it, leaves us with bytes of another binary, or with none (SIGBUS).
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

/*
 * Image address of a file offset, by the PT_LOAD that holds it (an executable one first, where two share a page); false
 * when none does.
 */
COMMON_MUST_CHECK
bool elf_image_address_of_offset(const struct elf_image *image, uint64_t file_offset, uint64_t *address);

/* The whole file, borrowed. */
const uint8_t *elf_image_bytes(const struct elf_image *image, size_t *size);

/* File bytes at an image address, borrowed, with the count up to the segment's end in `*size`; NULL when they are not
 * in the file.
 */
const uint8_t *elf_image_bytes_at(const struct elf_image *image, uint64_t address, size_t *size);

/* ---- Sections ---- */

/* A section's bytes. Compressed ones (SHF_COMPRESSED, .zdebug_*) are inflated on first use and kept with the image. */
struct elf_section {
	const uint8_t *bytes; /* borrowed from the image */
	size_t size;
	uint64_t address; /* image address, 0 when not loaded */
	uint64_t flags;   /* SHF_* */
	uint32_t type;    /* SHT_* */
	uint32_t entry_size;
};

/* Finds a section by name; false when there is none (not an error), also for SHT_NOBITS, and for all sections once the
 * file was truncated or overwritten with another build. Inflating is guarded by a lock.
 */
COMMON_MUST_CHECK
bool elf_image_section(struct elf_image *image, const char *name, struct elf_section *section);

/* Likewise the section of that name behind section `*index`, which becomes its index: object files may have several.
 * From 0. */
COMMON_MUST_CHECK
bool elf_image_next_section(struct elf_image *image, const char *name, size_t *index, struct elf_section *section);

/*
 * As elf_image_section(), where only the first `bytes` are needed: of a compressed section perhaps no more than these
 * are inflated, then without a look at its checksum; `section->size` says how many there are.
 */
COMMON_MUST_CHECK
bool elf_image_section_start(struct elf_image *image, const char *name, uint64_t bytes, struct elf_section *section);

/* Whether a section, by the index that symbols name it by, is of loaded code; false when there is none. */
bool elf_image_section_is_code(const struct elf_image *image, uint32_t index);

/*
 * .eh_frame and its header through PT_GNU_EH_FRAME, for files without section headers as well. Either may be absent
 * (size 0).
 */
void elf_image_eh_frame(struct elf_image *image, struct elf_section *eh_frame, struct elf_section *eh_frame_hdr);

/*
 * For the SIGBUS handler (si_code BUS_ADRERR) of a program: puts a page of zeros where a file, truncated in place, lost
 * one, so that the read that failed goes on and finds damaged bytes. Without such a handler the truncation of a mapped
 * file, while it is read, ends the program; sections asked for afterwards are "not there". Async-signal-safe; false:
 * nothing was done.
 */
bool elf_image_fill_lost_page(const void *address);

/* ---- Debug files ---- */

struct elf_debug_options {
	const char *const *directories; /* NULL: /usr/lib/debug */
	size_t directory_count;
	/* Prefix for lookups in the target's file system, as "/proc/12/root"; what is not there is looked for by build
	 * id without it. NULL: none. */
	const char *root;
};

enum elf_debug_source {
	ELF_DEBUG_SELF,     /* the image's own .debug_info */
	ELF_DEBUG_BUILD_ID, /* DIR/.build-id/xx/yyyy.debug */
	ELF_DEBUG_LINK,     /* .gnu_debuglink, CRC checked */
	ELF_DEBUG_NONE,     /* there is none; the image itself is returned */
	ELF_DEBUG_REFUSED,  /* a debuglink was found but its CRC or build id is wrong; the image itself is returned */
};

/*
 * The image that carries the debug information: itself, or its separate file, which is opened once and kept.
 * Borrowed from `image`. Never fails for want of debug information. `why` may be NULL; else it gets a line for
 * ELF_DEBUG_REFUSED.
 */
struct elf_image *elf_image_debug(struct elf_image *image, const struct elf_debug_options *options,
	enum elf_debug_source *source, struct error *why);

/* The dwz file named by .gnu_debugaltlink or .debug_sup, opened once and kept; borrowed, or NULL. */
struct elf_image *elf_image_debug_alt(struct elf_image *image, const struct elf_debug_options *options);

/* libelf's handle, for libdw; borrowed, created on first use; NULL when libelf refuses the file. One thread at a time.
 */
Elf *elf_image_libelf(struct elf_image *image);

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
 * Reads one line of /proc/PID/maps (without its newline; `line` is changed: the path is unescaped in place).
 * Fails with ERROR_FORMAT. An anonymous mapping has the path "".
 */
COMMON_MUST_CHECK
bool elf_maps_parse_line(char *line, pid_t pid, struct elf_maps_entry *entry, struct error *err);
