/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report_fixture.h"

#include "tests/unit/support/profile.h"
#include "written_fixture.h"

#include <math.h>
#include <string.h>

static const double ms = 1e6;

struct function_row {
	const char *name, *module;
	enum profile_origin origin;
	enum diff_state self_state, total_state;
	enum diff_tier tier;
	enum diff_code code;
	double self_half, total_half; /* half the width of the interval in ms; 0: no evidence */
};

/* Preorder: depth 1 is below the root. */
struct node_row {
	uint16_t depth;
	uint32_t function;
	double base_ms, head_ms; /* self */
};

static uint32_t intern(struct diff *diff, const char *text)
{
	struct error err;
	uint32_t id;

	must(string_table_add(diff->strings, text, strlen(text), &id, &err), &err);
	return id;
}

static void *allocate(size_t count, size_t size)
{
	void *room = calloc(count + 1, size);

	assert_non_null(room);
	return room;
}

/* ---- The tree and what follows from it ---- */

static void place_nodes(struct diff *diff, const struct node_row *rows, size_t count)
{
	diff->node_count = count + 1;
	diff->nodes = allocate(diff->node_count, sizeof(*diff->nodes));
	diff->nodes[0] =
		(struct diff_node){ .parent = PROFILE_NONE, .function = PROFILE_NONE, .ci_low = NAN, .ci_high = NAN };
	for (int side = 0; side < DIFF_SIDES; side++) {
		diff->node_self[side] = allocate(diff->node_count, sizeof(double));
		diff->node_total[side] = allocate(diff->node_count, sizeof(double));
	}
	for (size_t i = 0; i < count; i++) {
		struct diff_node *node = &diff->nodes[i + 1];
		uint32_t parent = (uint32_t)i;

		while (diff->nodes[parent].depth >= rows[i].depth)
			parent = diff->nodes[parent].parent;
		*node = (struct diff_node){ .parent = parent,
			.function = rows[i].function,
			.depth = rows[i].depth,
			.state = (uint8_t)diff->functions[rows[i].function].total.state,
			.ci_low = NAN,
			.ci_high = NAN };
		diff->node_self[DIFF_BASE][i + 1] = rows[i].base_ms * ms;
		diff->node_self[DIFF_HEAD][i + 1] = rows[i].head_ms * ms;
	}
}

static bool below_itself(const struct diff *diff, uint32_t node)
{
	for (uint32_t at = diff->nodes[node].parent; at != 0 && at != PROFILE_NONE; at = diff->nodes[at].parent) {
		if (diff->nodes[at].function == diff->nodes[node].function)
			return true;
	}
	return false;
}

static void sum_nodes(struct diff *diff)
{
	for (uint32_t i = 0; i < diff->node_count; i++)
		diff->nodes[i].subtree_end = i + 1;
	for (uint32_t i = (uint32_t)diff->node_count; i-- > 0;) {
		struct diff_node *node = &diff->nodes[i];

		for (int side = 0; side < DIFF_SIDES; side++) {
			diff->node_total[side][i] += diff->node_self[side][i];
			if (i == 0)
				continue;
			diff->node_total[side][node->parent] += diff->node_total[side][i];
			diff->functions[node->function].raw_self[side] += diff->node_self[side][i];
			diff->origins[diff->functions[node->function].origin].raw[side] += diff->node_self[side][i];
			if (!below_itself(diff, i))
				diff->functions[node->function].raw_total[side] += diff->node_total[side][i];
		}
		if (i > 0 && diff->nodes[node->parent].subtree_end < node->subtree_end)
			diff->nodes[node->parent].subtree_end = node->subtree_end;
	}
}

static void estimate(struct diff_estimate *e, const double raw[DIFF_SIDES], double factor, double half_ms)
{
	e->base = raw[DIFF_BASE];
	e->head = raw[DIFF_HEAD] * factor;
	e->delta = e->head - e->base;
	e->ci_low = half_ms > 0 ? e->delta - half_ms * ms : NAN;
	e->ci_high = half_ms > 0 ? e->delta + half_ms * ms : NAN;
	e->q = half_ms > 0 ? (fabs(e->delta) > half_ms * ms ? 0.001 : 0.4) : NAN;
	e->detectable = half_ms > 0 ? half_ms * ms * 1.4 : NAN;
}

