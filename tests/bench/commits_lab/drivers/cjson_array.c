/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cJSON.h"

int main(void)
{
	for (int i = 0; i < 4; i++) {
		cJSON *array = cJSON_CreateArray();
		char *text;

		for (int j = 0; j < 9000; j++)
			cJSON_AddItemToArray(array, cJSON_CreateNumber(j * 1.5));
		for (int j = 0; j < 6; j++) {
			text = cJSON_PrintUnformatted(array);
			cJSON_Delete(cJSON_Parse(text));
			cJSON_free(text);
		}
		cJSON_Delete(array);
	}
	return 0;
}
