/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker.h"

#include <cerrno>
#include <cstdint>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace shop
{

namespace
{

int check(int result, const char *what)
{
	if (result < 0)
		throw std::system_error(errno, std::generic_category(), what);
	return result;
}

bool send_all(int fd, const std::string &bytes)
{
	for (std::size_t at = 0; at < bytes.size();) {
		const auto size = send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);

		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			return false;
		at += static_cast<std::size_t>(size);
	}
	return true;
}

} // namespace

Worker::Worker(unsigned int number, std::unique_ptr<Store> store, const Catalogue &catalogue, Sessions &sessions, Log &log)
    : number_(number), store_(std::move(store)), service_(catalogue, sessions, log, *store_),
      poll_(check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")), wake_(check(eventfd(0, EFD_CLOEXEC), "eventfd"))
{
	epoll_event event{};

	event.events = EPOLLIN;
	event.data.fd = wake_;
	check(epoll_ctl(poll_, EPOLL_CTL_ADD, wake_, &event), "epoll_ctl");
	thread_ = std::thread([this] { run(); });
}

Worker::~Worker()
{
	const std::uint64_t one = 1;

	stop_ = true;
	if (write(wake_, &one, sizeof(one)) < 0)
		std::terminate();
	thread_.join();
	for (const auto &[fd, connection] : connections_)
		close(fd);
	close(poll_);
	close(wake_);
}

void Worker::add(int connection)
{
	epoll_event event{};

	event.events = EPOLLIN;
	event.data.fd = connection;
	check(epoll_ctl(poll_, EPOLL_CTL_ADD, connection, &event), "epoll_ctl");
}

/* Answers every complete request that has arrived. */
bool Worker::answer(int fd, Connection &connection)
{
	for (;;) {
		Request request;
		std::size_t consumed = 0;

		switch (parse_request(connection.input, request, consumed)) {
		case ParseResult::incomplete:
			return true;
		case ParseResult::malformed:
			return false;
		case ParseResult::complete:
			break;
		}
		connection.input.erase(0, consumed);
		if (!send_all(fd, serialize_response(service_.handle(request))))
			return false;
		served_.fetch_add(1, std::memory_order_relaxed);
	}
}

bool Worker::serve(int fd, Connection &connection)
{
	char bytes[4096];
	const auto size = recv(fd, bytes, sizeof(bytes), 0);

	if (size <= 0)
		return size < 0 && errno == EINTR;
	connection.input.append(bytes, static_cast<std::size_t>(size));
	return answer(fd, connection);
}

void Worker::run()
{
	epoll_event events[64];

	pthread_setname_np(pthread_self(), ("worker-" + std::to_string(number_)).c_str());
	while (!stop_) {
		const int count = epoll_wait(poll_, events, 64, -1);

		for (int i = 0; i < count; i++) {
			const int fd = events[i].data.fd;

			if (fd != wake_ && !serve(fd, connections_[fd])) {
				connections_.erase(fd);
				close(fd);
			}
		}
	}
}

} // namespace shop