static void weigh(struct diff *diff, const struct function_row *functions)
{
	double factor = diff->scale.factor;

	sum_nodes(diff);
	for (int side = 0; side < DIFF_SIDES; side++)
		diff->raw_total[side] = diff->node_total[side][0];
	estimate(&diff->total, diff->raw_total, factor, 90);
	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		estimate(&f->self, f->raw_self, factor, functions[i].self_half);
		estimate(&f->total, f->raw_total, factor, functions[i].total_half);
	}
	for (int i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
		struct diff_origin *origin = &diff->origins[i];

		origin->base = origin->raw[DIFF_BASE];
		origin->head = origin->raw[DIFF_HEAD] * factor;
		origin->delta = origin->head - origin->base;
	}
}

static uint32_t intern_shown(struct diff *diff, const struct function_row *row)
{
	CLEANUP(buffer_deinit) struct buffer shown = { 0 };

	buffer_init(&shown, 1 << 16);
	profile_shown_name(row->name, row->module, &shown);
	return intern(diff, shown.data ? shown.data : "");
}

static struct diff *make_diff(
	const struct function_row *functions, size_t function_count, const struct node_row *nodes, size_t node_count)
{
	struct diff *diff = allocate(1, sizeof(*diff));
	struct error err;

	must(string_table_create((size_t)1 << 30, &diff->strings, &err), &err);
	diff->cause.function = PROFILE_NONE;
	diff->named_wait = PROFILE_NONE;
	diff->sides = DIFF_SIDES;
	diff->metric = intern(diff, "cpu");
	diff->metric_words = intern(diff, "CPU time");
	diff->is_time = true;
	diff->is_duration = true;
	diff->unit = intern(diff, "nanoseconds");
	diff->scale =
		(struct diff_scale){ .mode = DIFF_SCALE_PER_RUN, .factor = 1, .factor_low = NAN, .factor_high = NAN };
	diff->functions = allocate(function_count, sizeof(*diff->functions));
	diff->function_count = function_count;
	for (size_t i = 0; i < function_count; i++) {
		const struct function_row *row = &functions[i];

		diff->functions[i] = (struct diff_function){ .name = intern(diff, row->name),
			.module = intern(diff, row->module),
			.file = intern(diff, row->origin == PROFILE_ORIGIN_USER ? "server/shop.cpp" : ""),
			.line = (uint32_t)(10 * i),
			.key = intern(diff, row->name),
			.shown = intern_shown(diff, row),
			.shown_in = intern(diff, row->module),
			.language = profile_language_of(row->name, row->module),
			.origin = row->origin,
			.name_source = PROFILE_NAME_DWARF,
			.tier = row->tier,
			.code = row->code,
			.moved_to = PROFILE_NONE,
			.self.state = row->self_state,
			.total.state = row->total_state };
	}
	place_nodes(diff, nodes, node_count);
	weigh(diff, functions);
	return diff;
}

static void add_change(struct diff *diff, uint32_t function, const uint32_t *chain, size_t count, bool is_self)
{
	struct diff_change *change = &diff->changes[diff->change_count];
	size_t first = diff->change_count > 0 ? change[-1].first + change[-1].count : 0;

	memcpy(diff->change_functions + first, chain, count * sizeof(*chain));
	*change = (struct diff_change){ function, is_self, false, first, count, PROFILE_NONE, .wait_count = 0 };
	diff->change_count++;
}

/* Makes a change of each function that is proven to differ but not in `chain`, and of that one change, if it is longer.
 */
static void add_changes(struct diff *diff, const uint32_t *chain, size_t count)
{
	diff->changes = allocate(diff->function_count + 1, sizeof(*diff->changes));
	diff->change_functions = allocate(diff->function_count + 1, sizeof(*diff->change_functions));
	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		bool is_self = diff_state_is_difference(f->self.state), is_in_chain = false;

		for (size_t k = 0; k < count; k++)
			is_in_chain |= chain[k] == i;
		if ((is_self || diff_state_is_difference(f->total.state)) && !is_in_chain)
			add_change(diff, i, &i, 1, is_self);
	}
	if (count > 0)
		add_change(diff, chain[count - 1], chain, count, false);
}

