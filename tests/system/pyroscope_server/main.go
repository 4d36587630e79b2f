// SPDX-License-Identifier: GPL-3.0-or-later

// A Pyroscope for tests: the handlers that Pyroscope's own API generates, over profiles in memory, with its limits as they are by default.
//
//	pyroscope_server FAULTS FILE    writes its port to FILE and serves until it is killed
//
// It keeps whatever it is sent under an id of its own, as Pyroscope does. With FAULTS > 0 about so many of a hundred calls fail: the
// server says 500 or 429, closes before or after it has stored, or stalls. POST /faults?percent=N changes that, POST /token?value=T&writer=W
// makes calls need a token, of which W is for pushing alone, POST /gone takes SelectMergeProfile away. GET /stored: "PROFILES SAMPLES" and a line "LABELS TIME TOTAL"
// each.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"connectrpc.com/connect"
	googlev1 "github.com/grafana/pyroscope/api/gen/proto/go/google/v1"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"
)

const (
	maxBytes   = 4 << 20
	maxSamples = 16000
	maxDepth   = 1000
	maxLabels  = 30
)

type stored struct {
	labels  map[string]string
	profile *googlev1.Profile
}

type server struct {
	querierv1connect.UnimplementedQuerierServiceHandler
	mutex    sync.Mutex
	profiles []stored
	percent  int
	token    string
	writer   string // a token that may push and not ask
	isGone   bool
}

func refuse(format string, arguments ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf(format, arguments...))
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.]*$`)

func labelsOf(pairs []*typesv1.LabelPair) (map[string]string, error) {
	labels := map[string]string{}
	last := ""
	for _, pair := range pairs {
		if !labelName.MatchString(pair.Name) || len(pair.Name) > 1024 {
			return nil, refuse("profile with labels has invalid label names")
		}
		if !utf8.ValidString(pair.Value) || len(pair.Value) > 2048 {
			return nil, refuse("profile has label value too long or invalid")
		}
		if pair.Name <= last {
			return nil, refuse("labels are not sorted, or one is there twice: %s", pair.Name)
		}
		last = pair.Name
		labels[pair.Name] = pair.Value
	}
	if len(labels) > maxLabels {
		return nil, refuse("profile series has %d label names; limit %d", len(labels), maxLabels)
	}
	if labels["service_name"] == "" || labels["__name__"] == "" {
		return nil, refuse("service name is not provided, or profile name")
	}
	return labels, nil
}

// validate is ValidateProfile of pkg/validation/validate.go.
func validate(profile *googlev1.Profile, size int) error {
	if size > maxBytes {
		return refuse("the profile exceeds the size limit (max_profile_size_byte, actual: %d, limit: %d)", size, maxBytes)
	}
	if len(profile.Sample) > maxSamples {
		return refuse("the profile exceeds the samples count limit (max_profile_stacktrace_samples, actual: %d)", len(profile.Sample))
	}
	now := time.Now().UnixNano()
	if profile.TimeNanos < now-int64(time.Hour) || profile.TimeNanos > now+10*int64(time.Minute) {
		return refuse("profile is not within ingestion window (profile timestamp: %s)", time.Unix(0, profile.TimeNanos))
	}
	for _, text := range profile.StringTable {
		if !utf8.ValidString(text) {
			return refuse("invalid utf8 string hex")
		}
	}
	if len(profile.SampleType) == 0 {
		return refuse("empty profile")
	}
	for _, kind := range profile.SampleType {
		if strings.Contains(profile.StringTable[kind.Type], "-") {
			return refuse("sample type contains -")
		}
	}
	for _, sample := range profile.Sample {
		if len(sample.LocationId) > maxDepth {
			sample.LocationId = sample.LocationId[len(sample.LocationId)-maxDepth:]
		}
		if len(sample.Value) != len(profile.SampleType) {
			return refuse("sample value length mismatch")
		}
		if len(sample.Label) > 0 {
			return refuse("labels of samples split the series; none are wanted in this test")
		}
		for _, id := range sample.LocationId {
			if id == 0 || id > uint64(len(profile.Location)) || profile.Location[id-1].Id != id {
				return refuse("a location is not there: %d", id)
			}
		}
	}
	return nil
}

func unpack(raw []byte) ([]byte, error) {
	if len(raw) < 2 || raw[0] != 0x1f || raw[1] != 0x8b {
		return raw, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

func (s *server) Push(_ context.Context, request *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	for _, series := range request.Msg.Series {
		labels, err := labelsOf(series.Labels)
		if err != nil {
			return nil, err
		}
		for _, sample := range series.Samples {
			raw, err := unpack(sample.RawProfile)
			if err != nil {
				return nil, refuse("%v", err)
			}
			profile := &googlev1.Profile{}
			if err := profile.UnmarshalVT(raw); err != nil {
				return nil, refuse("%v", err)
			}
			if err := validate(profile, len(raw)); err != nil {
				return nil, err
			}
			s.mutex.Lock()
			s.profiles = append(s.profiles, stored{labels, profile})
			s.mutex.Unlock()
		}
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

// ---- Queries ----

var matcher = regexp.MustCompile(`\s*([a-zA-Z_][a-zA-Z0-9_]*)(=~|!=|=)"((?:[^"\\]|\\.)*)"\s*,?`)

