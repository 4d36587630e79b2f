/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "catalogue.h"
#include "http.h"
#include "log.h"
#include "store.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace shop
{

struct Session {
	std::string user;
	std::vector<int> visited;
	unsigned long requests = 0;
};

/* Sessions of all workers. */
class Sessions
{
      public:
	/* Counts a request of the session and remembers the product, if any (>= 0); returns the session's number of
	 * requests. */
	unsigned long touch(const std::string &id, int product);

      private:
	std::mutex mutex_;
	std::map<std::string, Session> sessions_;
};

/* What a worker answers with. The catalogue, sessions and log are shared; the store is the worker's own. */
class Service
{
      public:
	Service(const Catalogue &catalogue, Sessions &sessions, Log &log, Store &store);

	Response handle(const Request &request);

      private:
	Response show_product(const Request &request);
	Response search(const Request &request);
	Response order(const Request &request);
	Response report(const Request &request);
	std::string product_rows(const std::vector<Hit> &hits, const std::string &query) const;

	const Catalogue &catalogue_;
	Sessions &sessions_;
	Log &log_;
	Store &store_;
	std::map<std::string, Response (Service::*)(const Request &)> routes_;
};

} // namespace shop
