/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/*
 * OTLP profiles (opentelemetry-proto, package profiles.v1development, of its versions 1.10 and 1.11): a ProfilesData or
 * an ExportProfilesServiceRequest, as protobuf or as JSON.
 *
 *	otlp.proto	the messages that are read and written
 *	from_json.c	JSON to protobuf
 *	convert.h	what is known of a file while pprof is made of it
 *	dictionary.c	what all samples share, and the tables of pprof that are made of it
 *	attributes.c	what names of attributes mean
 *	samples.c	samples, of whole resources and profiles
 *	read.c		all of it
 *	write.c		a profile to protobuf (foreign_write_otlp() of profile/foreign/foreign.h)
 *
 * A file becomes pprof in memory, which profile/ reads: what values, periods and names mean is decided there alone.
 */

/* Returns whether bytes are OTLP, and not pprof, which begins with a field of the same number. */
bool otlp_is(const void *bytes, size_t size);

/* Returns whether a text is OTLP in JSON, by its first key. */
bool otlp_is_json(const char *text, size_t size);

/* Appends the message of a JSON text as protobuf. ERROR_UNSUPPORTED: another one follows. */
COMMON_MUST_CHECK
bool otlp_from_json(const void *text, size_t size, struct buffer *out, struct error *err);

/*
 * Reads a file of either kind. Profiles of several sample types become value types. Samples have the process and thread
 * of their attributes, and of their resource's; service.name, service.version and others become labels, if all
 * resources agree. Everything is checked: ERROR_FORMAT, ERROR_LIMIT as of profile_read_pprof(). ERROR_UNSUPPORTED: an
 * older version, or several messages in one text.
 */
COMMON_MUST_CHECK
bool otlp_read(
	const void *bytes, size_t size, bool is_json, size_t most_stacks, struct profile **profile, struct error *err);
