/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/load.h"

#include "cli/cli.h"
#include "cli/source_file.h"

#include <string.h>
#include <unistd.h>

enum { MAX_INPUTS = 1 << 16 };

static bool load_source(
	struct source *source, const struct symbolize_options *naming, struct profile **profile, struct error *err)
{
	CLEANUP(source_result_deinit) struct source_result result = { 0 };
	bool ok;

	ok = source_read(source, &result, err) && source_name(source, naming, &result, err);
	if (ok)
		*profile = TAKE(result.recording.profile);
	cli_print_notices(&result.notices);
	return ok;
}

static bool cli_load_add_source(struct load_inputs *inputs, struct source *source, struct error *err)
{
	if (!ARRAY_RESERVE(&inputs->sources, &inputs->source_capacity, inputs->count + 1, MAX_INPUTS, err) ||
		!ARRAY_RESERVE(&inputs->descriptors, &inputs->descriptor_capacity, inputs->count + 1, MAX_INPUTS, err))
		return false;
	inputs->descriptors[inputs->count] = source->fd;
	inputs->sources[inputs->count++] = source;
	return true;
}

/* Opens one name: here is decided what kind of source it means. */
static bool open_one(
	struct load_inputs *inputs, const char *name, const struct load_options *options, struct error *err)
{
	const struct source_file_options file = {
		.event = options->metric,
		.opener = options->opener,
		.verify_every = options->verify_every,
		.is_recovery = options->is_recovery,
	};
	struct source *source;

	if (!source_file_open(name, &file, &source, err))
		return false;
	if (cli_load_add_source(inputs, source, err))
		return true;
	source_destroy(source);
	return false;
}

/* ---- Profiles of a store ---- */

bool load_take_secrets(char *const *names, size_t count, struct store_secrets *secrets, struct error *err)
{
	bool has_address = false;
	struct error why;

	for (size_t i = 0; i < count; i++)
		has_address |= store_is_address(names[i]);
	if (store_take_secrets(secrets, &why) || !has_address)
		return true;
	*err = why;
	return false;
}

/* Hands over what was fetched, whose descriptors and names become those of the inputs. */
static bool add_fetched(struct load_inputs *inputs, struct store_profiles *fetched, const struct load_options *options,
	struct error *err)
{
	if (!ARRAY_ZEROED(&inputs->profile_names, fetched->count, err))
		return false;
	for (size_t i = 0; i < fetched->count; i++) {
		struct source_file_options file = { .event = options->metric, .is_open = true };
		struct source *source;

		inputs->profile_names[inputs->profile_name_count++] = TAKE(fetched->items[i].name);
		file.fd = fetched->items[i].fd;
		fetched->items[i].fd = -1;
		if (!source_file_open(inputs->profile_names[i], &file, &source, err))
			return false;
		if (!source->is_named) {
			source_destroy(source);
			return error_set(err, ERROR_FORMAT, "the store has sent something that is no profile");
		}
		if (!cli_load_add_source(inputs, source, err)) {
			source_destroy(source);
			return false;
		}
	}
	return true;
}

static bool open_store(
	struct load_inputs *inputs, const char *name, const struct load_options *options, struct error *err)
{
	CLEANUP(store_address_deinit) struct store_address address = { 0 };
	CLEANUP(store_cleanup) struct store *store = NULL;
	CLEANUP(store_profiles_deinit) struct store_profiles fetched = { 0 };

	if (!options->secrets)
		return error_set(
			err, ERROR_USAGE, "%s is an address of a store, which is not read here; name a file", name);
	if (!store_address_parse(name, clock_read_ns(CLOCK_REALTIME), &address, err))
		return false;
	if (!store_open(&address, options->secrets, &store, err) || !store_fetch(store, &address, &fetched, err))
		return error_prefix(err, "cannot read %s", name);
	cli_print_notices(&fetched.notices);
	return add_fetched(inputs, &fetched, options, err);
}

/* ---- All of a side ---- */

static bool cli_load_open_each(struct load_inputs *inputs, const struct load_options *options, struct error *err)
{
	char *rest = NULL;

	for (char *name = strtok_r(inputs->names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (!open_one(inputs, name, options, err))
			return false;
	return inputs->count > 0 || error_set(err, ERROR_USAGE, "cannot read a profile: its name is empty");
}

bool load_open(const char *names, const struct load_options *options, struct load_inputs *inputs, struct error *err)
{
	file_allow_many();
	inputs->names = strdup(names);
	if (!inputs->names)
		return error_set_memory(err);
	/* Whoever answers for somebody else reads what was given, and nothing of a network. */
	if (store_is_address(names) && !source_file_are_given())
		return open_store(inputs, names, options, err);
	if (strchr(names, ',') && !source_file_are_given() && access(names, F_OK) == 0)
		return open_one(inputs, names, options, err);
	return cli_load_open_each(inputs, options, err);
}

char *load_title(const char *names, const struct load_inputs *inputs)
{
	enum { MOST_NAMED = 12 };
	char *title = NULL;

	if (inputs->count <= MOST_NAMED || inputs->profile_name_count > 0)
		return strdup(names);
	return asprintf(&title, "%s and %zu more", inputs->sources[0]->name, inputs->count - 1) < 0 ? NULL : title;
}

bool load_are_named(const struct load_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		if (!inputs->sources[i]->is_named)
			return false;
	return true;
}

bool load_read(const struct load_inputs *inputs, const struct load_options *options, struct profile **profile,
	struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *all = NULL;

	for (size_t i = 0; i < inputs->count; i++) {
		CLEANUP(profile_cleanup) struct profile *next = NULL;

		if (!load_source(inputs->sources[i], &options->naming, &next, err))
			return false;
		if (!all)
			all = TAKE(next);
		else if (!weights_unify(all, next, err) || !profile_merge(all, next, err))
			return error_prefix(err, "cannot add %s to the profiles before it", inputs->sources[i]->name);
	}
	profile_release_maps(all);
	*profile = TAKE(all);
	return true;
}

void load_inputs_deinit(struct load_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		source_destroy(inputs->sources[i]);
	free(inputs->sources);
	free(inputs->descriptors);
	for (size_t i = 0; i < inputs->profile_name_count; i++)
		free(inputs->profile_names[i]);
	free(inputs->profile_names);
	free(inputs->names);
	*inputs = (struct load_inputs){ 0 };
}