func (p stored) matches(selector string) bool {
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(selector), "{"), "}")
	for _, parts := range matcher.FindAllStringSubmatch(inner, -1) {
		value, err := strconv.Unquote(`"` + parts[3] + `"`)
		if err != nil {
			return false
		}
		switch is := p.labels[parts[1]]; parts[2] {
		case "=":
			if is != value {
				return false
			}
		case "!=":
			if is == value {
				return false
			}
		case "=~":
			if ok, _ := regexp.MatchString("^(?:"+value+")$", is); !ok {
				return false
			}
		}
	}
	return true
}

// column tells which of the profile's values is of the type; -1: none.
func (p stored) column(kind string) int {
	text := p.profile.StringTable
	for i, value := range p.profile.SampleType {
		name := p.labels["__name__"] + ":" + text[value.Type] + ":" + text[value.Unit] + ":" + text[p.profile.PeriodType.Type] + ":" + text[p.profile.PeriodType.Unit]
		if name == kind {
			return i
		}
	}
	return -1
}

func (s *server) each(kind, selector string, start, end int64, visit func(p stored, column int)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, p := range s.profiles {
		if at := p.profile.TimeNanos; at < start*1e6 || at > end*1e6 || !p.matches(selector) {
			continue
		}
		if kind == "" {
			visit(p, 0)
		} else if column := p.column(kind); column >= 0 {
			visit(p, column)
		}
	}
}

// merger sums profiles as one pprof, by functions and lines.
type merger struct {
	out       *googlev1.Profile
	strings   map[string]int64
	mappings  map[string]uint64
	functions map[string]uint64
	locations map[string]uint64
	samples   map[string]*googlev1.Sample
}

func newMerger() *merger {
	return &merger{&googlev1.Profile{StringTable: []string{""}}, map[string]int64{"": 0}, map[string]uint64{}, map[string]uint64{}, map[string]uint64{}, map[string]*googlev1.Sample{}}
}

func (m *merger) text(text string) int64 {
	id, ok := m.strings[text]
	if !ok {
		id = int64(len(m.out.StringTable))
		m.strings[text] = id
		m.out.StringTable = append(m.out.StringTable, text)
	}
	return id
}

func (m *merger) function(p *googlev1.Profile, id uint64) uint64 {
	function := p.Function[id-1]
	name, file := p.StringTable[function.Name], p.StringTable[function.Filename]
	key := name + "\x00" + file + "\x00" + fmt.Sprint(function.StartLine)
	if _, ok := m.functions[key]; !ok {
		m.functions[key] = uint64(len(m.out.Function) + 1)
		m.out.Function = append(m.out.Function, &googlev1.Function{Id: m.functions[key], Name: m.text(name), SystemName: m.text(p.StringTable[function.SystemName]), Filename: m.text(file), StartLine: function.StartLine})
	}
	return m.functions[key]
}

func (m *merger) mapping(p *googlev1.Profile, id uint64) uint64 {
	if id == 0 {
		return 0
	}
	mapping := p.Mapping[id-1]
	key := p.StringTable[mapping.Filename] + p.StringTable[mapping.BuildId] + fmt.Sprint(mapping.MemoryStart)
	if _, ok := m.mappings[key]; !ok {
		m.mappings[key] = uint64(len(m.out.Mapping) + 1)
		m.out.Mapping = append(m.out.Mapping, &googlev1.Mapping{Id: m.mappings[key], MemoryStart: mapping.MemoryStart, MemoryLimit: mapping.MemoryLimit, FileOffset: mapping.FileOffset,
			Filename: m.text(p.StringTable[mapping.Filename]), BuildId: m.text(p.StringTable[mapping.BuildId]), HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true})
	}
	return m.mappings[key]
}

func (m *merger) location(p *googlev1.Profile, id uint64) uint64 {
	location := p.Location[id-1]
	made := &googlev1.Location{MappingId: m.mapping(p, location.MappingId), Address: location.Address}
	key := fmt.Sprint(made.MappingId, made.Address)
	for _, line := range location.Line {
		made.Line = append(made.Line, &googlev1.Line{FunctionId: m.function(p, line.FunctionId), Line: line.Line})
		key += fmt.Sprint(" ", made.Line[len(made.Line)-1].FunctionId, line.Line)
	}
	if _, ok := m.locations[key]; !ok {
		made.Id = uint64(len(m.out.Location) + 1)
		m.locations[key] = made.Id
		m.out.Location = append(m.out.Location, made)
	}
	return m.locations[key]
}

