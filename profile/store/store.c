/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The side of whoever asks a courier. What the courier says is foreign. */
#include "profile/store/courier.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

static const double fetch_patience_s = 60;

struct store {
	pid_t pid;
	int socket; /* owned */
	char *url;  /* owned, for messages */
};

/* ---- Start and end ---- */

static bool refuse_silence(const struct store *store, struct error *err)
{
	return error_set(err, ERROR_SYSTEM,
		"the process that speaks to %s has ended; if there is memory enough, report it (SECURITY.md)",
		store->url);
}

/* Receives an answer; strings of it end. */
static bool store_receive_answer(const struct store *store, struct courier_answer *answer, int *fd, struct error *err)
{
	if (message_receive(store->socket, answer, sizeof(*answer), 0, fd) != sizeof(*answer)) {
		cleanup_close(fd);
		*fd = -1;
		return refuse_silence(store, err);
	}
	answer->name[sizeof(answer->name) - 1] = '\0';
	answer->err.message[sizeof(answer->err.message) - 1] = '\0';
	return true;
}

static bool await_ready(struct store *store, struct error *err)
{
	struct courier_answer answer;
	CLEANUP(cleanup_close) int fd = -1;

	if (!store_receive_answer(store, &answer, &fd, err))
		return false;
	if (!answer.ok)
		*err = answer.err;
	return answer.ok;
}

static bool start_courier(struct store *store, const struct store_address *address, const struct store_secrets *secrets,
	struct error *err)
{
	int end;

	fflush(NULL);
	store->pid = child_fork_linked(CHILD_IS_QUIET, CHILD_MESSAGES, &end);
	if (store->pid == 0)
		courier_run(end, address, secrets);
	if (store->pid < 0)
		return error_set_errno(err, errno, "cannot start a process that speaks to %s", address->url);
	store->socket = end;
	return true;
}

bool store_open(const struct store_address *address, const struct store_secrets *secrets, struct store **store,
	struct error *err)
{
	struct store *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->socket = -1;
	made->url = strdup(address->url);
	if (!made->url) {
		error_set_memory(err);
		goto fail;
	}
	if (!start_courier(made, address, secrets, err) || !await_ready(made, err))
		goto fail;
	*store = made;
	return true;
fail:
	store_close(made);
	return false;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	cleanup_close(&store->socket);
	if (store->pid > 0)
		child_end(store->pid);
	free(store->url);
	free(store);
}

/* ---- Calls ---- */

/*
 * Seals a file in memory, which nobody changes any more; else whoever reads it would read what the courier makes of it
 * then.
 */
