/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kelvin symbolize`: names the addresses on the command line or on standard input, in a process without rights. */
#include "cli/cli.h"
#include "cli/naming.h"
#include "cli/options.h"
#include "cli/verification.h"
#include "cli/worker.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

enum {
	READ_BYTES = 1 << 16,
	MAX_INPUT_BYTES = 1 << 28,
	MAX_NOTICE_BYTES = 1 << 12,
	MAX_VERIFIED_BYTES = 1 << 14,
	MAX_ADDRESSES = 1 << 26,
	MAX_ANSWER_BYTES = 1 << 30,
};

static const char cmd_symbolize_usage[] =
	"Usage: kelvin symbolize -e FILE [OPTIONS] [ADDRESS...]\n"
	"Names addresses of a binary: function, file and line, inlined frames first, as 'addr2line -a -f -i -C' prints them.\n"
	"Addresses are hexadecimal and relative to the file's link address; without any they are read from standard input.\n";

static const char cmd_symbolize_notes[] = "Examples:\n"
					  "  kelvin symbolize -e ./server 0x4011f6\n"
					  "  cut -f1 addresses.tsv | kelvin symbolize -e libfoo.so --json\n"
					  "\n"
					  "Exit codes: 0 success, 2 usage or input error.\n";

struct cmd_symbolize_request {
	const char *path;
	const char *section; /* addresses are relative to the start of this section; NULL: to 0 */
	uint64_t section_start;
	bool no_cache, explain_origin, verify;
	struct profile_verification verified; /* --verify: totals of all batches so far */
	struct buffer differences;            /* owned: lines about names that differ */
	struct naming naming;
	char cache_directory[PATH_MAX];
	struct symbolize_options options;
	struct addr2line_style style;
	bool is_json;
	bool asks_servers; /* --debuginfod */
	struct symbolize_servers servers;
	bool is_noted;     /* the notice that debuginfod had no file was printed */
	size_t json_count; /* number of addresses written so far */
	struct elf_image *image;
	char *const *words; /* the addresses that the command line names */
	struct worker worker;
	struct symbolize_remote remote;
	uint64_t *addresses; /* owned; addresses of one batch */
	size_t count, capacity;
	struct buffer text; /* owned: the answer to one address */
};

static bool cmd_symbolize_add_address(struct cmd_symbolize_request *request, uint64_t address, struct error *err)
{
	return ARRAY_APPEND(&request->addresses, &request->capacity, &request->count, MAX_ADDRESSES, err,
		address + request->section_start);
}

/* Writes the answer to one address as soon as it is resolved, in JSON on a line of its own. */
static bool cmd_symbolize_write(struct cmd_symbolize_request *request, const struct symbolize_result *result,
	uint64_t address, const struct symbolize_frames *frames, struct error *err)
{
	const struct addresses_asked asked = { request->image, &request->options };
	struct buffer *text = &request->text;
	bool ok = true;

	text->size = 0;
	if (request->is_json)
		buffer_append_string(text, request->json_count++ ? ",\n" : "\n");
	if (request->is_json)
		ok = address_json_append(text, request->explain_origin, &asked, result, address, frames, err);
	else if (request->explain_origin)
		ok = addr2line_append_explained(text, &request->style, &asked, result, address, frames, err);
	else
		addr2line_append(text, &request->style, address, frames, NULL);
	if (!ok || !buffer_ok(text, err))
		return false;
	fwrite_unlocked(text->data, 1, text->size, stdout);
	return true;
}

/* Prints the notice once, since a program may ask for many addresses, line by line. */
static void note_missing_debug_file(struct cmd_symbolize_request *request, const struct symbolize_result *result)
{
	if (!request->is_noted && symbolize_result_fetch_failed(result))
		cli_say("no server of DEBUGINFOD_URLS gave a debug file of %s within the time and size that it may have (DEBUGINFOD_MAXTIME, DEBUGINFOD_MAXSIZE); names are those of the file itself\n",
			request->path);
	request->is_noted |= symbolize_result_fetch_failed(result);
}

/* Resolves the batch, writes the results and empties it. */
static bool cmd_symbolize_answer(struct cmd_symbolize_request *request, struct error *err)
{
	struct symbolize_result *result = NULL;
	bool ok = true;

	if (request->count == 0)
		return true;
	if (!symbolize_addresses(request->image, request->addresses, request->count, &request->options, &result, err))
		return false;
	note_missing_debug_file(request, result);
	for (size_t i = 0; i < request->count && ok; i++) {
		struct symbolize_frames frames = symbolize_result_frames(result, i);
		ok = cmd_symbolize_write(request, result, request->addresses[i] - request->section_start, &frames, err);
	}
	if (ok && request->verify)
		ok = symbolize_verify_result(request->image, request->addresses, request->count, result,
			&request->options, &request->verified, &request->differences, err);
	symbolize_result_destroy(result);
	request->count = 0;
	/* Another program may wait for this answer before it sends its next line. */
	if (ok && fflush(stdout) != 0)
		return error_set_errno(err, errno, "cannot write standard output");
	return ok;
}

/* addr2line does not accept a line that begins with a sign as an address. */
static uint64_t read_line_address(const char *line)
{
	line += strspn(line, " \t");
	return line[0] == '-' || line[0] == '+' ? 0 : strtoull(line, NULL, 16);
}

/*
 * Reads lines into the batch. As in addr2line, a line without an address is answered as address 0, so that there is one
 * answer to each line.
 */
static bool cmd_symbolize_take_lines(
	struct cmd_symbolize_request *request, struct buffer *input, bool is_end, struct error *err)
{
	char *line = input->data, *end = line ? line + input->size : NULL, *newline;

	while (line && line < end && ((newline = memchr(line, '\n', (size_t)(end - line))) || is_end)) {
		if (newline)
			*newline = '\0';
		if (!cmd_symbolize_add_address(request, read_line_address(line), err))
			return false;
		line = newline ? newline + 1 : end;
	}
	if (line && line > input->data) {
		input->size = (size_t)(end - line);
		memmove(input->data, line, input->size);
	}
	return true;
}

static bool has_more_now(void)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

/*
 * All input that is available becomes one batch: a file is resolved at once, and a program that asks line by line is
 * answered line by line.
 */
static bool answer_stdin(struct cmd_symbolize_request *request, struct error *err)
{
	struct buffer input = BUFFER_INIT(MAX_INPUT_BYTES);
	bool is_end = false, ok = true;

	while (ok && !is_end) {
		char *room = buffer_reserve(&input, READ_BYTES);
		ssize_t got = room ? read(STDIN_FILENO, room, READ_BYTES) : -1;

		if (!room) {
			ok = error_set(err, ERROR_LIMIT, "cannot read standard input: a line of more than %d bytes",
				MAX_INPUT_BYTES);
			break;
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			ok = error_set_errno(err, errno, "cannot read standard input");
			break;
		}
		buffer_commit(&input, (size_t)got);
		is_end = got == 0;
		ok = cmd_symbolize_take_lines(request, &input, is_end, err) &&
		     (has_more_now() && !is_end ? true : cmd_symbolize_answer(request, err));
	}
	buffer_deinit(&input);
	return ok;
}

static bool answer_arguments(struct cmd_symbolize_request *request, char *const *words, struct error *err)
{
	for (; *words; words++) {
		char *end;
		uint64_t address = strtoull(*words, &end, 16);

		if (!isxdigit((unsigned char)(*words)[0]) || *end != '\0')
			return error_set(err, ERROR_USAGE, "'%.80s' is not a hexadecimal address", *words);
		if (!cmd_symbolize_add_address(request, address, err))
			return false;
	}
	return cmd_symbolize_answer(request, err);
}

static bool begin_json(struct cmd_symbolize_request *request, struct error *err)
{
	struct buffer *text = &request->text;

	buffer_append_string(text, "{\"schema\":\"kelvin.symbolize/1\",\"file\":");
	if (!address_json_append_text(text, request->path, err))
		return false;
	printf("%.*s,\"addresses\":[", (int)text->size, (const char *)text->data);
	return true;
}

static bool end_json(const struct cmd_symbolize_request *request, struct error *err)
{
	json_t *verified =
		request->is_json && request->verify
			? json_pack("{s:{s:I,s:I,s:I}}", "names", "compared",
				  (json_int_t)(request->verified.names_equal + request->verified.names_other), "equal",
				  (json_int_t)request->verified.names_equal, "other",
				  (json_int_t)request->verified.names_other)
			: NULL;
	bool ok = verified || !request->verify;

	if (!request->is_json)
		return true;
	fputs("\n]", stdout);
	if (verified) {
		fputs(",\"verified\":", stdout);
		ok = json_dumpf(verified, stdout, JSON_COMPACT) == 0;
	}
	fputs("}\n", stdout);
	json_decref(verified);
	return ok || error_set_memory(err);
}

/* Prints "120 names compared with libdw: 119 equal, 1 different", and the differences. */
static bool report_verified(const struct cmd_symbolize_request *request, struct error *err)
{
	struct buffer text = BUFFER_INIT(MAX_VERIFIED_BYTES);
	bool ok;

	profile_verification_names(&request->verified, &text);
	buffer_append_byte(&text, '\n');
	buffer_append(&text, request->differences.data, request->differences.size);
	profile_verification_unfinished(&request->verified, &text);
	ok = buffer_ok(&text, err);
	if (ok)
		cli_print_notices(&text);
	buffer_deinit(&text);
	return ok;
}

static bool find_section(struct cmd_symbolize_request *request, struct error *err)
{
	struct elf_section section;

	if (!elf_image_section(request->image, request->section, &section))
		return error_set(err, ERROR_NOT_FOUND, "%s has no section '%.80s'; 'readelf -S' lists what there is",
			request->path, request->section);
	request->section_start = section.address;
	return true;
}

/* Prints the notices that can be given about the file before any address is resolved. */
static bool check_file(struct cmd_symbolize_request *request, struct error *err)
{
	struct buffer notices = BUFFER_INIT(MAX_NOTICE_BYTES);
	enum elf_debug_source source;
	struct elf_image *debug;
	struct error why;
	bool ok;

	ok = symbolize_check(request->image, &notices, err);
	if (ok) {
		debug = elf_image_debug(request->image, &request->options.debug, &source, &why);
		if (source == ELF_DEBUG_REFUSED || elf_image_lacks_alt(debug, &request->options.debug, &why))
			buffer_printf(&notices, "%s\n", why.message);
	}
	cli_print_notices(&notices);
	buffer_deinit(&notices);
	return ok;
}

/* ---- In a worker ---- */

static bool resolve(struct cmd_symbolize_request *request, struct error *err)
{
	if (!check_file(request, err))
		return false;
	request->style.wide = elf_image_is_64bit(request->image);
	request->style.is_terminal = isatty(STDOUT_FILENO);
	if ((request->section && !find_section(request, err)) || (request->is_json && !begin_json(request, err)))
		return false;
	if (!(*request->words ? answer_arguments(request, request->words, err) : answer_stdin(request, err)))
		return false;
	return end_json(request, err) && (!request->verify || report_verified(request, err));
}

static int cmd_symbolize_work(void *context)
{
	struct cmd_symbolize_request *request = context;
	struct error err;

	request->options.is_confined = true;
	if (resolve(request, &err))
		return CLI_EXIT_OK;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

static int cmd_symbolize_ask_parent(void *context, const void *bytes, size_t size)
{
	struct error ignored;

	return worker_ask(context, bytes, size, &ignored);
}

static int cmd_symbolize_answer_worker(void *context, const void *bytes, size_t size, struct error *err)
{
	struct cmd_symbolize_request *request = context;

	(void)err;
	return symbolize_remote_answer(request->image, &request->options, bytes, size);
}

/* ---- The command ---- */

static bool cmd_symbolize_open_image(struct cmd_symbolize_request *request, struct error *err)
{
	if (elf_image_open_path(request->path, &request->image, err))
		return true;
	if (err->system_errno == ENOENT && strcmp(request->path, "a.out") == 0)
		error_set(err, ERROR_USAGE, "there is no a.out here; name the binary with -e FILE");
	return false;
}

static bool symbolize(struct cmd_symbolize_request *request, int *code, struct error *err)
{
	const int inputs[] = { elf_image_descriptor(request->image), STDIN_FILENO };

	if (request->asks_servers && !naming_prepare_debuginfod(err))
		return false;
	request->servers = symbolize_debuginfod_bounds();
	request->options.debuginfod = request->asks_servers ? &request->servers : NULL;
	if (!request->no_cache && symbolize_cache_directory(request->cache_directory, sizeof(request->cache_directory)))
		request->options.cache_directory = request->cache_directory;
	request->worker = (struct worker){ .subject = request->path,
		.inputs = inputs,
		.input_count = *request->words ? 1 : 2,
		.answer = cmd_symbolize_answer_worker,
		.context = request,
		.has_children = true };
	request->remote.ask = cmd_symbolize_ask_parent;
	request->remote.context = &request->worker;
	symbolize_remote_init(&request->remote, request->image, &request->options);
	return worker_run(&request->worker, cmd_symbolize_work, request, code, err);
}

static const struct options_row cmd_symbolize_rows[] = {
	{ .name = "Options:" },
	{ 'e', "exe", "FILE", "the binary (default: a.out)", OPTIONS_TEXT(struct cmd_symbolize_request, path) },
	{ 'p', "pretty-print", NULL, "one line for each frame",
		OPTIONS_FLAG(struct cmd_symbolize_request, style.pretty) },
	{ 's', "basenames", NULL, "file names without directories",
		OPTIONS_FLAG(struct cmd_symbolize_request, style.basenames) },
	{ .name = "-a, -f, -i, -C",
		.help = "accepted, and always on: addresses, functions, inlined frames, demangled names" },
	{ 'a', "addresses", NULL, NULL, options_ignore },
	{ 'f', "functions", NULL, NULL, options_ignore },
	{ 'i', "inlines", NULL, NULL, options_ignore },
	{ 'C', "demangle", NULL, NULL, options_ignore },
	{ 0, "json", NULL, "schema kelvin.symbolize/1 on standard output",
		OPTIONS_FLAG(struct cmd_symbolize_request, is_json) },
	{ 'j', "section", "NAME", "addresses count from the start of this section",
		OPTIONS_TEXT(struct cmd_symbolize_request, section) },
	{ 0, "no-inlines", NULL, "only the function that holds the code",
		OPTIONS_FLAG(struct cmd_symbolize_request, options.no_inlines) },
	{ 0, "no-demangle", NULL, "names as the linker knows them",
		OPTIONS_FLAG(struct cmd_symbolize_request, style.mangled) },
	{ 0, "explain-origin", NULL, "prints for each frame whose code it is, and by which rule",
		OPTIONS_FLAG(struct cmd_symbolize_request, explain_origin) },
	{ .rows = naming_symbolize_rows, .at = offsetof(struct cmd_symbolize_request, naming) },
	{ 0, "debuginfod", NULL, "fetches a missing debug file from the servers in DEBUGINFOD_URLS",
		OPTIONS_FLAG(struct cmd_symbolize_request, asks_servers) },
	{ 0, "no-cache", NULL, "neither reads nor writes the cache of resolved frames",
		OPTIONS_FLAG(struct cmd_symbolize_request, no_cache) },
	{ 0, "verify", NULL, "names the addresses again with libdw, and tells on standard error how many are equal",
		OPTIONS_FLAG(struct cmd_symbolize_request, verify) },
	{ 0 },
};

static void cmd_symbolize_request_deinit(struct cmd_symbolize_request *request)
{
	elf_image_unref(request->image);
	naming_deinit(&request->naming);
	free(request->addresses);
	buffer_deinit(&request->text);
	buffer_deinit(&request->differences);
}

static int cmd_symbolize_run(struct options *options)
{
	CLEANUP(cmd_symbolize_request_deinit)
	struct cmd_symbolize_request request = { .path = "a.out",
		.options = { .fingerprints = SYMBOLIZE_FINGERPRINT_NONE },
		.differences = { .max_bytes = MAX_VERIFIED_BYTES },
		.text = { .max_bytes = MAX_ANSWER_BYTES } };
	struct error err;
	int code;

	if (!options_read(options, &request, &code))
		return code;
	request.words = options->argv + optind;
	if (naming_prepare(&request.naming, &request.options, &err) && cmd_symbolize_open_image(&request, &err) &&
		symbolize(&request, &code, &err))
		return code;
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

const struct cli_command cmd_symbolize = {
	.name = "symbolize",
	.summary = "name addresses of a binary, as addr2line does",
	.usage = cmd_symbolize_usage,
	.rows = cmd_symbolize_rows,
	.notes = cmd_symbolize_notes,
	.word = "ADDRESS",
	.run = cmd_symbolize_run,
};
