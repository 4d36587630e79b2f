/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace shop
{

/* Lines go to a queue; a thread of its own writes them to the file, which starts anew at 8 MiB. */
class Log
{
      public:
	explicit Log(const std::string &path);
	~Log();
	Log(const Log &) = delete;
	Log &operator=(const Log &) = delete;

	void write(std::string line);

      private:
	void run();

	int file_;
	std::mutex mutex_;
	std::condition_variable wake_;
	std::string pending_;
	bool stop_ = false;
	std::thread thread_;
};

} // namespace shop
