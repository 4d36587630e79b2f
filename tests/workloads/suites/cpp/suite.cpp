// SPDX-License-Identifier: GPL-3.0-or-later
// The four benchmarks that the suites of all languages have, for google-benchmark: Debian's, or CodSpeed's with the same interface.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

std::vector<int> some_numbers(size_t count)
{
	std::vector<int> numbers;
	unsigned state = 1;

	while (numbers.size() < count)
		numbers.push_back((state = state * 1664525 + 1013904223) >> 8);
	return numbers;
}

__attribute__((noinline)) int work_fib(int n)
{
	return n < 2 ? n : work_fib(n - 1) + work_fib(n - 2);
}

__attribute__((noinline)) void work_sort(std::vector<int> &values)
{
	for (size_t gap : { 701, 301, 132, 57, 23, 10, 4, 1 })
		for (size_t i = gap; i < values.size(); i++) {
			int value = values[i];
			size_t j = i;

			for (; j >= gap && values[j - gap] > value; j -= gap)
				values[j] = values[j - gap];
			values[j] = value;
		}
}

__attribute__((noinline)) double work_parse(const std::string &text)
{
	double sum = 0;

	for (const char *pos = text.c_str(); *pos; pos++) {
		char *end;

		sum += strtod(pos, &end);
		pos = end;
	}
	return sum;
}

__attribute__((noinline)) size_t work_map(const std::vector<int> &keys)
{
	std::unordered_map<int, long> sums;

	for (int key : keys)
		sums[key % 509] += key;
	return sums.size();
}

void BM_fib(benchmark::State &state)
{
	for (auto _ : state)
		benchmark::DoNotOptimize(work_fib(15));
}
BENCHMARK(BM_fib);

void BM_sort(benchmark::State &state)
{
	const std::vector<int> numbers = some_numbers(2000);

	for (auto _ : state) {
		std::vector<int> values = numbers;

		work_sort(values);
		benchmark::DoNotOptimize(values.data());
	}
}
BENCHMARK(BM_sort)->Unit(benchmark::kMicrosecond);

void BM_parse(benchmark::State &state)
{
	std::string text;

	for (int i = 0; i < 200; i++)
		text += "12.5 3 4711.25 ";
	for (auto _ : state)
		benchmark::DoNotOptimize(work_parse(text));
	state.SetBytesProcessed(state.iterations() * text.size());
}
BENCHMARK(BM_parse)->Unit(benchmark::kMillisecond);

void BM_map(benchmark::State &state)
{
	const std::vector<int> numbers = some_numbers(state.range(0));

	for (auto _ : state)
		benchmark::DoNotOptimize(work_map(numbers));
}
BENCHMARK(BM_map)->Arg(200)->Arg(2000);

} // namespace

BENCHMARK_MAIN();