static bool seal(const struct store *store, int fd, struct error *err)
{
	enum { SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL };

	if (fcntl(fd, F_ADD_SEALS, SEALS) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return true;
	return refuse_silence(store, err);
}

/* Adds the notices of an end to those of the caller; they are text of foreign origin. */
static void take_notices(const struct store *store, int fd, struct buffer *notices)
{
	struct stat info;
	struct error ignored;
	char *room;
	ssize_t got;

	if (fd < 0 || !notices || !seal(store, fd, &ignored) || fstat(fd, &info) != 0 ||
		info.st_size > COURIER_MAX_NOTICES)
		return;
	room = buffer_reserve(notices, (size_t)info.st_size);
	got = room ? read(fd, room, (size_t)info.st_size) : -1;
	if (got > 0)
		buffer_commit(notices, (size_t)got);
}

/* Takes items until the end; `profiles` NULL: there are to be none. */
static bool receive_all(struct store *store, struct store_profiles *profiles, struct buffer *notices,
	struct courier_answer *answer, struct error *err)
{
	for (;;) {
		CLEANUP(cleanup_close) int fd = -1;

		if (!store_receive_answer(store, answer, &fd, err))
			return false;
		if (answer->kind == COURIER_END) {
			take_notices(store, fd, notices);
			if (!answer->ok)
				*err = answer->err;
			return answer->ok;
		}
		if (!profiles || fd < 0 || !seal(store, fd, err))
			return refuse_silence(store, err);
		if (!courier_add(profiles, answer->name, &fd, err))
			return false;
	}
}

static bool store_ask(const struct store *store, const struct courier_question *question, int fd, struct error *err)
{
	return message_send(store->socket, question, sizeof(*question), fd) || refuse_silence(store, err);
}

static bool send_part(const struct store *store, int fd, struct error *err)
{
	return message_send(store->socket, "", 1, fd) || refuse_silence(store, err);
}

static bool ask_query(const struct store *store, enum courier_call call, const struct store_address *query,
	size_t count, struct error *err)
{
	const struct courier_question question = { .call = call,
		.patience_s = fetch_patience_s,
		.from_unix_ns = query->from_unix_ns,
		.until_unix_ns = query->until_unix_ns,
		.count = count };
	CLEANUP(cleanup_close) int fd = -1;

	if (!courier_file(&fd, err))
		return false;
	if (!file_write_all(fd, query->text, strlen(query->text)))
		return error_set_errno(err, errno, "cannot write a file in memory");
	return store_ask(store, &question, fd, err);
}

/* ---- The interface ---- */

bool store_send(struct store *store, const struct store_parcel *parcel, double patience_s, enum store_sent *sent,
	struct buffer *notices, struct error *err)
{
	const struct courier_question question = {
		.call = COURIER_SEND, .patience_s = patience_s, .id = { parcel->id[0], parcel->id[1] }
	};
	struct courier_answer answer;

	if (!store_ask(store, &question, -1, err))
		return false;
	for (size_t i = 0; i < STORE_PARCEL_PARTS; i++)
		if (!send_part(store, parcel->parts[i], err))
			return false;
	if (!receive_all(store, NULL, notices, &answer, err))
		return false;
	*sent = answer.sent == STORE_WAS_THERE ? STORE_WAS_THERE : STORE_SENT;
	return true;
}

/* Ends a fetch: what was fetched before an error is of no use. */
static bool end_fetch(bool ok, struct store_profiles *profiles, struct error *err)
{
	if (ok && profiles->count == 0)
		ok = error_set(err, ERROR_EMPTY, "the store has no profile that the address asks for");
	if (!ok)
		store_profiles_deinit(profiles);
	return ok;
}

static void profiles_init(struct store_profiles *profiles)
{
	*profiles = (struct store_profiles){ 0 };
	buffer_init(&profiles->notices, COURIER_MAX_NOTICES);
}

bool store_fetch(
	struct store *store, const struct store_address *query, struct store_profiles *profiles, struct error *err)
{
	struct courier_answer answer;
	bool ok;

	profiles_init(profiles);
	ok = ask_query(store, COURIER_FETCH, query, 0, err) &&
	     receive_all(store, profiles, &profiles->notices, &answer, err);
	return end_fetch(ok, profiles, err);
}

bool store_fetch_summaries(
	struct store *store, const struct store_address *query, int *fd, struct buffer *notices, struct error *err)
{
	CLEANUP(store_profiles_deinit) struct store_profiles items = { 0 };
	struct courier_answer answer;

	if (!ask_query(store, COURIER_FETCH_SUMMARIES, query, 0, err) ||
		!receive_all(store, &items, notices, &answer, err))
		return false;
	if (items.count != 1)
		return refuse_silence(store, err);
	*fd = items.items[0].fd;
	items.items[0].fd = -1;
	return true;
}

bool store_fetch_ids(struct store *store, const struct store_address *query, const uint64_t (*ids)[2], size_t count,
	struct store_profiles *profiles, struct error *err)
{
	CLEANUP(cleanup_close) int fd = -1;
	struct courier_answer answer;
	bool ok;

	profiles_init(profiles);
	if (!courier_file(&fd, err))
		return false;
	if (!file_write_all(fd, ids, count * sizeof(*ids)))
		return error_set_errno(err, errno, "cannot write a file in memory");
	ok = ask_query(store, COURIER_FETCH_IDS, query, count, err) && send_part(store, fd, err) &&
	     receive_all(store, profiles, &profiles->notices, &answer, err);
	return end_fetch(ok, profiles, err);
}
