/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_fixture.h"
#include "common/gzip.h"
#include "profile/foreign/foreign.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

struct maker {
	struct profile *profile;
	struct error err;
};

static void must(struct maker *m, bool ok)
{
	if (!ok)
		fail_msg("%s", m->err.message);
}

static uint32_t text(struct maker *m, const char *string)
{
	uint32_t id;

	must(m, profile_intern(m->profile, string, &id, &m->err));
	return id;
}

static uint32_t mapping(
	struct maker *m, const char *path, const char *build_id, enum profile_mapping_kind kind, uint64_t start)
{
	struct profile_mapping made = { .path = text(m, path), .kind = kind, .start = start, .end = start + 0x1000 };
	uint32_t id;

	if (kind == PROFILE_MAPPING_FILE) {
		made.build_id = text(m, build_id);
		made.file_offset = 0x200;
		made.deleted = start == 0x1000;
	}
	must(m, profile_add_mapping(m->profile, &made, &id, &m->err));
	return id;
}

static uint32_t function(struct maker *m, const char *name, uint32_t in, enum profile_origin origin)
{
	struct profile_function made = {
		.name = text(m, name),
		.linkage_name = origin == PROFILE_ORIGIN_USER ? text(m, "_ZN4workEv") : 0,
		.file = text(m, "/src/work.cc"),
		.start_line = 17,
		.module = m->profile->mappings[in].module,
		.fingerprint = strlen(name) * 0x9e3779b97f4a7c15u,
		.origin = origin,
		.origin_rule = (uint16_t)(origin + 3),
		.name_source = PROFILE_NAME_DWARF,
	};
	uint32_t id;

	must(m, profile_add_function(m->profile, &made, &id, &m->err));
	return id;
}

static uint32_t location(struct maker *m, uint32_t in, uint64_t address, const struct profile_line *lines, size_t count)
{
	uint32_t id;

	must(m, profile_add_location(m->profile, in, address, &id, &m->err));
	must(m, profile_set_lines(m->profile, id, lines, count, &m->err));
	return id;
}

static uint32_t stack(struct maker *m, const uint32_t *locations, size_t count)
{
	uint32_t id = 0;

	for (size_t i = 0; i < count; i++)
		must(m, profile_add_stack(m->profile, id, locations[i], &id, &m->err));
	return id;
}

static uint32_t thread(struct maker *m, uint32_t run, int32_t tid, const char *name)
{
	struct profile_thread made = {
		.run = run, .pid = 100, .tid = tid, .process_name = text(m, "server"), .name = text(m, name)
	};
	struct profile_label route = { text(m, "route"), text(m, "/upload") };
	uint32_t id;

	must(m, tid != 101 || profile_make_label_set(m->profile, &route, 1, &made.labels, &m->err));
	must(m, profile_add_thread(m->profile, &made, &id, &m->err));
	return id;
}

static void sample(struct maker *m, uint32_t on, uint32_t by, int64_t time_ns)
{
	int64_t values[] = { 1, 1003009 };

	must(m, profile_add_sample(m->profile, on, by, values, time_ns, &m->err));
}

static void set_circumstances(struct maker *m)
{
	struct profile *p = m->profile;

	p->period_type = p->value_types[1];
	p->period = 1003009;
	p->facts = (struct profile_facts){ .tool = text(m, "kelvin 0.1.0"),
		.command = text(m, "pid 100 (server)"),
		.event = text(m, "cpu-clock"),
		.cpu_model = text(m, "A CPU"),
		.kernel = text(m, "6.18"),
		.governor = text(m, "performance"),
		.call_graph = text(m, "dwarf,16384"),
		.cgroup = text(m, "/system.slice/server.service"),
		.container = text(m, "0123abcd"),
		.cpu_limit_milli = 1500,
		.cpu_count = 2,
		.frequency_hz = 997,
		.user_only = true };
	must(m, profile_set_label(p, "version", "4.2.1", &m->err));
	must(m, profile_set_label(p, "service", "checkout", &m->err));
	p->quality =
		(struct profile_quality){ .samples = 9, .lost = 3, .throttled = 2, .lost_sideband = 1, .frames = 40 };
	p->quality.frame_pointer_frames = 5;
	p->quality.stops[PROFILE_STOP_ROOT] = 7;
	p->quality.stops[PROFILE_STOP_DUMP_END] = 2;
	p->verification = (struct profile_verification){
		.is_there = true,
		.stacks = { 4, 2, 0, 1 },
		.names_equal = 1203,
		.names_other = 1,
		.differences = { text(m, "a stack of 3 frames here, of 2 by libunwind:\n"),
			text(m, "0x12 in /bin/x: here a; libdw b") },
		.difference_count = 2,
	};
}

