/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a server answers to the queries of ClickHouse, and of Coroot's tables there: the first byte chooses what is
 * fetched, then each answer stands behind its size as two bytes. What comes of it is read as its reader would.
 */
#include "profile/store/clickhouse/instances.h"
#include "profile/store/courier.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
bool __wrap_http_send(struct http *http, const struct http_request *request, const struct http_patience *patience,
	struct http_answer *answer, bool *was_done, struct error *err);

bool __wrap_http_check(const struct http *http, const struct http_answer *answer, const char *what, struct error *err);
void __wrap_http_append_words(const struct http *http, struct buffer *out, const char *bytes, size_t size);

/* There is no client: what it would do is done here. */
bool __wrap_http_check(const struct http *http, const struct http_answer *answer, const char *what, struct error *err)
{
	(void)http;
	(void)answer;
	(void)what;
	(void)err;
	return true;
}

void __wrap_http_append_words(const struct http *http, struct buffer *out, const char *bytes, size_t size)
{
	(void)http;
	buffer_append(out, bytes, size);
}

/* The answers to come: http_send() has no other context here. */
static struct byte_reader answers;

bool __wrap_http_send(struct http *http, const struct http_request *request, const struct http_patience *patience,
	struct http_answer *answer, bool *was_done, struct error *err)
{
	uint16_t size = byte_reader_u16(&answers);
	struct byte_reader body =
		byte_reader_split(&answers, size < byte_reader_left(&answers) ? size : byte_reader_left(&answers));

	(void)http;
	(void)request;
	(void)patience;
	*was_done = false;
	*answer = (struct http_answer){ .status = 200, .fd = -1 };
	buffer_init(&answer->body, 1 << 20);
	buffer_append(&answer->body, body.start, (size_t)(body.end - body.start));
	return buffer_ok(&answer->body, err);
}

static void must(bool ok)
{
	if (!ok)
		abort();
}

static char *read_file(int fd, size_t *size)
{
	struct stat status;
	char *bytes;

	must(fstat(fd, &status) == 0);
	*size = (size_t)status.st_size;
	bytes = malloc(*size + 1);
	must(bytes && pread(fd, bytes, *size, 0) == status.st_size);
	return bytes;
}

/* A profile that was made here is one; a file that was handed through may be anything. */
static void check_profiles(const struct store_profiles *profiles, bool is_made)
{
	for (size_t i = 0; i < profiles->count; i++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		CLEANUP(buffer_deinit) struct buffer file = { 0 };
		size_t size;
		char *bytes = read_file(profiles->items[i].fd, &size);
		struct error err;

		buffer_init(&file, 1 << 26);
		must(!is_made || (gzip_decompress(bytes, size, &file, &err) &&
					 profile_read_pprof(file.data, file.size, 1 << 20, &profile, &err)));
		free(bytes);
	}
}

static void check_summaries(int fd)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = NULL;
	struct error err;
	size_t size, at = 0;
	char *bytes = read_file(fd, &size);

	must(summary_set_create(&set, &err));
	while (at < size) {
		uint64_t bytes_of_one;

		memcpy(&bytes_of_one, bytes + at, sizeof(bytes_of_one));
		must(summary_read(set, bytes + at + sizeof(bytes_of_one), bytes_of_one, &err));
		at += sizeof(bytes_of_one) + bytes_of_one;
	}
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store_address address = { .kind = STORE_CLICKHOUSE,
		.path = (char[]){ "kelvin" },
		.text = (char[]){ "clickhouse+http://db/kelvin" },
		.filters = { { (char[]){ "service" }, (char[]){ "api" } } },
		.filter_count = 1 };
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };
	struct courier courier = { .address = &address, .notices = &notices };
	struct store_profiles profiles = { 0 };
	static const uint64_t ids[1][2];
	struct error err;
	uint8_t which = size > 0 ? data[0] % 5 : 0;
	int fd = -1;

	buffer_init(&notices, 1 << 20);
	answers = byte_reader_over(data + (size > 0), size - (size > 0));
	if (which == 0 && store_clickhouse.fetch(&courier, &address, &profiles, &err))
		check_profiles(&profiles, false);
	if (which == 1 && store_clickhouse.fetch_ids(&courier, &address, ids, 1, &profiles, &err))
		check_profiles(&profiles, false);
	if (which == 2 && store_coroot.fetch(&courier, &address, &profiles, &err))
		check_profiles(&profiles, true);
	if (which == 4 && clickhouse_fetch_instances(&courier, &address, &profiles, &err))
		check_profiles(&profiles, true);
	if (which == 3) {
		must(courier_file(&fd, &err));
		if (store_clickhouse.fetch_summaries(&courier, &address, fd, &err))
			check_summaries(fd);
		close(fd);
	}
	store_profiles_deinit(&profiles);
	return 0;
}
