/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"
#include "profile/profile.h"
#include "symbolize/addr2line.h"
#include "symbolize/debug_package.h"

#include <limits.h>
#include <pthread.h>

/*
 * Addresses -> functions, files, lines, inlined frames; and each function's origin.
 * It adds names; it never drops or reorders a sample. A missing symbol is data (profile_name_source), not an error.
 */

/* ---- Origin ---- */

/* The rules of docs/origin.md, in order; the first that matches decides. Numbers stand in profiles: they are never
 * reused. */
enum symbolize_rule {
	SYMBOLIZE_RULE_NONE = 0,
	SYMBOLIZE_RULE_USER_RULE = 1,       /* --origin-rules */
	SYMBOLIZE_RULE_KERNEL = 2,          /* kernel, modules, BPF, vdso */
	SYMBOLIZE_RULE_RUNTIME = 3,         /* ld.so, libc, libm, libpthread, libgcc_s, Go's runtime, interpreters */
	SYMBOLIZE_RULE_JIT_STUB = 4,        /* stubs and builtins of a JIT */
	SYMBOLIZE_RULE_STANDARD_SOURCE = 5, /* source of a standard library */
	SYMBOLIZE_RULE_DEPENDENCY_SOURCE =
		6, /* source of a dependency: registry, vendor, site-packages, /usr/include, ... */
	SYMBOLIZE_RULE_PROJECT_ROOT = 7,          /* definition under --project-root */
	SYMBOLIZE_RULE_COMPILATION_DIRECTORY = 8, /* definition under the main program's compilation directory */
	SYMBOLIZE_RULE_MAIN_PROGRAM = 9,          /* no DWARF: main program, or a DSO in its directory */
	SYMBOLIZE_RULE_SYSTEM_DIRECTORY =
		10,                       /* no DWARF: /lib, /usr/lib, /usr/local/lib, /opt, packages of a language */
	SYMBOLIZE_RULE_NAME_PREFIX = 11,  /* std::, core::, alloc::, __gnu_cxx:: */
	SYMBOLIZE_RULE_ANONYMOUS = 12,    /* deleted without symbols, memfd, anonymous */
	SYMBOLIZE_RULE_OTHER_SOURCE = 13, /* DWARF, but of no project root: by its binary */
	SYMBOLIZE_RULE_WAIT = 14,         /* no function: the frame that says what a thread waits for */
};

/* One line for --explain-origin and the inspector: "kernel, module or vdso". */
const char *symbolize_rule_text(enum symbolize_rule rule);

/*
 * The user's rules, ordered globs: `user path /src/?*`, `library module libfoo*`, `system function rt_*`; `#` starts a
 * comment. Those of waits begin with the class that a wait becomes, or with `keep` (docs/waiting.md).
 */
struct symbolize_rules;
enum symbolize_rules_kind { SYMBOLIZE_RULES_OF_ORIGIN, SYMBOLIZE_RULES_OF_WAITS };

/* `name` is for messages; ERROR_FORMAT names the line. */
COMMON_MUST_CHECK
bool symbolize_rules_parse(enum symbolize_rules_kind kind, const char *text, size_t size, const char *name,
	struct symbolize_rules **rules, struct error *err);
void symbolize_rules_destroy(struct symbolize_rules *rules);

/* ---- A whole profile ---- */

/* The functions that get a fingerprint of their code. */
enum symbolize_fingerprints {
	SYMBOLIZE_FINGERPRINT_ALL,
	SYMBOLIZE_FINGERPRINT_UNNAMED, /* only functions without a name, which it distinguishes: for a report of one
					  profile */
	SYMBOLIZE_FINGERPRINT_NONE,    /* for kelvin symbolize, which compares nothing */
};

/*
 * Opens files of the frame cache (symbolize/cache.h) for a process that cannot open any: `open` returns a descriptor,
 * which belongs to the caller, or -1. Thread-safe.
 */
struct frame_cache_opener {
	int (*open)(void *context, uint64_t name);
	void *context;
};

/* The files of which the source is kept. */
enum symbolize_sources { SYMBOLIZE_SOURCES_NONE, SYMBOLIZE_SOURCES_OF_PROJECT, SYMBOLIZE_SOURCES_ALL };

/*
 * The functions that have the running kernel print names, which takes a program in it (sampler); `names` is what
 * begin() has made.
 */