/* Two waits for a lock in the deepest stack, one of them ended by a thread in a stack that no sample has. */
static void add_releases(struct maker *m, uint32_t waiter, uint32_t releaser)
{
	const struct profile_lock locks[] = { { .pid = -7 }, { text(m, "cache_mutex"), text(m, "server"), 100 } };
	uint32_t id;

	for (size_t i = 0; i < 2; i++) {
		struct profile_release release = { waiter, PROFILE_NONE, i ? releaser : 0, 5000000000 << i };

		must(m, profile_add_lock(m->profile, &locks[i], &id, &m->err));
		release.lock = i ? id : PROFILE_NONE;
		must(m, profile_add_release(m->profile, &release, &m->err));
	}
}

/* Requests of both runs, those of a worker on a CPU of their own, and calls out; some are told of by no reading. */
static void add_requests(struct maker *m)
{
	const struct profile_exchanges exchanges[] = {
		{ 0, 100, PROFILE_EXCHANGE_ANSWERED, text(m, "server"), 0, 7, 5000000000, 70 },
		{ 0, 100, PROFILE_EXCHANGE_CALLED_OUT, text(m, "server"), 40, 1, 3, 4 },
		{ 0, 101, PROFILE_EXCHANGE_ANSWERED, text(m, "worker"), 5, 0, 0, 0 },
		{ 1, 100, PROFILE_EXCHANGE_ANSWERED, text(m, "server"), 0, 1, 1, 1 },
	};
	struct profile_requests *requests = &m->profile->requests;
	uint32_t id;

	requests->source = PROFILE_WORK_EVENT;
	requests->event = text(m, "uprobe:./server:handle_job");
	requests->one_in = 4;
	for (size_t i = 0; i < sizeof(exchanges) / sizeof(exchanges[0]); i++) {
		must(m, profile_add_exchanges(m->profile, &exchanges[i], &id, &m->err));
		for (int64_t k = 0; i != 2 && k < 3; k++)
			must(m, profile_add_exchange_reading(m->profile,
					&(struct profile_exchange_reading){
						id, (k + 1) * 1000000007, 1000 * (uint64_t)k },
					&m->err));
		must(m, profile_add_latency(
				m->profile, &(struct profile_latency){ id, (uint16_t)(i * 300), 5 }, &m->err));
		must(m, profile_add_latency(m->profile, &(struct profile_latency){ id, 975, 1 }, &m->err));
	}
}

static void add_samples(struct maker *m, const uint32_t *stacks)
{
	struct profile_run runs[] = {
		{ .start_unix_ns = 1700000000000000000, .duration_ns = 5000000000, .exit_status = -1 },
		{ .start_unix_ns = 1700000010000000000,
			.duration_ns = 2000000000,
			.whole_command = true,
			.exit_status = -9,
			.wall_ns = 2100000000,
			.cpu_ns = 1900000000,
			.peak_memory_bytes = 12345678,
			.measured = { 249, 3486, 21875.5, 22001.25, 22010.75, 310.5, 21.0625 } },
	};
	uint32_t ids[2], threads[3];

	must(m, profile_intern(m->profile, "suite::parse", &runs[1].name, &m->err));
	must(m, profile_intern(m->profile, "api-7d4f", &runs[1].instance, &m->err));
	must(m, profile_intern(m->profile, "AMD EPYC 7763", &runs[1].cpu_model, &m->err));
	runs[1].layout = 3;
	must(m, profile_add_run(m->profile, &runs[0], &ids[0], &m->err));
	must(m, profile_add_run(m->profile, &runs[1], &ids[1], &m->err));
	threads[0] = thread(m, ids[0], 100, "server");
	threads[1] = thread(m, ids[0], 101, "worker \"1\"\n");
	threads[2] = thread(m, ids[1], 100, "server");
	for (int i = 0; i < 6; i++)
		sample(m, stacks[i % 3], threads[i % 2], i * 1000000);
	for (int i = 0; i < 3; i++)
		sample(m, stacks[i], threads[2], i * 2000000 + 1000);
}

