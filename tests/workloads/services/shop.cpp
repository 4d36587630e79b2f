/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A service in C++: shop PORT. Its next releases are built from the same file, with -DSCAN, -DREGEX, -DAUDIT or -DSTREAM: products are
 * looked up by a scan in place of a map, their names are checked by a regular expression, each request is written to a log in the
 * working directory that is flushed to the disk under a lock, answers are formatted by a stream.
 */
#include <arpa/inet.h>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <netinet/tcp.h>
#include <regex>
#include <sstream>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

static std::vector<std::string> wanted;
static std::atomic<long> requests;
static int count_file = -1;

#ifdef SCAN
static std::vector<std::pair<std::string, int>> products;

NOINLINE static int price_of(const std::string &name)
{
	for (const auto &product : products)
		if (product.first == name)
			return product.second;
	return 0;
}

static void add_product(const std::string &name, int price) { products.emplace_back(name, price); }
#else
static std::map<std::string, int> products;

NOINLINE static int price_of(const std::string &name)
{
	auto found = products.find(name);
	return found == products.end() ? 0 : found->second;
}

static void add_product(const std::string &name, int price) { products.emplace(name, price); }
#endif

NOINLINE static bool is_name(const std::string &name)
{
#ifdef REGEX
	return std::regex_match(name, std::regex("product-[0-9]{1,6}"));
#else
	return name.compare(0, 8, "product-") == 0;
#endif
}

#ifdef AUDIT
static std::mutex audit_lock;
static int audit_file = -1;

NOINLINE static void write_audit(int total)
{
	std::string line = std::to_string(total) + "\n";
	std::lock_guard<std::mutex> held(audit_lock);

	if (write(audit_file, line.data(), line.size()) < 0 || fdatasync(audit_file) != 0)
		std::abort();
}
#endif

NOINLINE static std::string format_lines(const std::vector<int> &prices)
{
#ifdef STREAM
	std::string all;
	for (int price : prices) {
		std::ostringstream out;
		out << "price " << price << " cents\n";
		all += out.str();
	}
	return all;
#else
	std::string all;
	for (int price : prices) {
		all += "price ";
		all += std::to_string(price);
		all += " cents\n";
	}
	return all;
#endif
}

NOINLINE static std::string answer()
{
	std::vector<int> prices;
	int total = 0;

	for (const std::string &name : wanted)
		prices.push_back(is_name(name) ? price_of(name) : 0);
	for (int price : prices)
		total += price;
#ifdef AUDIT
	write_audit(total);
#endif
	std::string body = format_lines(prices) + std::to_string(total);
	return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

static void handle(int client)
{
	char request[4096];
	ssize_t got = recv(client, request, sizeof(request), 0);

	if (got <= 0) {
		close(client);
		return;
	}
	std::string count = std::to_string(++requests) + "\n";
	std::string text = answer();
	if (pwrite(count_file, count.data(), count.size(), 0) < 0 || send(client, text.data(), text.size(), MSG_NOSIGNAL) < 0)
		close(client);
}

static void serve(int listener)
{
	int poll = epoll_create1(0), one = 1;
	epoll_event event = {};

	event.events = EPOLLIN | EPOLLEXCLUSIVE;
	event.data.fd = listener;
	epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		if (epoll_wait(poll, &event, 1, -1) != 1)
			continue;
		if (event.data.fd != listener) {
			handle(event.data.fd);
			continue;
		}
		int client = accept(listener, nullptr, nullptr);
		if (client < 0)
			continue;
		setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		event.events = EPOLLIN;
		event.data.fd = client;
		epoll_ctl(poll, EPOLL_CTL_ADD, client, &event);
	}
}

int main(int argc, char **argv)
{
	std::string folder = getenv("SERVICE_COUNTS") != nullptr ? getenv("SERVICE_COUNTS") : ".";
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
	sockaddr_in address = {};
	std::vector<std::thread> threads;

	address.sin_family = AF_INET;
	address.sin_port = htons(static_cast<uint16_t>(argc > 1 ? atoi(argv[1]) : 0));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	count_file = open((folder + "/" + std::to_string(getpid())).c_str(), O_WRONLY | O_CREAT, 0600);
#ifdef AUDIT
	audit_file = open("audit", O_WRONLY | O_CREAT | O_APPEND, 0600);
#endif
	if (count_file < 0 || bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)) != 0 || listen(listener, 64) != 0)
		return 1;
	for (int i = 0; i < 2000; i++)
		add_product("product-" + std::to_string(i * 7919 % 100000), i);
	for (int i = 0; i < 40; i++)
		wanted.push_back("product-" + std::to_string(i * 49 % 2000 * 7919 % 100000));
	for (int i = 0; i < 4; i++)
		threads.emplace_back(serve, listener);
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}
