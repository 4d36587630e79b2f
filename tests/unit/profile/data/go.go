// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"os"
	"runtime/pprof"
	"time"
)

//go:noinline
func burn(until time.Time) (sum int) {
	for i := 0; ; i++ {
		sum += i * i
		if i&0xfffff == 0 && time.Now().After(until) {
			return sum
		}
	}
}

func main() {
	if err := pprof.StartCPUProfile(os.Stdout); err != nil {
		panic(err)
	}
	os.Exit(func() int {
		sum := burn(time.Now().Add(2 * time.Second))
		pprof.StopCPUProfile()
		return sum & 0
	}())
}
