/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "log.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <pthread.h>
#include <system_error>
#include <unistd.h>

namespace shop
{

namespace
{

constexpr std::size_t max_file_bytes = 8 << 20;

}

Log::Log(const std::string &path) : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0600))
{
	if (file_ < 0)
		throw std::system_error(errno, std::generic_category(), path);
	thread_ = std::thread([this] { run(); });
}

Log::~Log()
{
	{
		std::lock_guard lock(mutex_);
		stop_ = true;
	}
	wake_.notify_one();
	thread_.join();
	close(file_);
}

void Log::write(std::string line)
{
	std::lock_guard lock(mutex_);

	pending_ += line;
	pending_ += '\n';
}

void Log::run()
{
	std::size_t written = 0;

	pthread_setname_np(pthread_self(), "log");
	for (bool stop = false; !stop;) {
		std::string batch;
		{
			std::unique_lock lock(mutex_);
			wake_.wait_for(lock, std::chrono::milliseconds(50), [this] { return stop_; });
			batch.swap(pending_);
			stop = stop_;
		}
		if (written > max_file_bytes && ftruncate(file_, 0) == 0)
			written = 0;
		for (std::size_t at = 0; at < batch.size();) {
			const auto size = ::write(file_, batch.data() + at, batch.size() - at);

			if (size <= 0)
				break;
			at += static_cast<std::size_t>(size);
		}
		written += batch.size();
	}
}

} // namespace shop
