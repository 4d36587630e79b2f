/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A second opinion on names (--verify): libdw names some addresses again. */
#include "symbolize/symbolize.h"

#include "symbolize/libdw.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME_BYTES = 1 << 14, MAX_FAILURES = 3, DIFFERENCE_BYTES = 1024 };
static const size_t max_frames_bytes = (size_t)1 << 30;
enum { NAMES_SECONDS = 10 };
/* The limit of memory is high, since debug files are mapped as a whole. */
static const size_t names_memory_bytes = (size_t)8 << 30;

/* An address and the names that Kelvin gave to it. */
struct symbolize_claim {
	struct elf_image *image; /* borrowed */
	uint64_t address;
	struct symbolize_frames frames;
};

enum symbolize_verdict { VERDICT_NONE, VERDICT_EQUAL, VERDICT_OTHER, VERDICT_UNKNOWN };

/* The data that the child writes. It is foreign: the library may have overwritten it. */
struct answers {
	uint32_t difference_count;
	char differences[PROFILE_MOST_DIFFERENCES][DIFFERENCE_BYTES];
	uint8_t verdicts[]; /* enum symbolize_verdict, by claim */
};

struct symbolize_comparison {
	const struct symbolize_claim *claims; /* by image */
	size_t count, first;
	const struct elf_debug_options *options;
	bool outermost_only; /* the names have no inlined frames */
	bool is_confined;    /* the process has given up its rights */
};

/* The findings of all children. */
struct symbolize_findings {
	struct profile_verification *counts; /* of names */
	struct buffer *differences;          /* a line for each that is shown */
	size_t shown;
};

/* ---- Whether two names are of one function ---- */

static bool symbolize_verify_ends_with(const char *name, size_t size, const char *end)
{
	size_t end_size = strlen(end);

	return size > end_size && memcmp(name + size - end_size, end, end_size) == 0;
}

/*
 * The size of a linkage name without the suffixes that compilers add to parts of a function, and without a symbol's
 * version (docs/symbolizer-differences.md).
 */
static size_t plain_size(const char *name)
{
	static const char *const parts[] = { ".isra.", ".constprop.", ".part.", ".lto_priv.", ".llvm." };
	size_t size = strcspn(name, "@");

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *part = strstr(name, parts[i]);

		if (part && (size_t)(part - name) < size)
			size = (size_t)(part - name);
	}
	if (symbolize_verify_ends_with(name, size, ".cold"))
		size -= strlen(".cold");
	return symbolize_verify_ends_with(name, size, ".abi0") ? size - strlen(".abi0") : size;
}

static bool symbolize_verify_is_plain(const char *ours, const char *theirs, size_t size)
{
	return strlen(ours) == size && memcmp(ours, theirs, size) == 0;
}

/*
 * Returns whether a function without a linkage name has the same name but for its scopes, which Kelvin adds and libdw
 * does not.
 */
static bool is_scoped(const char *ours, const char *theirs)
{
	size_t our_size = strlen(ours), size = strlen(theirs);

	return our_size > size + 2 && memcmp(ours + our_size - size - 2, "::", 2) == 0 &&
	       strcmp(ours + our_size - size, theirs) == 0;
}

static bool is_demangled(const char *ours, const char *theirs, size_t size)
{
	CLEANUP(cleanup_free) char *plain = strndup(theirs, size);
	struct buffer name = BUFFER_INIT(MAX_NAME_BYTES);
	bool same;

	if (plain)
		profile_demangle(plain, &name);
	same = name.data && strcmp(name.data, ours) == 0;
	buffer_deinit(&name);
	return same;
}

static bool verify_is_name(const struct symbolize_frame *ours, const char *theirs)
{
	size_t size;

	if (!theirs)
		return false;
	size = plain_size(theirs);
	return symbolize_verify_is_plain(ours->name, theirs, size) ||
	       symbolize_verify_is_plain(ours->linkage_name, theirs, size) || strcmp(ours->name, theirs) == 0 ||
	       is_scoped(ours->name, theirs) || is_demangled(ours->name, theirs, size);
}

