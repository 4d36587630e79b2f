/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `kelvin push`: sends profiles to a store. Three processes (docs/decisions/91-courier.md): a worker reads a profile
 * and fills a parcel, without network, files and secrets; the courier, which has the network and the secrets, sends it;
 * this one hands the parcel's descriptors from one to the other.
 */
#include "cli/cli.h"
#include "cli/labels.h"
#include "cli/load.h"
#include "cli/worker.h"
#include "diff/diff.h"
#include "profile/profile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NOTICE_BYTES = 1 << 16 };
static const size_t max_profile_bytes = (size_t)2 << 30;

static const char cmd_push_usage[] =
	"Usage: kelvin push URL PROFILE... [OPTIONS]\n"
	"Sends profiles (whatever 'kelvin report' reads) to a store, of which 'kelvin diff', 'kelvin report' and\n"
	"'kelvin history' then read them by a query:\n"
	"  pyroscope+http://HOST:4040[/PATH]           Pyroscope; https where it has TLS\n"
	"  clickhouse+http://HOST:8123/DATABASE        ClickHouse\n"
	"What was pushed before is not stored again. When the server is busy or fails, it is tried again.\n";

static const char cmd_push_notes[] =
	"Secrets come from the environment and are sent to the named host alone: KELVIN_STORE_TOKEN, or\n"
	"KELVIN_STORE_USER and KELVIN_STORE_PASSWORD.\n"
	"\n"
	"Examples:\n"
	"  kelvin push pyroscope+http://localhost:4040 kelvin.pb.gz --label service=checkout\n"
	"  kelvin push clickhouse+http://localhost:8123/profiles 42/*.pb.gz --label version=42\n"
	"\n"
	"Exit codes: 0 all profiles are stored, 2 usage or input error, or one of them is not stored.\n";

struct cmd_push_request {
	struct labels labels;
	double patience_s;
};

static bool take_patience(void *at, const char *text, struct error *err)
{
	return options_parse_duration("--patience", text, 1, at, err);
}

static const struct options_row cmd_push_rows[] = {
	{ .name = "Options:" },
	{ .rows = labels_rows, .at = offsetof(struct cmd_push_request, labels) },
	{ 0, "patience", "DURATION",
		"how long the server may be busy or fail, for all profiles together, until one is\nstored again (default: 60s)",
		take_patience, offsetof(struct cmd_push_request, patience_s) },
	{ 0 },
};

/* ---- The worker ---- */

/* The worker's message on its parcel, besides the parts: this, and the notices behind it; foreign to the parent. */
struct prepared {
	uint64_t id[2];
};

/* One profile on its way. */
struct pushing {
	const char *name;
	const struct load_inputs *inputs;
	const struct load_options *load;
	enum store_kind kind;
	struct store_filter labels[PROFILE_MAX_LABELS]; /* borrowed texts */
	size_t label_count;
	struct store_parcel parcel;
	bool is_unreachable; /* the store: with any other profile, too */
	int prepared;        /* owned: a file in memory with a struct prepared and notices */
};

static void cmd_push_append_file(int fd, struct buffer *bytes, bool *is_read)
{
	char chunk[1 << 16];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(fd, chunk, sizeof(chunk), at)) > 0 && !bytes->failed) {
		buffer_append(bytes, chunk, (size_t)got);
		at += got;
	}
	*is_read = *is_read && got == 0;
}

/*
 * The hash of the files and of the labels that they are given; of what cannot be read again, such as a pipe, that of
 * the profile as it is written.
 */
static bool cmd_push_identify(
	const struct pushing *pushing, const struct profile *profile, uint64_t id[2], struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(max_profile_bytes);
	uint8_t digest[MD5_BYTES];
	bool is_read = true;

	for (size_t i = 0; i < pushing->inputs->count; i++)
		cmd_push_append_file(pushing->inputs->descriptors[i], &bytes, &is_read);
	if (!is_read) {
		bytes.size = 0;
		if (!profile_write_pprof(profile, &bytes, err))
			return false;
	}
	for (size_t i = 0; i < pushing->label_count; i++)
		buffer_printf(&bytes, "\n%s=%s", pushing->labels[i].key, pushing->labels[i].value);
	if (!buffer_ok(&bytes, err))
		return false;
	md5(bytes.data, bytes.size, digest);
	memcpy(id, digest, sizeof(digest));
	return true;
}

