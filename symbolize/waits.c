/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/origin.h"
#include "symbolize/wait_names.h"

#include <stdlib.h>
#include <string.h>

/*
 * Functions in which threads of a language's runtime wait for work alone, whatever they wait with. The kernel sees a
 * lock or a timer. A program of Go has one thread for each CPU that does so most of the time, without any goroutine.
 */
static const char our_rules[] =
	"idle function runtime.stopm\n"          /* a thread without a goroutine (Go, runtime/proc.go) */
	"idle function runtime.sysmon\n"         /* looks for what the scheduler missed (same file) */
	"idle function runtime.templateThread\n" /* makes threads when it is asked to (same file) */
	"idle function os/signal.signal_recv\n"; /* the signals that it asked for (sigqueue.go) */

/* No rule is about the frames of a location, or those of a stack. PROFILE_WAIT_NONE: one says that the class stays. */
enum { NO_RULE = PROFILE_WAIT_NONE + 1 };

struct wait_rules {
	const struct profile *profile;
	const struct symbolize_rules *theirs; /* NULL: none */
	struct symbolize_rules *ours;
	uint8_t *locations; /* [location] enum profile_wait_class, or NO_RULE */
	uint8_t *stacks;    /* likewise, of a stack and its callers */
	uint8_t *named;     /* likewise, by the names of the system's functions; NULL: the recording knows more */
};

static bool waits_find_rule(const struct wait_rules *w, const struct origin_evidence *evidence, uint32_t *value)
{
	return (w->theirs && rules_match(w->theirs, evidence, value)) || rules_match(w->ours, evidence, value);
}

/* The innermost of the location's frames that a rule is about decides. */
static uint8_t decide_location(const struct wait_rules *w, const struct profile_location *location)
{
	const struct profile *profile = w->profile;

	for (uint32_t k = 0; k < location->line_count; k++) {
		const struct origin_evidence evidence = origin_evidence_of(profile, location, k);
		uint32_t value;

		if (waits_find_rule(w, &evidence, &value))
			return (uint8_t)value;
	}
	return NO_RULE;
}

/* Whether the code is the kernel's or the C library's: a program may have its own poll(). */
static bool is_of_system(const struct profile *profile, const struct profile_location *location)
{
	static const char *const libraries[] = { "libc.so", "libc-", "libpthread", "ld-musl", "libc.musl" };
	const struct profile_mapping *in =
		location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];
	const char *module = in ? profile_string(profile, in->module) : "";

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strncmp(module, libraries[i], strlen(libraries[i])) == 0)
			return true;
	return in && in->kind == PROFILE_MAPPING_KERNEL;
}

static uint8_t class_of_location(const struct profile *profile, const struct profile_location *location)
{
	if (!is_of_system(profile, location))
		return NO_RULE;
	for (uint32_t k = 0; k < location->line_count; k++) {
		uint32_t function = profile->lines[location->first_line + k].function;
		enum profile_wait_class found =
			wait_class_of_function(profile_string(profile, profile->functions[function].name));

		if (found != PROFILE_WAIT_NONE)
			return (uint8_t)found;
	}
	return NO_RULE;
}

/* The innermost function that is known decides, as with rules. */
static bool decide_by_names(struct wait_rules *w, struct error *err)
{
	const struct profile *profile = w->profile;
	CLEANUP(cleanup_free) uint8_t *locations = malloc(profile->location_count + 1);

	w->named = malloc(profile->stack_count);
	if (!locations || !w->named)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->location_count; i++)
		locations[i] = class_of_location(profile, &profile->locations[i]);
	w->named[0] = NO_RULE;
	for (size_t i = 1; i < profile->stack_count; i++) {
		uint8_t own = locations[profile->stacks[i].location];

		w->named[i] = own == NO_RULE ? w->named[profile->stacks[i].parent] : own;
	}
	return true;
}

/* A caller's stack has a smaller id, so that it is decided when what it calls is. */
static bool decide_stacks(struct wait_rules *w, struct error *err)
{
	const struct profile *profile = w->profile;

	w->locations = malloc(profile->location_count + 1);
	w->stacks = malloc(profile->stack_count);
	if (!w->locations || !w->stacks)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->location_count; i++)
		w->locations[i] = decide_location(w, &profile->locations[i]);
	w->stacks[0] = NO_RULE;
	for (size_t i = 1; i < profile->stack_count; i++) {
		uint8_t own = w->locations[profile->stacks[i].location];

		w->stacks[i] = own == NO_RULE ? w->stacks[profile->stacks[i].parent] : own;
	}
	return true;
}

static enum profile_wait_class class_by_rules(void *context, uint32_t stack, enum profile_wait_class wait_class)
{
	const struct wait_rules *w = context;
	uint8_t decided = w->stacks[stack];

	if (decided == NO_RULE && wait_class == PROFILE_WAIT_OTHER && w->named)
		decided = w->named[stack];
	return wait_class == PROFILE_WAIT_RUN_QUEUE || decided >= PROFILE_WAIT_NONE ? wait_class
										    : (enum profile_wait_class)decided;
}

bool symbolize_waits(struct profile *profile, const struct symbolize_options *options, struct error *err)
{
	struct wait_rules w = { .profile = profile, .theirs = options->wait_rules };
	bool ok;

	if (!profile_has_waits(profile))
		return true;
	ok = symbolize_rules_parse(
		     SYMBOLIZE_RULES_OF_WAITS, our_rules, strlen(our_rules), "our own rules", &w.ours, err) &&
	     decide_stacks(&w, err) && (!options->waits_by_name || decide_by_names(&w, err)) &&
	     profile_classify_waits(profile, class_by_rules, &w, err);
	symbolize_rules_destroy(w.ours);
	free(w.locations);
	free(w.stacks);
	free(w.named);
	return ok;
}
