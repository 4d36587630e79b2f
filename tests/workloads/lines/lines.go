// SPDX-License-Identifier: GPL-3.0-or-later

// Lines that cost what the program says: `lines ROUNDS`. Rounds differ in length, so that no sampling keeps step.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

const (
	threadClock = 3
	unit        = 2500
)

var (
	laps = map[int]int64{}
	last int64
)

func cpu() int64 {
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

// lap charges the time since the last one to the line before its call; less further up.
func lap(further int) {
	now := cpu()
	if _, _, line, ok := runtime.Caller(1); ok && last > 0 {
		laps[line-1-further] += now - last
	}
	last = cpu()
}

func spin(value uint64, units int) uint64 {
	for i := units * unit; i > 0; i, value = i-1, value*6364136223846793005+1442695040888963407 {
	}
	return value
}

//go:noinline
func called(value uint64, units int) uint64 {
	return spin(value, units) + 1
}

//go:noinline
func work(value uint64) uint64 {
	scale := 4 + int(value>>60)
	last = cpu()
	for i := 4 * scale * unit; i > 0; i, value = i-1, value*6364136223846793005+1442695040888963407 {
	}
	lap(1)
	value ^= spin(value, 12*scale)
	lap(0)
	value ^= called(value, 20*scale)
	lap(0)
	func() {
		value ^= spin(value, 8*scale)
		lap(0)
	}()
	return value
}

func main() {
	runtime.LockOSThread()
	rounds, value := 1, uint64(1)
	if len(os.Args) > 1 {
		rounds, _ = strconv.Atoi(os.Args[1])
	}
	start := cpu()
	for ; rounds > 0; rounds-- {
		value = work(value)
	}
	fmt.Println("total", cpu()-start)
	for line, time := range laps {
		fmt.Printf("lines.go:%d %d\n", line, time)
	}
	if value == 42 {
		os.Exit(1)
	}
}
