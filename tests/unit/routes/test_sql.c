/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/sql.h"
#include "sampler/routes/table.h"
#include "tests/unit/routes/taking.h"

static void assert_sql(const char *sql, enum sql_dialect dialect, bool is_cut, const char *expected)
{
	struct routes *routes = routes_create();
	size_t size = strlen(sql);
	char *exact = malloc(size ? size : 1);
	uint32_t leaf;

	memcpy(exact, sql, size);
	leaf = sql_enter(routes, text_over(exact, size), is_cut, dialect);
	if (leaf != PLACE_NONE)
		places_count(routes, leaf, ROUTES_POSTGRESQL);
	routes_finish(routes);
	if (strcmp(leaf == PLACE_NONE ? "" : routes_name(routes, routes_final(routes, leaf)), expected) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", sql,
			leaf == PLACE_NONE ? "" : routes_name(routes, routes_final(routes, leaf)), expected);
	free(exact);
	routes_destroy(routes);
}

static void assert_postgresql(const char *sql, const char *expected)
{
	assert_sql(sql, SQL_POSTGRESQL, false, expected);
}

static void assert_mysql(const char *sql, const char *expected)
{
	assert_sql(sql, SQL_MYSQL, false, expected);
}

static void statements_are_a_verb_and_a_table(void **state)
{
	assert_postgresql("SELECT * FROM orders WHERE id = 17", "select orders");
	assert_postgresql("select a.x, b.y from public.orders a join users b on true", "select orders");
	assert_postgresql("SELECT \"auth_user\".\"id\" FROM \"auth_user\" WHERE 1=1", "select auth_user");
	assert_postgresql("  (SELECT 1)  ", "select");
	assert_postgresql("select count(*) from (select id from orders) x", "select orders");
	assert_postgresql("select (select max(x) from prices) from orders", "select prices");
	assert_postgresql("with recent as (select * from events) select * from recent", "with events");
	assert_postgresql("insert into orders (a, b) values (1, 'x')", "insert orders");
	assert_postgresql("INSERT INTO\n\t\"orders\"\nVALUES (1)", "insert orders");
	assert_postgresql("update only orders set a = 1", "update orders");
	assert_postgresql("delete from orders using users", "delete orders");
	assert_postgresql("copy orders (a, b) from stdin", "copy orders");
	assert_postgresql("copy (select * from orders) to stdout", "copy orders");
	assert_postgresql("truncate table orders", "truncate orders");
	assert_postgresql("BEGIN", "begin");
	assert_postgresql("commit;", "commit");
	assert_postgresql("set search_path to 'secret'", "set");
	assert_postgresql("create table customers_secret (x int)", "create");
	assert_postgresql("execute plan(17)", "execute plan");
	assert_postgresql("frobnicate the secret", "(other statement)");
	assert_postgresql("", "(empty statement)");
	assert_mysql("SELECT `id` FROM `shop`.`orders` WHERE name = \"bob\"", "select orders");
	assert_mysql("insert ignore into orders values (1)", "insert orders");
	assert_mysql("replace into orders values (1)", "replace orders");
	assert_mysql("CALL refresh_totals(17)", "call refresh_totals");
}

static void from_of_a_function_is_no_table(void **state)
{
	assert_postgresql("select extract(year from created) from orders", "select orders");
	assert_postgresql("select substring(name from secret) from orders", "select orders");
	assert_postgresql("select trim(both from secret), x from orders", "select orders");
	assert_postgresql("select a is distinct from secret from orders", "select orders");
	assert_postgresql("select extract(day from (select x from days)) from orders", "select days");
}

static void literals_and_comments_reach_no_name(void **state)
{
	static const char *const statements[] = {
		"select 'from secret' from orders",
		"select 'it''s from secret' from orders",
		"select E'a\\'from secret' from orders",
		"select e'\\\\' , ' from secret ' from orders",
		"select N'from secret', B'01', x'ff' from orders",
		"select U&'from secret' from orders",
		"select $$from secret$$ from orders",
		"select $tag$from $$ secret$tag$ from orders",
		"select $1, $2 from orders",
		"select 1.5e10, .5, 0x1F from orders",
		"/* from secret */ select 1 from orders",
		"-- from secret\nselect 1 from orders",
		"select /* from secret */ 1 -- from secret\n from /* secret */ orders",
		"select 1 from -- secret\n orders",
		"/*traceparent='00-aa-bb-01'*/ select 1 from orders",
		"select \"from secret\" from orders",
	};
	static const char *const of_mysql[] = {
		"select \"from secret\" from orders",
		"select 'a\\'from secret' from orders",
		"select \"a\\\"from secret\" from orders",
		"select 1 # from secret\n from orders",
		"select 'x' 'from secret' from `orders`",
		"/*! straight_join from secret */ select 1 from orders",
	};

	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
		assert_postgresql(statements[i], "select orders");
	for (size_t i = 0; i < sizeof(of_mysql) / sizeof(*of_mysql); i++)
		assert_mysql(of_mysql[i], "select orders");
	/* A literal where a table would be, and names that are data. */
	assert_postgresql("select 1 from 'secret'", "select");
	assert_mysql("select 1 from \"secret\"", "select");
	assert_postgresql("select 1 from \"bob@example.com\"", "select {id}");
	assert_postgresql("select 1 from orders_2024_11", "select {id}");
	assert_postgresql("select 1 from tmp_9f86d081884c", "select {id}");
	assert_postgresql("select 1 from \"a\x1b[2Jb\"", "select {id}");
	assert_postgresql("select 1 from caf\xc3\xa9", "select {id}");
	assert_postgresql("delete from only 'secret'", "delete");
}

static void what_is_cut_is_not_named(void **state)
{
	static const char sql[] = "select name, 'a secret', $$secret$$ from shop.orders where email = 'secret'";

	for (size_t size = 0; size < strlen(sql); size++) {
		char *cut = strndup(sql, size);
		bool has_table = size > strlen("select name, 'a secret', $$secret$$ from shop.orders");

		assert_sql(cut, SQL_POSTGRESQL, true,
			size <= 0                 ? "(statement not seen)"
			: size < strlen("select") ? "(other statement)"
			: has_table               ? "select orders"
						  : "select {…}");
		free(cut);
	}
	assert_sql("select 1", SQL_POSTGRESQL, true, "select {…}");
	assert_sql("/* a comment that does not end", SQL_POSTGRESQL, true, "(statement not seen)");
	assert_sql("17", SQL_POSTGRESQL, false, "");
}

static void long_statements_cost_in_proportion(void **state)
{
	size_t size = 1 << 20;
	char *sql = malloc(size + 1);
	static const char *const pieces[] = { "(", "select from ", "'", "$a$ ", "/*", "from (", "a.", "\"\"" };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		struct routes *routes = routes_create();

		for (size_t at = 0; at < size; at++)
			sql[at] = pieces[i][at % strlen(pieces[i])];
		memcpy(sql, "select ", 7);
		sql_enter(routes, text_over(sql, size), true, SQL_POSTGRESQL);
		sql_enter(routes, text_over(sql, size), true, SQL_MYSQL);
		routes_destroy(routes);
	}
	free(sql);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_are_a_verb_and_a_table),
		cmocka_unit_test(from_of_a_function_is_no_table),
		cmocka_unit_test(literals_and_comments_reach_no_name),
		cmocka_unit_test(what_is_cut_is_not_named),
		cmocka_unit_test(long_statements_cost_in_proportion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