func (m *merger) add(p *googlev1.Profile, column int) {
	for _, sample := range p.Sample {
		if sample.Value[column] == 0 {
			continue
		}
		ids := make([]uint64, len(sample.LocationId))
		for i, id := range sample.LocationId {
			ids[i] = m.location(p, id)
		}
		key := fmt.Sprint(ids)
		if _, ok := m.samples[key]; !ok {
			m.samples[key] = &googlev1.Sample{LocationId: ids, Value: []int64{0}}
			m.out.Sample = append(m.out.Sample, m.samples[key])
		}
		m.samples[key].Value[0] += sample.Value[column]
	}
}

func (s *server) merge(kind, selector string, start, end int64) (*googlev1.Profile, error) {
	parts := strings.Split(kind, ":")
	if len(parts) != 5 {
		return nil, refuse("invalid profile type %q", kind)
	}
	if start > end || start == 0 {
		return nil, refuse("invalid time range")
	}
	m := newMerger()
	s.each(kind, selector, start, end, func(p stored, column int) { m.add(p.profile, column) })
	m.out.SampleType = []*googlev1.ValueType{{Type: m.text(parts[1]), Unit: m.text(parts[2])}}
	m.out.PeriodType = &googlev1.ValueType{Type: m.text(parts[3]), Unit: m.text(parts[4])}
	m.out.Period = 1
	m.out.TimeNanos = end * 1e6
	m.out.DurationNanos = (end - start) * 1e6
	return m.out, nil
}

func (s *server) SelectMergeProfile(_ context.Context, request *connect.Request[querierv1.SelectMergeProfileRequest]) (*connect.Response[googlev1.Profile], error) {
	if s.isGone {
		return nil, connect.NewError(connect.CodeUnimplemented, errors.New("SelectMergeProfile is gone"))
	}
	merged, err := s.merge(request.Msg.ProfileTypeID, request.Msg.LabelSelector, request.Msg.Start, request.Msg.End)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(merged), nil
}

func (s *server) SelectMergeStacktraces(_ context.Context, request *connect.Request[querierv1.SelectMergeStacktracesRequest]) (*connect.Response[querierv1.SelectMergeStacktracesResponse], error) {
	if len(request.Msg.ProfileIdSelector) > 0 {
		return connect.NewResponse(&querierv1.SelectMergeStacktracesResponse{}), nil // no profile has the id that it was given
	}
	merged, err := s.merge(request.Msg.ProfileTypeID, request.Msg.LabelSelector, request.Msg.Start, request.Msg.End)
	if err != nil {
		return nil, err
	}
	if request.Msg.Format == querierv1.ProfileFormat_PROFILE_FORMAT_PPROF {
		return connect.NewResponse(&querierv1.SelectMergeStacktracesResponse{Pprof: &querierv1.PprofProfile{Profile: merged}}), nil
	}
	var total int64
	for _, sample := range merged.Sample {
		total += sample.Value[0]
	}
	return connect.NewResponse(&querierv1.SelectMergeStacktracesResponse{Flamegraph: &querierv1.FlameGraph{Names: []string{"total"}, Total: total}}), nil
}

func (s *server) LabelValues(_ context.Context, request *connect.Request[typesv1.LabelValuesRequest]) (*connect.Response[typesv1.LabelValuesResponse], error) {
	seen := map[string]bool{}
	selector := "{}"
	if len(request.Msg.Matchers) > 0 {
		selector = request.Msg.Matchers[0]
	}
	s.each("", selector, request.Msg.Start, request.Msg.End, func(p stored, _ int) {
		if value := p.labels[request.Msg.Name]; value != "" {
			seen[value] = true
		}
	})
	answer := &typesv1.LabelValuesResponse{}
	for value := range seen {
		answer.Names = append(answer.Names, value)
	}
	sort.Strings(answer.Names)
	return connect.NewResponse(answer), nil
}

func (s *server) Series(_ context.Context, request *connect.Request[querierv1.SeriesRequest]) (*connect.Response[querierv1.SeriesResponse], error) {
	seen := map[string]bool{}
	answer := &querierv1.SeriesResponse{}
	s.each("", request.Msg.Matchers[0], request.Msg.Start, request.Msg.End, func(p stored, _ int) {
		text := p.profile.StringTable
		for _, value := range p.profile.SampleType {
			labels := &typesv1.Labels{}
			for _, name := range request.Msg.LabelNames {
				is := p.labels[name]
				if name == "__profile_type__" {
					is = p.labels["__name__"] + ":" + text[value.Type] + ":" + text[value.Unit] + ":" + text[p.profile.PeriodType.Type] + ":" + text[p.profile.PeriodType.Unit]
				}
				if is != "" {
					labels.Labels = append(labels.Labels, &typesv1.LabelPair{Name: name, Value: is})
				}
			}
			if key := fmt.Sprint(labels); !seen[key] {
				seen[key] = true
				answer.LabelsSet = append(answer.LabelsSet, labels)
			}
		}
	})
	return connect.NewResponse(answer), nil
}

