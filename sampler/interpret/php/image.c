/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what the file of an interpreter tells: its version, and the code of its loop. */
#include "sampler/interpret/php/php.h"

#include "sampler/interpret/symbols.h"

#include <stdlib.h>
#include <string.h>

/* "API20220829,NTS": what its extensions have to be built for, which is one in all releases of a version. */
enum { API_BYTES = 3, API_DIGITS = 8, MOST_CONSTANT_BYTES = 1 << 24 };

/*
 * offsetof() of current_execute_data in zend_executor_globals, and of filename in zend_op_array, by the headers of each
 * version (Zend/zend_globals.h, Zend/zend_compile.h) on an LP64 machine.
 */
static const struct php_version {
	const char *api;
	uint32_t frame, filename;
} versions[] = {
	{ "20190902", 488, 136 }, /* 7.4 */
	{ "20200930", 488, 144 }, /* 8.0 */
	{ "20210902", 488, 144 }, /* 8.1 */
	{ "20220829", 488, 152 }, /* 8.2 */
	{ "20230831", 488, 144 }, /* 8.3 */
	{ "20240924", 488, 168 }, /* 8.4 */
	{ "20250925", 512, 168 }, /* 8.5 */
};

static bool is_api(const uint8_t *at)
{
	for (size_t i = 0; i < API_DIGITS; i++)
		if (at[API_BYTES + i] < '0' || at[API_BYTES + i] > '9')
			return false;
	return at[API_BYTES + API_DIGITS] == ',';
}

/* The digits of the API, which may not be what the file says it is; NULL: it tells none. */
static const char *find_api(struct elf_image *elf)
{
	struct elf_section constants;
	const uint8_t *at, *end;

	if (!elf_image_section(elf, ".rodata", &constants) || constants.size > MOST_CONSTANT_BYTES)
		return NULL;
	at = constants.bytes;
	end = at + constants.size;
	while ((at = memmem(at, (size_t)(end - at), "API", API_BYTES)) && end - at > API_BYTES + API_DIGITS) {
		if (is_api(at))
			return (const char *)at + API_BYTES;
		at++;
	}
	return NULL;
}

/* NULL, with `why`: its offsets are not known. */
static const struct php_version *php_image_find_version(struct elf_image *elf, struct error *why)
{
	const char *api = find_api(elf);

	for (size_t i = 0; api && i < sizeof(versions) / sizeof(*versions); i++)
		if (strncmp(api, versions[i].api, API_DIGITS) == 0)
			return &versions[i];
	if (api)
		(void)error_set(why, ERROR_UNSUPPORTED, "PHP with the API %.*s is not known, PHP 7.4 to 8.5 are",
			API_DIGITS, api);
	else
		(void)error_set(why, ERROR_UNSUPPORTED, "it does not tell which version of PHP it is");
	return NULL;
}

static bool php_image_read_interpreter(struct elf_image *elf, const struct interpreter_symbol *globals,
	const struct interpreter_loop_symbols *loop, struct php_image **php, struct error *why, struct error *err)
{
	const struct php_version *version = php_image_find_version(elf, why);
	struct php_image *made;

	if (!version)
		return true;
	made = calloc(1, sizeof(*made));
	if (!made)
		return error_set_memory(err);
	made->elf = elf;
	made->read = (struct ebpf_php){ globals->value + version->frame, version->filename };
	if (!interpreter_loop_read(elf, loop, &made->loop, err)) {
		php_image_destroy(made);
		return false;
	}
	*php = made;
	return true;
}

bool php_image_read(struct elf_image *elf, struct php_image **php, struct error *why, struct error *err)
{
	enum { LOOP, GLOBALS, OFFSET, SYMBOLS };
	struct interpreter_symbol symbols[SYMBOLS] = { { .name = "execute_ex" }, { .name = "executor_globals" },
		{ .name = "executor_globals_offset" } };
	struct interpreter_loop_symbols loop;

	*php = NULL;
	if (!interpreter_symbols_find(elf, symbols, SYMBOLS, "execute_ex", &loop) || loop.loop.start == loop.loop.end)
		return true;
	if (symbols[GLOBALS].type == STT_OBJECT)
		return php_image_read_interpreter(elf, &symbols[GLOBALS], &loop, php, why, err);
	if (symbols[OFFSET].type == STT_OBJECT)
		(void)error_set(
			why, ERROR_UNSUPPORTED, "it is built for threads (ZTS), and only PHP without them is known");
	return true;
}

void php_image_destroy(struct php_image *php)
{
	if (!php)
		return;
	interpreter_loop_deinit(&php->loop);
	free(php);
}