static bool is_same_function(const struct symbolize_frame *ours, const struct libdw_frame *theirs)
{
	return verify_is_name(ours, theirs->linkage_name) || verify_is_name(ours, theirs->name);
}

static bool is_same_line(uint32_t ours, uint32_t theirs)
{
	return ours == 0 || theirs == 0 || ours == theirs;
}

/* Returns whether both names are of one address: of several symbols there, none is preferred. */
static bool is_alias(struct libdw *libdw, const struct libdw_frames *theirs, const struct symbolize_frame *ours)
{
	return libdw_has_alias(libdw, theirs, ours->name) ||
	       (ours->linkage_name[0] && libdw_has_alias(libdw, theirs, ours->linkage_name));
}

static bool is_same_chain(struct libdw *libdw, const struct symbolize_frames *ours, const struct libdw_frames *theirs,
	bool outermost_only)
{
	size_t last = ours->count - 1;

	if (theirs->is_symbol || outermost_only)
		return is_same_function(&ours->frames[last], &theirs->frames[theirs->count - 1]) ||
		       is_alias(libdw, theirs, &ours->frames[last]);
	if (ours->count != theirs->count)
		return false;
	for (size_t i = 0; i <= last; i++)
		if (!is_same_line(ours->frames[i].line, theirs->frames[i].line) ||
			(!is_same_function(&ours->frames[i], &theirs->frames[i]) &&
				(i < last || !is_alias(libdw, theirs, &ours->frames[i]))))
			return false;
	return true;
}

/* ---- In the child ---- */

static void append_frame(const char *name, uint32_t line, size_t index, struct buffer *out)
{
	buffer_printf(out, "%s%.200s", index ? " < " : "", name);
	if (line)
		buffer_printf(out, ":%" PRIu32, line);
}

/* Appends "0x12ab in /usr/bin/x: here a:12 < main:30; libdw b:12 < main:30". */
static void symbolize_verify_describe(const struct symbolize_claim *claim, const struct symbolize_frames *ours,
	const struct libdw_frames *theirs, char *text)
{
	struct buffer out = BUFFER_INIT(MAX_NAME_BYTES);

	buffer_printf(&out, "0x%" PRIx64 " in %s: here ", claim->address, elf_image_path(claim->image));
	for (size_t i = 0; i < ours->count; i++)
		append_frame(ours->frames[i].name, ours->frames[i].line, i, &out);
	buffer_append_string(&out, ours->count ? "; libdw " : "no name; libdw ");
	for (size_t i = 0; i < theirs->count; i++) {
		const struct libdw_frame *frame = &theirs->frames[i];

		append_frame(frame->linkage_name ? frame->linkage_name
			     : frame->name       ? frame->name
						 : "?",
			frame->line, i, &out);
	}
	snprintf(text, DIFFERENCE_BYTES, "%s", out.data ? out.data : "");
	buffer_deinit(&out);
}

/* Returns whether the name is of a procedure linkage table's entry, which libdw does not name. */
static bool symbolize_verify_is_plt(const struct symbolize_frames *ours)
{
	return ours->count > 0 && ours->frames[ours->count - 1].source == PROFILE_NAME_PLT;
}

static enum symbolize_verdict symbolize_verify_judge(
	struct libdw *libdw, const struct symbolize_claim *claim, bool outermost_only, struct answers *answers)
{
	struct libdw_frames theirs;

	if (!libdw || symbolize_verify_is_plt(&claim->frames))
		return VERDICT_UNKNOWN;
	libdw_frames(libdw, claim->address, &theirs);
	if (theirs.count == 0)
		return VERDICT_UNKNOWN;
	if (claim->frames.count > 0 && is_same_chain(libdw, &claim->frames, &theirs, outermost_only))
		return VERDICT_EQUAL;
	if (answers->difference_count < PROFILE_MOST_DIFFERENCES)
		symbolize_verify_describe(
			claim, &claim->frames, &theirs, answers->differences[answers->difference_count++]);
	return VERDICT_OTHER;
}

