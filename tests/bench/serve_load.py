"""bantam serve under load: clients that keep their connections, on 127.0.0.1 alone, bounded in number and time.

Two ways: `rate` requests a second spread evenly over the clients, where each has one request at a time; and all clients asking again at
once ("full"), where a reply takes clients / throughput by what is ahead of it in the queue. Both latencies are of the client's side,
Python's own work on the same processors included. Beyond service: the 99th percentile less what the queue explains, clients /
throughput, in the full way; the whole latency in the other. Figures are JSON on standard output.

--generate N: instead, clients ask a file that generates for texts of N tokens, by /v1/completions. One client alone, and --clients
at once (8), each in turn, three times: tokens a second, and how many times more all of them together get than one. Each text is
compared with the one that the client alone got."""

import argparse
import json
import pathlib
import selectors
import socket
import subprocess
import sys
import time

MOST_CLIENTS, MOST_SECONDS = 4000, 120


class Client:
    def __init__(self, port, text, tokens=0):
        fields = {"prompt": text, "max_tokens": tokens} if tokens else {"text": text}
        body = json.dumps(fields).encode()
        self.tokens = 0  # made so far
        self.generates = bool(tokens)
        head = f"POST {'/v1/completions' if tokens else '/run'} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        self.request = head.encode() + body
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.begin = 0.0  # of the request that waits; 0: none does
        self.back = b""
        self.wanted = None

    def send(self):
        self.begin = time.perf_counter()
        self.back = b""
        if self.socket.send(self.request) != len(self.request):
            raise RuntimeError("a request did not fit the socket's buffer")

    def receive(self):
        """Is the reply whole? Raises where it is not the one that is wanted."""
        data = self.socket.recv(65536)
        if not data:
            raise RuntimeError("the server closed a connection")
        self.back += data
        head, found, body = self.back.partition(b"\r\n\r\n")
        if not found:
            return False
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(body) < length:
            return False
        if not head.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(self.back.decode(errors="replace"))
        if self.generates:
            made = json.loads(body)
            self.tokens += made["usage"]["completion_tokens"]
            body = made["choices"][0]["text"]
        self.wanted = self.wanted or body
        if body != self.wanted:
            raise RuntimeError("the same text has got two answers")
        return True


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def load(clients, seconds, rate):
    """Latencies in seconds, and what was answered a second. rate 0: each client asks again at once."""
    selector = selectors.DefaultSelector()
    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
    latencies = []
    begin = time.perf_counter()
    end = begin + seconds
    sent = 0
    if not rate:
        for client in clients:
            client.send()
    while True:
        now = time.perf_counter()
        if now > end and not any(client.begin for client in clients):
            break
        if now > end + 30:
            raise RuntimeError("replies are missing")
        while rate and now < end and sent < (now - begin) * rate:
            client = clients[sent % len(clients)]
            if client.begin:
                break  # its last one still waits
            client.send()
            sent += 1
        for key, _ in selector.select(0.0005 if rate and now < end else 0.05):
            client = key.data
            if not client.receive():
                continue
            latencies.append(time.perf_counter() - client.begin)
            client.begin = 0.0
            if not rate and time.perf_counter() < end:
                client.send()
    selector.close()
    return latencies, len(latencies) / (time.perf_counter() - begin)


def generated(clients, seconds):
    """Tokens a second of these clients together, each of which asks again at once."""
    before = sum(client.tokens for client in clients)
    begin = time.perf_counter()
    load(clients, seconds, 0)
    return (sum(client.tokens for client in clients) - before) / (time.perf_counter() - begin)


def measure_generation(port, arguments, texts):
    clients = [Client(port, texts[i % len(texts)], arguments.generate) for i in range(arguments.clients)]
    for client in clients:
        load([client], 0, 0)  # warm, and what each gets alone
    rounds = []
    for _ in range(3):
        one, all_of_them = generated(clients[:1], arguments.seconds), generated(clients, arguments.seconds)
        rounds.append({"one": round(one, 1), "all": round(all_of_them, 1), "times": round(all_of_them / one, 2)})
    return {"clients": len(clients), "tokens_per_second": rounds}


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command")
    parser.add_argument("model")
    parser.add_argument("--clients", type=int, default=None, help="default 1000; with --generate 8")
    parser.add_argument("--generate", type=int, default=0, metavar="N", help="ask for texts of N tokens")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--texts", default=None, help="one a line")
    arguments = parser.parse_args()
    arguments.clients = arguments.clients or (8 if arguments.generate else 1000)
    if arguments.clients > MOST_CLIENTS or arguments.seconds > MOST_SECONDS:
        sys.exit(f"at most {MOST_CLIENTS} clients and {MOST_SECONDS} seconds")
    texts = ["play some jazz by miles davis", "wake me at seven", "book a table for two in rome tonight"]
    if arguments.texts:
        texts = pathlib.Path(arguments.texts).read_text().splitlines()
    server = subprocess.Popen(
        [arguments.command, "serve", arguments.model, "--port", "0", "--threads", "1"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        port = int(server.stdout.readline().rsplit(":", 1)[1])
        if arguments.generate:
            print(json.dumps(measure_generation(port, arguments, texts)))
            return
        clients = [Client(port, texts[i % len(texts)]) for i in range(arguments.clients)]
        load(clients, 1, 0)  # warm
        result = {"clients": arguments.clients, "memory": [resident(server.pid)]}
        for name, rate in (("rate", arguments.rate), ("full", 0), ("full_again", 0)):
            latencies, throughput = load(clients, arguments.seconds, rate)
            ahead = 0 if rate else arguments.clients / throughput
            result[name] = {
                "replies": len(latencies),
                "per_second": round(throughput),
                "p50_ms": round(percentile(latencies, 0.5) * 1000, 2),
                "p99_ms": round(percentile(latencies, 0.99) * 1000, 2),
                "p99_beyond_service_ms": round((percentile(latencies, 0.99) - ahead) * 1000, 2),
            }
            result["memory"].append(resident(server.pid))
        print(json.dumps(result))
    finally:
        server.terminate()
        server.wait()
    if server.returncode:
        sys.exit(server.returncode)


if __name__ == "__main__":
    main()
