// SPDX-License-Identifier: GPL-3.0-or-later

// A program whose samples say for which route they are: go_routes FILE WORK, where /upload does WORK times as much as usual.
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"strconv"
)

//go:noinline
func mix(n int) uint64 {
	x := uint64(n)
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

var sink uint64

func serve(route string, n int) {
	labels := pprof.Labels("route", route, "trace_id", strconv.FormatUint(sink, 16))
	pprof.Do(context.Background(), labels, func(context.Context) { sink += mix(n) })
}

func main() {
	work, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		panic(err)
	}
	for i := 0; i < 40; i++ {
		serve("/upload", 2000000*work)
		serve("/list", 6000000)
		sink += mix(2000000)
	}
	pprof.StopCPUProfile()
	if err := file.Close(); err != nil {
		panic(err)
	}
}
