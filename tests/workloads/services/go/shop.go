// SPDX-License-Identifier: GPL-3.0-or-later

// A service of net/http: shop PORT. CHANGE names what its next release does in another way.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

type order struct {
	ID    int      `json:"id"`
	Name  string   `json:"name"`
	Tags  []string `json:"tags"`
	Price float64  `json:"price"`
}

const skuPattern = `^(sku|art)-([0-9]{1,6})(-[a-z]+)?$`

var (
	change   = os.Getenv("CHANGE")
	requests atomic.Int64
	sku      = regexp.MustCompile(skuPattern)
	orders   []order
	lock     sync.Mutex
	cache    = map[int]*order{}
)

//go:noinline
func isSku(text string) bool {
	if change == "pattern" {
		return regexp.MustCompile(skuPattern).MatchString(text)
	}
	return sku.MatchString(text)
}

func check() string {
	good := 0
	for i := range orders[:150] {
		if isSku(orders[i].Name) {
			good++
		}
	}
	return fmt.Sprint(good)
}

//go:noinline
func audit(found []order) string {
	text, err := json.Marshal(found)
	if err != nil {
		return ""
	}
	return string(text)
}

//go:noinline
func byPrice() []order {
	found := append([]order(nil), orders...)
	sort.Slice(found, func(i, k int) bool { return found[i].Price < found[k].Price })
	return found
}

func list() string {
	found := byPrice()
	if change == "audit" {
		return fmt.Sprint(len(audit(found)))
	}
	return fmt.Sprint(len(found))
}

//go:noinline
func join() string {
	if change == "concat" {
		text := ""
		for i := range orders {
			text += orders[i].Name + ","
		}
		return text
	}
	var text strings.Builder
	for i := range orders {
		text.WriteString(orders[i].Name)
		text.WriteByte(',')
	}
	return text.String()
}

// Leaves garbage beside what stays alive.
func allocate() string {
	lock.Lock()
	defer lock.Unlock()
	for i := 0; i < 400; i++ {
		cache[i] = &order{ID: i, Tags: make([]string, 8)}
	}
	return fmt.Sprint(len(cache))
}

func main() {
	count, err := os.Create(fmt.Sprintf("%s/%d", os.Getenv("SERVICE_COUNTS"), os.Getpid()))
	if err != nil {
		panic(err)
	}
	for i := 0; i < 600; i++ {
		orders = append(orders, order{ID: i, Name: fmt.Sprintf("sku-%d", i*7919%100000), Tags: []string{"a", "b"}, Price: float64(i * 31 % 97)})
	}
	for i := 0; i < 200000; i++ {
		cache[i] = &order{ID: i, Name: "kept"}
	}
	handle := func(path string, answer func() string) {
		http.HandleFunc(path, func(out http.ResponseWriter, _ *http.Request) {
			count.WriteAt([]byte(fmt.Sprintf("%d\n", requests.Add(1))), 0)
			fmt.Fprint(out, answer())
		})
	}
	handle("/check", check)
	handle("/list", list)
	handle("/join", join)
	handle("/allocate", allocate)
	if err := http.ListenAndServe("127.0.0.1:"+os.Args[1], nil); err != nil {
		panic(err)
	}
}
