/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/repository/repository.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* Whatever is read is whole: files, hunks and texts of each commit are there, and hunks are in order. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(repository_history_cleanup) struct repository_history *history = NULL;
	struct error err;

	if (!repository_parse_log(data, size, &history, &err))
		return 0;
	for (size_t i = 0; i < history->commit_count; i++) {
		const struct repository_commit *commit = &history->commits[i];

		must(commit->first_hunk + commit->hunk_count <= history->hunk_count);
		must(commit->first_file + commit->file_count <= history->file_count);
		for (size_t j = commit->first_hunk; j < commit->first_hunk + commit->hunk_count; j++) {
			const struct repository_hunk *hunk = &history->hunks[j];

			must(hunk->file >= commit->first_file && hunk->file < commit->first_file + commit->file_count);
			must(hunk->old_text + hunk->old_count <= history->text_count);
			must(hunk->new_text + hunk->new_count <= history->text_count);
			must(j == commit->first_hunk || hunk[-1].file < hunk->file ||
				hunk[-1].new_line + hunk[-1].new_count <= hunk->new_line);
		}
	}
	return 0;
}
