/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/data_names.h"

#include "symbolize/name.h"
#include "symbolize/symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME_BYTES = 1 << 20, MAX_SYMBOL_BYTES = 1 << 12 };

/* The size of a symbol's name without a number at its end, as in "lock.0". */
static size_t size_without_number(const char *symbol)
{
	size_t size = strnlen(symbol, MAX_SYMBOL_BYTES), end = size;

	while (end > 0 && symbol[end - 1] >= '0' && symbol[end - 1] <= '9')
		end--;
	return end > 1 && end < size && symbol[end - 1] == '.' ? end - 1 : size;
}

static bool name_object(const struct symbol_hit *hit, uint64_t address, struct arena *arena,
	struct symbolize_frames *frames, struct error *err)
{
	struct symbolize_frame *frame = ARENA_NEW(arena, struct symbolize_frame);
	size_t size = size_without_number(hit->name);
	char *symbol = arena_copy_string(arena, hit->name, size);
	CLEANUP(buffer_deinit) struct buffer name = BUFFER_INIT(MAX_NAME_BYTES);

	if (!frame || !symbol)
		return error_set_memory(err);
	profile_demangle(symbol, &name);
	if (address > hit->start)
		buffer_printf(&name, "+0x%" PRIx64, address - hit->start);
	if (!buffer_ok(&name, err))
		return false;
	*frame = (struct symbolize_frame){ .name = name_copy(arena, name.data, name.size),
		.linkage_name = "",
		.file = "",
		.decl_file = "",
		.source = PROFILE_NAME_SYMTAB };
	*frames = (struct symbolize_frames){ frame, 1 };
	return frame->name || error_set_memory(err);
}

bool data_names_find(struct elf_image *image, const struct symbolize_options *options, const uint64_t *addresses,
	size_t count, struct arena *arena, struct symbolize_frames *frames, struct error *err)
{
	CLEANUP(cleanup_free) struct symbol_hit *hits = calloc(count + 1, sizeof(*hits));
	enum elf_debug_source source;
	bool ok = hits || error_set_memory(err);

	ok = ok && symbols_match_data(
			   image, elf_image_debug(image, &options->debug, &source, NULL), addresses, count, hits, err);
	for (size_t i = 0; ok && i < count; i++)
		if (hits[i].name)
			ok = name_object(&hits[i], addresses[i], arena, &frames[i], err);
	return ok;
}