static void add_sources(struct maker *m)
{
	struct profile_source_file file = {
		.has_md5 = true, .is_md5_of_build = true, .proof = PROFILE_SOURCE_SAME_BYTES, .md5 = "0123456789abcdef"
	};
	uint32_t id;

	must(m, profile_intern(m->profile, "/src/server.c", &file.path, &m->err));
	must(m, profile_add_source_file(m->profile, &file, &id, &m->err));
	must(m, profile_add_source_text(m->profile, id, 18, "int main(void)\n{\n\tinlined();\n}", &m->err));
	must(m, profile_add_source_text(m->profile, id, 4, "\tx \xff++;", &m->err));
	file = (struct profile_source_file){ .is_embedded = true };
	must(m, profile_intern(m->profile, "/src/macros.h", &file.path, &m->err));
	must(m, profile_add_source_file(m->profile, &file, &id, &m->err));
	must(m, profile_add_source_text(m->profile, id, 7, "", &m->err));
}

static void add_code(struct maker *m, uint32_t library, uint32_t program)
{
	const struct profile_code codes[] = {
		{ library, 62, 5, 0x4008, (uint8_t[]){ 0x48, 0, 0x31, 0xc0, 0xc3 } },
		{ program, 62, 1, 0x1200, (uint8_t[]){ 0xc3 } },
		{ program, 62, 3, 0x1100, (uint8_t[]){ 0x90, 0x90, 0xc3 } },
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		must(m, profile_add_code(m->profile, &codes[i], &m->err));
}

struct profile *sample_profile(void)
{
	struct maker m = { 0 };
	uint32_t program, library, kernel, jit, main_function, inlined, outer, called, entry, script;
	uint32_t at[5], macros;

	must(&m, profile_create(&m.profile, &m.err));
	must(&m, profile_add_value_type(m.profile, "cpu", "nanoseconds", &m.err));
	program = mapping(&m, "/srv/server", "00112233445566778899aabbccddeeff00112233", PROFILE_MAPPING_FILE, 0x1000);
	library = mapping(&m, "/usr/lib/libz.so.1.2.13", "ff", PROFILE_MAPPING_FILE, 0x4000);
	kernel = mapping(&m, "[kernel.kallsyms]", "", PROFILE_MAPPING_KERNEL, 0);
	jit = mapping(&m, "[jit]", "", PROFILE_MAPPING_JIT, 0);
	main_function = function(&m, "main", program, PROFILE_ORIGIN_USER);
	inlined = function(&m, "ns::inlined(int)", program, PROFILE_ORIGIN_USER);
	outer = function(&m, "ns::outer()", program, PROFILE_ORIGIN_USER);
	called = function(&m, "deflate", library, PROFILE_ORIGIN_LIBRARY);
	entry = function(&m, "do_syscall_64", kernel, PROFILE_ORIGIN_SYSTEM);
	script = function(&m, "JS:*f a.js:1", jit, PROFILE_ORIGIN_UNKNOWN);
	must(&m, profile_intern(m.profile, "/src/macros.h", &macros, &m.err));
	at[0] = location(&m, program, 0x1100, (struct profile_line[]){ { main_function, 20 } }, 1);
	at[1] = location(&m, program, 0x1200, (struct profile_line[]){ { inlined, 5 }, { outer, 30, macros } }, 2);
	at[2] = location(&m, library, 0x4010, (struct profile_line[]){ { called, 0 } }, 1);
	at[3] = location(&m, kernel, UINT64_MAX - 5, (struct profile_line[]){ { entry, 0 } }, 1);
	at[4] = location(&m, jit, 0x7f0000000000, (struct profile_line[]){ { script, 1 } }, 1);
	set_circumstances(&m);
	add_samples(&m,
		(uint32_t[]){ stack(&m, at, 3), stack(&m, at, 4), stack(&m, (uint32_t[]){ at[0], at[4], at[1] }, 3) });
	add_releases(&m, stack(&m, at, 4), stack(&m, (uint32_t[]){ at[0], at[4], at[3] }, 3));
	add_requests(&m);
	add_sources(&m);
	add_code(&m, library, program);
	must(&m, profile_finish(m.profile, &m.err));
	must(&m, profile_validate(m.profile, &m.err));
	return m.profile;
}

static void assert_text_equal(const struct profile *a, uint32_t left, const struct profile *b, uint32_t right)
{
	assert_string_equal(profile_string(a, left), profile_string(b, right));
}

static void assert_places_equal(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->mapping_count, b->mapping_count);
	for (size_t i = 0; i < a->mapping_count; i++) {
		const struct profile_mapping *x = &a->mappings[i], *y = &b->mappings[i];

		assert_true(x->start == y->start && x->end == y->end && x->file_offset == y->file_offset);
		assert_true(x->kind == y->kind && x->deleted == y->deleted);
		assert_text_equal(a, x->path, b, y->path);
		assert_text_equal(a, x->build_id, b, y->build_id);
		assert_text_equal(a, x->module, b, y->module);
	}
	assert_int_equal(a->function_count, b->function_count);
	for (size_t i = 0; i < a->function_count; i++) {
		const struct profile_function *x = &a->functions[i], *y = &b->functions[i];

		assert_text_equal(a, x->name, b, y->name);
		assert_text_equal(a, x->linkage_name, b, y->linkage_name);
		assert_text_equal(a, x->file, b, y->file);
		assert_text_equal(a, x->module, b, y->module);
		assert_text_equal(a, x->key, b, y->key);
		assert_true(x->start_line == y->start_line && x->fingerprint == y->fingerprint);
		assert_true(
			x->origin == y->origin && x->origin_rule == y->origin_rule && x->name_source == y->name_source);
	}
}