/* Two workers that answered; the first one called out, too. */
static void add_requests(struct profile *profile)
{
	static const struct profile_exchanges exchanges[] = {
		{ .pid = 812, .count = 4000, .connections = 16, .received_bytes = 400000, .sent_bytes = 8000000 },
		{ .pid = 812, .kind = PROFILE_EXCHANGE_CALLED_OUT, .count = 80, .connections = 2 },
		{ .pid = 813, .count = 36001, .connections = 16 },
	};
	struct error err;
	uint32_t id;

	profile->requests.source = PROFILE_WORK_SOCKETS;
	for (size_t i = 0; i < sizeof(exchanges) / sizeof(exchanges[0]); i++) {
		struct profile_exchanges made = exchanges[i];

		must(profile_intern(profile, "server", &made.process_name, &err), &err);
		must(profile_add_exchanges(profile, &made, &id, &err), &err);
		for (uint16_t k = 0; k < 8; k++)
			must(profile_add_latency(profile,
				     &(struct profile_latency){ id, (uint16_t)(320 + 4 * k), made.count / 8 }, &err),
				&err);
	}
}

static struct profile *make_profile(const char *command)
{
	struct profile_run run = { .duration_ns = 10000000000, .whole_command = true };
	struct profile *profile;
	struct error err;
	uint32_t id;

	must(profile_create(&profile, &err), &err);
	must(profile_add_run(profile, &run, &id, &err), &err);
	must(profile_intern(profile, command, &profile->facts.command, &err), &err);
	must(profile_intern(profile, "cpu-clock", &profile->facts.event, &err), &err);
	must(profile_intern(profile, "dwarf,16384", &profile->facts.call_graph, &err), &err);
	add_requests(profile);
	profile->facts.frequency_hz = 999;
	profile->quality = (struct profile_quality){ .samples = 1203,
		.stops = { [PROFILE_STOP_ROOT] = 1193, [PROFILE_STOP_DUMP_END] = 10 } };
	return profile;
}

/* ---- The kinds ---- */

enum { MAIN, RUN, HANDLE, NORMALIZE, VERIFY, AUDIT, RENDER_PAGE, PRINT_PAGE, DEFLATE, READ, UNNAMED, SHOP_FUNCTIONS };

static const struct function_row shop_functions[SHOP_FUNCTIONS] = {
	[MAIN] = { "main", "server", PROFILE_ORIGIN_USER, DIFF_STATE_SAME, DIFF_STATE_MORE, .total_half = 90 },
	[RUN] = { "shop::Worker::run()", "server", PROFILE_ORIGIN_USER, DIFF_STATE_SAME, DIFF_STATE_MORE,
		.total_half = 90 },
	[HANDLE] = { "shop::Service::handle(shop::Request const&)", "server", PROFILE_ORIGIN_USER, DIFF_STATE_UNPROVEN,
		DIFF_STATE_MORE, .self_half = 60, .total_half = 85 },
	[NORMALIZE] = { "shop::normalize_query(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)",
		"server", PROFILE_ORIGIN_USER, DIFF_STATE_MORE, DIFF_STATE_MORE, .code = DIFF_CODE_CHANGED,
		.self_half = 75, .total_half = 80 },
	[VERIFY] = { "shop::verify_checksum(shop::Request const&)", "server", PROFILE_ORIGIN_USER, DIFF_STATE_GONE,
		DIFF_STATE_GONE, .tier = DIFF_TIER_ONE_SIDED, .self_half = 30, .total_half = 30 },
	[AUDIT] = { "shop::audit_request(shop::Request const&)", "server", PROFILE_ORIGIN_USER, DIFF_STATE_NEW,
		DIFF_STATE_NEW, .tier = DIFF_TIER_ONE_SIDED, .self_half = 25, .total_half = 25 },
	[RENDER_PAGE] = { "shop::render_page", "server", PROFILE_ORIGIN_USER, DIFF_STATE_MOVED, DIFF_STATE_MOVED,
		.tier = DIFF_TIER_PLACE, .self_half = 40, .total_half = 40 },
	[PRINT_PAGE] = { "shop::print_page", "server", PROFILE_ORIGIN_USER, DIFF_STATE_MOVED, DIFF_STATE_MOVED,
		.tier = DIFF_TIER_PLACE },
	[DEFLATE] = { "deflate", "libz.so", PROFILE_ORIGIN_LIBRARY, DIFF_STATE_LESS, DIFF_STATE_LESS,
		.code = DIFF_CODE_SAME, .self_half = 20, .total_half = 20 },
	[READ] = { "__x64_sys_read", "[kernel.kallsyms]", PROFILE_ORIGIN_SYSTEM, DIFF_STATE_SAME, DIFF_STATE_SAME,
		.self_half = 12, .total_half = 12 },
	[UNNAMED] = { "server+0x12ab", "server", PROFILE_ORIGIN_UNKNOWN },
};

