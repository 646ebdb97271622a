"""A server that sends the same recorded answer to every request, as fast as the socket takes it.

It runs in a thread of its own, so that what it costs is not counted for whoever reads: readers are measured by the
processor time of their own thread. The answer comes in large chunks, which is kindest to a reader whose HTTP parser
is slow: with a chunk for each frame its figure would be that parser's.
"""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CHUNK = 16 * 1024
POLL_SECONDS = 0.02
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    answer = b""


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        while self.rfile.readline():
            length = 0
            while header := self.rfile.readline().strip():
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            self.rfile.read(length)
            self.wfile.write(self.server.answer)


@contextmanager
def serving(body: bytes) -> Iterator[str]:
    """The address of a server that has this one answer."""
    pieces = (body[at : at + CHUNK] for at in range(0, len(body), CHUNK))
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.answer = b"%b%b0\r\n\r\n" % (_HEAD, chunks)
        thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