struct symbolize_kernel {
	/* False where the kernel runs no such program: its symbols are read instead. */
	bool (*begin)(void **names);
	/*
	 * `name+0x1d/0x40 [module]` of the function that holds the address, as printk's %pS prints it (linux,
	 * Documentation/core-api/printk-formats.rst), or the bare address. Borrowed until the next call; symbolize
	 * writes to it. NULL when the kernel refuses.
	 */
	char *(*print)(void *names, uint64_t address);
	void (*end)(void *names);
};

/*
 * The process that opens files, and names addresses in them, for one that has no rights. Both functions return a
 * descriptor, which belongs to the caller; -1, with `err` set.
 */
struct symbolize_namer {
	int (*ask)(void *context, const void *bytes, size_t size, struct error *err); /* symbolize_name_answer() does */
	int (*open_kernel)(void *context, const char *path, struct error *err);       /* the kernel's symbols */
	void *context;
};

struct symbolize_options {
	const struct symbolize_namer *namer;   /* NULL: this process opens files, and children of it name */
	const struct symbolize_kernel *kernel; /* NULL: symbols of the kernel are read */
	const char *const *project_roots;
	size_t project_root_count;
	const struct symbolize_rules *origin_rules; /* NULL: none */
	const struct symbolize_rules *wait_rules;   /* NULL: none but our own */
	struct elf_debug_options debug;
	const char *cache_directory;                   /* of resolved frames; NULL: no cache */
	uint64_t cache_program;                        /* which program resolves them; 0: it is found out */
	const struct frame_cache_opener *cache_opener; /* opens its files; NULL: the process does that itself */
	bool require_confinement;                      /* nothing is read by a process that is not confined in all ways
							* (common/child/confined.h)
							*/
	unsigned int threads;                          /* 0: one per CPU */
	bool (*is_stopped)(void);                      /* whether to leave the rest unnamed at once; NULL: never */
	bool no_names;                                 /* nothing is named */
	bool no_inlines;
	bool names_only;                      /* no files, lines and origins, if the output shows none */
	struct symbolize_remote *remote;      /* who opens and keeps files for this process; NULL: it does */
	bool is_confined;                     /* the caller has given up its rights already (isolated_limits) */
	enum symbolize_sources sources;       /* symbolize_keep_sources() */
	bool is_command;                      /* what was sampled is a command that we started, in our file system */
	struct symbolize_servers *debuginfod; /* they give debug files that are not on this machine; NULL: none do */
	enum symbolize_fingerprints fingerprints;
};

/*
 * Names every location of a profile that has no lines yet, and decides the origin of every function that has none.
 * Locks get the names of the objects that they are in.
 *
 * Binaries and maps are read in a confined child process, since they are hostile bytes (symbolize/naming.h). What
 * cannot be named is no failure: a notice tells.
 *
 * Addresses that `symbols` has nothing for become module+0x... A JIT map is read by its descriptor, never by its name.
 * What the user should know (a debug file refused, kernel symbols restricted) is appended to `notices`, line by line;
 * it may be NULL.
 */
COMMON_MUST_CHECK
bool symbolize_profile(struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct buffer *notices, struct error *err);

/*
 * Answers a request of a process that has options->namer: foreign bytes, aligned to 8. `files` are those that were
 * handed out to it, and their names, by which it means them. Returns the descriptor of a file in memory, which belongs
 * to the caller; -1, with `err` set.
 */
int symbolize_name_answer(const struct symbolize_options *options, const struct file_opened *files, size_t count,
	const void *bytes, size_t size, struct error *err);

/* The source that symbolize_keep_sources() has kept. */
struct symbolize_kept_sources {
	uint64_t functions;
	uint64_t bytes;
	uint64_t files, files_that_may_differ;
	bool is_cut; /* there was more than a profile holds, or a file system did not answer in time */
};

/*
 * Keeps the source of functions with at least 0.1 % of the samples in the profile, as it is now: profile/source.h. To
 * be called after symbolize_profile(), while the target may still run. A file is read by a child process that becomes
 * the user whose processes were sampled in it, in the file system that these see; it can only read regular files. Of
 * processes that are of several users, or of an unknown one, only what anybody may read is kept; nothing of those whose
 * file system is not known. Whatever goes wrong with a file costs the text of that file; one that never answers, that
 * of the same user's files behind it.
 */