static const struct node_row shop_nodes[] = {
	{ 1, MAIN, 0, 0 },
	{ 2, RUN, 40, 42 },
	{ 3, HANDLE, 300, 335 },
	{ 4, NORMALIZE, 410, 1630 },
	{ 4, VERIFY, 520, 0 },
	{ 4, AUDIT, 0, 365 },
	{ 4, RENDER_PAGE, 900, 880 },
	{ 5, DEFLATE, 1950, 1890 },
	{ 3, READ, 690, 694 },
	{ 2, UNNAMED, 12.5, 0 },
};

static void set_requests(struct diff *diff)
{
	const struct diff_requests requests = { .source = PROFILE_WORK_SOCKETS,
		.count = 40001,
		.per_s = 4000.1,
		.p50_ns = 17e6,
		.p90_ns = 30.5e6,
		.p99_ns = 41e6,
		.calls_out = 80,
		.calls_out_per_s = 8,
		.calls_out_p50_ns = 210e3,
		.calls_out_p99_ns = 1.9e6,
		.one_in = 1 };

	diff->requests[DIFF_BASE] = diff->requests[DIFF_HEAD] = requests;
	diff->requests[DIFF_HEAD].per_s = 3990;
	diff->requests[DIFF_HEAD].p50_ns = 103e6;
	diff->requests[DIFF_HEAD].p90_ns = 180e6;
	diff->requests[DIFF_HEAD].p99_ns = 290e6;
	diff->latency.is_known = true;
	diff->latency.state = DIFF_STATE_MORE;
}

static struct diff *make_shop(void)
{
	struct diff *diff =
		make_diff(shop_functions, SHOP_FUNCTIONS, shop_nodes, sizeof(shop_nodes) / sizeof(shop_nodes[0]));

	set_requests(diff);
	add_changes(diff, (const uint32_t[]){ MAIN, RUN, HANDLE }, 3);
	diff->cause = (struct diff_cause){ .function = NORMALIZE,
		.is_self = true,
		.share = 0.77,
		.callers = { RUN, HANDLE },
		.caller_count = 2,
		.leaf = PROFILE_NONE };
	diff->total.state = DIFF_STATE_MORE;
	diff->functions[RENDER_PAGE].moved_to = PRINT_PAGE;
	diff->functions[PRINT_PAGE].moved_to = RENDER_PAGE;
	diff->evidence = (struct diff_evidence){
		.mode = DIFF_EVIDENCE_RUNS,
		.runs = { 12, 12 },
		.q = 0.05,
	};
	diff->verdict = DIFF_REGRESSED;
	diff->verdict_text = intern(diff,
		"`shop::Worker::run()` → `shop::Service::handle(…)` → `shop::normalize_query(…)` takes 3.98 times as much: +102 ms per run, 77 % of the increase; the program takes 21.0 % more CPU time per run (95 % interval 19.1 to 22.8 %)");
	diff->warnings = allocate(1, sizeof(*diff->warnings));
	diff->warning_count = 1;
	diff->warnings[0] =
		(struct diff_warning){ .text = intern(diff, "head lost 3.1 % of its samples"), .blocks_gate = true };
	return diff;
}

static struct diff *make_single(void)
{
	struct diff *diff = make_shop();

