// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the profiles that Go's runtime/pprof makes: heap, allocs, mutex, block, goroutine, cpu.
// Usage: kinds DIRECTORY [extra]; "extra": cacheRows() allocates 1 GB more and keeps 64 MB of it.
package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

var kept [][]byte
var text []string

//go:noinline
func keepRows(n int) {
	for i := 0; i < n; i++ {
		kept = append(kept, make([]byte, 48<<10))
	}
}

//go:noinline
func splitLines(n int) {
	for i := 0; i < n; i++ {
		text = strings.Split(strings.Repeat("line of text\n", 200), "\n")
	}
}

//go:noinline
func readBlocks(n int) {
	for i := 0; i < n; i++ {
		kept[i%len(kept)] = make([]byte, 1<<20)
	}
	for i := range kept {
		kept[i] = make([]byte, 48<<10)
	}
}

//go:noinline
func cacheRows(n int) {
	for i := 0; i < n; i++ {
		row := make([]byte, 32<<10)
		if i%16 == 0 {
			kept = append(kept, row)
		}
	}
}

//go:noinline
func lockCounter(n int) {
	var mutex sync.Mutex
	var group sync.WaitGroup
	for w := 0; w < 8; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < n; i++ {
				mutex.Lock()
				for k := 0; k < 5000; k++ {
					runtime.KeepAlive(k)
				}
				mutex.Unlock()
				runtime.Gosched()
			}
		}()
	}
	group.Wait()
}

//go:noinline
func passMessages(n int) {
	channel := make(chan int)
	go func() {
		for i := 0; i < n; i++ {
			time.Sleep(20 * time.Microsecond)
			channel <- i
		}
		close(channel)
	}()
	for range channel {
	}
}

func idle(stop chan bool) { <-stop }

func write(directory, kind string) {
	file, err := os.Create(filepath.Join(directory, kind+".pb.gz"))
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := pprof.Lookup(kind).WriteTo(file, 0); err != nil {
		panic(err)
	}
}

func main() {
	directory := os.Args[1]
	runtime.SetMutexProfileFraction(5)
	runtime.SetBlockProfileRate(1)
	cpu, err := os.Create(filepath.Join(directory, "cpu.pb.gz"))
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		panic(err)
	}
	keepRows(800)
	splitLines(60000)
	readBlocks(900)
	if len(os.Args) > 2 {
		cacheRows(32768)
	}
	lockCounter(4000)
	passMessages(2000)
	stop := make(chan bool)
	for i := 0; i < 100; i++ {
		go idle(stop)
	}
	pprof.StopCPUProfile()
	runtime.GC()
	for _, kind := range []string{"heap", "allocs", "mutex", "block", "goroutine", "threadcreate"} {
		write(directory, kind)
	}
	close(stop)
}
