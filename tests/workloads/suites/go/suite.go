// SPDX-License-Identifier: GPL-3.0-or-later

// Package suite has the work of the four benchmarks that the suites of all languages have.
package suite

//go:noinline
func workFib(n int) int {
	if n < 2 {
		return n
	}
	return workFib(n-1) + workFib(n-2)
}

//go:noinline
func workSort(source []int) []int {
	values := append([]int(nil), source...)
	for _, gap := range []int{701, 301, 132, 57, 23, 10, 4, 1} {
		for i := gap; i < len(values); i++ {
			value, j := values[i], i
			for ; j >= gap && values[j-gap] > value; j -= gap {
				values[j] = values[j-gap]
			}
			values[j] = value
		}
	}
	return values
}

//go:noinline
func workParse(text string) float64 {
	sum, value, scale := 0.0, 0.0, 0.0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9' && scale == 0:
			value = value*10 + float64(c-'0')
		case c >= '0' && c <= '9':
			value += float64(c-'0') * scale
			scale /= 10
		case c == '.':
			scale = 0.1
		default:
			sum += value
			value, scale = 0, 0
		}
	}
	return sum
}

//go:noinline
func workMap(keys []int) map[int]int {
	counts := make(map[int]int)
	for _, key := range keys {
		counts[key%509] += key
	}
	return counts
}