static bool cmd_push_prepare(struct pushing *pushing, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct store_parcel *parcel = &pushing->parcel;
	struct prepared prepared = { 0 };

	if (!load_read(pushing->inputs, pushing->load, &profile, err) ||
		!cmd_push_identify(pushing, profile, parcel->id, err) ||
		!store_prepare(pushing->kind, profile, pushing->labels, pushing->label_count, parcel, err))
		return false;
	/* Later comparisons know only what is stored, which has no notes: they are told now. */
	for (size_t i = 0; i < profile->notes.count; i++)
		buffer_printf(&parcel->notices, "%s\n", profile_string(profile, profile->notes.texts[i]));
	memcpy(prepared.id, parcel->id, sizeof(prepared.id));
	return (file_write_all(pushing->prepared, &prepared, sizeof(prepared)) &&
		       file_write_all(pushing->prepared, parcel->notices.data, parcel->notices.size)) ||
	       error_set_errno(err, errno, "cannot write what is to be sent");
}

static int cmd_push_work(void *context)
{
	struct pushing *pushing = context;
	struct error err;

	if (cmd_push_prepare(pushing, &err))
		return CLI_EXIT_OK;
	(void)error_prefix(&err, "%s is not stored", pushing->name);
	cli_print_error(&err);
	return CLI_EXIT_ERROR;
}

static bool run_worker(struct pushing *pushing, int *code, struct error *err)
{
	const struct load_inputs *inputs = pushing->inputs;
	enum { OWN = STORE_PARCEL_PARTS + 1 };
	CLEANUP(cleanup_free) int *descriptors = calloc(inputs->count + OWN, sizeof(*descriptors));
	struct worker worker = { .subject = pushing->name, .inputs = descriptors, .input_count = inputs->count + OWN };

	if (!descriptors)
		return error_set_memory(err);
	memcpy(descriptors, pushing->parcel.parts, sizeof(pushing->parcel.parts));
	descriptors[STORE_PARCEL_PARTS] = pushing->prepared;
	memcpy(descriptors + OWN, inputs->descriptors, inputs->count * sizeof(*descriptors));
	return worker_run(&worker, cmd_push_work, pushing, code, err);
}

/* ---- The parent ---- */

static bool take_prepared(struct pushing *pushing, struct buffer *notices, struct error *err)
{
	struct prepared prepared;
	char text[4096];
	ssize_t got;
	off_t at = sizeof(prepared);

	if (pread(pushing->prepared, &prepared, sizeof(prepared), 0) != sizeof(prepared))
		return error_set(err, ERROR_SYSTEM, "the process that read it handed over nothing");
	memcpy(pushing->parcel.id, prepared.id, sizeof(prepared.id));
	while ((got = pread(pushing->prepared, text, sizeof(text), at)) > 0) {
		buffer_append(notices, text, (size_t)got);
		at += got;
	}
	return buffer_ok(notices, err);
}

static void say_notices(const char *name, const struct buffer *notices)
{
	size_t at = 0;

	while (at < notices->size) {
		const char *line = notices->data + at, *end = memchr(line, '\n', notices->size - at);
		size_t size = end ? (size_t)(end - line) : notices->size - at;

		cli_say("kelvin: %s: %.*s\n", name, (int)size, line);
		at += size + 1;
	}
}

/* `*code`: of the worker, which has said what failed. */
static bool push_opened(struct pushing *pushing, struct store *store, double patience_s, int *code, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer notices = BUFFER_INIT(MOST_NOTICE_BYTES);
	enum store_sent sent;

	if (!load_are_named(pushing->inputs))
		return error_set(err, ERROR_UNSUPPORTED,
			"it has addresses without names; 'kelvin recover' makes a profile of what a killed recorder has left, and 'perf script' a text of perf.data that can be pushed");
	if (!run_worker(pushing, code, err))
		return false;
	if (*code != CLI_EXIT_OK)
		return true;
	if (!take_prepared(pushing, &notices, err))
		return false;
	if (!store_send(store, &pushing->parcel, patience_s, &sent, &notices, err)) {
		pushing->is_unreachable = err->code == ERROR_SYSTEM;
		return false;
	}
	say_notices(pushing->name, &notices);
	cli_write(stdout, 0, sent == STORE_WAS_THERE ? "%s was there already\n" : "pushed %s\n", pushing->name);
	return true;
}

