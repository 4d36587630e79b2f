/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * Messages between processes over a Unix socket that keeps their bounds (SOCK_SEQPACKET), with a descriptor beside the
 * bytes (unix(7), SCM_RIGHTS).
 */

/* Sends a message, and a duplicate of `fd` unless that is -1. False if the other end is closed; no signal is sent. */
COMMON_MUST_CHECK
bool message_send(int socket, const void *bytes, size_t size, int fd);

/*
 * Receives a message of at most `size` bytes; `flags` are those of recv(2). `*fd` is owned by the caller; -1: none
 * came. Returns the number of bytes; 0 if the other end is closed, -1 with errno set.
 */
COMMON_MUST_CHECK
ssize_t message_receive(int socket, void *bytes, size_t size, int flags, int *fd);
