/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/harness.h"

#include "sampler/harness/environment.h"
#include "sampler/harness/iterations.h"
#include "sampler/harness/namespace.h"
#include "sampler/harness/server.h"
#include "sampler/harness/tee.h"
#include "sampler/harness/thread.h"

#include <limits.h>
#include <stdlib.h>

struct harness {
	enum harness_mode mode;
	struct temporary directory;
	struct environment environment;
	struct namespace namespace;
	struct fifo_pair fifos;
	struct server *server;         /* NULL: simulation */
	struct harness_output *output; /* NULL, likewise */
	struct tee *tee;               /* NULL, likewise */
};

/* ---- Beginning ---- */

static const char *const protocol_places[] = { FIFO_COMMANDS_PATH, FIFO_ANSWERS_PATH };

static void remove_fifos(pid_t owner)
{
	fifo_remove_stale(FIFO_COMMANDS_PATH, FIFO_ANSWERS_PATH, owner);
	for (int i = 0; i < 2; i++)
		namespace_remove_stale(protocol_places[i]);
}

/* Returns where our FIFOs lie. */
static const char *fifo_path(const struct harness *harness, int which)
{
	return harness->namespace.is_used ? harness->namespace.sources[which] : protocol_places[which];
}

/*
 * FIFOs of our own, which the command gets at the places of the protocol. False with ERROR_NONE: that is not allowed
 * here.
 */
static bool open_in_namespace(struct harness *harness, bool has_user, struct error *err)
{
	struct namespace *namespace = &harness->namespace;

	err->code = ERROR_NONE;
	namespace->has_user = has_user;
	if (!fifo_pair_open(&harness->fifos, namespace->sources[0], namespace->sources[1], err))
		return false;
	if (namespace_is_allowed(namespace) && namespace_prepare(namespace, err))
		return true;
	fifo_pair_close(&harness->fifos, namespace->sources[0], namespace->sources[1]);
	return false;
}

/*
 * Root has a namespace of mounts where that is allowed. A user has one only if the places are taken, since set-user-ID
 * programs do not work in it.
 */
static bool open_fifos(struct harness *harness, struct error *err)
{
	struct error why;

	for (int i = 0; i < 2; i++) {
		harness->namespace.places[i] = protocol_places[i];
		if ((size_t)snprintf(harness->namespace.sources[i], PATH_MAX, "%s%s", harness->directory.path,
			    strrchr(protocol_places[i], '/')) >= PATH_MAX)
			return error_set(err, ERROR_LIMIT, "TMPDIR is too long");
	}
	if (open_in_namespace(harness, false, &why))
		return true;
	if (why.code != ERROR_NONE) {
		*err = why;
		return false;
	}
	if (geteuid() == 0)
		for (int i = 0; i < 2; i++)
			namespace_clear_foreign(protocol_places[i]);
	if (fifo_pair_open(&harness->fifos, FIFO_COMMANDS_PATH, FIFO_ANSWERS_PATH, err))
		return true;
	return geteuid() != 0 && open_in_namespace(harness, true, &why);
}

/* Opens what harnesses look for: in a simulation that is the simulator, by its client requests, and no FIFO. */
static bool harness_open(struct harness *harness, const struct harness_options *options, struct error *err)
{
	if (options->mode == HARNESS_SIMULATION)
		return temporary_create(&harness->directory, TEMPORARY_SMALL, NULL, err);
	return temporary_create(&harness->directory, TEMPORARY_SMALL, remove_fifos, err) && open_fifos(harness, err) &&
	       server_start(&harness->fifos, PROTOCOL_WALLTIME, &harness->server, err) &&
	       harness_output_create(&harness->output, err) &&
	       tee_start(options->outputs, harness->output, &harness->tee, err);
}

bool harness_create(const struct harness_options *options, struct harness **harness, struct error *err)
{
	struct harness *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->mode = options->mode;
	made->fifos = (struct fifo_pair){ -1, -1 };
	made->namespace = (struct namespace){ .covered = { -1, -1 } };
	if (harness_open(made, options, err)) {
		*harness = made;
		return true;
	}
	harness_destroy(made);
	return false;
}

bool harness_prepare(struct harness *harness, int outputs[2], struct error *err)
{
	outputs[0] = outputs[1] = -1;
	if (harness->tee)
		tee_ends(harness->tee, outputs);
	return environment_set(&harness->environment, harness->mode, harness->directory.path, err);
}

bool harness_enter(void *harness)
{
	const struct harness *own = harness;

	return !own->namespace.is_used || namespace_enter(&own->namespace);
}

/* ---- End ---- */

