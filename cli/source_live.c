/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/source_live.h"

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/interrupt.h"

enum { POLL_MS = 400 };
static const int64_t ns_per_ms = 1000000;
static const double longest_s = 1e9; /* a longer duration sets no end */

struct source_live {
	struct source source;
	struct source_live_options options;
};

/* One reading. */
struct source_live_session {
	const struct source_live_options *options;
	struct sampler *sampler;
	bool has_begun;  /* sampling has been switched on at least once */
	bool is_delayed; /* sampling is off until options->delay_ms are over */
	bool is_stopped; /* by --control */
};

/* ---- --control ---- */

/* Does one command of --control and answers it. */
static bool session_obey(struct source_live_session *session, enum control_command command, struct error *err)
{
	const struct control *control = session->options->control;

	switch (command) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		session->is_delayed = false;
		if (!sampler_set_enabled(session->sampler, command == CONTROL_ENABLE, err))
			return false;
		session->has_begun = session->has_begun || command == CONTROL_ENABLE;
		break;
	case CONTROL_STOP:
		session->is_stopped = true;
		break;
	case CONTROL_EVLIST:
		fprintf(stderr, "%s\n", sampler_event(session->sampler));
		break;
	case CONTROL_OTHER:
		cli_say("kelvin: --control: unknown command '%s'; use enable, disable, ping, evlist or stop\n",
			control->line);
		break;
	case CONTROL_PING:
	case CONTROL_NONE:
		break;
	}
	control_answer(control);
	return true;
}

static bool session_obey_all(struct source_live_session *session, struct error *err)
{
	struct control *control = session->options->control;
	enum control_command command;

	while (control && !session->is_stopped && (command = control_next(control)) != CONTROL_NONE)
		if (!session_obey(session, command, err))
			return false;
	return true;
}

/* ---- The loop ---- */

static int64_t delay_ns(const struct source_live_session *session)
{
	return (int64_t)session->options->delay_ms * ns_per_ms;
}

static int64_t end_ns(const struct source_live_session *session)
{
	double duration_s = session->options->duration_s;

	if (duration_s <= 0 || duration_s > longest_s)
		return INT64_MAX;
	return (int64_t)(duration_s * 1e9) + delay_ns(session);
}

/* Returns how long sampler_poll() may wait: until the delay or the recording ends, but no longer than POLL_MS. */
static int session_timeout_ms(const struct source_live_session *session, int64_t elapsed_ns)
{
	int64_t until_ns = session->is_delayed ? delay_ns(session) : end_ns(session);
	int64_t left_ms = (until_ns - elapsed_ns) / ns_per_ms + 1;

	return left_ms < 0 ? 0 : left_ms < POLL_MS ? (int)left_ms : POLL_MS;
}

static bool session_end_delay(struct source_live_session *session, int64_t elapsed_ns, struct error *err)
{
	if (!session->is_delayed || elapsed_ns < delay_ns(session))
		return true;
	if (!sampler_set_enabled(session->sampler, true, err))
		return false;
	session->is_delayed = false;
	session->has_begun = true;
	return true;
}

static bool session_sample(struct source_live_session *session, struct error *err)
{
	const struct source_live_options *options = session->options;
	struct sampler_progress state = { .state = SAMPLER_RUNNING };
	const struct progress_plan plan = {
		.delay_s = (double)options->delay_ms / 1e3,
		.duration_s = options->duration_s <= longest_s ? options->duration_s : 0,
	};

	while (state.state == SAMPLER_RUNNING && state.elapsed_ns < end_ns(session) && !session->is_stopped &&
		!interrupt_signal()) {
		if (!sampler_poll(session->sampler, session_timeout_ms(session, state.elapsed_ns),
			    options->control ? options->control->commands : -1, &state, err) ||
			!session_obey_all(session, err) || !session_end_delay(session, state.elapsed_ns, err))
			return false;
		if (options->progress)
			progress_show(options->progress, &state, &plan);
	}
	return true;
}

/* ---- A reading ---- */

/* The sampler knows only that there are no samples. */
static bool explain_not_begun(const struct source_live_session *session, struct error *err)
{
	if (err->code != ERROR_EMPTY || session->has_begun)
		return false;
	if (session->options->starts_disabled)
		return error_set(err, ERROR_EMPTY,
			"no samples: sampling was never switched on (-D -1), because no 'enable' came from --control");
	return error_set(err, ERROR_EMPTY, "no samples: the recording ended before sampling began (-D %llu)",
		(unsigned long long)session->options->delay_ms);
}

static bool live_read(struct source *source, struct source_result *result, struct error *err)
{
	const struct source_live_options *options = &((const struct source_live *)source)->options;
	CLEANUP(sampler_cleanup) struct sampler *sampler = NULL;
	struct source_live_session session = { .options = options, .is_delayed = options->delay_ms > 0 };
	struct error why;

	if (!sampler_create(&options->sampler, &sampler, err))
		return false;
	result->stage = SOURCE_STARTING;
	if (!sampler_start(sampler, err))
		return false;
	result->stage = SOURCE_RUNNING;
	session.has_begun = !options->sampler.start_disabled;
	session.sampler = sampler;
	/* Whatever ended the loop: the samples until then are the recording. */
	if (!session_sample(&session, &why))
		sampler_end_early(sampler, &why);
	if (options->sampler.target.kind == SAMPLER_TARGET_COMMAND && interrupt_is_for_us_alone())
		child_signal(interrupt_signal());
	result->stage = SOURCE_FINISHING;
	return sampler_finish(sampler, &result->recording, &result->notices, err) || explain_not_begun(&session, err);
}

static void live_destroy(struct source *source)
{
	free(source);
}

static const struct source_functions live_functions = { .read = live_read, .destroy = live_destroy };

bool source_live_create(const struct source_live_options *options, struct source **source, struct error *err)
{
	const struct sampler_target *target = &options->sampler.target;
	struct source_live *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->source =
		(struct source){ .functions = &live_functions, .name = "a recording", .fd = -1, .is_read_once = true };
	made->source.is_live = true;
	made->source.is_command = target->kind == SAMPLER_TARGET_COMMAND;
	made->options = *options;
	made->options.sampler.start_disabled = options->delay_ms > 0 || options->starts_disabled;
	*source = &made->source;
	return true;
}
