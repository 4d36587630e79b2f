// SPDX-License-Identifier: GPL-3.0-or-later
// A suite of google-benchmark: ten kinds of work in five sizes.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cmath>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

static std::vector<int> numbers(long count)
{
	std::vector<int> all(static_cast<size_t>(count));
	unsigned next = 7;

	for (int &number : all)
		number = static_cast<int>((next = next * 1103515245 + 12345) >> 8 & 0xffff);
	return all;
}

static void sort_numbers(benchmark::State &state)
{
	const std::vector<int> all = numbers(state.range(0));

	for (auto _ : state) {
		std::vector<int> copy = all;
		std::sort(copy.begin(), copy.end());
		benchmark::DoNotOptimize(copy.data());
	}
}

static void fill_map(benchmark::State &state)
{
	const std::vector<int> all = numbers(state.range(0));

	for (auto _ : state) {
		std::map<int, int> counts;
		for (int number : all)
			counts[number]++;
		benchmark::DoNotOptimize(counts.size());
	}
}

static void fill_hash(benchmark::State &state)
{
	const std::vector<int> all = numbers(state.range(0));

	for (auto _ : state) {
		std::unordered_map<std::string, int> counts;
		for (int number : all)
			counts[std::to_string(number)]++;
		benchmark::DoNotOptimize(counts.size());
	}
}

static void format_stream(benchmark::State &state)
{
	for (auto _ : state) {
		std::ostringstream out;
		for (long i = 0; i < state.range(0); i++)
			out << i << ';' << static_cast<double>(i) * 1.25 << '\n';
		benchmark::DoNotOptimize(out.str().size());
	}
}

static void search_text(benchmark::State &state)
{
	std::string text;

	for (int number : numbers(state.range(0)))
		text += "word" + std::to_string(number) + " ";
	for (auto _ : state)
		benchmark::DoNotOptimize(text.find("word99999"));
}

static void match_regex(benchmark::State &state)
{
	const std::regex pattern("w([0-9]+)7 ");
	std::string text;

	for (int number : numbers(state.range(0) / 8 + 1))
		text += "w" + std::to_string(number) + " ";
	for (auto _ : state)
		benchmark::DoNotOptimize(std::distance(std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()));
}

static void walk_list(benchmark::State &state)
{
	const std::vector<int> all = numbers(state.range(0));
	const std::list<int> list(all.begin(), all.end());

	for (auto _ : state)
		benchmark::DoNotOptimize(std::accumulate(list.begin(), list.end(), 0L));
}

static void multiply(benchmark::State &state)
{
	const int size = static_cast<int>(std::sqrt(static_cast<double>(state.range(0))));
	std::vector<double> a(static_cast<size_t>(size * size), 1.5), b = a, c = a;

	for (auto _ : state) {
		for (int i = 0; i < size; i++)
			for (int j = 0; j < size; j++) {
				double sum = 0;
				for (int k = 0; k < size; k++)
					sum += a[static_cast<size_t>(i * size + k)] * b[static_cast<size_t>(k * size + j)];
				c[static_cast<size_t>(i * size + j)] = sum;
			}
		benchmark::DoNotOptimize(c.data());
	}
}

static void allocate(benchmark::State &state)
{
	for (auto _ : state) {
		std::vector<std::unique_ptr<char[]>> all;
		for (long i = 0; i < state.range(0); i++)
			all.push_back(std::make_unique<char[]>(static_cast<size_t>(16 + i % 200)));
		benchmark::DoNotOptimize(all.data());
	}
}

static void hash_bytes(benchmark::State &state)
{
	const std::vector<int> all = numbers(state.range(0));

	for (auto _ : state) {
		unsigned long hash = 14695981039346656037UL;
		for (int number : all)
			hash = (hash ^ static_cast<unsigned>(number)) * 1099511628211UL;
		benchmark::DoNotOptimize(hash);
	}
}

#define SIZES ->Arg(64)->Arg(256)->Arg(1024)->Arg(4096)->Arg(16384)
BENCHMARK(sort_numbers) SIZES;
BENCHMARK(fill_map) SIZES;
BENCHMARK(fill_hash) SIZES;
BENCHMARK(format_stream) SIZES;
BENCHMARK(search_text) SIZES;
BENCHMARK(match_regex) SIZES;
BENCHMARK(walk_list) SIZES;
BENCHMARK(multiply) SIZES;
BENCHMARK(allocate) SIZES;
BENCHMARK(hash_bytes) SIZES;
BENCHMARK_MAIN();
