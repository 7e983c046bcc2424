"""A server on loopback that reports success to every call."""

import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tpudiag.sources.job.held_back import answers


@cache
def started() -> str:
    """The address of the server, started for this process's life."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


class Sink(BaseHTTPRequestHandler):
    """Reads whatever is sent, and answers."""

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        self._take()
        self.send_response(200)
        sent = {name.lower(): value for name, value in self.headers.items()}
        headers, body = answers.http(self.path, sent)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = True

    def _take(self) -> None:
        left = int(self.headers.get("Content-Length") or 0)
        while left > 0 and (part := self.rfile.read(min(left, 65536))):
            left -= len(part)
        while "chunked" in self.headers.get("Transfer-Encoding", ""):
            size = int(self.rfile.readline().partition(b";")[0].strip() or b"0", 16)
            self.rfile.read(size + 2)
            if not size:
                return

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing into the job's output."""
