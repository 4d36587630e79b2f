/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/perf_data/events.h"
#include "sampler/process/recorded.h"
#include "sampler/records/input.h"
#include "sampler/records/tracepoint.h"

/*
 * Describes a perf.data file from its own data (tools/perf/Documentation/perf.data-file-format.txt of Linux): events,
 * build ids and the machine. A file has them in a header and in feature sections after the data, a pipe in records.
 */

struct perf_data_facts {
	char *kernel, *perf_version, *architecture, *cpu_model, *command, *host; /* owned; NULL: not in the file */
	uint32_t cpu_count;
};

struct perf_data_header {
	struct perf_data_events events;
	struct recorded_files files; /* build ids by path */
	struct perf_data_facts facts;
	struct tracepoint_switch switch_fields; /* of records of sched:sched_switch */
	bool is_pipe;
	bool has_threads_directory; /* perf record --threads: the data are in other files */
	uint64_t data_offset, data_size;
	bool is_unfinished; /* perf was killed: the data end where the file ends */
};

void perf_data_header_init(struct perf_data_header *header, const struct recording_file *from); /* borrowed */
void perf_data_header_deinit(struct perf_data_header *header);

/* Reads everything before the data, and from a file the feature sections. */
COMMON_MUST_CHECK
bool perf_data_header_read(struct perf_data_header *header, struct record_input *input, struct error *err);

/* ---- Features ---- */

/* Definitions of perf's header.h: bits of the features, and the numbers in HEADER_FEATURE. */
enum perf_data_feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_COUNT = 256,
};

/* Reads a feature's section or record; unknown ones are skipped. */
COMMON_MUST_CHECK
bool perf_data_feature_take(struct perf_data_header *header, uint64_t feature, struct byte_reader r, struct error *err);

/* ---- Records of pipe mode: `bytes` is a whole record ---- */

COMMON_MUST_CHECK
bool perf_data_header_take_attr(struct perf_data_header *header, const uint8_t *bytes, size_t size, struct error *err);

/* HEADER_FEATURE */
COMMON_MUST_CHECK
bool perf_data_header_take_feature(
	struct perf_data_header *header, const uint8_t *bytes, size_t size, struct error *err);

/* HEADER_BUILD_ID; the build-id section consists of these records too. */
COMMON_MUST_CHECK
bool perf_data_header_take_build_id(
	struct perf_data_header *header, const uint8_t *bytes, size_t size, struct error *err);

/* EVENT_UPDATE */
void perf_data_header_take_update(struct perf_data_header *header, const uint8_t *bytes, size_t size);
