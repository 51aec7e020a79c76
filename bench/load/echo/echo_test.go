package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// dial starts serve on a port of its own and connects a client to it.
func dial(t *testing.T, serve func(net.Listener) error) *grpc.ClientConn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go serve(listener)
	conn, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		listener.Close()
	})
	return conn
}

func call(conn *grpc.ClientConn, method string, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var reply []byte
	err := conn.Invoke(ctx, "/bench.Echo/"+method, &request, &reply)
	return reply, err
}

func TestEveryMethodAnswers(t *testing.T) {
	conn := dial(t, serveGRPC)
	for method, want := range map[string][]byte{
		"GetEcho":       []byte("ping"),
		"Create":        []byte("ping"),
		"GetSlow":       []byte("ping"),
		"GetOther":      []byte("ping"),
		"GetBytes4096":  make([]byte, 4096),
		"GetBytes65536": make([]byte, 65536),
		"GetBytes7":     make([]byte, 7),
		"GetBytes0":     nil,
	} {
		if got, err := call(conn, method, []byte("ping")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got %d bytes, %v; want %d", method, len(got), err, len(want))
		}
	}
	for _, method := range []string{"GetBytesMany", "GetBytes-1", "GetBytes99999999999"} {
		if _, err := call(conn, method, nil); status.Code(err) != codes.Unimplemented {
			t.Errorf("%s: got %v; want Unimplemented", method, err)
		}
	}
}

func TestGetSlowTakes50Milliseconds(t *testing.T) {
	conn := dial(t, serveGRPC)
	start := time.Now()
	if _, err := call(conn, "GetSlow", nil); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < slowDelay {
		t.Errorf("took %v; want at least %v", took, slowDelay)
	}
}

func TestCallsAreCounted(t *testing.T) {
	admin := httptest.NewServer(adminHandler())
	defer admin.Close()
	count := func() int64 {
		response, err := admin.Client().Get(admin.URL + "/calls")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for name, serve := range map[string]func(net.Listener) error{"grpc": serveGRPC, "raw": serveRaw} {
		conn, before := dial(t, serve), count()
		for _, method := range []string{"GetEcho", "GetOther", "Create"} {
			if _, err := call(conn, method, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if got := count() - before; got != 3 {
			t.Errorf("%s: counted %d calls; want 3", name, got)
		}
	}
}

func TestRawEchoes(t *testing.T) {
	conn := dial(t, serveRaw)
	for _, size := range []int{0, 1, 100, maxMessage - 5} {
		want := bytes.Repeat([]byte("x"), size)
		if got, err := call(conn, "GetEcho", want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
}

// A reply that the connection window has no room for is sent once there is room, and not before.
func TestRawKeepsToTheConnectionWindow(t *testing.T) {
	here, there := net.Pipe()
	go newRawConn(there).run()
	defer here.Close()
	framer := http2.NewFramer(here, here)
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	const size, room = 16000, defaultWindow / 16000
	written := make(chan struct{})
	go func() { // A pipe holds nothing: what is written here must be read while the replies come.
		io.WriteString(here, http2.ClientPreface)
		framer.WriteSettings()
		for i := range uint32(room + 1) {
			stream := 2*i + 1
			framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true})
			framer.WriteData(stream, true, make([]byte, size))
		}
		framer.WritePing(false, [8]byte{1})
		close(written)
	}()
	replies := 0
	for {
		frame, err := framer.ReadFrame()
		fatal(err)
		if data, ok := frame.(*http2.DataFrame); ok && data.Length == size {
			replies++
		}
		if ping, ok := frame.(*http2.PingFrame); ok && ping.IsAck() {
			break
		}
	}
	if replies != room {
		t.Fatalf("got %d replies before the window was opened; want %d", replies, room)
	}
	<-written
	fatal(framer.WriteWindowUpdate(0, size))
	for {
		frame, err := framer.ReadFrame()
		fatal(err)
		if data, ok := frame.(*http2.DataFrame); ok && data.Length == size {
			return
		}
	}
}

func TestRawEchoesUnderLoad(t *testing.T) {
	conn := dial(t, serveRaw)
	var callers sync.WaitGroup
	for i := range 2000 {
		callers.Go(func() {
			want := fmt.Appendf(nil, "%04000d", i)
			if got, err := call(conn, "GetEcho", want); err != nil || !bytes.Equal(got, want) {
				t.Errorf("call %d: got %d bytes, %v", i, len(got), err)
			}
		})
	}
	callers.Wait()
}

func TestRawRefusesLongMessages(t *testing.T) {
	conn := dial(t, serveRaw)
	if _, err := call(conn, "GetEcho", make([]byte, maxMessage)); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v; want Unavailable", err)
	}
}
