/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <sqlite3.h>
#include <stdexcept>

namespace shop
{

namespace
{

constexpr int kept_orders = 4000;

}

void Store::check(int result, const char *what)
{
	if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW)
		throw std::runtime_error(std::string(what) + ": " + sqlite3_errmsg(database_));
}

void Store::execute(const char *sql)
{
	check(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr), sql);
}

sqlite3_stmt *Store::prepare(const char *sql)
{
	sqlite3_stmt *statement = nullptr;

	check(sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr), sql);
	return statement;
}

Store::Store(const std::string &path, std::size_t products)
{
	check(sqlite3_open(path.c_str(), &database_), path.c_str());
	execute("pragma journal_mode = wal; pragma synchronous = off;"
		"create table stock (product integer primary key, remaining integer, sold integer);"
		"create table orders (id integer primary key, session text, product integer, quantity integer, price real);"
		"create index orders_by_product on orders (product); begin");
	sqlite3_stmt *insert = prepare("insert into stock values (?, 100000000, 0)");

	for (std::size_t i = 0; i < products; i++) {
		sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(i));
		check(sqlite3_step(insert), "insert stock");
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	execute("commit");
	select_stock_ = prepare("select remaining, sold from stock where product = ?");
	insert_order_ = prepare("insert into orders (session, product, quantity, price) values (?, ?, ?, ?)");
	update_stock_ = prepare("update stock set remaining = remaining - ?2, sold = sold + ?2 where product = ?1");
	delete_old_ = prepare("delete from orders where id <= ?");
	select_best_ = prepare("select product, sum(quantity * price) as total from orders where id > ? group by product "
			       "order by total desc, product limit ?");
}

Store::~Store()
{
	for (sqlite3_stmt *statement : { select_stock_, insert_order_, update_stock_, delete_old_, select_best_ })
		sqlite3_finalize(statement);
	sqlite3_close(database_);
}

Stock Store::stock(int product)
{
	Stock stock;

	sqlite3_bind_int(select_stock_, 1, product);
	if (sqlite3_step(select_stock_) == SQLITE_ROW)
		stock = { sqlite3_column_int(select_stock_, 0), sqlite3_column_int(select_stock_, 1) };
	sqlite3_reset(select_stock_);
	return stock;
}

long long Store::insert_order(const std::string &session, const std::vector<OrderLine> &lines)
{
	execute("begin");
	for (const auto &line : lines) {
		sqlite3_bind_text(insert_order_, 1, session.c_str(), -1, SQLITE_TRANSIENT);
		sqlite3_bind_int(insert_order_, 2, line.product);
		sqlite3_bind_int(insert_order_, 3, line.quantity);
		sqlite3_bind_double(insert_order_, 4, line.price);
		check(sqlite3_step(insert_order_), "insert order");
		sqlite3_reset(insert_order_);
		sqlite3_bind_int(update_stock_, 1, line.product);
		sqlite3_bind_int(update_stock_, 2, line.quantity);
		check(sqlite3_step(update_stock_), "update stock");
		sqlite3_reset(update_stock_);
	}
	const long long id = sqlite3_last_insert_rowid(database_);

	sqlite3_bind_int64(delete_old_, 1, id - kept_orders);
	check(sqlite3_step(delete_old_), "delete orders");
	sqlite3_reset(delete_old_);
	execute("commit");
	return id;
}

std::vector<Sales> Store::best_sellers(int limit)
{
	std::vector<Sales> sales;

	sqlite3_bind_int64(select_best_, 1, sqlite3_last_insert_rowid(database_) - 400);
	sqlite3_bind_int(select_best_, 2, limit);
	while (sqlite3_step(select_best_) == SQLITE_ROW)
		sales.push_back({ sqlite3_column_int(select_best_, 0), sqlite3_column_double(select_best_, 1) });
	sqlite3_reset(select_best_);
	return sales;
}

} // namespace shop