static void assert_stacks_equal(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->location_count, b->location_count);
	for (size_t i = 0; i < a->location_count; i++) {
		const struct profile_location *x = &a->locations[i], *y = &b->locations[i];

		assert_true(x->mapping == y->mapping && x->address == y->address);
		assert_int_equal(x->line_count, y->line_count);
		assert_memory_equal(
			&a->lines[x->first_line], &b->lines[y->first_line], x->line_count * sizeof(*a->lines));
	}
	assert_int_equal(a->stack_count, b->stack_count);
	assert_memory_equal(a->stacks, b->stacks, a->stack_count * sizeof(*a->stacks));
}

/* Samples may stand in another order: a file has them in that of their stacks. */
static const int64_t *values_of(const struct profile *profile, const struct profile_sample *wanted)
{
	for (size_t i = 0; i < profile->sample_count; i++)
		if (memcmp(&profile->samples[i], wanted, sizeof(*wanted)) == 0)
			return &profile->values[i * profile->value_type_count];
	fail_msg("no sample of stack %u in thread %u", wanted->stack, wanted->thread);
	return NULL;
}

static void assert_samples_equal(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->run_count, b->run_count);
	for (size_t i = 0; i < a->run_count; i++) {
		const struct profile_run *x = &a->runs[i], *y = &b->runs[i];

		assert_true(x->start_unix_ns == y->start_unix_ns && x->duration_ns == y->duration_ns);
		assert_true(x->whole_command == y->whole_command && x->exit_status == y->exit_status);
		assert_true(x->wall_ns == y->wall_ns && x->cpu_ns == y->cpu_ns &&
			    x->peak_memory_bytes == y->peak_memory_bytes);
		assert_string_equal(profile_string(a, x->name), profile_string(b, y->name));
		assert_string_equal(profile_string(a, x->instance), profile_string(b, y->instance));
		assert_string_equal(profile_string(a, x->cpu_model), profile_string(b, y->cpu_model));
		assert_int_equal(x->layout, y->layout);
		assert_memory_equal(&x->measured, &y->measured, sizeof(x->measured));
	}
	assert_int_equal(a->thread_count, b->thread_count);
	for (size_t i = 0; i < a->thread_count; i++) {
		const struct profile_thread *x = &a->threads[i], *y = &b->threads[i];

		assert_true(x->run == y->run && x->pid == y->pid && x->tid == y->tid);
		assert_text_equal(a, x->process_name, b, y->process_name);
		assert_text_equal(a, x->name, b, y->name);
		assert_text_equal(a, x->labels, b, y->labels);
	}
	assert_int_equal(a->sample_count, b->sample_count);
	assert_int_equal(a->value_type_count, b->value_type_count);
	for (size_t i = 0; i < a->sample_count; i++)
		assert_memory_equal(values_of(a, &a->samples[i]), values_of(b, &a->samples[i]),
			a->value_type_count * sizeof(*a->values));
	assert_int_equal(a->has_timeline, b->has_timeline);
	assert_int_equal(a->event_count, b->event_count);
	for (size_t i = 0; i < a->event_count; i++) {
		assert_memory_equal(
			&a->samples[a->events[i].sample], &b->samples[b->events[i].sample], sizeof(*a->samples));
		assert_int_equal(a->events[i].time_ns, b->events[i].time_ns);
		assert_int_equal(profile_event_weight(a, i), profile_event_weight(b, i));
	}
}

