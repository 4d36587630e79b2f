/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sends the pieces of a profile.
 *
 * Pyroscope stores whatever it is sent, under an id that it draws itself, whatever id was given
 * (docs/decisions/100-pyroscope.md). So a piece has a place in time of its own, within its recording, which follows
 * from what it is; and the store is asked for the sum of what it has there before the piece is sent, and again before
 * it is sent a second time. A place is a millisecond with an even number: the store is asked for that and the next one,
 * in which no other piece is.
 */
#include "profile/pprof_message.h"
#include "profile/store/pyroscope/parcel.h"
#include "profile/store/pyroscope/pyroscope.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
	MOST_ANSWER_BYTES = 4 << 20,
	MOST_DESCRIPTION_BYTES = 1 << 24,
	PLACE_MS = 2,
	LEAST_PLACES = 1 << 9, /* about a second */
	MOST_PLACES = 1 << 15,
	MOST_PROBES = 64, /* places that others may have before it is given up */
	UUID_BYTES = 37,
};

struct described {
	struct pyroscope_head head;
	struct byte_reader labels, selector, rows;
};

struct pyroscope_send_piece {
	struct courier *courier;
	const struct described *described;
	uint64_t offset, size; /* in part 0 */
	int64_t total;
	struct byte_reader type;
	char id[UUID_BYTES];
	int64_t place_ms;
	bool *cannot_ask; /* of all pieces: the store lets nobody with this token ask what it has */
};

/* ---- What the parcel has ---- */

static struct byte_reader pyroscope_send_read_text(struct byte_reader *reader)
{
	return byte_reader_split(reader, byte_reader_u32(reader));
}

static size_t text_size(struct byte_reader text)
{
	return byte_reader_left(&text);
}

static bool pyroscope_send_read_file(int fd, uint64_t offset, size_t size, struct buffer *bytes, struct error *err)
{
	uint8_t *room = (uint8_t *)buffer_reserve(bytes, size);
	size_t got = 0;

	while (room && got < size) {
		ssize_t count = pread(fd, room + got, size - got, (off_t)(offset + got));

		if (count <= 0 && errno != EINTR)
			return error_set(err, ERROR_FORMAT, "what is to be sent is incomplete");
		got += count > 0 ? (size_t)count : 0;
	}
	if (room)
		buffer_commit(bytes, size);
	return buffer_ok(bytes, err);
}

static bool read_description(int fd, struct buffer *bytes, struct described *described, struct error *err)
{
	struct byte_reader reader;
	struct stat info;

	if (fstat(fd, &info) != 0 || info.st_size > MOST_DESCRIPTION_BYTES)
		return error_set(err, ERROR_FORMAT, "what is to be sent is incomplete");
	if (!pyroscope_send_read_file(fd, 0, (size_t)info.st_size, bytes, err))
		return false;
	reader = byte_reader_over(bytes->data, bytes->size);
	byte_reader_copy(&reader, &described->head, sizeof(described->head));
	described->labels = pyroscope_send_read_text(&reader);
	described->selector = pyroscope_send_read_text(&reader);
	described->rows = reader;
	return byte_reader_ok(&reader) || error_set(err, ERROR_FORMAT, "what is to be sent is incomplete");
}

/* Returns how many places lie within the recording. */
static uint64_t places_of(int64_t duration_ns)
{
	int64_t places = duration_ns / 1000000 / PLACE_MS;

	return (uint64_t)(places < LEAST_PLACES ? LEAST_PLACES : places > MOST_PLACES ? MOST_PLACES : places);
}

/*
 * Makes the id of a piece from the id of the profile, its labels (it is the same file with others), and the number of
 * the piece.
 */
