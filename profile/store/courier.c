/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The courier's side: rights, and calls. */
#include "profile/store/courier.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { MOST_QUERY_BYTES = 1 << 16, MOST_IDS = 1 << 20 };

/* ---- Rights ---- */

/*
 * The folders of certificates, of the configuration of TLS and of name resolution, and of the libraries for them, also
 * behind the links of resolv.conf.
 */
static const char *const readable[] = { "/etc", "/usr", "/lib", "/lib64", "/nix/store", "/opt/ssl",
	"/run/NetworkManager", "/run/resolvconf", "/run/systemd/resolve", "/var/lib/ca-certificates" };

/*
 * Sockets of the Internet, and of netlink, by which the C library asks which addresses the machine has; no socket with
 * a path: whatever listens there (an agent of keys, a service manager, a container engine) takes the courier for its
 * user. Libraries for names are loaded when they are needed: code may be mapped, and never be written.
 */
static void courier_give_up_rights(void)
{
	static const struct filter_rule rules[] = { FILTER_OPENS, FILTER_ALWAYS(write), FILTER_ALWAYS(writev),
		FILTER_ALWAYS(pwrite64), FILTER_IF(socket, 0, UINT32_MAX, AF_INET),
		FILTER_IF(socket, 0, UINT32_MAX, AF_INET6), FILTER_IF(socket, 0, UINT32_MAX, AF_NETLINK),
		FILTER_ALWAYS(socketpair), FILTER_ALWAYS(connect), FILTER_ALWAYS(bind), FILTER_ALWAYS(shutdown),
		FILTER_ALWAYS(getsockname), FILTER_ALWAYS(getpeername), FILTER_ALWAYS(getsockopt),
		FILTER_ALWAYS(setsockopt), FILTER_ALWAYS(sendto), FILTER_ALWAYS(recvfrom), FILTER_ALWAYS(sendmsg),
		FILTER_ALWAYS(sendmmsg), FILTER_ALWAYS(recvmsg), FILTER_ALWAYS(poll), FILTER_ALWAYS(ppoll),
		FILTER_ALWAYS(pselect6), FILTER_ALWAYS(pipe2), FILTER_ALWAYS(eventfd2), FILTER_ALWAYS(memfd_create),
		FILTER_ALWAYS(ftruncate), FILTER_IF(fcntl, 1, UINT32_MAX, F_SETFL),
		FILTER_IF(fcntl, 1, UINT32_MAX, F_SETFD), FILTER_IF(fcntl, 1, UINT32_MAX, F_ADD_SEALS),
		FILTER_IF(ioctl, 1, UINT32_MAX, FIONBIO), FILTER_IF(ioctl, 1, UINT32_MAX, FIONREAD),
		FILTER_IF(ioctl, 1, UINT32_MAX, SIOCOUTQ), FILTER_IF(mmap, 2, PROT_WRITE, 0), FILTER_ALWAYS(getuid),
		FILTER_ALWAYS(getgid), FILTER_ALWAYS(getegid), FILTER_ALWAYS(uname), FILTER_ALWAYS(sysinfo),
		FILTER_ALWAYS(getppid), FILTER_ALWAYS(madvise) };

	static const struct rights_places places = { .paths = readable,
		.path_count = sizeof(readable) / sizeof(readable[0]) };

	/* What a machine does not allow is missing from all readers: `kelvin doctor` tells. */
	(void)confined_enter(&(struct confinement){ .keeps_open = true,
		.user = CONFINED_NOBODY,
		.files = CONFINED_READS_BELOW,
		.places = &places,
		.more_calls = { FILTER_SET(rules) } });
}

/* ---- Calls ---- */

struct courier_served_call {
	struct courier *courier;
	int socket;
	struct courier_question question;
	struct store_address query;
	struct store_parcel parcel;
	struct store_profiles profiles;
	uint64_t (*ids)[2]; /* owned */
	int summaries;      /* owned */
	enum store_sent sent;
};

static void call_deinit(struct courier_served_call *call)
{
	store_address_deinit(&call->query);
	store_parcel_deinit(&call->parcel);
	store_profiles_deinit(&call->profiles);
	free(call->ids);
	cleanup_close(&call->summaries);
}

/* Returns the descriptor that comes with the next message; -1: there is none. */
static int receive_part(int socket)
{
	char byte;
	int fd;

	(void)!message_receive(socket, &byte, sizeof(byte), 0, &fd);
	return fd;
}

static bool courier_read_exactly(int fd, void *bytes, size_t size, struct error *err)
{
	return (fd >= 0 && pread(fd, bytes, size, 0) == (ssize_t)size) ||
	       error_set(err, ERROR_FORMAT, "what the courier was asked came incomplete");
}

/* A query speaks of the same store: the host in it is the one to which the secrets belong. */
static bool receive_query(struct courier_served_call *call, int fd, struct error *err)
{
	const struct store_address *own = call->courier->address;
	CLEANUP(cleanup_free) char *text = NULL;
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0 || info.st_size > MOST_QUERY_BYTES)
		return error_set(err, ERROR_FORMAT, "what the courier was asked came incomplete");
	text = calloc(1, (size_t)info.st_size + 1);
	if (!text)
		return error_set_memory(err);
	if (!courier_read_exactly(fd, text, (size_t)info.st_size, err) ||
		!store_address_parse(text, clock_read_ns(CLOCK_REALTIME), &call->query, err))
		return false;
	call->query.from_unix_ns = call->question.from_unix_ns;
	call->query.until_unix_ns = call->question.until_unix_ns;
	if (call->query.kind != own->kind || strcmp(call->query.url, own->url) != 0 ||
		strcmp(call->query.path, own->path) != 0)
		return error_set(err, ERROR_USAGE, "%s is another store than %s", call->query.url, own->url);
	return true;
}

