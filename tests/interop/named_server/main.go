// Command named_server is grpc-go's interop service on a free loopback port, and says who it is when it is asked: the
// published interop server does not, and the case pick_first_unary wants to know.
package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/interop"
	"google.golang.org/grpc/interop/grpc_testing"
)

// named puts its name to unary replies.
type named struct {
	grpc_testing.TestServiceServer
	name string
}

func (s named) UnaryCall(ctx context.Context, ask *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
	reply, err := s.TestServiceServer.UnaryCall(ctx, ask)
	if err == nil && ask.GetFillServerId() {
		reply.ServerId = s.name
	}
	return reply, err
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
	fmt.Printf("listening on %s\n", listener.Addr())
	server := grpc.NewServer()
	service := named{interop.NewTestServer(), fmt.Sprintf("server %d", os.Getpid())}
	grpc_testing.RegisterTestServiceServer(server, service)
	return server.Serve(listener)
}