static void assert_releases_equal(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->lock_count, b->lock_count);
	for (size_t i = 0; i < a->lock_count; i++) {
		assert_text_equal(a, a->locks[i].name, b, b->locks[i].name);
		assert_text_equal(a, a->locks[i].module, b, b->locks[i].module);
		assert_int_equal(a->locks[i].pid, b->locks[i].pid);
	}
	assert_int_equal(a->release_count, b->release_count);
	for (size_t i = 0; i < a->release_count; i++) {
		const struct profile_release *x = &a->releases[i], *y = &b->releases[i];

		assert_true(x->stack == y->stack && x->releaser == y->releaser);
		assert_true(x->lock == y->lock && x->weight_ns == y->weight_ns);
	}
}

static void assert_requests_equal(const struct profile *left, const struct profile *right)
{
	const struct profile_requests *a = &left->requests, *b = &right->requests;

	assert_int_equal(a->source, b->source);
	assert_text_equal(left, a->event, right, b->event);
	assert_int_equal(a->one_in, b->one_in);
	assert_int_equal(a->exchange_count, b->exchange_count);
	for (size_t i = 0; i < a->exchange_count; i++) {
		const struct profile_exchanges *x = &a->exchanges[i], *y = &b->exchanges[i];

		assert_true(x->run == y->run && x->pid == y->pid && x->kind == y->kind);
		assert_text_equal(left, x->process_name, right, y->process_name);
		assert_int_equal(x->count, y->count);
		assert_int_equal(x->connections, y->connections);
		assert_int_equal(x->received_bytes, y->received_bytes);
		assert_int_equal(x->sent_bytes, y->sent_bytes);
	}
	assert_int_equal(a->reading_count, b->reading_count);
	for (size_t i = 0; i < a->reading_count; i++) {
		assert_int_equal(a->readings[i].exchanges, b->readings[i].exchanges);
		assert_int_equal(a->readings[i].time_ns, b->readings[i].time_ns);
		assert_int_equal(a->readings[i].count, b->readings[i].count);
	}
	assert_int_equal(a->latency_count, b->latency_count);
	for (size_t i = 0; i < a->latency_count; i++) {
		assert_int_equal(a->latencies[i].exchanges, b->latencies[i].exchanges);
		assert_int_equal(a->latencies[i].bucket, b->latencies[i].bucket);
		assert_int_equal(a->latencies[i].count, b->latencies[i].count);
	}
}

static void assert_verification_equal(const struct profile *left, const struct profile *right)
{
	const struct profile_verification *a = &left->verification, *b = &right->verification;

	assert_int_equal(a->is_there, b->is_there);
	assert_memory_equal(a->stacks, b->stacks, sizeof(a->stacks));
	assert_int_equal(a->names_equal, b->names_equal);
	assert_int_equal(a->names_other, b->names_other);
	assert_int_equal(a->difference_count, b->difference_count);
	for (uint32_t i = 0; i < a->difference_count; i++)
		assert_string_equal(profile_string(left, a->differences[i]), profile_string(right, b->differences[i]));
}

static void assert_labels_equal(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->label_count, b->label_count);
	for (size_t i = 0; i < a->label_count; i++) {
		assert_string_equal(profile_string(a, a->labels[i].key), profile_string(b, b->labels[i].key));
		assert_string_equal(profile_string(a, a->labels[i].value), profile_string(b, b->labels[i].value));
	}
}

static void assert_facts_equal(const struct profile *a, const struct profile *b)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		uint32_t left = profile_fact_get(&a->facts, &facts[i]), right = profile_fact_get(&b->facts, &facts[i]);

		if (facts[i].type == PROFILE_FACT_STRING)
			assert_text_equal(a, left, b, right);
		else
			assert_int_equal(left, right);
	}
	assert_memory_equal(&a->quality, &b->quality, sizeof(a->quality));
	assert_verification_equal(a, b);
	assert_int_equal(a->period, b->period);
	assert_text_equal(a, a->period_type.type, b, b->period_type.type);
	assert_text_equal(a, a->period_type.unit, b, b->period_type.unit);
	assert_int_equal(a->default_value_type, b->default_value_type);
	for (uint32_t i = 0; i < a->value_type_count; i++) {
		assert_text_equal(a, a->value_types[i].type, b, b->value_types[i].type);
		assert_text_equal(a, a->value_types[i].unit, b, b->value_types[i].unit);
		assert_int_equal(a->counts_of[i], b->counts_of[i]);
	}
}