	diff->sides = 1;
	diff->warning_count = 0;
	memset(diff->node_self[DIFF_BASE], 0, diff->node_count * sizeof(double));
	memset(diff->node_total[DIFF_BASE], 0, diff->node_count * sizeof(double));
	return diff;
}

static struct diff *make_hostile(void)
{
	static const struct function_row functions[] = {
		{ "</title><script>alert(1)</script>&<!--", "]]>.so", PROFILE_ORIGIN_USER, DIFF_STATE_MORE,
			DIFF_STATE_MORE, .self_half = 10, .total_half = 10 },
		{ "\033[2J\033]0;owned\007\r\n\tname\x01", "a|b`c``d", PROFILE_ORIGIN_LIBRARY, DIFF_STATE_NEW,
			DIFF_STATE_NEW },
		{ "\xff\xfe\xc0\x80\xed\xa0\x80 broken \xe2\x82", "\xf0\x9f\x92\xa9.so", PROFILE_ORIGIN_SYSTEM,
			DIFF_STATE_LESS, DIFF_STATE_LESS },
		{ "\xe2\x80\xaegnp.exe", "@everyone #1 https://example.org", PROFILE_ORIGIN_UNKNOWN, DIFF_STATE_GONE,
			DIFF_STATE_GONE },
		{ "漢字関数名前漢字関数名前漢字関数名前漢字関数名前", "e\xcc\x81", PROFILE_ORIGIN_USER,
			DIFF_STATE_UNPROVEN, DIFF_STATE_UNPROVEN },
		{ "", "", PROFILE_ORIGIN_UNKNOWN, DIFF_STATE_SAME, DIFF_STATE_SAME },
	};
	static const struct node_row nodes[] = {
		{ 1, 0, 10, 50 },
		{ 2, 1, 0, 20 },
		{ 3, 2, 40, 10 },
		{ 2, 3, 15, 0 },
		{ 1, 4, 10, 12 },
		{ 1, 5, 1, 1 },
	};
	struct diff *diff = make_diff(functions, 6, nodes, 6);

	add_changes(diff, (const uint32_t[]){ 0, 1 }, 2);
	for (int side = 0; side < DIFF_SIDES; side++)
		diff->requests[side] = (struct diff_requests){ .source = PROFILE_WORK_EVENT,
			.count = 5,
			.event = intern(diff, "uprobe:<b>`\033[2J|\xff"),
			.p50_ns = NAN,
			.per_s = INFINITY };
	diff->requests_doubt = intern(diff, "<i>\033[1mdoubt");
	diff->functions[1].self.delta = NAN;
	diff->functions[2].total.q = NAN;
	diff->functions[3].self.ci_low = -INFINITY;
	diff->scale.factor = NAN;
	diff->scale_text = intern(diff, "\033[31mred `code` <b>");
	diff->verdict_text = intern(diff, "head | takes <b>more</b> `time`\n## heading");
	diff->verdict = DIFF_INCONCLUSIVE;
	return diff;
}

static struct diff *make_equal(void)
{
	static const struct function_row functions[] = { { "main", "prog", PROFILE_ORIGIN_USER, DIFF_STATE_SAME,
		DIFF_STATE_SAME } };
	static const struct node_row nodes[] = { { 1, 0, 5000, 5000 } };
	struct diff *diff = make_diff(functions, 1, nodes, 1);

	diff->scale =
		(struct diff_scale){ .mode = DIFF_SCALE_ROBUST, .factor = 1, .factor_low = 0.9, .factor_high = 1.1 };
	diff->evidence = (struct diff_evidence){ .mode = DIFF_EVIDENCE_SINGLE, .q = 0.05 };
	diff->verdict_text = intern(diff, "base and head are equal");
	return diff;
}

static void make_estimate_exact(struct diff_estimate *e)
{
	e->ci_low = e->ci_high = e->q = NAN;
	e->detectable = ms / 2;
}

static struct diff *make_exact(void)
{
	struct diff *diff = make_shop();

