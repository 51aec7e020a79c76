// Command any_server is a backend that answers whatever it is asked with a gRPC message of 64 zeros, also a call without
// a message, once the whole request has come. It stands behind the sidecar that h2spec talks to.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

// replyBytes is the length of the message.
const replyBytes = 64

// maxStreams is more than h2spec opens at a time: the limit under test is the sidecar's.
const maxStreams = 10_000

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler:   http.HandlerFunc(answer),
		Protocols: protocols,
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:  log.New(io.Discard, "", 0), // connections that break are what the suite is about
	}
	return server.Serve(listener)
}

func answer(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // the caller has broken it off
	}
	w.Header().Set("Content-Type", "application/grpc")
	// What the sidecar asks of its own accord; neither is here.
	if strings.HasPrefix(r.URL.Path, "/grpc.health.") || strings.HasPrefix(r.URL.Path, "/grpc.reflection.") {
		w.Header().Set("Grpc-Status", "12")
		return
	}
	message := make([]byte, 5+replyBytes) // its prefix says: not compressed, and so long
	message[4] = replyBytes
	w.Header().Set("Trailer", "Grpc-Status")
	_, _ = w.Write(message)
	w.Header().Set("Grpc-Status", "0")
}