COMMON_MUST_CHECK
bool symbolize_keep_sources(struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct symbolize_kept_sources *kept, struct error *err);

/*
 * Appends "source text of 41 functions kept, 62 kB; 3 files may differ from what was built"; nothing where nothing is
 * kept.
 */
void symbolize_append_kept(const struct symbolize_kept_sources *kept, struct buffer *text);

/*
 * Keeps the code of functions with at least 0.1 % of the samples' own time in the profile, the most sampled first
 * (profile/code.h): of those whose text symbolize_keep_sources() has kept before and, where all sources are kept, of
 * all others of the user's own. Where a function begins and ends its unwind table says, else its first and last sampled
 * address; of one that is longer than what is kept of a function, the part with the most samples is. Nothing is
 * decoded: the bytes are copied as they are.
 */
COMMON_MUST_CHECK
bool symbolize_keep_code(struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct error *err);

/*
 * Decides only the origins, by the same rules, from the profile's data: for profiles that other tools wrote. The
 * profile's decisions are kept, unless `options` has rules or project roots that decide otherwise.
 */
COMMON_MUST_CHECK
bool symbolize_origins(struct profile *profile, const struct symbolize_options *options, struct error *err);

/*
 * Gives the main program, mapping 0, the path by which it was started, if that is a link: Debian's redis-server is one
 * to redis-check-rdb, which is one program in several roles. Interpreters keep their own: their programs are scripts.
 * To be called on the machine of the recording, before functions are named. Fails if memory runs out.
 */
COMMON_MUST_CHECK
bool symbolize_name_program(struct profile *profile, struct error *err);

/*
 * Decides anew what threads waited for, by the functions in the stack of each wait: the one nearest to the leaf that a
 * rule is about decides, by the first rule about it. The rules of `options` come before our own. Without a rule, names
 * tell locks from conditions (symbolize/wait_names.h). Waits for a CPU stay that, whichever function was interrupted.
 * Nothing is done to profiles without waits.
 */
COMMON_MUST_CHECK
bool symbolize_waits(struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct error *err);

/*
 * Gives waits of threads that are idle by their life the class idle (profile/wait_life.h), in all profiles that are
 * shown together, unless a rule of `options` is about them. It comes after symbolize_waits(), and files keep what that
 * has decided: whether a life is idle may depend on the other side of a comparison.
 */
COMMON_MUST_CHECK
bool symbolize_idle_lives(
	struct profile *const *profiles, size_t count, const struct symbolize_options *options, struct error *err);

/* ---- Single addresses: kelvin symbolize ---- */

struct symbolize_frame {
	const char *name;         /* demangled; never NULL; "" unknown, which addr2line prints as "??" */
	const char *linkage_name; /* "" when there is none */
	const char *file; /* where the code of this frame was executing: the line table's or the call site's file; ""
			     unknown */
	const char *decl_file; /* where the function is defined; "" unknown */
	uint32_t line;         /* 0: unknown */
	uint32_t decl_line;
	uint64_t fingerprint; /* of the function's code, blind to addresses; 0: not known, and of inlined frames */
	enum profile_name_source source;
};

/* The frames of one address, innermost first. */
struct symbolize_frames {
	const struct symbolize_frame *frames;
	size_t count; /* 0: none is known */
};

/* Resolved addresses of one image; owns all strings. */
struct symbolize_result;

/*
 * Resolves image addresses in one batch; result i belongs to addresses[i], in any order and with repetitions.
 * Several images may be resolved at the same time by different threads, one image by one.
 */
COMMON_MUST_CHECK
bool symbolize_addresses(struct elf_image *image, const uint64_t *addresses, size_t count,
	const struct symbolize_options *options, struct symbolize_result **result, struct error *err);

/*
 * Resolving addresses of one image in a process that cannot open files: another one opens its debug files, by the rules
 * of naming (symbolize/broker.h), and keeps its frames. Shared by threads.
 */
struct symbolize_remote {
	/* Set by the caller: sends the bytes of a request, and receives a descriptor; -1: there is none. */
	int (*ask)(void *context, const void *bytes, size_t size);
	void *context;

	struct elf_opener opener;
	struct frame_cache_opener cache_opener;
	pthread_mutex_t lock;
	char real_path[PATH_MAX]; /* of the image, without links */
	char directory[PATH_MAX]; /* that relative paths begin in */
};