static void pyroscope_send_identify(const uint64_t id[2], uint32_t number, struct pyroscope_send_piece *piece)
{
	uint8_t digest[MD5_BYTES], seed[(size_t)2 * MD5_BYTES + sizeof(number)] = { 0 };
	struct byte_reader labels = piece->described->labels;
	const struct pyroscope_head *head = &piece->described->head;
	uint64_t high, low, slot;

	memcpy(seed, id, MD5_BYTES);
	md5(labels.pos, byte_reader_left(&labels), seed + MD5_BYTES);
	memcpy(seed + sizeof(seed) - sizeof(number), &number, sizeof(number));
	md5(seed, sizeof(seed), digest);
	memcpy(&high, digest, sizeof(high));
	memcpy(&low, digest + sizeof(high), sizeof(low));
	slot = high % places_of(head->duration_ns);
	/* Version 8 of RFC 9562: what follows from content. */
	high = (high & ~UINT64_C(0xf000)) | 0x8000;
	low = (low & ~(UINT64_C(3) << 62)) | UINT64_C(1) << 63;
	snprintf(piece->id, sizeof(piece->id), "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
		high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48, low & UINT64_C(0xffffffffffff));
	/* Not after its end, which is in the past: a query until now finds it. */
	piece->place_ms =
		((head->start_unix_ns + head->duration_ns) / 1000000 / PLACE_MS - 1 - (int64_t)slot) * PLACE_MS;
}

/* ---- Questions ---- */

/* The sum that an answer of SelectMergeStacktraces has: total of its flame graph. */
static bool read_total(const struct http_answer *answer, int64_t *total, struct error *err)
{
	struct byte_reader message = byte_reader_over(answer->body.data, answer->body.size);
	struct protobuf_field field, inner;

	*total = 0;
	while (protobuf_next_field(&message, &field))
		while (field.id == 1 && field.has_bytes && protobuf_next_field(&field.bytes, &inner))
			if (inner.id == 3 && !inner.has_bytes)
				*total = (int64_t)inner.number;
	return byte_reader_ok(&message) ||
	       error_set(err, ERROR_FORMAT, "Pyroscope's answer is damaged; is it Pyroscope?");
}

/*
 * Returns whether the status is a store's answer to a token that may write and not read, or where there is nobody who
 * answers queries.
 */
static bool is_refusal(int status)
{
	enum { UNAUTHORIZED = 401, FORBIDDEN = 403, NOT_FOUND = 404 };

	return status == UNAUTHORIZED || status == FORBIDDEN || status == NOT_FOUND;
}

/* The sum of what the store has at the piece's place, in its series; 0 where it cannot be asked. */
static bool ask_total(const struct pyroscope_send_piece *piece, int64_t *total, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer message = { 0 };
	struct http_answer answer = { .fd = -1 };
	const struct byte_reader *selector = &piece->described->selector;
	const struct pyroscope_call call = { .method = "querier.v1.QuerierService/SelectMergeStacktraces",
		.message = &message,
		.what = "cannot find out whether the profile is stored",
		.max_answer_bytes = MOST_ANSWER_BYTES,
		.patience_s = piece->courier->patience_s };
	bool was_done, ok;
	int status;

	*total = 0;
	if (*piece->cannot_ask)
		return true;
	buffer_init(&message, 1 << 20);
	pyroscope_put_bytes(&message, 1, piece->type.pos, text_size(piece->type));
	pyroscope_put_bytes(&message, 2, selector->pos, text_size(*selector));
	pyroscope_put_number(&message, 3, (uint64_t)piece->place_ms);
	pyroscope_put_number(&message, 4, (uint64_t)piece->place_ms + 1);
	pyroscope_put_number(&message, 5, 1);
	if (!buffer_ok(&message, err))
		return false;
	if (!pyroscope_ask(piece->courier, &call, &answer, &was_done, &status, err)) {
		*piece->cannot_ask = is_refusal(status);
		return *piece->cannot_ask;
	}
	ok = read_total(&answer, total, err);
	http_answer_deinit(&answer);
	return ok;
}

/* Asked after a request that has failed. The server may be storing yet: Pyroscope gathers for half a second. */
static bool is_stored(void *context, bool *is_done, struct error *err)
{
	static const struct timespec storing = { .tv_nsec = 700000000 };
	const struct pyroscope_send_piece *piece = context;
	int64_t total;

	*is_done = false;
	if (*piece->cannot_ask)
		return true;
	(void)nanosleep(&storing, NULL);
	if (!ask_total(piece, &total, err))
		return false;
	*is_done = total == piece->total;
	return true;
}

/* Finds the place of the piece, or the first behind it that is free. */
static bool pyroscope_send_find_place(struct pyroscope_send_piece *piece, bool *is_there, struct error *err)
{
	for (unsigned int i = 0; i < MOST_PROBES; i++, piece->place_ms += PLACE_MS) {
		int64_t total;

		if (!ask_total(piece, &total, err))
			return false;
		*is_there = total == piece->total;
		if (total == 0 || *is_there)
			return true;
	}
	return error_set(err, ERROR_LIMIT,
		"the store has too many profiles with the same labels and of the same moment; tell them apart with a label, such as --label instance=NAME");
}

