/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Releases a local variable at the end of its scope: `CLEANUP(cleanup_free) char *path = NULL;`. Modules define more of
 * these functions beside their destructors.
 */
#define CLEANUP(function) __attribute__((cleanup(function)))

/* Gives an owned local variable to another owner: the cleanup function finds NULL. */
#define TAKE(pointer)                                                                                                  \
	({                                                                                                             \
		__typeof__(pointer) taken_ = (pointer);                                                                \
		(pointer) = NULL;                                                                                      \
		taken_;                                                                                                \
	})

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}
