/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace shop
{

struct Stock {
	int left = 0, sold = 0;
};

struct OrderLine {
	int product, quantity;
	double price;
};

struct Sales {
	int product;
	double sum;
};

/* A worker's own SQLite database file. Not thread-safe; each worker has one. Throws std::runtime_error. */
class Store
{
      public:
	Store(const std::string &path, std::size_t products);
	~Store();
	Store(const Store &) = delete;
	Store &operator=(const Store &) = delete;

	Stock stock(int product);
	/* Returns the order's number. Older orders than the last few thousand are removed, so that the load stays the
	 * same. */
	long long insert_order(const std::string &session, const std::vector<OrderLine> &lines);
	std::vector<Sales> best_sellers(int limit);

      private:
	void execute(const char *sql);
	sqlite3_stmt *prepare(const char *sql);
	void check(int result, const char *what);

	sqlite3 *database_ = nullptr;
	sqlite3_stmt *select_stock_ = nullptr, *insert_order_ = nullptr, *update_stock_ = nullptr,
		     *delete_old_ = nullptr, *select_best_ = nullptr;
};

} // namespace shop
