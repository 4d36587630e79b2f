/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes the code of functions in pprof files, in the columns that only Kelvin's files have. */
#include "profile/index.h"
#include "profile/pprof_reader.h"
#include "profile/pprof_writer.h"

/* ---- Reading ---- */

static bool pprof_code_read_code(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *columns = r->extension.columns;
	uint64_t position = protobuf_varint(&columns[PPROF_COLUMN(code_mapping)]),
		 machine = protobuf_varint(&columns[PPROF_COLUMN(code_machine)]),
		 size = protobuf_varint(&columns[PPROF_COLUMN(code_size)]);
	struct profile_code code = { .address = protobuf_varint(&columns[PPROF_COLUMN(code_address)]) };
	size_t count = r->profile->code_count;

	if (position >= r->sections[PPROF_TABLE(mapping)].count || machine > UINT16_MAX || size == 0 ||
		size > PROFILE_MAX_FUNCTION_CODE_BYTES)
		return error_set(err, ERROR_FORMAT, "code %zu references what is not there", count);
	code.mapping = r->mappings[position];
	code.machine = (uint16_t)machine;
	code.size = (uint32_t)size;
	/* Of code that differs in two binaries no bytes are there. It is copied below, and not changed. */
	if (machine) {
		code.bytes = (uint8_t *)(uintptr_t)byte_reader_bytes(&columns[PPROF_COLUMN(code_bytes)], code.size);
		if (!code.bytes)
			return error_set(err, ERROR_FORMAT, "the bytes of code %zu are missing", count);
	}
	if (!profile_add_code(r->profile, &code, err))
		return false;
	return r->profile->code_count > count ||
	       error_set(err, ERROR_FORMAT, "code %zu overlaps with another one, or there is too much", count);
}

bool pprof_read_code(struct pprof_reader *r, struct error *err)
{
	const struct byte_reader *columns = r->extension.columns, *mappings = &columns[PPROF_COLUMN(code_mapping)];

	if (protobuf_count_varints(mappings) > PROFILE_MAX_CODES)
		return error_set(err, ERROR_FORMAT, "there is too much code");
	if (!pprof_columns_agree(r, PPROF_COLUMN(code_mapping), PPROF_COLUMN(code_size), "code", err))
		return false;
	while (mappings->pos < mappings->end)
		if (!pprof_code_read_code(r, err))
			return false;
	return byte_reader_left(&columns[PPROF_COLUMN(code_bytes)]) == 0 ||
	       error_set(err, ERROR_FORMAT, "there are bytes of code that is not there");
}

/* ---- Writing ---- */

void pprof_write_code(struct pprof_writer *w)
{
	/* Code is looked for when a recording has ended. */
	for (size_t i = 0; !w->recording && i < w->profile->code_count; i++) {
		const struct profile_code *code = &w->profile->codes[i];

		pprof_append(w, PPROF_COLUMN(code_mapping), w->mapping_positions[code->mapping]);
		pprof_append(w, PPROF_COLUMN(code_address), code->address);
		pprof_append(w, PPROF_COLUMN(code_machine), code->machine);
		pprof_append(w, PPROF_COLUMN(code_size), code->size);
		if (code->bytes)
			buffer_append(&w->columns[PPROF_COLUMN(code_bytes)], code->bytes, code->size);
	}
}
