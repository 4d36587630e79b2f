/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOOPS = 3, MAX_MODULES = 4, LEAST_PERCENT = 5 };

/*
 * A language whose functions may be missing from a profile. An interpreter is recognised by the function that executes
 * the program: this function is in the stack, however deep the sample is. A compiler that works at run time is
 * recognised by code without a name in a process that has mapped its module.
 */
static const struct language {
	const char *what, *next_step;
	const char *loops[MAX_LOOPS];
	/* globs; needed for an interpreter whose loop has a name that other programs use too */
	const char *modules[MAX_MODULES];
	bool is_loop_unique; /* no other program has a function of the loop's name, in whatever module */
} languages[] = {
	{ "Python functions", "start it with 'python3 -X perf' (Python 3.12 or newer)",
		{ "_PyEval_EvalFrameDefault", "PyEval_EvalFrameEx" }, { NULL }, true },
	{ "JavaScript functions", "start it with 'node --perf-basic-prof'",
		{ "Builtins_JSEntry", "Builtins_InterpreterEntryTrampoline" }, { "node", "nodejs", "libnode.so" },
		true },
	{ "Java methods",
		"run 'jcmd PID Compiler.perfmap' (JDK 17 or newer) just before the recording ends, or record it to its end with "
		"-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
		{ NULL }, { "libjvm.so" }, false },
	{ "Ruby methods", "'ruby --yjit --yjit-perf' (Ruby 3.3 or newer) names those that it compiles",
		{ "rb_vm_exec", "vm_exec" }, { "ruby*", "libruby*" }, false },
	{ "PHP functions", "PHP's JIT with '-d opcache.jit_debug=16' names those that it compiles", { "execute_ex" },
		{ "php*", "libphp*" }, false },
	{ "Perl subroutines", "Perl names them to no sampling profiler; Devel::NYTProf measures them",
		{ "Perl_runops_standard", "Perl_runops_debug" }, { NULL }, true },
	{ "Lua functions", "Lua names them to no sampling profiler", { "luaV_execute" }, { NULL }, true },
	{ ".NET methods", "start it with DOTNET_PerfMapEnabled=1 in its environment", { NULL }, { "libcoreclr.so" },
		false },
	{ "Erlang functions", "start it with 'erl +JPperf true'", { NULL }, { "beam.smp" }, false },
};

/* Code made at run time by anything else. */
static const struct language any_language = { .what = "functions made at run time",
	.next_step = "'man kelvin-record' says which runtimes name theirs, and how" };

enum { LANGUAGE_COUNT = sizeof(languages) / sizeof(languages[0]), ANY = LANGUAGE_COUNT };
_Static_assert(PROFILE_NAMELESS_MAX == LANGUAGE_COUNT + 1, "one for each language and one for all others");

/* What occurs in a stack, or in any stack of a process, as a set of these bits. */
#define IN_LOOP(language) ((uint32_t)1 << (language))
#define IN_MODULE(language) ((uint32_t)1 << (LANGUAGE_COUNT + (language)))
#define NAMELESS ((uint32_t)1 << 30) /* code made at run time without a name */
#define NAMED ((uint32_t)1 << 31)    /* code made at run time with a name, so the runtime was told to give names */

struct search {
	const struct profile *profile;
	uint32_t *mappings, *functions, *locations, *stacks; /* owned: [id] its set */
	uint32_t *processes;                                 /* owned: [thread] the first thread of the same process */
	uint32_t *in_process;                                /* owned: [first thread of a process] the process' set */
	double time[LANGUAGE_COUNT + 1], total;
};

