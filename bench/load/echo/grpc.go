package main

import (
	"context"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

const (
	serviceName = "bench.Echo"
	slowDelay   = 50 * time.Millisecond
	// maxReplyBytes bounds what GetBytesN makes: nothing that is measured comes near it.
	maxReplyBytes = 64 << 20
)

// usual are the methods that take grpc-go's unary path, as a generated service would. Any other name is answered
// too, on the somewhat longer path of unknown methods.
var usual = []string{"GetEcho", "Create", "GetSlow", "GetBytes4096", "GetBytes65536"}

// serveGRPC answers calls with grpc-go in its default settings, but for the limit on streams: a burst of 10,000
// callers may come on one connection.
func serveGRPC(listener net.Listener) error {
	server := grpc.NewServer(
		grpc.ForceServerCodecV2(rawCodec{}),
		grpc.MaxConcurrentStreams(math.MaxUint32),
		grpc.UnknownServiceHandler(answerUnknown),
	)
	desc := grpc.ServiceDesc{ServiceName: serviceName, HandlerType: (*any)(nil)}
	for _, method := range usual {
		answer, err := answerOf(method)
		if err != nil {
			return err
		}
		desc.Methods = append(desc.Methods, grpc.MethodDesc{
			MethodName: method,
			Handler:    unary(answer),
		})
	}
	server.RegisterService(&desc, nil)
	return server.Serve(listener)
}

// An answer turns a request into its reply.
type answer func(ctx context.Context, request []byte) ([]byte, error)

func answerOf(method string) (answer, error) {
	if method == "GetSlow" {
		return slow, nil
	}
	if digits, ok := strings.CutPrefix(method, "GetBytes"); ok {
		size, err := strconv.Atoi(digits)
		if err != nil || size < 0 || size > maxReplyBytes {
			return nil, fmt.Errorf("cannot answer %s: expected GetBytesN, N up to %d", method, maxReplyBytes)
		}
		reply := make([]byte, size)
		return func(context.Context, []byte) ([]byte, error) { return reply, nil }, nil
	}
	return echo, nil
}

func echo(_ context.Context, request []byte) ([]byte, error) {
	return request, nil
}

func slow(ctx context.Context, request []byte) ([]byte, error) {
	timer := time.NewTimer(slowDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return request, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

func unary(answer answer) grpc.MethodHandler {
	return func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		calls.Add(1)
		var request []byte
		if err := decode(&request); err != nil {
			return nil, err
		}
		reply, err := answer(ctx, request)
		return &reply, err
	}
}

func answerUnknown(_ any, stream grpc.ServerStream) error {
	path, _ := grpc.MethodFromServerStream(stream)
	method, ok := strings.CutPrefix(path, "/"+serviceName+"/")
	if !ok {
		return status.Errorf(codes.Unimplemented, "unknown method %s", path)
	}
	calls.Add(1)
	answer, err := answerOf(method)
	if err != nil {
		return status.Error(codes.Unimplemented, err.Error())
	}
	var request []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	reply, err := answer(stream.Context(), request)
	if err != nil {
		return err
	}
	return stream.SendMsg(&reply)
}

// rawCodec hands messages over as the bytes they are. Values are *[]byte.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	message, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("cannot marshal %T: expected *[]byte", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*message)}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	message, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("cannot unmarshal into %T: expected *[]byte", v)
	}
	*message = data.Materialize()
	return nil
}
