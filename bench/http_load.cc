// Sends the same kind of request over many keep-alive connections and reports rate and latency as one line of
// JSON.
//
//   http_load PORT METHOD PATH CONNECTIONS COUNT [BODY [TOKEN]]
//
// "{n}" in PATH and BODY becomes the request's number. Every answer must be 200.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/http/response_reader.h"

namespace {

using SteadyClock = std::chrono::steady_clock;

struct Load {
  std::uint16_t port = 0;
  std::string method;
  std::string path;
  std::string body;
  std::string authorization;  // the field with its end, or empty
  int connections = 1;
  int count = 1;
};

int Connect(std::uint16_t port) {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror("connect");
    std::exit(1);
  }
  int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

std::string Numbered(std::string text, int number) {
  for (std::size_t at = text.find("{n}"); at != std::string::npos; at = text.find("{n}")) {
    text.replace(at, 3, std::to_string(number));
  }
  return text;
}

/// Reads one answer; its status, 0 if there is none.
int ReadAnswer(int socket) {
  trainyard::http::ResponseReader reader;
  std::string body;
  const auto keep = [&body](std::string_view bytes) -> trainyard::Status {
    body.append(bytes);
    return {};
  };
  char block[16384];
  while (!reader.done()) {
    const ssize_t size = ::recv(socket, block, sizeof block, 0);
    if (size <= 0 || !reader.Feed({block, static_cast<std::size_t>(size)}, keep)) return 0;
  }
  if (reader.head().status != 200) std::fprintf(stderr, "%d %s\n", reader.head().status, body.c_str());
  return reader.head().status;
}

void Run(const Load& load, std::atomic<int>& next, std::vector<double>& millis, std::atomic<int>& failed) {
  int socket = Connect(load.port);
  for (int number = next++; number < load.count; number = next++) {
    std::string body = Numbered(load.body, number);
    std::string request = load.method + " " + Numbered(load.path, number) +
                          " HTTP/1.1\r\nHost: localhost\r\n" + load.authorization +
                          "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                          "\r\n\r\n" + body;
    auto start = SteadyClock::now();
    if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
      ++failed;
    if (ReadAnswer(socket) != 200) ++failed;
    millis[static_cast<std::size_t>(number)] =
        std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
  }
  ::close(socket);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: http_load PORT METHOD PATH CONNECTIONS COUNT [BODY [TOKEN]]\n");
    return 2;
  }
  Load load{.port = static_cast<std::uint16_t>(std::atoi(argv[1])),
            .method = argv[2],
            .path = argv[3],
            .body = argc > 6 ? argv[6] : "",
            .authorization =
                argc > 7 && *argv[7] != '\0' ? "Authorization: Bearer " + std::string(argv[7]) + "\r\n" : "",
            .connections = std::atoi(argv[4]),
            .count = std::atoi(argv[5])};
  std::vector<double> millis(static_cast<std::size_t>(load.count));
  std::atomic<int> next{0};
  std::atomic<int> failed{0};
  auto start = SteadyClock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < load.connections; ++i) threads.emplace_back([&] { Run(load, next, millis, failed); });
  for (std::thread& thread : threads) thread.join();
  double seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
  std::sort(millis.begin(), millis.end());
  auto at = [&](double part) {
    return millis[static_cast<std::size_t>(part * static_cast<double>(millis.size() - 1))];
  };
  std::printf(
      "{\"per_second\": %.0f, \"p50_ms\": %.2f, \"p99_ms\": %.2f, \"max_ms\": %.2f, \"failed\": %d}\n",
      load.count / seconds, at(0.5), at(0.99), at(1.0), failed.load());
  return failed == 0 ? 0 : 1;
}