static bool search_init(struct search *s, const struct profile *profile, struct error *err)
{
	*s = (struct search){ .profile = profile };
	s->mappings = calloc(profile->mapping_count + 1, sizeof(uint32_t));
	s->functions = calloc(profile->function_count + 1, sizeof(uint32_t));
	s->locations = calloc(profile->location_count + 1, sizeof(uint32_t));
	s->stacks = calloc(profile->stack_count + 1, sizeof(uint32_t));
	s->processes = calloc(profile->thread_count + 1, sizeof(uint32_t));
	s->in_process = calloc(profile->thread_count + 1, sizeof(uint32_t));
	return (s->mappings && s->functions && s->locations && s->stacks && s->processes && s->in_process) ||
	       error_set_memory(err);
}

static void search_deinit(struct search *s)
{
	free(s->mappings);
	free(s->functions);
	free(s->locations);
	free(s->stacks);
	free(s->processes);
	free(s->in_process);
}

static bool is_module_of(const struct language *language, const char *module)
{
	for (size_t i = 0; i < MAX_MODULES && language->modules[i]; i++)
		if (fnmatch(language->modules[i], module, 0) == 0)
			return true;
	return false;
}

static uint32_t set_of_module(const char *module)
{
	uint32_t set = 0;

	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
		if (is_module_of(&languages[i], module))
			set |= IN_MODULE(i);
	return set;
}

static uint32_t set_of_function(const struct profile *profile, const struct profile_function *function)
{
	const char *name = profile_string(profile, function->name), *module = profile_string(profile, function->module);
	uint32_t set = 0;

	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
		for (size_t k = 0; k < MAX_LOOPS && languages[i].loops[k]; k++)
			if (strcmp(name, languages[i].loops[k]) == 0 &&
				(languages[i].is_loop_unique || is_module_of(&languages[i], module)))
				set |= IN_LOOP(i);
	return set;
}

static uint32_t set_of_location(const struct search *s, const struct profile_location *location)
{
	const struct profile *profile = s->profile;
	const struct profile_mapping *in =
		location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];
	bool is_made = in && (in->kind == PROFILE_MAPPING_ANON || in->kind == PROFILE_MAPPING_JIT), has_name = false;
	uint32_t set = in ? s->mappings[location->mapping] : 0;

	for (uint32_t i = 0; i < location->line_count; i++) {
		uint32_t function = profile->lines[location->first_line + i].function;

		set |= s->functions[function];
		has_name = has_name || profile->functions[function].name_source != PROFILE_NAME_NONE;
	}
	if (is_made)
		set |= has_name ? NAMED : NAMELESS;
	return set;
}

/* A stack holds what its parent holds; the parent's id is smaller. */
static void find_sets(struct search *s)
{
	const struct profile *profile = s->profile;

	for (size_t i = 0; i < profile->mapping_count; i++)
		s->mappings[i] = set_of_module(profile_string(profile, profile->mappings[i].module));
	for (size_t i = 0; i < profile->function_count; i++)
		s->functions[i] = set_of_function(profile, &profile->functions[i]);
	for (size_t i = 0; i < profile->location_count; i++)
		s->locations[i] = set_of_location(s, &profile->locations[i]);
	for (size_t i = 1; i < profile->stack_count; i++)
		s->stacks[i] = s->stacks[profile->stacks[i].parent] | s->locations[profile->stacks[i].location];
}

/* A process is represented by its first thread. */
static bool find_processes(struct search *s, struct error *err)
{
	const struct profile *profile = s->profile;
	struct hash_map first;
	bool ok = true;

	hash_map_init(&first, 2 * sizeof(uint32_t));
	for (uint32_t i = 0; ok && i < profile->thread_count; i++) {
		const uint32_t key[2] = { profile->threads[i].run, (uint32_t)profile->threads[i].pid };
		uint32_t *value;
		bool added;

		ok = hash_map_add(&first, key, i, &value, &added, err);
		if (ok)
			s->processes[i] = *value;
	}
	hash_map_deinit(&first);
	return ok;
}

/*
 * A process may have a perf map although no sample was taken in the code that the map names: the interpreter alone
 * executed the program then.
 */
