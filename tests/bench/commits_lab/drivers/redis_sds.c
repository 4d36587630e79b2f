/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sds.h"

int main(void)
{
	size_t all = 0;

	for (int i = 0; i < 60000; i++) {
		sds text = sdscatprintf(
			    sdsempty(), "a value of some length, which is quoted for logs: %d %s", i, "\"x\" \n"),
		    quoted;
		int count;
		sds *words = sdssplitlen(text, sdslen(text), " ", 1, &count);

		quoted = sdscatrepr(sdsempty(), text, sdslen(text));
		all += sdslen(quoted) + (size_t)count;
		sdsfreesplitres(words, count);
		sdsfree(quoted);
		sdsfree(text);
	}
	return all == 0;
}
