// SPDX-License-Identifier: GPL-3.0-or-later

package suite

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

var numbers = rand.New(rand.NewSource(1)).Perm(2000)

func BenchmarkFib(b *testing.B) {
	for i := 0; i < b.N; i++ {
		workFib(15)
	}
}

func BenchmarkSort(b *testing.B) {
	for i := 0; i < b.N; i++ {
		workSort(numbers)
	}
}

func BenchmarkParse(b *testing.B) {
	text := strings.Repeat("12.5 3 4711.25 ", 500)
	b.SetBytes(int64(len(text)))
	for i := 0; i < b.N; i++ {
		workParse(text)
	}
}

func BenchmarkMap(b *testing.B) {
	for _, size := range []int{200, 2000} {
		b.Run(fmt.Sprintf("keys=%d", size), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				workMap(numbers[:size])
			}
			b.ReportMetric(float64(size), "keys/op")
		})
	}
}
