// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type shape interface{ area() float64 }
type square struct{ side float64 }

func (s *square) area() float64 { return s.side * s.side }

func small(a, b int) int { return twice(a) + b }
func twice(a int) int    { return a * 2 }

//go:noinline
func work(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += small(i, n)
	}
	f := func(x int) int { return x + sum }
	return f(n)
}

func main() {
	words := strings.Fields(strings.Join(os.Args, " "))
	sort.Slice(words, func(i, j int) bool { return words[i] < words[j] })
	var s shape = &square{float64(len(words))}
	fmt.Println(words, work(len(words)), s.area())
}
