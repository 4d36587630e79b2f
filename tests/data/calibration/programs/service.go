// SPDX-License-Identifier: GPL-3.0-or-later

// A service of net/http that renders templates and compresses: service PORT.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"html/template"
	"net/http"
	"os"
	"sort"
	"strings"
)

type order struct {
	ID    int
	Name  string
	Price float64
}

var (
	orders []order
	page   = template.Must(template.New("page").Parse("<table>{{range .}}<tr><td>{{.ID}}</td><td>{{.Name}}</td></tr>{{end}}</table>"))
	text   []byte
)

func list(w http.ResponseWriter, _ *http.Request) {
	var out bytes.Buffer
	if page.Execute(&out, orders[:60]) == nil {
		w.Write(out.Bytes())
	}
}

func compressed(w http.ResponseWriter, _ *http.Request) {
	var out bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&out, 1)
	writer.Write(text)
	writer.Close()
	w.Write(out.Bytes())
}

func parsed(w http.ResponseWriter, _ *http.Request) {
	var read []order
	if json.Unmarshal(text, &read) != nil {
		return
	}
	sort.Slice(read, func(i, j int) bool { return read[i].Name < read[j].Name })
	words := map[string]int{}
	for _, o := range read {
		for _, word := range strings.Fields(o.Name) {
			words[word]++
		}
	}
	json.NewEncoder(w).Encode(words)
}

func main() {
	for i := 0; i < 100; i++ {
		orders = append(orders, order{i, "order " + string(rune('a'+i*7919%26)) + " of customer " + string(rune('a'+i%9)), float64(i) * 1.25})
	}
	text, _ = json.Marshal(orders)
	http.HandleFunc("/list", list)
	http.HandleFunc("/compressed", compressed)
	http.HandleFunc("/parsed", parsed)
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
