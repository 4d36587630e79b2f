/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/source.h"

#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/verification.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { MAX_NOTICE_BYTES = 1 << 16 };

bool source_read(struct source *source, struct source_result *result, struct error *err)
{
	*result = (struct source_result){ .recording.child_status = -1 };
	/* No failed allocation may end a recording, nor what is made of it: its errors are handled. */
	if (source->is_live)
		memory_set_checked(true);
	buffer_init(&result->notices, MAX_NOTICE_BYTES);
	return source->functions->read(source, result, err);
}

int source_failure_code(enum source_stage stage, const struct error *err)
{
	if (stage != SOURCE_STARTING)
		return CLI_EXIT_RECORDER_FAILED;
	return err->system_errno == ENOENT ? CLI_EXIT_NOT_FOUND : CLI_EXIT_NOT_EXECUTABLE;
}

void source_destroy(struct source *source)
{
	if (source)
		source->functions->destroy(source);
}

static bool name_origins(
	const char *name, const struct symbolize_options *options, struct profile *profile, struct error *err)
{
	if (options->names_only || symbolize_origins(profile, options, err))
		return true;
	return error_prefix(err, "cannot find out the origins of the functions in %s", name);
}

/* Leaves without names what cannot be named: they are not worth the profile. */
static bool name_or_leave(
	struct recording *result, struct symbolize_options *options, struct buffer *notices, struct error *err)
{
	struct error why;
	bool ok;

	options->is_stopped = interrupt_stops_naming;
	interrupt_begin_naming();
	ok = symbolize_profile(result->profile, &result->symbols, options, notices, &why);
	interrupt_end_naming();
	if (ok)
		return true;
	options->no_names = true;
	buffer_printf(notices, "%s: functions stay unnamed\n", why.message);
	return symbolize_profile(result->profile, &result->symbols, options, notices, err);
}

static bool name_addresses(const struct source *source, const struct symbolize_options *options,
	struct recording *result, struct buffer *notices, struct error *err)
{
	struct symbolize_options naming = *options;
	char cache[PATH_MAX];

	if (!source->is_read_once && !options->namer && symbolize_cache_directory(cache, sizeof(cache)))
		naming.cache_directory = cache;
	return symbolize_name_program(result->profile, err) && name_or_leave(result, &naming, notices, err) &&
	       verification_finish(result, &naming, notices, err);
}

static bool cli_source_complete(struct source *source, struct source_result *result, struct error *err)
{
	return !source->functions->complete || source->functions->complete(source, result, err);
}

/* Behind cli_source_complete(), which makes the profile that is written. What goes wrong costs the text alone. */
static void keep_sources(
	const struct source *source, const struct symbolize_options *options, struct source_result *result)
{
	struct symbolize_options keeping = *options;
	struct recording *recording = &result->recording;
	struct error why;

	if (!source->is_live || interrupt_stops_naming())
		return;
	keeping.is_command = source->is_command;
	keeping.is_stopped = interrupt_stops_naming;
	interrupt_begin_naming();
	if (!symbolize_keep_sources(recording->profile, &recording->symbols, &keeping, &result->sources, &why))
		buffer_printf(&result->notices, "%s: source text is not kept\n", why.message);
	if (!symbolize_keep_code(recording->profile, &recording->symbols, &keeping, &why))
		buffer_printf(&result->notices, "%s: the code of functions is not kept\n", why.message);
	interrupt_end_naming();
}

bool source_name_given(
	const char *name, const struct symbolize_options *options, struct profile *profile, struct error *err)
{
	const struct profile_symbols none = { 0 };

	return name_origins(name, options, profile, err) && symbolize_waits(profile, &none, options, err) &&
	       profile_mark_activities(profile, err);
}

bool source_name(
	struct source *source, const struct symbolize_options *options, struct source_result *result, struct error *err)
{
	struct recording *recording = &result->recording;

	if (!(source->is_named ? name_origins(source->name, options, recording->profile, err)
			       : name_addresses(source, options, recording, &result->notices, err)) ||
		!cli_source_complete(source, result, err))
		return false;
	keep_sources(source, options, result);
	return symbolize_waits(recording->profile, &recording->symbols, options, err) &&
	       profile_mark_activities(recording->profile, err);
}