static void assert_sources_equal(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->source_file_count, b->source_file_count);
	for (size_t i = 0; i < a->source_file_count; i++) {
		const struct profile_source_file *x = &a->source_files[i], *y = &b->source_files[i];

		assert_text_equal(a, x->path, b, y->path);
		assert_memory_equal(x->md5, y->md5, sizeof(x->md5));
		assert_true(x->has_md5 == y->has_md5 && x->is_md5_of_build == y->is_md5_of_build &&
			    x->is_embedded == y->is_embedded && x->is_mixed == y->is_mixed && x->proof == y->proof);
	}
	assert_int_equal(a->source_text_count, b->source_text_count);
	for (size_t i = 0; i < a->source_text_count; i++) {
		assert_int_equal(a->source_texts[i].file, b->source_texts[i].file);
		assert_int_equal(a->source_texts[i].first_line, b->source_texts[i].first_line);
		assert_text_equal(a, a->source_texts[i].text, b, b->source_texts[i].text);
	}
}

static void assert_codes_equal(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->code_count, b->code_count);
	for (size_t i = 0; i < a->code_count; i++) {
		const struct profile_code *x = &a->codes[i], *y = &b->codes[i];

		assert_int_equal(x->mapping, y->mapping);
		assert_int_equal(x->machine, y->machine);
		assert_int_equal(x->address, y->address);
		assert_int_equal(x->size, y->size);
		assert_int_equal(!x->bytes, !y->bytes);
		if (x->bytes)
			assert_memory_equal(x->bytes, y->bytes, x->size);
	}
}

void assert_profiles_equal(const struct profile *left, const struct profile *right)
{
	assert_places_equal(left, right);
	assert_stacks_equal(left, right);
	assert_samples_equal(left, right);
	assert_releases_equal(left, right);
	assert_requests_equal(left, right);
	assert_sources_equal(left, right);
	assert_codes_equal(left, right);
	assert_facts_equal(left, right);
	assert_labels_equal(left, right);
}

struct buffer written_profile(const struct profile *profile)
{
	struct buffer out;
	struct error err;

	buffer_init(&out, 1 << 24);
	if (!profile_write_pprof(profile, &out, &err))
		fail_msg("%s", err.message);
	return out;
}

struct profile *read_profile(const void *bytes, size_t size)
{
	struct profile *profile = NULL;
	struct error err;

	if (!foreign_read(bytes, size, "test", &profile, &err))
		fail_msg("%s", err.message);
	return profile;
}

struct profile *read_data(const char *path)
{
	struct profile *profile;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct error err;

	buffer_init(&file, 1 << 20);
	if (!file_read(path, &file, &err))
		fail_msg("%s", err.message);
	profile = read_profile(file.data, file.size);
	return profile;
}

/* The strings of a file have the ids of the profile. */
static bool is_label(const struct profile *profile, struct byte_reader label, const char *key, const char *value)
{
	enum { KEY = 1, STRING = 2 };
	uint64_t numbers[STRING + 1] = { 0 };
	struct protobuf_field number;

	while (protobuf_next_field(&label, &number))
		if (number.id <= STRING)
			numbers[number.id] = number.number;
	return strcmp(profile_string(profile, (uint32_t)numbers[KEY]), key) == 0 &&
	       strcmp(profile_string(profile, (uint32_t)numbers[STRING]), value) == 0;
}

size_t labelled_samples(const struct profile *profile, const char *key, const char *value)
{
	enum { SAMPLE = 2, LABEL = 3 };
	CLEANUP(buffer_deinit) struct buffer file = written_profile(profile), inflated = { 0 };
	struct protobuf_field sample, label;
	struct byte_reader messages;
	size_t found = 0;
	struct error err;

	buffer_init(&inflated, 1 << 20);
	if (!gzip_decompress(file.data, file.size, &inflated, &err))
		fail_msg("%s", err.message);
	messages = byte_reader_over(inflated.data, inflated.size);
	while (protobuf_next_field(&messages, &sample))
		while (sample.id == SAMPLE && protobuf_next_field(&sample.bytes, &label))
			found += label.id == LABEL && is_label(profile, label.bytes, key, value);
	return found;
}

void expect_refused(const void *bytes, size_t size, enum error_code code, const char *words)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	if (foreign_read(bytes, size, "name.pb.gz", &profile, &err))
		fail_msg("read, where '%s' was expected", words);
	assert_null(profile);
	assert_true(code == ERROR_NONE || err.code == code);
	if (!strstr(err.message, words) || !strstr(err.message, "name.pb.gz") || strchr(err.message, '\n'))
		fail_msg("'%s' does not say '%s'", err.message, words);
}
