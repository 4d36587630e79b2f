/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A service of GNU libmicrohttpd: microhttpd PORT. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 400, TEXT = 16384 };

static char words[WORDS][24];
static char text[TEXT];

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

__attribute__((noinline)) static unsigned sort_words(void)
{
	char copy[WORDS][24];

	memcpy(copy, words, sizeof(copy));
	qsort(copy, WORDS, sizeof(copy[0]), by_text);
	return (unsigned)copy[7][5];
}

__attribute__((noinline)) static uint32_t checksum(const char *at, size_t size)
{
	uint32_t sum = 1, other = 0;

	for (size_t i = 0; i < size; i++) {
		sum = (sum + (unsigned char)at[i]) % 65521;
		other = (other + sum) % 65521;
	}
	return other << 16 | sum;
}

__attribute__((noinline)) static unsigned count_matches(const char *part)
{
	unsigned count = 0;

	for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
		count++;
	return count;
}

__attribute__((noinline)) static size_t format_list(char *out, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < 100; i++)
		used += (size_t)snprintf(out + used, size - used, "%d;%s;%.2f\n", i, words[i], i * 1.25);
	return used;
}

static enum MHD_Result answer(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
	const char *version, const char *data, size_t *size, void **state)
{
	static const char path[] = "/list";
	char body[8192];
	size_t length;
	struct MHD_Response *response;
	enum MHD_Result result;

	(void)closure, (void)method, (void)version, (void)data, (void)size, (void)state;
	if (strcmp(url, path) == 0)
		length = format_list(body, sizeof(body));
	else if (strcmp(url, "/sorted") == 0)
		length = (size_t)snprintf(body, sizeof(body), "%u", sort_words());
	else if (strcmp(url, "/sum") == 0)
		length = (size_t)snprintf(body, sizeof(body), "%u", checksum(text, sizeof(text)));
	else
		length = (size_t)snprintf(body, sizeof(body), "%u", count_matches("word2"));
	response = MHD_create_response_from_buffer(length, body, MHD_RESPMEM_MUST_COPY);
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

int main(int argc, char **argv)
{
	size_t used = 0;

	for (int i = 0; i < WORDS; i++)
		snprintf(words[i], sizeof(words[i]), "word%d of list", i * 7919 % 1013);
	while (used < sizeof(text) - 32)
		used += (size_t)snprintf(text + used, 32, "word%zu of text; ", used * 31 % 997);
	if (argc < 2 || !MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TCP_FASTOPEN, (uint16_t)atoi(argv[1]),
				NULL, NULL, answer, NULL, MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_END))
		return 1;
	for (;;)
		pause();
}
