/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "service.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

namespace shop
{

/* A thread with an epoll set of connections of its own. */
class Worker
{
      public:
	Worker(unsigned int number, std::unique_ptr<Store> store, const Catalogue &catalogue, Sessions &sessions,
		Log &log);
	~Worker();
	Worker(const Worker &) = delete;
	Worker &operator=(const Worker &) = delete;

	/* Takes the connection over. */
	void add(int connection);

	unsigned long served() const
	{
		return served_.load(std::memory_order_relaxed);
	}

      private:
	struct Connection {
		std::string input;
	};

	void run();
	bool serve(int fd, Connection &connection);
	bool answer(int fd, Connection &connection);

	unsigned int number_;
	std::unique_ptr<Store> store_;
	Service service_;
	int poll_, wake_;
	std::unordered_map<int, Connection> connections_;
	std::atomic<bool> stop_{ false };
	std::atomic<unsigned long> served_{ 0 };
	std::thread thread_;
};

} // namespace shop
