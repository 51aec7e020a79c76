// Command graceful_server is a service as most are in Go: it answers every call with the message that it got, after a
// while, and ends as grpc-go lets it, gracefully, when it is told to.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// How long a call takes: some are under way whenever it is told to end.
const answerTime = 20 * time.Millisecond

// raw hands messages on as they are.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(value any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*value.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, value any) error {
	*value.(*[]byte) = data.Materialize()
	return nil
}

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
	server := grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(echo))
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		<-told
		server.GracefulStop()
		close(ended)
	}()
	fmt.Printf("listening on %s\n", listener.Addr())
	if err := server.Serve(listener); err != nil {
		return err
	}
	<-ended
	return nil
}

func echo(_ any, stream grpc.ServerStream) error {
	for {
		var message []byte
		if err := stream.RecvMsg(&message); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		time.Sleep(answerTime)
		if err := stream.SendMsg(&message); err != nil {
			return err
		}
	}
}
