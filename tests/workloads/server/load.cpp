/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "load.h"

#include "catalogue.h"

#include <arpa/inet.h>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <random>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace shop
{

namespace
{

using Clock = std::chrono::steady_clock;

int connect_to(std::uint16_t port)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
	sockaddr_in address{};

	address.sin_family = AF_INET;
	address.sin_port = htons(port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

std::string common_headers(std::mt19937 &random)
{
	return "Host: localhost\r\nUser-Agent: load/1.0 (shop; loopback; closed world)\r\nAccept: text/html, application/json\r\n"
	       "Accept-Language: en;q=0.8, de;q=0.5\r\nCookie: session-" +
	       std::to_string(random() % 500) + "\r\n";
}

std::string search_target(std::mt19937 &random)
{
	const auto &words = vocabulary();
	std::string target = "/search?q=";

	/* As pasted by people: stray punctuation and doubled spaces between the words. */
	for (int i = 0; i < 8; i++)
		target += (i % 2 ? "+,+-++" : "++.+") + words[random() % words.size()];
	return target;
}

std::string order_body(std::mt19937 &random)
{
	std::string body = "{\"customer\": \"customer " + std::to_string(random() % 500) + "\", \"items\": [";
	const unsigned int count = 1 + random() % 3;

	for (unsigned int i = 0; i < count; i++)
		body += std::string(i ? ", " : "") + "{\"id\": " + std::to_string(random() % 6000) +
			", \"quantity\": " + std::to_string(1 + random() % 4) + ", \"note\": \"leave at the door\"}";
	return body + "], \"express\": false}";
}

std::string make_request(std::mt19937 &random)
{
	const auto dice = random() % 100;

	if (dice < 40)
		return "GET " + search_target(random) + " HTTP/1.1\r\n" + common_headers(random) + "\r\n";
	if (dice < 75)
		return "GET /product?id=" + std::to_string(random() % 6000) + " HTTP/1.1\r\n" + common_headers(random) + "\r\n";
	if (dice < 97) {
		const std::string body = order_body(random);

		return "POST /order HTTP/1.1\r\n" + common_headers(random) + "Content-Length: " + std::to_string(body.size()) +
		       "\r\n\r\n" + body;
	}
	return "GET /report HTTP/1.1\r\n" + common_headers(random) + "\r\n";
}

/* Reads one response; `input` keeps what arrived beyond it. */
bool read_response(int fd, std::string &input)
{
	for (;;) {
		const auto head_end = input.find("\r\n\r\n");

		if (head_end != std::string::npos) {
			const auto header = input.find("Content-Length: ");
			const auto size = head_end + 4 + std::strtoul(input.c_str() + header + 16, nullptr, 10);

			if (header == std::string::npos)
				return false;
			if (input.size() >= size) {
				input.erase(0, size);
				return true;
			}
		}
		char bytes[4096];
		const auto got = recv(fd, bytes, sizeof(bytes), 0);

		if (got <= 0)
			return false;
		input.append(bytes, static_cast<std::size_t>(got));
	}
}

void run_connection(const LoadOptions &options, unsigned int number)
{
	const int fd = connect_to(options.port);
	const auto pause = options.rate ? std::chrono::nanoseconds(std::chrono::seconds(1)) * options.connections / options.rate
					: std::chrono::nanoseconds(0);
	std::mt19937 random(number + 1);
	std::string input;
	auto due = Clock::now();

	if (fd < 0)
		return;
	for (;;) {
		const std::string request = make_request(random);

		if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()) ||
			!read_response(fd, input))
			break;
		due += pause;
		/* Behind schedule by more than this, the rest is not made up for in a burst. */
		if (Clock::now() - due > std::chrono::milliseconds(200))
			due = Clock::now();
		std::this_thread::sleep_until(due);
	}
	close(fd);
}

} // namespace

void generate_load(const LoadOptions &options)
{
	std::vector<std::thread> threads;

	for (unsigned int i = 0; i < options.connections; i++)
		threads.emplace_back(run_connection, std::cref(options), i);
	for (auto &thread : threads)
		thread.join();
}

} // namespace shop
