/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commits that a range has, as git wrote them. */
#include "repository/repository.h"

#include <stdlib.h>

void repository_history_destroy(struct repository_history *history)
{
	if (!history)
		return;
	free(history->commits);
	free(history->hunks);
	free(history->files);
	string_table_destroy(history->strings);
	free(history);
}
