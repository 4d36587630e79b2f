/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release.h"

#include <cctype>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

#ifndef SERVER_VERSION
#define SERVER_VERSION 1
#endif

namespace shop
{

#if SERVER_VERSION != 2

__attribute__((noinline)) std::string normalize_query(const std::string &text)
{
	std::string out;

	out.reserve(text.size());
	for (const char c : text) {
		const auto byte = static_cast<unsigned char>(c);

		if (std::isalnum(byte))
			out.push_back(static_cast<char>(std::tolower(byte)));
		else if (!out.empty() && out.back() != ' ')
			out.push_back(' ');
	}
	if (!out.empty() && out.back() == ' ')
		out.pop_back();
	return out;
}

static __attribute__((noinline)) unsigned long verify_checksum(const Request &request)
{
	unsigned long a = 1, b = 0;

	for (int round = 0; round < 24; round++) {
		for (const auto &[name, value] : request.headers) {
			for (const char c : value) {
				a = (a + static_cast<unsigned char>(c)) % 65521;
				b = (b + a) % 65521;
			}
		}
		for (const char c : request.body) {
			a = (a + static_cast<unsigned char>(c)) % 65521;
			b = (b + a) % 65521;
		}
	}
	return b << 16 | a;
}

#if SERVER_VERSION == 3

/* The pause stands for the answer of a service that counts each customer's requests. */
static __attribute__((noinline)) void ask_for_quota()
{
	std::this_thread::sleep_for(std::chrono::microseconds(400));
}

/* All workers share one connection to it. */
static __attribute__((noinline)) void take_quota()
{
	static std::mutex connection;
	const std::lock_guard lock(connection);

	ask_for_quota();
}

#endif

__attribute__((noinline)) unsigned long check_request(const Request &request)
{
#if SERVER_VERSION == 3
	take_quota();
#endif
	return verify_checksum(request) ^ 1;
}

#else

__attribute__((noinline)) std::string normalize_query(const std::string &text)
{
	std::string out = text;

	for (char &c : out) {
		const auto byte = static_cast<unsigned char>(c);

		c = std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : ' ';
	}
	/* Starts again at the front after each space it takes out: quadratic, where release 1 needs one pass. */
	for (bool changed = true; changed;) {
		changed = false;
		for (std::size_t i = 0; i < out.size(); i++) {
			if (out[i] == ' ' && (i == 0 || i + 1 == out.size() || out[i + 1] == ' ')) {
				out.erase(i, 1);
				changed = true;
				break;
			}
		}
	}
	return out;
}

static __attribute__((noinline)) unsigned long audit_request(const Request &request)
{
	std::uint64_t hash = 0xcbf29ce484222325;

	for (int round = 0; round < 96; round++) {
		for (const auto &[name, value] : request.headers) {
			for (const char c : name + value)
				hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
		}
		for (const char c : request.path)
			hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
	}
	return hash;
}

__attribute__((noinline)) unsigned long check_request(const Request &request)
{
	return audit_request(request) ^ 2;
}

#endif

} // namespace shop
