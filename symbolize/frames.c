/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/frames.h"

#include "symbolize/addresses.h"
#include "symbolize/name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME_BYTES = 1 << 20 };

static const char *frames_keep(struct namer *n, const char *string, size_t size, struct error *err)
{
	const char *kept = name_copy(n->arena, string, size);

	if (!kept)
		error_set_memory(err);
	return kept;
}

/* Demangles a name. Names repeat often, so each is demangled once. */
static bool demangle(struct namer *n, const char *linkage_name, const char **name, struct error *err)
{
	uint64_t key[2] = { hash_bytes(linkage_name, strlen(linkage_name)), strlen(linkage_name) };
	uint32_t *value;
	struct buffer text = BUFFER_INIT(MAX_NAME_BYTES);
	bool added;

	if (!hash_map_add(&n->demangled, key, (uint32_t)n->name_count, &value, &added, err))
		return false;
	if (!added) {
		*name = n->names[*value];
		return true;
	}
	if (!ARRAY_RESERVE(&n->names, &n->name_capacity, n->name_count + 1, ARRAY_MAX_IDS, err))
		return false;
	profile_demangle(linkage_name, &text);
	*name = text.failed ? frames_keep(n, linkage_name, strlen(linkage_name), err)
			    : frames_keep(n, text.data, text.size, err);
	buffer_deinit(&text);
	n->names[n->name_count++] = *name;
	return *name != NULL;
}

static bool one_frame(
	struct namer *n, const struct symbolize_frame *frame, struct symbolize_frames *out, struct error *err)
{
	struct symbolize_frame *kept = ARENA_NEW(n->arena, struct symbolize_frame);

	if (!kept)
		return error_set_memory(err);
	*kept = *frame;
	*out = (struct symbolize_frames){ kept, 1 };
	return true;
}

static bool symbolize_frames_is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
}

/* Makes a frame from DWARF, named by its linkage name, else by its scopes and its name. */
static bool frame_of_dwarf(
	struct namer *n, const struct dwarf_frame *in, struct symbolize_frame *out, struct error *err)
{
	*out = (struct symbolize_frame){
		.name = in->name,
		.linkage_name = in->linkage_name,
		.file = in->file,
		.decl_file = in->decl_file,
		.line = in->line,
		.decl_line = in->decl_line,
		.source = PROFILE_NAME_DWARF,
	};
	if (in->linkage_name[0] == '\0')
		return true;
	if (!demangle(n, in->linkage_name, &out->name, err))
		return false;
	/*
	 * A linkage name that is not mangled is a detail of linking: glibc's abort() is __GI_abort, Fortran's solve()
	 * is solve_.
	 */
	if (in->name[0] && !symbolize_frames_is_mangled(in->linkage_name) && strcmp(out->name, in->linkage_name) == 0)
		out->name = in->name;
	return true;
}

/* The symbol at an address that symbols_match() looked up. */
static const struct symbol_hit *symbol_at(const struct namer *n, uint64_t address)
{
	const uint64_t *found =
		n->wanted_count ? bsearch(&address, n->wanted, n->wanted_count, sizeof(address), addresses_compare)
				: NULL;

	return found && n->hits[found - n->wanted].name ? &n->hits[found - n->wanted] : NULL;
}

/* Returns whether a symbol names the function: one without a linkage name, and code that DWARF does not cover. */
static bool wants_symbol(const struct dwarf_answer *answer)
{
	return answer->count == 0 || (answer->extent_count > 0 && !answer->frames[answer->count - 1].linkage_name[0]);
}

bool namer_init(struct namer *n, struct error *err)
{
	size_t kept = 0;

	hash_map_init(&n->demangled, 2 * sizeof(uint64_t));
	if (!ARRAY_ZEROED(&n->wanted, n->count + 1, err) || !ARRAY_ZEROED(&n->hits, n->count + 1, err))
		return false;
	for (size_t i = 0; i < n->count; i++) {
		const struct dwarf_answer *answer = &n->answers[i];

		/* Of functions that share their code DWARF has one, whichever was linked first. */
		if (answer->count == 0 || answer->extent_count > 0)
			n->wanted[n->wanted_count++] = answer->count == 0 ? n->addresses[i] : answer->extents[0].low;
	}
	if (n->wanted_count > 1)
		qsort(n->wanted, n->wanted_count, sizeof(*n->wanted), addresses_compare);
	for (size_t i = 0; i < n->wanted_count; i++)
		if (i == 0 || n->wanted[i] != n->wanted[i - 1])
			n->wanted[kept++] = n->wanted[i];
	n->wanted_count = kept;
	return symbols_match(n->symbols, n->wanted, n->wanted_count, n->hits, err) &&
	       folded_names_find(n->symbols, n->hits, n->wanted_count, n->arena, &n->folded, err);
}