static void harness_stop(struct harness *harness)
{
	environment_restore(&harness->environment);
	if (harness->tee)
		tee_stop(harness->tee);
	if (harness->server)
		server_stop(harness->server);
	if (harness->fifos.commands >= 0)
		fifo_pair_close(&harness->fifos, fifo_path(harness, 0), fifo_path(harness, 1));
	namespace_release(&harness->namespace);
}

void harness_destroy(struct harness *harness)
{
	if (!harness)
		return;
	harness_stop(harness);
	tee_destroy(harness->tee);
	harness_output_destroy(harness->output);
	server_destroy(harness->server);
	temporary_remove(&harness->directory, NULL);
	free(harness);
}

void harness_result_deinit(struct harness_result *result)
{
	for (size_t i = 0; i < result->window_count; i++) {
		free(result->windows[i].uri);
		free(result->windows[i].rounds);
	}
	free(result->windows);
	free(result->integration);
	free(result->toolchain);
	*result = (struct harness_result){ 0 };
}

bool harness_result_set_facts(const struct harness_result *result, struct profile *profile, struct error *err)
{
	struct profile_facts *facts = &profile->facts;

	return (!result->integration || profile_intern(profile, result->integration, &facts->harness, err)) &&
	       (!result->toolchain || profile_intern(profile, result->toolchain, &facts->toolchain, err));
}

static bool read_toolchain(const struct results *results, struct harness_result *result, struct error *err)
{
	if (results->toolchain.size == 0)
		return true;
	result->toolchain = strdup(results->toolchain.data);
	return result->toolchain || error_set_memory(err);
}

static bool measure_windows(struct results *results, struct harness_result *result, struct error *err)
{
	for (size_t i = 0; i < result->window_count; i++) {
		struct harness_window *window = &result->windows[i];
		const struct results_stats *stats =
			window->uri ? results_take(results, window->uri, window->pid) : NULL;

		if (!iterations_measure(window, stats, err))
			return false;
	}
	return true;
}

static bool read_results(
	struct harness *harness, struct harness_result *result, struct buffer *notices, struct error *err)
{
	CLEANUP(results_deinit) struct results results;
	char folder[PATH_MAX];

	results_init(&results);
	return environment_folder(harness->directory.path, folder, err) &&
	       results_read(&results, folder, notices, err) && read_toolchain(&results, result, err) &&
	       measure_windows(&results, result, err);
}

static bool harness_fail_empty(const struct harness *harness, const struct harness_result *result, struct error *err)
{
	const struct session *session = server_session(harness->server);

	if (session->is_connected)
		return error_set(err, ERROR_EMPTY,
			"no benchmark was run: %.100s is switched on, but measured nothing, and what it printed says why; pytest "
			"measures tests with the fixture or the mark 'benchmark'",
			result->integration ? result->integration : "a harness");
	return error_set(err, ERROR_EMPTY,
		"no benchmark was met: the command has no harness, and its output names none. pytest needs the package "
		"pytest-codspeed; Rust 'cargo codspeed run -m walltime'; google-benchmark the fork of codspeed-cpp; vitest "
		"@codspeed/vitest-plugin; 'go test -bench', plain google-benchmark, criterion, hyperfine and JMH are read from what they print");
}

/* A suite may have a harness that measured nothing beside plain programs. */
static bool read_output(const struct harness *harness, int64_t end_ns, struct harness_result *result,
	struct buffer *notices, struct error *err)
{
	CLEANUP(harness_result_deinit) struct harness_result found = { 0 };

	if (!harness_output_finish(harness->output, end_ns, &found, notices, err))
		return false;
	if (found.window_count == 0)
		return true;
	found.ack_us[0] = result->ack_us[0];
	found.ack_us[1] = result->ack_us[1];
	found.acks = result->acks;
	harness_result_deinit(result);
	*result = found;
	found = (struct harness_result){ 0 };
	return true;
}

static bool harness_collect(
	struct harness *harness, struct harness_result *result, struct buffer *notices, struct error *err)
{
	int64_t end_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!harness->server)
		return read_results(harness, result, notices, err);
	if (!session_finish(server_session(harness->server), end_ns, result, notices, err) ||
		!read_results(harness, result, notices, err))
		return false;
	result->acks = server_latency(harness->server, result->ack_us);
	result->is_protocol = result->window_count > 0;
	if (result->is_protocol)
		return true;
	return read_output(harness, end_ns, result, notices, err) &&
	       (result->window_count > 0 || harness_fail_empty(harness, result, err));
}

bool harness_finish(struct harness *harness, struct harness_result *result, struct buffer *notices, struct error *err)
{
	struct harness_result made = { 0 };

	harness_stop(harness);
	if (harness_collect(harness, &made, notices, err)) {
		temporary_remove(&harness->directory, notices);
		*result = made;
		return true;
	}
	harness_result_deinit(&made);
	return false;
}
