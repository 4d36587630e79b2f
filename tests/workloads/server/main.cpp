/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A small shop server to be profiled: HTTP/1.1 over loopback TCP, parsing, sessions, an in-memory search index, pages, SQLite,
 * zlib, a log file. Its load comes from a child process that it starts itself.
 *
 *   workload_server_v1 [--seconds N] [--threads N] [--connections N] [--rate N]
 *
 *   --seconds      ends by itself after N seconds (default 60)
 *   --threads      workers (default 2); with the accepting and the logging thread it has two more
 *   --connections  of the load generator (default 8)
 *   --rate         requests per second (default 1500); 0: as fast as answers come
 *
 * Prints "ready pid PID port PORT" once it serves, at every SIGUSR1 "AT CPU COUNT" (the clock, the nanoseconds of CPU time that it
 * used, and the requests), and "served N requests in S s, N per second" when it ends: after --seconds, on SIGTERM or SIGINT. Its files lie in a directory of their own under $TMPDIR or /tmp, which it removes.
 */

#include "catalogue.h"
#include "load.h"
#include "service.h"
#include "worker.h"

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace
{

constexpr std::size_t catalogue_size = 6000;

volatile std::sig_atomic_t stop_requested = 0, sums_requested = 0;

struct Options {
	unsigned int seconds = 60, threads = 2, connections = 8, rate = 1500;
};

void request_stop(int)
{
	stop_requested = 1;
}

void request_sums(int)
{
	sums_requested = 1;
}

long long clock_ns(clockid_t clock)
{
	timespec now{};

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

Options parse_options(int argc, char **argv)
{
	Options options;

	for (int i = 1; i < argc; i += 2) {
		const std::string name = argv[i];
		unsigned int *value = name == "--seconds"       ? &options.seconds
				      : name == "--threads"     ? &options.threads
				      : name == "--connections" ? &options.connections
				      : name == "--rate"        ? &options.rate
								: nullptr;

		if (!value || i + 1 == argc)
			throw std::invalid_argument("usage: [--seconds N] [--threads N] [--connections N] [--rate N]");
		*value = static_cast<unsigned int>(std::stoul(argv[i + 1]));
	}
	if (options.threads == 0 || options.threads > 64 || options.connections == 0 || options.connections > 256)
		throw std::invalid_argument("--threads must be 1 to 64, --connections 1 to 256");
	return options;
}

[[noreturn]] void fail(const char *what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

int listen_on_loopback(std::uint16_t &port)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	sockaddr_in address{};
	socklen_t size = sizeof(address);

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, reinterpret_cast<sockaddr *>(&address), size) < 0 || listen(fd, 256) < 0 ||
		getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size) < 0)
		fail("cannot listen on loopback");
	port = ntohs(address.sin_port);
	return fd;
}

/* Before any thread exists, so that the child may do as it likes. */
pid_t start_load(int listener, const shop::LoadOptions &options)
{
	const pid_t parent = getpid(), child = fork();

	if (child < 0)
		fail("fork");
	if (child > 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "shop-load");
	if (getppid() != parent)
		_exit(1);
	std::signal(SIGINT, SIG_IGN);
	std::signal(SIGTERM, SIG_DFL);
	close(listener);
	shop::generate_load(options);
	_exit(0);
}

class TemporaryDirectory
{
      public:
	TemporaryDirectory()
	{
		std::string pattern = (std::filesystem::temp_directory_path() / "shop-server-XXXXXX").string();

		if (!mkdtemp(pattern.data()))
			fail("mkdtemp");
		path_ = pattern;
	}

	~TemporaryDirectory()
	{
		std::error_code ignored;
		std::filesystem::remove_all(path_, ignored);
	}

	std::string file(const std::string &name) const
	{
		return (path_ / name).string();
	}

      private:
	std::filesystem::path path_;
};

unsigned long sum_served(const std::vector<std::unique_ptr<shop::Worker>> &workers)
{
	unsigned long served = 0;

	for (const auto &worker : workers)
		served += worker->served();
	return served;
}

void print_sums(const std::vector<std::unique_ptr<shop::Worker>> &workers)
{
	std::printf("%lld %lld %lu\n", clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_PROCESS_CPUTIME_ID), sum_served(workers));
	std::fflush(stdout);
}

/* Accepts and hands connections to the workers in turn, until it is time to stop. */
void accept_connections(int listener, std::vector<std::unique_ptr<shop::Worker>> &workers, unsigned int seconds)
{
	const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
	std::size_t next = 0;

	while (!stop_requested && std::chrono::steady_clock::now() < end) {
		pollfd wait = { listener, POLLIN, 0 };

		if (sums_requested) {
			sums_requested = 0;
			print_sums(workers);
		}
		if (poll(&wait, 1, 100) <= 0)
			continue;
		const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), yes = 1;

		if (connection < 0)
			continue;
		setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		workers[next++ % workers.size()]->add(connection);
	}
}

void run(const Options &options)
{
	std::uint16_t port;
	const int listener = listen_on_loopback(port);
	const pid_t load = start_load(listener, { port, options.connections, options.rate });
	const auto start = std::chrono::steady_clock::now();
	unsigned long served = 0;
	{
		const TemporaryDirectory directory;
		const shop::Catalogue catalogue(catalogue_size);
		shop::Sessions sessions;
		shop::Log log(directory.file("server.log"));
		std::vector<std::unique_ptr<shop::Worker>> workers;

		for (unsigned int i = 0; i < options.threads; i++)
			workers.push_back(std::make_unique<shop::Worker>(i,
				std::make_unique<shop::Store>(
					directory.file("store-" + std::to_string(i) + ".db"), catalogue.size()),
				catalogue, sessions, log));
		std::printf("ready pid %d port %u\n", static_cast<int>(getpid()), port);
		std::fflush(stdout);
		accept_connections(listener, workers, options.seconds);
		served = sum_served(workers);
	}
	const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

	kill(load, SIGTERM);
	waitpid(load, nullptr, 0);
	std::printf("served %lu requests in %.1f s, %.0f per second\n", served, seconds, static_cast<double>(served) / seconds);
}

} // namespace

int main(int argc, char **argv)
{
	struct sigaction action = {};

	action.sa_handler = request_stop;
	sigaction(SIGTERM, &action, nullptr);
	sigaction(SIGINT, &action, nullptr);
	action.sa_handler = request_sums;
	sigaction(SIGUSR1, &action, nullptr);
	try {
		run(parse_options(argc, argv));
	} catch (const std::exception &error) {
		std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
		return 2;
	}
	return 0;
}
