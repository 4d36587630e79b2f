/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/origin.h"

#include <stdlib.h>
#include <string.h>

/* Rules of origin, and what they decide. Input: name, module, file, path and kind of what is asked about, each ended by
 * a NUL; then the rules. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *take_string(struct byte_reader *r)
{
	const char *string = byte_reader_string(r, NULL);

	return string ? string : "";
}

static void decide(const struct symbolize_rules *rules, const struct origin_evidence *evidence)
{
	const char *roots[] = { "/src", "" };
	const struct symbolize_options options = {
		.origin_rules = rules, .project_roots = roots, .project_root_count = sizeof(roots) / sizeof(roots[0])
	};
	const struct origin_context context = {
		.options = &options, .main_path = "/usr/bin/main", .compilation_directory = "/src/main", .has_jvm = true
	};
	struct origin_decision decision = origin_decide(&context, evidence);

	if ((unsigned int)decision.origin >= PROFILE_ORIGIN_COUNT)
		abort();
	decision = origin_revise(&context, evidence, decision);
	if (!symbolize_rule_text(decision.rule))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	struct origin_evidence evidence = { .name = take_string(&r),
		.module = take_string(&r),
		.file = take_string(&r),
		.path = take_string(&r),
		.kind = (enum profile_mapping_kind)(take_string(&r)[0] & 3),
		.has_mapping = true };
	struct symbolize_rules *rules;
	struct error err;

	if (byte_reader_ok(&r) && symbolize_rules_parse(SYMBOLIZE_RULES_OF_WAITS, (const char *)r.pos,
					  byte_reader_left(&r), "fuzz", &rules, &err)) {
		uint32_t value = 0;

		(void)rules_match(rules, &evidence, &value);
		if (value > PROFILE_WAIT_NONE || value == PROFILE_WAIT_RUN_QUEUE)
			abort();
		symbolize_rules_destroy(rules);
	}
	if (!byte_reader_ok(&r) || !symbolize_rules_parse(SYMBOLIZE_RULES_OF_ORIGIN, (const char *)r.pos,
					   byte_reader_left(&r), "fuzz", &rules, &err))
		return 0;
	decide(rules, &evidence);
	evidence.has_mapping = false;
	decide(rules, &evidence);
	symbolize_rules_destroy(rules);
	return 0;
}
