/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/reader.h"

/*
 * The description that a process gives of itself by OpenTelemetry's process context (OTEP 4719): a mapping named
 * OTEL_CTX has a header, which leads to a message of attributes. The process may be hostile, and changes its context at
 * any time: every size has a cap, and what was read counts only if the time of publication in the header is the same
 * before and after.
 *
 *	header   8 bytes "OTEL_CTX"; u32 version, 2; u32 bytes of the message; u64 time of publication, 0 while the
 *	         context changes; u64 address of the message
 *	message  protobuf: a Resource (opentelemetry.proto.resource.v1), whose field 1 are attributes, or a
 *	         ProcessContext (opentelemetry.proto.processcontext.v1development), whose field 1 is a Resource
 */

/* The attributes that become labels: service.name, service.version, deployment.environment.name. */
enum { OTEL_CONTEXT_SERVICE, OTEL_CONTEXT_VERSION, OTEL_CONTEXT_ENVIRONMENT, OTEL_CONTEXT_VALUES };

/* The keys of these labels in a profile, by the same numbers. */
extern const char *const otel_context_labels[OTEL_CONTEXT_VALUES];

struct otel_context {
	/* "": the process does not say it, or what it says can be no value of a label (profile_label_check()) */
	char values[OTEL_CONTEXT_VALUES][PROFILE_LABEL_VALUE_BYTES + 1];
};

/* The memory of a process; false if not all bytes can be read. */
struct otel_context_memory {
	bool (*read)(void *context, uint64_t address, void *into, size_t size);
	void *context; /* borrowed */
};

/* Returns whether a mapping of this name may hold the header of a context. */
bool otel_context_is_name(const char *path);

/* Reads the context whose header is at the address. False: there is none, it is not readable, or just changes. */
bool otel_context_at(const struct otel_context_memory *memory, uint64_t address, struct otel_context *context);

/* Reads the context of a running process. False: it has none, it is not readable, or just changes. */
bool otel_context_of(struct process_reader *reader, int32_t pid, struct otel_context *context);