static void compare_claims(void *context, void *result)
{
	const struct symbolize_comparison *comparison = context;
	struct answers *answers = result;
	struct libdw *libdw = NULL;
	const struct elf_image *image = NULL;

	/* libdw would ask servers, which the process cannot reach. */
	(void)unsetenv("DEBUGINFOD_URLS");
	for (size_t i = comparison->first; i < comparison->count; i++) {
		const struct symbolize_claim *claim = &comparison->claims[i];

		if (claim->image != image) {
			libdw_close(libdw);
			libdw = libdw_open(claim->image, comparison->options);
			image = claim->image;
		}
		answers->verdicts[i] =
			(uint8_t)symbolize_verify_judge(libdw, claim, comparison->outermost_only, answers);
	}
}

/* ---- Results ---- */

static void take_differences(const struct answers *answers, struct symbolize_findings *findings)
{
	for (size_t i = 0; i < PROFILE_MOST_DIFFERENCES && i < answers->difference_count; i++)
		if (findings->shown < PROFILE_MOST_DIFFERENCES) {
			findings->shown++;
			buffer_printf(findings->differences, "%.*s\n", DIFFERENCE_BYTES - 1, answers->differences[i]);
		}
}

/*
 * Takes verdicts up to the address on which the child failed; the rest of that file is skipped. Returns the first claim
 * of the next file.
 */
static size_t symbolize_verify_take_verdicts(const struct symbolize_comparison *comparison,
	const struct answers *answers, struct symbolize_findings *findings)
{
	size_t i = comparison->first, failed;

	for (; i < comparison->count && answers->verdicts[i] != VERDICT_NONE; i++) {
		findings->counts->names_equal += answers->verdicts[i] == VERDICT_EQUAL;
		findings->counts->names_other += answers->verdicts[i] == VERDICT_OTHER;
	}
	for (failed = i; i < comparison->count && comparison->claims[i].image == comparison->claims[failed].image; i++)
		findings->counts->names_unfinished++;
	return i;
}

/* The descriptors of the images, which the child reads. NULL if memory runs out. */
static int *list_descriptors(const struct symbolize_comparison *comparison, size_t *count)
{
	int *list = malloc((comparison->count + 1) * sizeof(*list));

	*count = 0;
	for (size_t i = 0; list && i < comparison->count; i++)
		if (i == 0 || comparison->claims[i].image != comparison->claims[i - 1].image)
			list[(*count)++] = elf_image_descriptor(comparison->claims[i].image);
	return list;
}

static bool run_comparison(
	struct symbolize_comparison *comparison, struct symbolize_findings *findings, struct error *err)
{
	size_t bytes = sizeof(struct answers) + comparison->count, descriptor_count;
	CLEANUP(cleanup_free) int *descriptors = list_descriptors(comparison, &descriptor_count);
	const struct isolated_limits limits = { .seconds = NAMES_SECONDS,
		.memory_bytes = names_memory_bytes,
		.is_confined = comparison->is_confined,
		.reads_files = true,
		.descriptors = descriptors,
		.descriptor_count = descriptor_count };
	struct isolated child = { 0 };

	if (!descriptors)
		return error_set_memory(err);

	for (unsigned int failures = 0; comparison->first < comparison->count; failures++) {
		if (failures == MAX_FAILURES) {
			findings->counts->names_unfinished += comparison->count - comparison->first;
			break;
		}
		if (!isolated_start(&child, &limits, bytes, compare_claims, comparison, err)) {
			isolated_deinit(&child);
			return false;
		}
		isolated_wait(&child);
		take_differences(child.result, findings);
		comparison->first = symbolize_verify_take_verdicts(comparison, child.result, findings);
	}
	isolated_deinit(&child);
	return true;
}

