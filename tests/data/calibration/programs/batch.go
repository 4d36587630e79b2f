// SPDX-License-Identifier: GPL-3.0-or-later

// Reads lines of JSON, hashes, compresses and sorts them: batch FOLDER.
package main

import (
	"bufio"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"sort"
)

type row struct {
	ID    int      `json:"id"`
	Name  string   `json:"name"`
	Price float64  `json:"price"`
	Tags  []string `json:"tags"`
}

func read(path string) (rows []row) {
	file, _ := os.Open(path)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var one row
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			rows = append(rows, one)
		}
	}
	return rows
}

func countTags(rows []row) map[string]int {
	counts := map[string]int{}
	for _, one := range rows {
		for _, tag := range one.Tags {
			counts[tag]++
		}
	}
	return counts
}

func matching(rows []row) (found int) {
	pattern := regexp.MustCompile("([a-f]+) ([g-m]+)[a-z]* ")
	for _, one := range rows[:len(rows)/2] {
		if pattern.MatchString(one.Name) {
			found++
		}
	}
	return found
}

func hash(rows []row) string {
	sum := sha256.New()
	packed, _ := flate.NewWriter(io.Discard, 6)
	for _, one := range rows[:len(rows)/3] {
		text, _ := json.Marshal(one)
		sum.Write(text)
		packed.Write(text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func main() {
	rows := read(os.Args[1] + "/rows.json")
	sort.Slice(rows, func(i, j int) bool { return rows[i].Name < rows[j].Name })
	fmt.Println(len(countTags(rows)), matching(rows), hash(rows))
}
