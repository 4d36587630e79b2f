/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/clickhouse/tables.h"

/*
 * The number of inserts that a table without replicas remembers, so that one that is repeated is none; those with
 * replicas do.
 */
#define WINDOW "SETTINGS non_replicated_deduplication_window = 1000"

const struct clickhouse_table_row clickhouse_tables[CLICKHOUSE_TABLE_COUNT] = {
	[CLICKHOUSE_NAMES] = {
		.name = "kelvin_names",
		.create = "CREATE TABLE IF NOT EXISTS kelvin_names ("
			  "function UInt64, key String, name String, shown String, shown_in String, "
			  "module LowCardinality(String), file String, origin LowCardinality(String), "
			  "language LowCardinality(String), interrupt Bool, seen Date DEFAULT today()) "
			  "ENGINE = ReplacingMergeTree(seen) ORDER BY function " WINDOW,
		.columns = "function, key, name, shown, shown_in, module, file, origin, language, interrupt",
	},
	[CLICKHOUSE_FRAMES] = {
		.name = "kelvin_frames",
		.create = "CREATE TABLE IF NOT EXISTS kelvin_frames ("
			  "frame UInt64, mapping_kind UInt8, path LowCardinality(String), "
			  "build_id LowCardinality(String), lines Array(Tuple(function String, linkage_name String, "
			  "file String, start_line UInt32, module String, fingerprint UInt64, "
			  "origin String, origin_rule UInt16, name_source String, line UInt32, line_file String)), "
			  "seen Date DEFAULT today()) "
			  "ENGINE = ReplacingMergeTree(seen) ORDER BY frame " WINDOW,
		.columns = "frame, mapping_kind, path, build_id, lines",
	},
	[CLICKHOUSE_STACKS] = {
		.name = "kelvin_stacks",
		.create = "CREATE TABLE IF NOT EXISTS kelvin_stacks ("
			  "stack UInt64, frames Array(UInt64) CODEC(ZSTD(1)), seen Date DEFAULT today()) "
			  "ENGINE = ReplacingMergeTree(seen) ORDER BY stack " WINDOW,
		.columns = "stack, frames",
	},
	[CLICKHOUSE_FUNCTIONS] = {
		.name = "kelvin_functions",
		.create = "CREATE TABLE IF NOT EXISTS kelvin_functions ("
			  "push UInt64, service LowCardinality(String), metric LowCardinality(String), "
			  "start DateTime('UTC') CODEC(Delta, ZSTD(1)), level UInt8, "
			  "lot UInt8 DEFAULT toUInt8(push % 16), kind UInt64 CODEC(ZSTD(1)), reference Float64 CODEC(ZSTD(1)), function UInt64, "
			  "fingerprint UInt64, self Float64 CODEC(ZSTD(1)), total Float64 CODEC(ZSTD(1)), "
			  "self_error Float32 CODEC(ZSTD(1)), total_error Float32 CODEC(ZSTD(1))) "
			  "ENGINE = MergeTree PARTITION BY toYYYYMM(start) "
			  "ORDER BY (service, metric, lot, level, start, push) " WINDOW,
		.columns = "service, metric, start, level, kind, reference, function, fingerprint, self, total, "
			   "self_error, total_error",
		.has_push = true,
	},
	[CLICKHOUSE_SAMPLES] = {
		.name = "kelvin_samples",
		.create = "CREATE TABLE IF NOT EXISTS kelvin_samples ("
			  "push UInt64, service LowCardinality(String), start DateTime('UTC') CODEC(Delta, ZSTD(1)), "
			  "stack UInt64, values Array(Int64) CODEC(ZSTD(1))) "
			  "ENGINE = MergeTree PARTITION BY toYYYYMM(start) "
			  "ORDER BY (service, start, push, stack) " WINDOW,
		.columns = "service, start, stack, values",
		.has_push = true,
	},
	[CLICKHOUSE_FILES] = {
		.name = "kelvin_files",
		.create = "CREATE TABLE IF NOT EXISTS kelvin_files ("
			  "push UInt64, service LowCardinality(String), start DateTime('UTC'), "
			  "profile String CODEC(NONE)) "
			  "ENGINE = MergeTree PARTITION BY toYYYYMM(start) ORDER BY (service, start, push) " WINDOW,
		.columns = "service, start, profile",
		.has_push = true,
	},
	[CLICKHOUSE_PROFILES] = {
		.name = "kelvin_profiles",
		.create = "CREATE TABLE IF NOT EXISTS kelvin_profiles ("
			  "push UInt64, schema UInt16, id UUID, name String, service LowCardinality(String), "
			  "version String, host String, instance String, command String, "
			  "labels Map(LowCardinality(String), String), facts Map(LowCardinality(String), String), "
			  "start DateTime64(9, 'UTC'), duration_ns Int64, is_time_of_file Bool, runs UInt32, "
			  "whole_commands Bool, work LowCardinality(String), work_event String, requests Float64, "
			  "lost Float64, kind UInt64, "
			  "value_types Array(Tuple(type String, unit String, counts UInt8, is_default Bool)), "
			  "period_type Tuple(type String, unit String), period Int64, "
			  "metrics Array(Tuple(name String, unit String, words String, is_time Bool, is_duration Bool, "
			  "is_counted Bool, is_exact Bool, total Float64, total_error Float64, interrupts Float64, "
			  "samples UInt64)), "
			  "binaries Array(Tuple(module String, path String, build_id String, is_program Bool)), "
			  "pushed DateTime DEFAULT now()) "
			  "ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(start) ORDER BY (service, start, id) " WINDOW,
		.columns = "schema, id, name, service, version, host, instance, command, labels, facts, start, "
			   "duration_ns, is_time_of_file, runs, whole_commands, work, work_event, requests, lost, kind, "
			   "value_types, period_type, period, metrics, binaries",
		.has_push = true,
	},
};
