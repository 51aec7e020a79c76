"""A grpcio client that does what it is told on standard input, one JSON object a line, and says on standard output what
it saw. See caller/main.go, which does the same with grpc-go."""

import base64
import json
import sys
import threading

import grpc

OPTIONS = [
    ("grpc.default_authority", "hello.test"),
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 1 << 20),
    ("grpc.absolute_max_metadata_size", 1 << 20),
    # After a restart of the sidecar, what a test waits for is the sidecar.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
]


class Desk:
    """Has the calls under way."""

    def __init__(self, channel):
        self.channel = channel
        self.lock = threading.Lock()
        self.calls = {}

    def begin(self, order):
        # Here, not in the thread: an order to cancel may be the next line.
        call = self.start(order)
        self.calls[order["id"]] = call
        threading.Thread(target=self.finish, args=(order, call)).start()

    def cancel(self, number):
        call = self.calls.get(number)
        if call is not None:
            call.cancel()

    def start(self, order):
        messages = [base64.b64decode(text) for text in order["messages"]]
        milliseconds = order.get("deadlineMs")
        options = {
            "metadata": metadata_of(order),
            "timeout": milliseconds / 1000 if milliseconds else None,
            "compression": grpc.Compression.Gzip if order.get("gzip") else None,
        }
        kind, path = order["kind"], order["path"]
        if kind == "unary":
            return self.channel.unary_unary(path).future(messages[0], **options)
        if kind == "client":
            return self.channel.stream_unary(path).future(iter(messages), **options)
        if kind == "server":
            return self.channel.unary_stream(path)(messages[0], **options)
        return self.channel.stream_stream(path)(iter(messages), **options)

    def finish(self, order, call):
        replies = []
        try:
            if order["kind"] in ("unary", "client"):
                replies.append(call.result())
            else:
                for reply in call:
                    replies.append(reply)
                    if len(replies) == order.get("cancelAfter"):
                        call.cancel()
        except (grpc.RpcError, grpc.FutureCancelledError):
            pass  # the same is in the status
        self.say(
            {
                "id": order["id"],
                "head": values_of(call.initial_metadata()),
                "messages": [text_of(reply) for reply in replies],
                "code": call.code().value[0],
                "message": call.details() or "",
                "trailers": values_of(call.trailing_metadata()),
            }
        )

    def say(self, outcome):
        with self.lock:
            del self.calls[outcome["id"]]
            print(json.dumps(outcome), flush=True)


def metadata_of(order):
    return [
        (name, value.encode("latin-1") if name.endswith("-bin") else value)
        for name, value in order.get("metadata", [])
    ]


def values_of(metadata):
    values = {}
    for name, value in metadata or ():
        values.setdefault(name, []).append(text_of(value if isinstance(value, bytes) else value.encode("latin-1")))
    return values


def text_of(value):
    return base64.b64encode(value).decode()


def main():
    with grpc.insecure_channel(sys.argv[-1], options=OPTIONS) as channel:
        desk = Desk(channel)
        for line in sys.stdin:
            order = json.loads(line)
            if order.get("cancel"):
                desk.cancel(order["id"])
            else:
                desk.begin(order)
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()


main()
