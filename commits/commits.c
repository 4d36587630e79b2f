/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What frees a ranking of commits. */
#include "commits/commits.h"

#include <stdlib.h>

void commits_destroy(struct commits *commits)
{
	if (!commits)
		return;
	for (size_t i = 0; i < commits->suspect_count; i++)
		free(commits->suspects[i].functions);
	free(commits->suspects);
	free(commits->is_executed);
	string_table_destroy(commits->strings);
	free(commits);
}
