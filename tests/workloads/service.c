/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A service that says what it is by OpenTelemetry's process context (OTEP 4719), as its SDKs do.
 *
 *	workload_service NAME VERSION BEFORE_MS AFTER_MS  works for BEFORE_MS of CPU time, publishes, works for AFTER_MS
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct header {
	char signature[8];
	uint32_t version, message_bytes;
	uint64_t published_ns;
	const char *message;
};

static long clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((noinline)) static void work(long cpu_ms)
{
	static volatile uint64_t seed = 1;
	long end = clock_ms(CLOCK_PROCESS_CPUTIME_ID) + cpu_ms;

	while (clock_ms(CLOCK_PROCESS_CPUTIME_ID) < end)
		seed = BURN(100, seed);
}

/* A KeyValue with a text, as an attribute of a Resource; all sizes are below 128. Returns where the next one begins. */
static char *put_attribute(char *at, const char *key, const char *text)
{
	size_t key_size = strlen(key), text_size = strlen(text);

	return at + sprintf(at, "\x0a%c\x0a%c%s\x12%c\x0a%c%s", (int)(key_size + text_size + 6), (int)key_size, key,
			    (int)(text_size + 2), (int)text_size, text);
}

static void publish(const char *name, const char *version)
{
	static char message[512];
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	char *end = put_attribute(put_attribute(message, "service.name", name), "service.version", version);
	struct header *header = ftruncate(fd, sizeof(*header)) == 0
					? mmap(NULL, sizeof(*header), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0)
					: MAP_FAILED;

	if (header == MAP_FAILED)
		exit(1);
	close(fd);
	end = put_attribute(end, "deployment.environment.name", "test");
	*header = (struct header){ .version = 2,
		.message_bytes = (uint32_t)(end - message),
		.published_ns = (uint64_t)clock_ms(CLOCK_REALTIME) * 1000000,
		.message = message };
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(header->signature, "OTEL_CTX", sizeof(header->signature));
}

int main(int argc, char **argv)
{
	if (argc != 5 || strlen(argv[1]) > 64 || strlen(argv[2]) > 64)
		return 2;
	work(atol(argv[3]));
	publish(argv[1], argv[2]);
	work(atol(argv[4]));
	return 0;
}