static bool push_one(const struct cmd_push_request *request, struct pushing *pushing, struct store *store, int *code,
	struct error *err)
{
	CLEANUP(load_inputs_deinit) struct load_inputs inputs = { 0 };
	const struct load_options load = { 0 };

	pushing->inputs = &inputs;
	pushing->load = &load;
	if (ftruncate(pushing->prepared, 0) != 0 || lseek(pushing->prepared, 0, SEEK_SET) != 0)
		return error_set_errno(err, errno, "cannot empty a file in memory");
	if (store_is_address(pushing->name))
		return error_set(
			err, ERROR_USAGE, "it is an address of a store; one store is pushed to, and named first");
	return store_parcel_clear(&pushing->parcel, err) && load_open(pushing->name, &load, &inputs, err) &&
	       push_opened(pushing, store, request->patience_s, code, err);
}

static int push_all(const struct cmd_push_request *request, enum store_kind kind, struct store *store,
	char *const *names, size_t count)
{
	struct pushing pushing = { .kind = kind, .prepared = -1, .label_count = request->labels.count };
	size_t failed = 0;
	struct error err;

	for (size_t i = 0; i < pushing.label_count; i++)
		pushing.labels[i] = (struct store_filter){ (char *)request->labels.items[i].key,
			(char *)request->labels.items[i].value };
	if (!store_parcel_init(&pushing.parcel, history_summarize, &err) ||
		(pushing.prepared = file_in_memory("kelvin", &err)) < 0) {
		cli_print_error(&err);
		failed = count;
		count = 0;
	}
	for (size_t i = 0; i < count && !pushing.is_unreachable; i++) {
		int code = CLI_EXIT_OK;

		pushing.name = names[i];
		if (!push_one(request, &pushing, store, &code, &err)) {
			(void)error_prefix(&err, "%s is not stored", names[i]);
			cli_print_error(&err);
			code = CLI_EXIT_ERROR;
		}
		failed += pushing.is_unreachable ? count - i : code != CLI_EXIT_OK;
	}
	store_parcel_deinit(&pushing.parcel);
	cleanup_close(&pushing.prepared);
	if (failed > 0 && count > 1)
		cli_say("kelvin: %zu of %zu profiles are not stored%s; push them again, which adds nothing twice\n",
			failed, count,
			pushing.is_unreachable ? ", as the store is out of reach, and only the first of them was tried"
					       : "");
	return failed > 0 ? CLI_EXIT_ERROR : CLI_EXIT_OK;
}

static int cli_cmd_push(const struct cmd_push_request *request, char *const *words, size_t count)
{
	CLEANUP(store_secrets_deinit) struct store_secrets secrets = { 0 };
	CLEANUP(store_address_deinit) struct store_address address = { 0 };
	CLEANUP(store_cleanup) struct store *store = NULL;
	struct error err;

	/* Before the first child begins. */
	if (!store_take_secrets(&secrets, &err) ||
		!store_address_parse(words[0], clock_read_ns(CLOCK_REALTIME), &address, &err) ||
		!store_open(&address, &secrets, &store, &err)) {
		cli_print_error(&err);
		return CLI_EXIT_ERROR;
	}
	/* The workers, which read foreign bytes, are copies of this process. */
	store_secrets_deinit(&secrets);
	return push_all(request, address.kind, store, words + 1, count - 1);
}

static int cmd_push_run(struct options *options)
{
	struct cmd_push_request request = { .patience_s = 60 };
	int code;

	if (options_read(options, &request, &code)) {
		size_t count = (size_t)(options->argc - optind);

		code = count < 2 ? options_fail(
					   "push", "the address of a store and a profile are needed; %zu given", count)
				 : cli_cmd_push(&request, options->argv + optind, count);
	}
	labels_deinit(&request.labels);
	return code;
}

const struct cli_command cmd_push = {
	.name = "push",
	.summary = "send profiles to a store",
	.usage = cmd_push_usage,
	.rows = cmd_push_rows,
	.notes = cmd_push_notes,
	.word = "FILE",
	.needed_words = 2,
	.run = cmd_push_run,
};