/*
 * Names a function by its symbol. GCC gives functions of anonymous namespaces no linkage name, and Clang gives
 * initializers no name at all; the symbol table has both.
 */
static bool name_by_symbol(
	struct namer *n, const struct dwarf_answer *answer, struct symbolize_frame *outermost, struct error *err)
{
	const struct symbol_hit *hit = wants_symbol(answer) ? symbol_at(n, answer->extents[0].low) : NULL;
	const char *symbol = hit ? hit->name : NULL;

	if (!symbol || (outermost->name[0] && !symbolize_frames_is_mangled(symbol)) || strstr(symbol, ".cold"))
		return true;
	outermost->linkage_name = frames_keep(n, symbol, strlen(symbol), err);
	return outermost->linkage_name && demangle(n, outermost->linkage_name, &outermost->name, err);
}

/*
 * Adds the position from Go's own table. Go's linker omits the lines of generated code from DWARF; its own table has
 * them, also after stripping.
 */
static bool add_go_position(struct namer *n, struct symbolize_frame *innermost, struct error *err)
{
	struct symbolize_frames found;

	if (!n->go || innermost->file[0])
		return true;
	if (!go_table_find(n->go, n->addresses[n->at], n->arena, &found, err))
		return false;
	if (found.count > 0 && strcmp(found.frames[0].name, innermost->name) == 0) {
		innermost->file = found.frames[0].file;
		innermost->line = found.frames[0].line;
	}
	return true;
}

static bool frames_of_dwarf(
	struct namer *n, const struct dwarf_answer *answer, struct symbolize_frames *out, struct error *err)
{
	size_t first = n->no_inlines ? answer->count - 1 : 0, count = answer->count - first;
	struct symbolize_frame *frames = ARENA_ARRAY(n->arena, struct symbolize_frame, count);

	if (!frames)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++)
		if (!frame_of_dwarf(n, &answer->frames[first + i], &frames[i], err))
			return false;
	if (!name_by_symbol(n, answer, &frames[count - 1], err))
		return false;
	if (answer->extent_count > 0 && folded_names_at(&n->folded, answer->extents[0].low))
		frames[count - 1].name = folded_names_at(&n->folded, answer->extents[0].low);
	if (n->fingerprinter && !n->only_unnamed)
		frames[count - 1].fingerprint =
			fingerprint_code(n->fingerprinter, answer->extents, answer->extent_count);
	/* Without inlined frames, the function is at the line that was executing. */
	if (first > 0) {
		frames[0].file = answer->frames[0].file;
		frames[0].line = answer->frames[0].line;
	}
	if (!add_go_position(n, &frames[0], err))
		return false;
	*out = (struct symbolize_frames){ frames, count };
	return true;
}

static const char *keep_once(struct namer *n, struct kept_string *last, const char *string, struct error *err)
{
	if (last->from != string)
		*last = (struct kept_string){ string, frames_keep(n, string, strlen(string), err) };
	return last->copy;
}

/* Finds the function near an address without a name; "" if there is none. */
static bool find_near(struct namer *n, uint64_t address, const char **near, struct error *err)
{
	const uint64_t *found =
		n->wanted_count ? bsearch(&address, n->wanted, n->wanted_count, sizeof(address), addresses_compare)
				: NULL;

	*near = "";
	return !found || !n->hits[found - n->wanted].near || demangle(n, n->hits[found - n->wanted].near, near, err);
}

static bool name_by_bounds(struct namer *n, uint64_t address, uint64_t low, const char **name, struct error *err)
{
	enum { NEAR_COLUMNS = 60 };
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	const char *near;

	if (!n->bounds_name || n->bounds_low != low) {
		if (!find_near(n, address, &near, err))
			return false;
		buffer_init(&text, MAX_NAME_BYTES);
		buffer_printf(&text, "%.480s+0x%" PRIx64 "%s", n->module, low, near[0] ? PROFILE_NEAR : "");
		profile_shorten_name(near, NEAR_COLUMNS, &text);
		if (!buffer_ok(&text, err))
			return false;
		n->bounds_low = low;
		n->bounds_name = frames_keep(n, text.data, text.size, err);
	}
	*name = n->bounds_name;
	return *name != NULL;
}

/*
 * Names a frame `module+0x1234 near function`, by its own start if that is known. A stripped file still has the
 * program's entry point.
 */
