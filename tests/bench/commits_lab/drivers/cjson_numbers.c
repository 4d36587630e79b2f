/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cJSON.h"

int main(void)
{
	cJSON *array = cJSON_CreateArray();

	for (int j = 0; j < 9000; j++) {
		cJSON_AddItemToArray(array, cJSON_CreateNumber(j * 1.37));
		cJSON_AddItemToArray(array, cJSON_CreateString("a string"));
	}
	for (int j = 0; j < 15; j++) {
		char *text = cJSON_PrintUnformatted(array);

		cJSON_Delete(cJSON_Parse(text));
		cJSON_free(text);
	}
	cJSON_Delete(array);
	return 0;
}
