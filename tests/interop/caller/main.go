// Command caller is a grpc-go client that does what it is told on standard input, one JSON object a
// line, and says on standard output what it saw: the tests hold what it saw through the sidecar
// against what it saw without one.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// anySize lifts the library's limits on messages: the sidecar's are what is tested.
const anySize = 1 << 30

// order is what a line of input says: begin a call, or cancel one.
type order struct {
	ID          int         `json:"id"`
	Cancel      bool        `json:"cancel"`
	Kind        string      `json:"kind"`
	Path        string      `json:"path"`
	Messages    [][]byte    `json:"messages"`
	Metadata    [][2]string `json:"metadata"` // -bin values as text of one character a byte
	DeadlineMs  int         `json:"deadlineMs"`
	CancelAfter int         `json:"cancelAfter"`
	Gzip        bool        `json:"gzip"`
}

// outcome is a line of output: all that came of a call. Bytes go in base64, which JSON does.
type outcome struct {
	ID       int                 `json:"id"`
	Head     map[string][][]byte `json:"head"`
	Messages [][]byte            `json:"messages"`
	Code     int                 `json:"code"`
	Message  string              `json:"message"`
	Details  []string            `json:"details"`
	Trailers map[string][][]byte `json:"trailers"`
}

// raw hands messages over as the bytes they are.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

var _ encoding.CodecV2 = raw{}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run obeys until the input ends, then waits for the calls under way.
func run(address string) error {
	conn, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithAuthority("hello.test"),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(raw{}),
			grpc.MaxCallRecvMsgSize(anySize),
			grpc.MaxCallSendMsgSize(anySize),
		))
	if err != nil {
		return err
	}
	defer conn.Close()
	desk := desk{conn: conn, out: json.NewEncoder(os.Stdout), cancels: map[int]context.CancelFunc{}}
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	for {
		var o order
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		desk.obey(o)
	}
	desk.calls.Wait()
	return nil
}

// desk has the calls under way.
type desk struct {
	conn  *grpc.ClientConn
	calls sync.WaitGroup

	mu      sync.Mutex
	out     *json.Encoder
	cancels map[int]context.CancelFunc
}

func (d *desk) obey(o order) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o.Cancel {
		if cancel := d.cancels[o.ID]; cancel != nil {
			cancel()
		}
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	if o.DeadlineMs > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(o.DeadlineMs)*time.Millisecond)
	}
	d.cancels[o.ID] = cancel
	d.calls.Add(1)
	go func() {
		defer d.calls.Done()
		defer cancel()
		seen := call(ctx, cancel, d.conn, o)
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.cancels, o.ID)
		if err := d.out.Encode(seen); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
}

// call makes one call and sees it through.
func call(ctx context.Context, cancel func(), conn *grpc.ClientConn, o order) outcome {
	ctx = metadata.NewOutgoingContext(ctx, metadataOf(o))
	var options []grpc.CallOption
	if o.Gzip {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	seen := outcome{ID: o.ID}
	var head, trailers metadata.MD
	var err error
	if o.Kind == "unary" {
		var reply []byte
		options = append(options, grpc.Header(&head), grpc.Trailer(&trailers))
		if err = conn.Invoke(ctx, o.Path, &o.Messages[0], &reply, options...); err == nil {
			seen.Messages = [][]byte{reply}
		}
	} else {
		head, trailers, err = stream(ctx, cancel, conn, o, &seen, options)
	}
	said := status.Convert(err)
	seen.Code, seen.Message = int(said.Code()), said.Message()
	for _, detail := range said.Details() {
		seen.Details = append(seen.Details, fmt.Sprint(detail))
	}
	seen.Head, seen.Trailers = bytesOf(head), bytesOf(trailers)
	return seen
}

func stream(ctx context.Context, cancel func(), conn *grpc.ClientConn, o order, seen *outcome,
	options []grpc.CallOption) (head, trailers metadata.MD, err error) {
	desc := &grpc.StreamDesc{ClientStreams: o.Kind != "server", ServerStreams: o.Kind != "client"}
	s, err := conn.NewStream(ctx, desc, o.Path, options...)
	if err != nil {
		return nil, nil, err
	}
	for i := range o.Messages {
		// An error here is the call's, and comes again from RecvMsg.
		if s.SendMsg(&o.Messages[i]) != nil {
			break
		}
	}
	_ = s.CloseSend()
	for {
		var reply []byte
		if err = s.RecvMsg(&reply); err != nil {
			break
		}
		seen.Messages = append(seen.Messages, reply)
		if len(seen.Messages) == o.CancelAfter {
			cancel()
		}
		if o.Kind == "client" {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	head, _ = s.Header()
	return head, s.Trailer(), err
}

func metadataOf(o order) metadata.MD {
	md := metadata.MD{}
	for _, pair := range o.Metadata {
		name, value := pair[0], pair[1]
		if strings.HasSuffix(name, "-bin") {
			value = bytesOfText(value)
		}
		md.Append(name, value)
	}
	return md
}

// bytesOfText has one byte for each character.
func bytesOfText(text string) string {
	var bytes []byte
	for _, r := range text {
		bytes = append(bytes, byte(r))
	}
	return string(bytes)
}

func bytesOf(md metadata.MD) map[string][][]byte {
	if md == nil {
		return nil
	}
	values := map[string][][]byte{}
	for name, texts := range md {
		for _, text := range texts {
			values[name] = append(values[name], []byte(text))
		}
	}
	return values
}