static int compare_images(const void *a, const void *b)
{
	const struct symbolize_claim *one = a, *other = b;

	return one->image != other->image ? ORDER(one->image, other->image) : ORDER(one->address, other->address);
}

static bool verify_claims(struct symbolize_claim *claims, struct symbolize_comparison *comparison,
	struct symbolize_findings *findings, struct error *err)
{
	qsort(claims, comparison->count, sizeof(*claims), compare_images);
	comparison->claims = claims;
	return run_comparison(comparison, findings, err);
}

/* ---- Profiles and results ---- */

static bool symbolize_verify_take_frames(const struct profile *profile, const struct profile_location *location,
	struct arena *arena, struct symbolize_frames *out, struct error *err)
{
	struct symbolize_frame *frames = ARENA_ARRAY(arena, struct symbolize_frame, location->line_count);

	if (!frames)
		return error_set_memory(err);
	for (uint32_t i = 0; i < location->line_count; i++) {
		const struct profile_line *line = &profile->lines[location->first_line + i];
		const struct profile_function *function = &profile->functions[line->function];

		frames[i] = (struct symbolize_frame){
			.name = profile_string(profile, function->name),
			.linkage_name = profile_string(profile, function->linkage_name),
			.line = line->line,
			.source = function->name_source,
		};
	}
	*out = (struct symbolize_frames){ frames, location->line_count };
	return true;
}

static bool compare_locations(struct profile *profile, struct elf_image *const *images, const uint32_t *locations,
	size_t count, const struct elf_debug_options *options, struct symbolize_findings *findings, struct error *err)
{
	CLEANUP(cleanup_free) struct symbolize_claim *claims = calloc(count + 1, sizeof(*claims));
	struct symbolize_comparison comparison = { .options = options };
	struct arena arena;
	bool ok = true;

	if (!claims)
		return error_set_memory(err);
	arena_init(&arena, max_frames_bytes);
	for (size_t i = 0; i < count && ok; i++) {
		const struct profile_location *location = &profile->locations[locations[i]];
		struct elf_image *image = location->mapping == PROFILE_NONE ? NULL : images[location->mapping];

		if (!image)
			continue;
		claims[comparison.count] = (struct symbolize_claim){ .image = image, .address = location->address };
		ok = symbolize_verify_take_frames(profile, location, &arena, &claims[comparison.count++].frames, err);
	}
	ok = ok && verify_claims(claims, &comparison, findings, err);
	arena_deinit(&arena);
	return ok;
}

bool symbolize_verify_locations(struct profile *profile, struct elf_image *const *images, const uint32_t *locations,
	size_t count, const struct elf_debug_options *options, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	struct symbolize_findings findings = { .counts = &profile->verification, .differences = &text };

	buffer_init(&text, (size_t)PROFILE_MOST_DIFFERENCES * DIFFERENCE_BYTES);
	if (!compare_locations(profile, images, locations, count, options, &findings, err) || !buffer_ok(&text, err))
		return false;
	for (char *line = text.data, *end; line && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (!profile_add_difference(profile, line, err))
			return false;
	}
	return true;
}

bool symbolize_verify_result(struct elf_image *image, const uint64_t *addresses, size_t count,
	const struct symbolize_result *result, const struct symbolize_options *options,
	struct profile_verification *counts, struct buffer *differences, struct error *err)
{
	struct symbolize_findings findings = { counts, differences, counts->difference_count };
	struct symbolize_comparison comparison = { .count = count,
		.options = &options->debug,
		.outermost_only = options->no_inlines,
		.is_confined = options->is_confined };
	CLEANUP(cleanup_free) struct symbolize_claim *claims = calloc(count + 1, sizeof(*claims));

	if (!claims)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++)
		claims[i] = (struct symbolize_claim){ image, addresses[i], symbolize_result_frames(result, i) };
	if (!verify_claims(claims, &comparison, &findings, err))
		return false;
	counts->difference_count = (uint32_t)findings.shown;
	return true;
}