/* ---- Sending ---- */

static bool pack_piece(const struct pyroscope_send_piece *piece, int fd, struct buffer *packed, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT((size_t)PYROSCOPE_MAX_BYTES + 64);

	if (piece->size > PYROSCOPE_MAX_BYTES)
		return error_set(err, ERROR_FORMAT, "what is to be sent is incomplete");
	if (!pyroscope_send_read_file(fd, piece->offset, (size_t)piece->size, &bytes, err))
		return false;
	pyroscope_put_number(&bytes, PPROF_PROFILE(time_nanos), (uint64_t)piece->place_ms * 1000000);
	return buffer_ok(&bytes, err) && gzip_compress(bytes.data, bytes.size, packed, err);
}

static bool pyroscope_send_push(
	struct pyroscope_send_piece *piece, const struct buffer *message, enum store_sent *sent, struct error *err)
{
	const struct pyroscope_call call = { .method = "push.v1.PusherService/Push",
		.message = message,
		.what = "cannot push a profile",
		.max_answer_bytes = MOST_ANSWER_BYTES,
		.patience_s = piece->courier->patience_s,
		.is_done = is_stored,
		.context = piece };
	struct http_answer answer = { .fd = -1 };
	bool was_done;
	int status;

	if (!pyroscope_ask(piece->courier, &call, &answer, &was_done, &status, err))
		return false;
	http_answer_deinit(&answer);
	*sent = STORE_SENT;
	return true;
}

static bool send_piece(struct pyroscope_send_piece *piece, int fd, enum store_sent *sent, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer packed = { 0 };
	CLEANUP(buffer_deinit) struct buffer sample = { 0 };
	CLEANUP(buffer_deinit) struct buffer series = { 0 };
	CLEANUP(buffer_deinit) struct buffer message = { 0 };
	const struct byte_reader *labels = &piece->described->labels;
	struct buffer *const buffers[] = { &packed, &sample, &series, &message };
	bool is_there;

	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
		buffer_init(buffers[i], (size_t)1 << 24);
	if (!pyroscope_send_find_place(piece, &is_there, err))
		return false;
	if (is_there)
		return true;
	if (!pack_piece(piece, fd, &packed, err))
		return false;
	pyroscope_put_bytes(&sample, 1, packed.data, packed.size);
	pyroscope_put_text(&sample, 2, piece->id);
	buffer_append(&series, labels->pos, text_size(*labels));
	pyroscope_put_bytes(&series, 2, sample.data, sample.size);
	pyroscope_put_bytes(&message, 1, series.data, series.size);
	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
		if (!buffer_ok(buffers[i], err))
			return false;
	return pyroscope_send_push(piece, &message, sent, err);
}

bool pyroscope_send(
	struct courier *courier, const struct store_parcel *parcel, enum store_sent *sent, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(MOST_DESCRIPTION_BYTES);
	struct described described = { 0 };
	uint64_t offset = 0;
	bool cannot_ask = false;

	*sent = STORE_WAS_THERE;
	if (!read_description(parcel->parts[1], &bytes, &described, err))
		return false;
	for (uint32_t number = 0; byte_reader_left(&described.rows) > 0; number++) {
		struct pyroscope_send_piece piece = {
			.courier = courier, .described = &described, .offset = offset, .cannot_ask = &cannot_ask
		};
		struct pyroscope_described row = { 0 };

		byte_reader_copy(&described.rows, &row, sizeof(row));
		piece.type = pyroscope_send_read_text(&described.rows);
		if (!byte_reader_ok(&described.rows) || number == PYROSCOPE_MAX_PIECES)
			return error_set(err, ERROR_FORMAT, "what is to be sent is incomplete");
		piece.size = row.size;
		piece.total = row.total;
		pyroscope_send_identify(parcel->id, number, &piece);
		if (!send_piece(&piece, parcel->parts[0], sent, err))
			return false;
		offset += row.size;
	}
	if (cannot_ask)
		buffer_append_string(courier->notices,
			"the store does not say what it has to whoever has this token: a profile that was pushed before may be there twice now; let the token read, too\n");
	return true;
}