	diff->metric = diff->metric_words = intern(diff, "instructions");
	diff->is_time = false;
	diff->unit = intern(diff, "count");
	diff->is_duration = false;
	diff->is_counted = diff->is_exact = true;
	diff->evidence = (struct diff_evidence){ .mode = DIFF_EVIDENCE_EXACT, .runs = { 3, 3 }, .q = 0.05 };
	make_estimate_exact(&diff->total);
	for (size_t i = 0; i < diff->function_count; i++) {
		make_estimate_exact(&diff->functions[i].self);
		make_estimate_exact(&diff->functions[i].total);
	}
	diff->functions[0].code = DIFF_CODE_SAME;
	diff->warning_count = 0;
	diff->verdict_text = intern(diff, "head executes 21.0 % more instructions (exact)");
	return diff;
}

static struct diff *make_kind(enum fixture_kind kind)
{
	switch (kind) {
	case FIXTURE_SHOP:
		return make_shop();
	case FIXTURE_SINGLE:
		return make_single();
	case FIXTURE_HOSTILE:
		return make_hostile();
	case FIXTURE_EMPTY:
		return make_diff(NULL, 0, NULL, 0);
	case FIXTURE_EQUAL:
		return make_equal();
	case FIXTURE_EXACT:
		return make_exact();
	}
	return NULL;
}

static struct fixture wrap(struct diff *diff)
{
	struct fixture fixture = { .diff = diff };

	fixture.profiles[DIFF_HEAD] = make_profile("./workload_server_v2 --seconds 10");
	if (diff->sides == DIFF_SIDES)
		fixture.profiles[DIFF_BASE] = make_profile("./workload_server_v1 --seconds 10");
	fixture.input = (struct render_input){ .diff = diff,
		.profiles = { fixture.profiles[0], fixture.profiles[1] },
		.names = { "before.pb.gz", "after.pb.gz" },
		.tool = "kelvin 0.1.0" };
	return fixture;
}

struct fixture fixture_create(enum fixture_kind kind)
{
	return wrap(make_kind(kind));
}

struct fixture fixture_create_large(size_t count)
{
	struct function_row *functions = allocate(count, sizeof(*functions));
	struct node_row *nodes = allocate(count, sizeof(*nodes));
	struct fixture fixture;

	for (size_t i = 0; i < count; i++) {
		functions[i] = (struct function_row){
			"a::very<long, templated, name|with`marks>::that(is, the, same, every, time)", "server",
			PROFILE_ORIGIN_USER, DIFF_STATE_MORE, DIFF_STATE_MORE, .self_half = 1, .total_half = 1
		};
		nodes[i] = (struct node_row){ (uint16_t)(i % 20 + 1), (uint32_t)i, 1, 10 + (double)(i % 7) };
	}
	fixture = wrap(make_diff(functions, count, nodes, count));
	free(functions);
	free(nodes);
	return fixture;
}

void fixture_destroy(struct fixture *fixture)
{
	diff_destroy(fixture->diff);
	profile_destroy(fixture->profiles[DIFF_BASE]);
	profile_destroy(fixture->profiles[DIFF_HEAD]);
}

/* ---- Writing ---- */

char *fixture_text(const struct fixture *fixture, unsigned int width, bool colour)
{
	struct render_text_options options = { .width = width, .is_whole = width == 0, .colour = colour };
	struct buffer out;
	struct error err;

	buffer_init(&out, (size_t)64 << 20);
	return written(&out, render_text(&fixture->input, &options, &out, &err), &err);
}

char *fixture_json(const struct fixture *fixture)
{
	struct buffer out;
	struct error err;

	buffer_init(&out, (size_t)256 << 20);
	return written(&out, render_json(&fixture->input, &out, &err), &err);
}

char *fixture_markdown(const struct fixture *fixture)
{
	struct buffer out;
	struct error err;

	buffer_init(&out, (size_t)64 << 20);
	return written(&out, render_markdown(&fixture->input, &out, &err), &err);
}

char *fixture_svg(const struct fixture *fixture, unsigned int width)
{
	struct render_svg_options options = { .width = width };
	struct buffer out;
	struct error err;

	buffer_init(&out, (size_t)64 << 20);
	return written(&out, render_svg(&fixture->input, &options, &out, &err), &err);
}