static bool receive_ids(struct courier_served_call *call, struct error *err)
{
	CLEANUP(cleanup_close) int fd = receive_part(call->socket);
	size_t count = (size_t)call->question.count;

	if (count == 0 || count > MOST_IDS)
		return error_set(
			err, ERROR_LIMIT, "the courier is asked for %zu profiles; it fetches 1 to %d", count, MOST_IDS);
	return ARRAY_ZEROED(&call->ids, count, err) &&
	       courier_read_exactly(fd, call->ids, count * sizeof(*call->ids), err);
}

static bool receive_parts(struct courier_served_call *call, struct error *err)
{
	memcpy(call->parcel.id, call->question.id, sizeof(call->parcel.id));
	for (size_t i = 0; i < STORE_PARCEL_PARTS; i++) {
		call->parcel.parts[i] = receive_part(call->socket);
		if (call->parcel.parts[i] < 0)
			return error_set(err, ERROR_FORMAT, "what the courier was asked came incomplete");
	}
	return true;
}

static bool refuse_call(const struct courier *courier, const char *what, struct error *err)
{
	return error_set(err, ERROR_UNSUPPORTED, "%s: %s", courier->address->url, what);
}

static bool carry_out(struct courier_served_call *call, int fd, struct error *err)
{
	struct courier *courier = call->courier;
	const struct store_functions *functions = store_functions_of(courier->address->kind);

	if (call->question.call == COURIER_SEND)
		return receive_parts(call, err) &&
		       (functions->send ? functions->send(courier, &call->parcel, &call->sent, err)
					: refuse_call(courier, "nothing can be pushed to this kind of store", err));
	if (!receive_query(call, fd, err) || (call->question.call == COURIER_FETCH_IDS && !receive_ids(call, err)))
		return false;
	switch (call->question.call) {
	case COURIER_SEND:
		break;
	case COURIER_FETCH:
		return functions->fetch ? functions->fetch(courier, &call->query, &call->profiles, err)
					: refuse_call(courier, "profiles of this kind of store are not read", err);
	case COURIER_FETCH_SUMMARIES:
		return functions->fetch_summaries
			       ? courier_file(&call->summaries, err) &&
					 functions->fetch_summaries(courier, &call->query, call->summaries, err)
			       : refuse_call(courier, "this kind of store has no sums of functions", err);
	case COURIER_FETCH_IDS:
		return functions->fetch_ids
			       ? functions->fetch_ids(courier, &call->query, (const uint64_t(*)[2])call->ids,
					 (size_t)call->question.count, &call->profiles, err)
			       : refuse_call(courier, "single profiles of this kind of store are not read", err);
	}
	return refuse_call(courier, "the courier does not know what it was asked", err);
}

/* ---- Answers ---- */

static bool send_item(const struct courier_served_call *call, const char *name, int fd)
{
	struct courier_answer answer = { .kind = COURIER_ITEM };

	snprintf(answer.name, sizeof(answer.name), "%s", name);
	return message_send(call->socket, &answer, sizeof(answer), fd);
}

static bool send_items(const struct courier_served_call *call)
{
	for (size_t i = 0; i < call->profiles.count; i++)
		if (!send_item(call, call->profiles.items[i].name, call->profiles.items[i].fd))
			return false;
	return call->summaries < 0 || send_item(call, "", call->summaries);
}

static bool send_end(const struct courier_served_call *call, bool ok, const struct error *err)
{
	struct courier_answer answer = { .kind = COURIER_END, .ok = ok, .sent = call->sent };
	CLEANUP(cleanup_close) int fd = -1;
	const struct buffer *notices = call->courier->notices;
	struct error ignored;

	if (!ok)
		answer.err = *err;
	if (notices->size > 0 && courier_file(&fd, &ignored) && !file_write_all(fd, notices->data, notices->size))
		return false;
	return message_send(call->socket, &answer, sizeof(answer), fd);
}

/* False: there is nobody any more who asks. */
static bool serve_call(struct courier *courier, int socket)
{
	CLEANUP(call_deinit)
	struct courier_served_call call = { .courier = courier, .socket = socket, .summaries = -1 };
	CLEANUP(buffer_deinit) struct buffer notices = BUFFER_INIT(COURIER_MAX_NOTICES);
	CLEANUP(cleanup_close) int fd = -1;
	struct error err = { 0 };
	bool ok;

	for (size_t i = 0; i < STORE_PARCEL_PARTS; i++)
		call.parcel.parts[i] = -1;
	buffer_init(&call.profiles.notices, COURIER_MAX_NOTICES);
	if (message_receive(socket, &call.question, sizeof(call.question), 0, &fd) != sizeof(call.question))
		return false;
	courier->notices = &notices;
	courier->patience_s = call.question.patience_s;
	ok = carry_out(&call, fd, &err);
	return (!ok || send_items(&call)) && send_end(&call, ok, &err);
}

_Noreturn void courier_run(int socket, const struct store_address *address, const struct store_secrets *secrets)
{
	struct courier courier = { .address = address };
	struct courier_answer ready = { .kind = COURIER_END };

	(void)prctl(PR_SET_NAME, "kelvin-courier");
	child_keep((const int[]){ socket }, 1);
	/* Nothing that is opened later gets the numbers of the standard streams. */
	while (open("/dev/null", O_RDWR) >= 0 && fcntl(STDERR_FILENO, F_GETFD) < 0)
		;
	ready.ok = http_create(address->url, secrets, &courier.http, &ready.err);
	courier_give_up_rights();
	if (!message_send(socket, &ready, sizeof(ready), -1) || !ready.ok)
		_exit(1);
	while (serve_call(&courier, socket))
		;
	_exit(0);
}
