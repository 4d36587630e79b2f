/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Messages of protocol buffers by hand, as other tools may write them. Fields are appended to a buffer. */

void protobuf_varint(struct buffer *out, unsigned int field, uint64_t value);
void protobuf_bytes(struct buffer *out, unsigned int field, const void *bytes, size_t size);
void protobuf_string(struct buffer *out, unsigned int field, const char *string);

/* Appends `message` as a field, and empties it for the next one. */
void protobuf_message(struct buffer *out, unsigned int field, struct buffer *message);
