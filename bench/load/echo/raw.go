package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"net"

	"golang.org/x/net/http2"
)

const (
	bufferBytes = 64 << 10
	maxWindow   = 1<<31 - 1
	// defaultWindow is what either side starts with (RFC 9113, section 6.9.2).
	defaultWindow = 1<<16 - 1
	// creditEvery is how much request data is taken in before the connection's window is topped up.
	creditEvery = 1 << 20
	// maxMessage is the longest body that is echoed: one frame of the default size.
	maxMessage = 1 << 14
)

// Both blocks use the static table and literals only, so they read the same on every connection.
var (
	// :status 200 (static 8); content-type (static 31), not indexed.
	headBlock = []byte("\x88\x0f\x10\x10application/grpc")
	// A name that is in no table, not indexed.
	trailerBlock = []byte("\x00\x0bgrpc-status\x010")
)

// serveRaw echoes whatever is asked, in HTTP/2 frames and nothing more: header blocks are not decoded, replies are
// written together once the input has run dry, and one goroutine does all the work of a connection. Its price is a
// floor, which makes visible what a proxy before it costs. It takes unary calls of up to 16 KiB, and only from a peer
// that grants its streams the default window or more.
func serveRaw(listener net.Listener) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			if err := newRawConn(conn).run(); err != nil {
				log.Printf("Closed %v: %v", conn.RemoteAddr(), err)
			}
		}()
	}
}

type rawConn struct {
	in     *bufio.Reader
	out    *bufio.Writer
	framer *http2.Framer
	// bodies holds what has come of requests that came in more than one piece.
	bodies map[uint32][]byte
	// waiting are replies that the peer's connection window had no room for.
	waiting []reply
	// sendWindow is the peer's connection window; received is what we have taken since we last topped up ours.
	sendWindow int64
	received   uint32
}

type reply struct {
	stream uint32
	body   []byte
}

func newRawConn(conn net.Conn) *rawConn {
	in := bufio.NewReaderSize(conn, bufferBytes)
	out := bufio.NewWriterSize(conn, bufferBytes)
	framer := http2.NewFramer(out, in)
	framer.SetReuseFrames()
	return &rawConn{
		in:         in,
		out:        out,
		framer:     framer,
		bodies:     make(map[uint32][]byte),
		sendWindow: defaultWindow,
	}
}

func (c *rawConn) run() error {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c.in, preface); err != nil {
		return quiet(err)
	}
	if string(preface) != http2.ClientPreface {
		return errors.New("expected the preface of HTTP/2")
	}
	// The bufio.Writer keeps its first error, so Flush reports what any write before it met.
	c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxWindow})
	c.framer.WriteWindowUpdate(0, maxWindow-defaultWindow)
	for {
		if c.in.Buffered() == 0 {
			if err := c.out.Flush(); err != nil {
				return quiet(err)
			}
		}
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return quiet(err)
		}
		if err := c.take(frame); err != nil {
			return err
		}
	}
}

func (c *rawConn) take(frame http2.Frame) error {
	switch frame := frame.(type) {
	case *http2.DataFrame:
		return c.takeData(frame)
	case *http2.HeadersFrame:
		if frame.StreamEnded() {
			return errors.New("expected a message with every call")
		}
	case *http2.SettingsFrame:
		if frame.IsAck() {
			return nil
		}
		if window, ok := frame.Value(http2.SettingInitialWindowSize); ok && window < defaultWindow {
			return fmt.Errorf("expected stream windows of at least %d, got %d", defaultWindow, window)
		}
		return c.framer.WriteSettingsAck()
	case *http2.WindowUpdateFrame:
		if frame.StreamID == 0 {
			c.sendWindow += int64(frame.Increment)
			return c.sendWaiting()
		}
	case *http2.PingFrame:
		if !frame.IsAck() {
			return c.framer.WritePing(true, frame.Data)
		}
	case *http2.RSTStreamFrame:
		delete(c.bodies, frame.StreamID)
	}
	return nil
}

func (c *rawConn) takeData(frame *http2.DataFrame) error {
	if c.received += frame.Length; c.received >= creditEvery {
		if err := c.framer.WriteWindowUpdate(0, c.received); err != nil {
			return err
		}
		c.received = 0
	}
	// Most requests come whole; only the pieces of others are kept.
	body, parts := frame.Data(), c.bodies[frame.StreamID]
	if len(parts)+len(body) > maxMessage {
		return fmt.Errorf("expected messages of at most %d bytes", maxMessage)
	}
	if !frame.StreamEnded() {
		c.bodies[frame.StreamID] = append(parts, body...)
		return nil
	}
	if parts != nil {
		body = append(parts, body...)
		delete(c.bodies, frame.StreamID)
	}
	calls.Add(1)
	if len(c.waiting) > 0 || int64(len(body)) > c.sendWindow {
		c.waiting = append(c.waiting, reply{frame.StreamID, append([]byte(nil), body...)})
		return nil
	}
	return c.send(frame.StreamID, body)
}

// sendWaiting sends, in their order, the replies that there is room for now.
func (c *rawConn) sendWaiting() error {
	for len(c.waiting) > 0 && int64(len(c.waiting[0].body)) <= c.sendWindow {
		next := c.waiting[0]
		c.waiting = c.waiting[1:]
		if err := c.send(next.stream, next.body); err != nil {
			return err
		}
	}
	return nil
}

func (c *rawConn) send(stream uint32, body []byte) error {
	c.sendWindow -= int64(len(body))
	head := http2.HeadersFrameParam{StreamID: stream, BlockFragment: headBlock, EndHeaders: true}
	if err := c.framer.WriteHeaders(head); err != nil {
		return err
	}
	if err := c.framer.WriteData(stream, false, body); err != nil {
		return err
	}
	return c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID:      stream,
		BlockFragment: trailerBlock,
		EndHeaders:    true,
		EndStream:     true,
	})
}

// quiet leaves out how connections ordinarily end.
func quiet(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