func (s *server) SelectSeries(_ context.Context, request *connect.Request[querierv1.SelectSeriesRequest]) (*connect.Response[querierv1.SelectSeriesResponse], error) {
	if request.Msg.Step <= 0 {
		return nil, refuse("step must be positive")
	}
	step := int64(request.Msg.Step * 1000)
	sums := map[int64]float64{}
	s.each(request.Msg.ProfileTypeID, request.Msg.LabelSelector, request.Msg.Start, request.Msg.End, func(p stored, column int) {
		at := request.Msg.Start + (p.profile.TimeNanos/1e6-request.Msg.Start+step-1)/step*step
		for _, sample := range p.profile.Sample {
			sums[at] += float64(sample.Value[column])
		}
	})
	series := &typesv1.Series{}
	for at, sum := range sums {
		series.Points = append(series.Points, &typesv1.Point{Value: sum, Timestamp: at})
	}
	sort.Slice(series.Points, func(i, j int) bool { return series.Points[i].Timestamp < series.Points[j].Timestamp })
	return connect.NewResponse(&querierv1.SelectSeriesResponse{Series: []*typesv1.Series{series}}), nil
}

// ---- Faults ----

func hang(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		connection.Close()
	}
}

func (s *server) fail(w http.ResponseWriter, request *http.Request, next http.Handler) bool {
	if rand.Intn(100) >= s.percent {
		return false
	}
	switch rand.Intn(5) {
	case 0:
		http.Error(w, `{"code":"internal","message":"out of luck"}`, http.StatusInternalServerError)
	case 1:
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"code":"resource_exhausted","message":"too many"}`, http.StatusTooManyRequests)
	case 2:
		hang(w)
	case 3: // It stores, and the answer is lost.
		next.ServeHTTP(&nowhere{http.Header{}}, request)
		hang(w)
	case 4: // Likewise, with an error that a proxy makes.
		next.ServeHTTP(&nowhere{http.Header{}}, request)
		http.Error(w, "gateway timeout", http.StatusGatewayTimeout)
	}
	return true
}

type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header             { return n.header }
func (n *nowhere) Write(bytes []byte) (int, error) { return len(bytes), nil }
func (n *nowhere) WriteHeader(int)                 {}

func (s *server) print(w http.ResponseWriter) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	samples := 0
	lines := []string{}
	for _, p := range s.profiles {
		var total int64
		keys := []string{}
		for _, sample := range p.profile.Sample {
			samples++
			for _, value := range sample.Value {
				total += value
			}
		}
		for key, value := range p.labels {
			keys = append(keys, key+"="+value)
		}
		sort.Strings(keys)
		lines = append(lines, fmt.Sprintf("%s %d %d", strings.Join(keys, ","), p.profile.TimeNanos, total))
	}
	sort.Strings(lines)
	fmt.Fprintf(w, "%d %d\n%s\n", len(s.profiles), samples, strings.Join(lines, "\n"))
}

func (s *server) control(w http.ResponseWriter, request *http.Request) bool {
	switch request.URL.Path {
	case "/faults":
		s.percent, _ = strconv.Atoi(request.URL.Query().Get("percent"))
	case "/token":
		s.token = request.URL.Query().Get("value")
		s.writer = request.URL.Query().Get("writer")
	case "/gone":
		s.isGone = true
	case "/stored":
		s.print(w)
	default:
		return false
	}
	return true
}

func main() {
	s := &server{}
	s.percent, _ = strconv.Atoi(os.Args[1])
	api := http.NewServeMux()
	api.Handle(pushv1connect.NewPusherServiceHandler(s))
	api.Handle(querierv1connect.NewQuerierServiceHandler(s))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(os.Args[2], []byte(strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)), 0o600); err != nil {
		panic(err)
	}
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if s.control(w, request) {
			return
		}
		isWriter := s.writer != "" && request.Header.Get("Authorization") == "Bearer "+s.writer
		if isWriter && !strings.HasPrefix(request.URL.Path, "/push.") {
			http.Error(w, `{"code":"permission_denied","message":"this token may not read"}`, http.StatusForbidden)
			return
		}
		if s.token != "" && !isWriter && request.Header.Get("Authorization") != "Bearer "+s.token {
			http.Error(w, `{"code":"unauthenticated","message":"no valid token in `+request.Header.Get("Authorization")+`"}`, http.StatusUnauthorized)
			return
		}
		if !s.fail(w, request, api) {
			api.ServeHTTP(w, request)
		}
	})))
}
