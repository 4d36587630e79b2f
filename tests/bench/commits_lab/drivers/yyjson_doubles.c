/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "yyjson.h"

#include <stdlib.h>

int main(void)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *array = yyjson_mut_arr(doc);
	unsigned long state = 1;

	yyjson_mut_doc_set_root(doc, array);
	for (int i = 0; i < 100000; i++) {
		state = state * 6364136223846793005UL + 1442695040888963407UL;
		yyjson_mut_arr_add_real(doc, array, (double)(state >> 12) / 1234567.0);
		yyjson_mut_arr_add_str(doc, array, "a string of some length");
	}
	for (int i = 0; i < 40; i++) {
		size_t size;
		char *text = yyjson_mut_write(doc, 0, &size);

		if (i % 4 == 0)
			yyjson_doc_free(yyjson_read(text, size, 0));
		free(text);
	}
	yyjson_mut_doc_free(doc);
	return 0;
}