/*
 * Initializes; to be called in the process that may open files, before it forks the other, which loads no library any
 * more. Sets what the options need.
 */
void symbolize_remote_init(
	struct symbolize_remote *remote, const struct elf_image *image, struct symbolize_options *options);

/* Answers a request, which is foreign bytes, aligned to 8. The descriptor belongs to the caller; -1: there is none. */
int symbolize_remote_answer(
	struct elf_image *image, const struct symbolize_options *options, const void *bytes, size_t size);

/*
 * False for object files: unlinked code has no addresses yet. A notice is given for a file that ends before its headers
 * allow; the rest of it may still be named.
 */
COMMON_MUST_CHECK
bool symbolize_check(const struct elf_image *image, struct buffer *notices, struct error *err);

/* Returns whether debuginfod's servers can be asked: the library is installed, and servers are set. */
COMMON_MUST_CHECK
bool symbolize_debuginfod_possible(struct error *err);

/*
 * The cost that debuginfod's servers may still cause to a command: the bytes of files that are written for them,
 * whether these come to be or not, and time. When one of them is used up, no server is asked any more.
 */
struct symbolize_servers {
	uint64_t bytes;
	int64_t ns;
};

/*
 * Returns the bounds for debug files: 2 GB and 300 s, or what DEBUGINFOD_MAXSIZE and DEBUGINFOD_MAXTIME (seconds) say.
 */
struct symbolize_servers symbolize_debuginfod_bounds(void);

/*
 * Fetches a source file that a binary was built from, by the binary's build id in hexadecimal and the absolute path in
 * its debug information, both of which may be anybody's; one of more bytes is none. A descriptor, which the caller
 * owns; -1: there is none.
 */
int symbolize_debuginfod_source(
	const char *build_id, const char *path, uint64_t most_bytes, struct symbolize_servers *servers);

/*
 * Finds the directory in which resolved frames are kept between runs: below XDG_CACHE_HOME, else HOME, else the home
 * directory of the user. One that is not the user's own is passed over. False if there is none.
 */
COMMON_MUST_CHECK
bool symbolize_cache_directory(char *path, size_t size);

/* Finds the directory of perf's build-id cache, below HOME or the home directory of the user, as above. */
COMMON_MUST_CHECK
bool symbolize_perf_cache_directory(char *path, size_t size);

/* The frames of addresses[index], at least one; they live as long as the result. */
struct symbolize_frames symbolize_result_frames(const struct symbolize_result *result, size_t index);

/* Returns whether a debug file was requested from debuginfod's servers but not received. */
bool symbolize_result_fetch_failed(const struct symbolize_result *result);

/* Decides the origin of a frame, as if its image were the main program, and the rule that decided it. */
COMMON_MUST_CHECK
bool symbolize_frame_origin(const struct symbolize_result *result, const struct elf_image *image,
	const struct symbolize_frame *frame, const struct symbolize_options *options, enum profile_origin *origin,
	enum symbolize_rule *rule, struct error *err);
void symbolize_result_destroy(struct symbolize_result *result);

/* ---- A second opinion on names: --verify ---- */

/*
 * Names are compared with those of libdw: a chain of frames is equal when libdw has the same functions in the same
 * order, each under one of its names, on the same lines as far as both know them. Where there is no debug information,
 * the function that holds the code is compared with the symbol table. An address that libdw does not know is not
 * counted. libdw runs in a child process, which contains the effects of a hostile file.
 */

/*
 * Compares the names of these locations of a profile; `images` are those of its symbols. Adds to the
 * profile's verification, differences with it.
 */
COMMON_MUST_CHECK
bool symbolize_verify_locations(struct profile *profile, struct elf_image *const *images, const uint32_t *locations,
	size_t count, const struct elf_debug_options *options, struct error *err);

/*
 * Compares the names of a result for the same `addresses` of one image. Adds to the counts of names and, up to
 * PROFILE_MOST_DIFFERENCES, of differences, of which it appends a line each.
 */
COMMON_MUST_CHECK
bool symbolize_verify_result(struct elf_image *image, const uint64_t *addresses, size_t count,
	const struct symbolize_result *result, const struct symbolize_options *options,
	struct profile_verification *counts, struct buffer *differences, struct error *err);
