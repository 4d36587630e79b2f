// SPDX-License-Identifier: GPL-3.0-or-later

// A suite of Go's testing package: ten kinds of work in five sizes.
package suite

import (
	"bytes"
	"compress/flate"
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"testing"
)

type row struct {
	ID   int
	Name string
}

func numbers(count int) []int {
	all, next := make([]int, count), uint32(7)
	for i := range all {
		next = next*1103515245 + 12345
		all[i] = int(next >> 8 & 0xffff)
	}
	return all
}

func rows(count int) (all []row) {
	for i, number := range numbers(count) {
		all = append(all, row{i, fmt.Sprint("name ", number)})
	}
	return all
}

var works = map[string]func(size int) func(){
	"Sort": func(size int) func() {
		all := numbers(size)
		return func() { sort.Ints(append([]int(nil), all...)) }
	},
	"Map": func(size int) func() {
		all := numbers(size)
		return func() {
			counts := map[int]int{}
			for _, number := range all {
				counts[number]++
			}
		}
	},
	"Marshal": func(size int) func() {
		all := rows(size / 8)
		return func() { json.Marshal(all) }
	},
	"Unmarshal": func(size int) func() {
		text, _ := json.Marshal(rows(size / 8))
		return func() {
			var all []row
			json.Unmarshal(text, &all)
		}
	},
	"Sprintf": func(size int) func() {
		return func() {
			for i := 0; i < size/4; i++ {
				_ = fmt.Sprintf("%d;%s;%.2f", i, "name", float64(i)*1.25)
			}
		}
	},
	"Regexp": func(size int) func() {
		pattern := regexp.MustCompile("e ([0-9]+)7,")
		text, _ := json.Marshal(rows(size / 8))
		return func() { pattern.FindAllIndex(text, -1) }
	},
	"Fields": func(size int) func() {
		text := strings.Repeat("some words of text ", size/4)
		return func() { strings.Fields(text) }
	},
	"Hash": func(size int) func() {
		text := bytes.Repeat([]byte("text of 16 bytes"), size/8)
		return func() { sha256.Sum256(text) }
	},
	"Flate": func(size int) func() {
		text, _ := json.Marshal(rows(size / 8))
		return func() {
			var out bytes.Buffer
			writer, _ := flate.NewWriter(&out, 1)
			writer.Write(text)
			writer.Close()
		}
	},
	"List": func(size int) func() {
		return func() {
			all := list.New()
			for i := 0; i < size; i++ {
				all.PushBack(i)
			}
		}
	},
}

func BenchmarkWork(b *testing.B) {
	var names []string
	for name := range works {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		for _, size := range []int{64, 256, 1024, 4096, 16384} {
			b.Run(fmt.Sprint(name, size), func(b *testing.B) {
				work := works[name](size)
				b.ResetTimer()
				for i := 0; i < b.N; i++ {
					work()
				}
			})
		}
	}
}
