// Command echo is the backend that the load benchmarks run against: as small as a backend can be, so that what is
// measured is the way to it. Any method of bench.Echo answers: GetSlow after 50 ms, GetBytesN with N bytes (as in
// GetBytes4096), every other one at once with the bytes it was sent.
//
// It counts the calls that reach it and serves the count as text at http://ADMIN/calls. When it is ready it prints
// one JSON line with both addresses. With -raw it speaks bare HTTP/2 frames instead of grpc-go; see raw.go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync/atomic"
)

// calls counts every call that has reached the backend, whichever way it is served.
var calls atomic.Int64

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address that answers calls")
	admin := flag.String("admin", "127.0.0.1:0", "address that answers GET /calls")
	raw := flag.Bool("raw", false, "answer with bare HTTP/2 frames instead of grpc-go; echo only")
	flag.Parse()

	backend, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatalf("Cannot listen for calls: %v", err)
	}
	counter, err := net.Listen("tcp", *admin)
	if err != nil {
		log.Fatalf("Cannot listen for GET /calls: %v", err)
	}
	err = json.NewEncoder(os.Stdout).Encode(map[string]string{
		"addr":  backend.Addr().String(),
		"admin": counter.Addr().String(),
	})
	if err != nil {
		log.Fatalf("Cannot print the addresses: %v", err)
	}

	serve := serveGRPC
	if *raw {
		serve = serveRaw
	}
	failed := make(chan error, 2)
	go func() { failed <- http.Serve(counter, adminHandler()) }()
	go func() { failed <- serve(backend) }()
	log.Fatalf("Cannot go on serving: %v", <-failed)
}

func adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /calls", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, calls.Load())
	})
	return mux
}