static bool frame_of_bounds(struct namer *n, uint64_t address, struct symbolize_frames *out, struct error *err)
{
	const struct dwarf_answer *answer = &n->answers[n->at];
	struct symbolize_frame frame = { .linkage_name = "", .file = "", .decl_file = "", .source = PROFILE_NAME_FDE };
	enum { ENTRY_BYTES = 64 }; /* of code that execution begins with and nothing describes */
	struct dwarf_extent extent = { .low = address };
	bool is_entry;

	if (!symbols_find_fde(n->symbols, address, &extent.low, &extent.high))
		frame.source = PROFILE_NAME_NONE;
	else if (n->fingerprinter)
		frame.fingerprint = fingerprint_code(n->fingerprinter, &extent, 1);
	if (frame.source == PROFILE_NAME_FDE) {
		frame.file = answer->file;
		frame.line = answer->line;
	}
	is_entry = n->entry > 0 &&
		   (frame.source == PROFILE_NAME_FDE ? extent.low == n->entry : address - n->entry < ENTRY_BYTES);
	/* C libraries have no exported name for what signal handlers return to; all call it the same. */
	if (is_entry || symbols_is_signal_return(n->symbols, address)) {
		frame.name = frame.linkage_name = is_entry ? "_start" : "__restore_rt";
		frame.source = PROFILE_NAME_SYMTAB;
		return one_frame(n, &frame, out, err);
	}
	return name_by_bounds(n, address, extent.low, &frame.name, err) && one_frame(n, &frame, out, err);
}

static bool frame_of_symbol(struct namer *n, const char *symbol, enum profile_name_source source,
	struct symbolize_frames *out, struct error *err)
{
	const struct dwarf_answer *answer = &n->answers[n->at];
	struct symbolize_frame frame = {
		.file = answer->file, .line = answer->line, .decl_file = "", .source = source
	};
	const struct symbol_hit *hit = symbol_at(n, n->addresses[n->at]);
	struct dwarf_extent extent;
	struct buffer text;

	if (hit && !frame.file[0] && source == PROFILE_NAME_SYMTAB)
		frame.file = keep_once(n, &n->file, hit->file, err);
	if (!frame.file)
		return false;
	if (n->fingerprinter && !n->only_unnamed && source == PROFILE_NAME_SYMTAB && hit &&
		checked_add(hit->start, hit->size, &extent.high)) {
		extent.low = hit->start;
		frame.fingerprint = hit->size ? fingerprint_code(n->fingerprinter, &extent, 1) : 0;
	}
	frame.linkage_name = keep_once(n, &n->symbol, symbol, err);
	if (!frame.linkage_name || !demangle(n, frame.linkage_name, &frame.name, err))
		return false;
	if (hit && source == PROFILE_NAME_SYMTAB && folded_names_at(&n->folded, hit->start))
		frame.name = folded_names_at(&n->folded, hit->start);
	if (source == PROFILE_NAME_PLT) {
		buffer_init(&text, MAX_NAME_BYTES);
		buffer_printf(&text, "%s@plt", frame.name);
		frame.name = text.failed ? NULL : frames_keep(n, text.data, text.size, err);
		buffer_deinit(&text);
		if (!frame.name)
			return error_set_memory(err);
		frame.linkage_name = "";
	}
	return one_frame(n, &frame, out, err);
}

static bool frames_of_go(struct namer *n, uint64_t address, struct symbolize_frames *out, struct error *err)
{
	if (!go_table_find(n->go, address, n->arena, out, err))
		return false;
	if (n->no_inlines && out->count > 1) {
		struct symbolize_frame outermost = out->frames[out->count - 1];

		outermost.file = out->frames[0].file;
		outermost.line = out->frames[0].line;
		return one_frame(n, &outermost, out, err);
	}
	return true;
}

bool namer_name(struct namer *n, size_t index, struct symbolize_frames *out, struct error *err)
{
	const struct dwarf_answer *answer = &n->answers[index];
	uint64_t address = n->addresses[index];
	const struct symbol_hit *hit;
	const char *name;

	*out = (struct symbolize_frames){ 0 };
	n->at = index;
	if (answer->count > 0)
		return frames_of_dwarf(n, answer, out, err);
	if (n->go && !frames_of_go(n, address, out, err))
		return false;
	if (out->count > 0)
		return true;
	if (!symbols_find_plt(n->symbols, address, &name, err))
		return false;
	if (name)
		return frame_of_symbol(n, name, PROFILE_NAME_PLT, out, err);
	hit = symbol_at(n, address);
	if (hit)
		return frame_of_symbol(n, hit->name, PROFILE_NAME_SYMTAB, out, err);
	return frame_of_bounds(n, address, out, err);
}

void namer_deinit(struct namer *n)
{
	hash_map_deinit(&n->demangled);
	free(n->names);
	free(n->wanted);
	free(n->hits);
	folded_names_deinit(&n->folded);
}