static bool find_maps(struct search *s, struct error *err)
{
	const struct profile *profile = s->profile;
	struct hash_map mapped;
	bool ok = true, added;
	uint32_t *value;

	hash_map_init(&mapped, sizeof(uint32_t));
	for (uint32_t i = 0; ok && i < profile->mapping_count; i++) {
		const uint32_t pid = (uint32_t)profile->mappings[i].file_offset;

		if (profile->mappings[i].kind == PROFILE_MAPPING_JIT)
			ok = hash_map_add(&mapped, &pid, i, &value, &added, err);
	}
	for (size_t i = 0; ok && i < profile->thread_count; i++) {
		const uint32_t pid = (uint32_t)profile->threads[i].pid;

		if (mapped.count > 0 && pid != 0 && hash_map_get(&mapped, &pid) != HASH_MAP_NONE)
			s->in_process[s->processes[i]] |= NAMED;
	}
	hash_map_deinit(&mapped);
	return ok;
}

static void find_sets_of_processes(struct search *s)
{
	const struct profile *profile = s->profile;

	for (size_t i = 0; i < profile->sample_count; i++)
		s->in_process[s->processes[profile->samples[i].thread]] |= s->stacks[profile->samples[i].stack];
}

/* The language whose functions are missing from a stack; ANY + 1: none are. */
static size_t missing_from(uint32_t stack, uint32_t process)
{
	for (size_t i = 0; i < LANGUAGE_COUNT && !(process & NAMED); i++)
		if (stack & IN_LOOP(i))
			return i;
	/*
	 * Where other code of the runtime has names in the same stack, only single frames lack theirs, not the whole
	 * program.
	 */
	if (!(stack & NAMELESS) || (stack & NAMED))
		return ANY + 1;
	for (size_t i = 0; i < LANGUAGE_COUNT; i++)
		if (process & IN_MODULE(i))
			return i;
	return ANY;
}

/* Waits are left out: whether functions have names is a question of the code that runs. */
static uint32_t value_type_of_time(const struct profile *profile)
{
	uint32_t cpu = profile_has_waits(profile) ? profile_wait_values(profile).cpu : PROFILE_NONE;

	return cpu != PROFILE_NONE ? cpu : profile->default_value_type;
}

static void add_up(struct search *s)
{
	const struct profile *profile = s->profile;
	uint32_t time_of = value_type_of_time(profile);

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		double time = (double)profile->values[i * profile->value_type_count + time_of];
		size_t missing = missing_from(s->stacks[sample->stack], s->in_process[s->processes[sample->thread]]);

		s->total += time;
		if (missing <= ANY)
			s->time[missing] += time;
	}
}

static int compare_nameless(const void *left, const void *right)
{
	const struct profile_nameless *a = left, *b = right;

	return a->percent < b->percent ? 1 : a->percent > b->percent ? -1 : strcmp(a->what, b->what);
}

bool profile_find_nameless(const struct profile *profile, struct profile_nameless found[PROFILE_NAMELESS_MAX],
	size_t *count, struct error *err)
{
	struct search s;
	bool ok = search_init(&s, profile, err);
	size_t used = 0;

	if (ok) {
		find_sets(&s);
		ok = find_processes(&s, err) && find_maps(&s, err);
	}
	if (ok) {
		find_sets_of_processes(&s);
		add_up(&s);
	}
	for (size_t i = 0; ok && i <= ANY; i++) {
		const struct language *language = i == ANY ? &any_language : &languages[i];
		double percent = s.total > 0 ? 100 * s.time[i] / s.total : 0;

		if (percent >= LEAST_PERCENT)
			found[used++] = (struct profile_nameless){ language->what, language->next_step, percent };
	}
	search_deinit(&s);
	if (!ok)
		return false;
	qsort(found, used, sizeof(*found), compare_nameless);
	*count = used;
	return true;
}

void profile_nameless_sentence(const struct profile_nameless *nameless, struct buffer *out)
{
	buffer_printf(out, "%.0f %% of the time passes through %s that have no names: %s", nameless->percent,
		nameless->what, nameless->next_step);
}
