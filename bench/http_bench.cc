// Requests per second of one server loop against a trivial handler, over keep-alive connections without
// pipelining. The clients are threads of this program, so on a small machine they compete for its
// cores.
//
//   http_bench [--benchmark_filter=...]      UserCounters: requests/s, and per second of the loop's own CPU
//   time
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/async/unique_fd.h"
#include "net/http/server.h"
#include "net/http/testing/listen.h"

namespace trainyard::http {
namespace {

constexpr std::string_view kGet =
    "GET /hello HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";
constexpr std::string_view kPost =
    "POST /echo HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nContent-Type: application/json\r\n"
    "Content-Length: 400\r\n\r\n";

asio::awaitable<Result<Response>> Hello(Request& /*request*/) { co_return Response::Json("{}\n"); }

asio::awaitable<Result<Response>> Echo(Request& request) {
  TY_CO_TRY(std::string body, co_await request.body->ReadAll(1 << 20));
  co_return Response::Json(std::move(body));
}

double CpuSeconds(std::thread& thread) {
  clockid_t clock = 0;
  timespec time{};
  ::pthread_getcpuclockid(thread.native_handle(), &clock);
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

UniqueFd Connect(std::uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    std::abort();
  return socket;
}

/// Writes a request on each of its connections, then reads each one's answer, until told to stop. Answers are
/// as long as the first one was.
void Load(std::uint16_t port, std::string request, int connections, const std::atomic<bool>& stop,
          std::atomic<std::uint64_t>& count) {
  std::vector<UniqueFd> sockets;
  for (int i = 0; i < connections; ++i) sockets.push_back(Connect(port));
  std::array<char, 4096> answer{};
  std::size_t length = 0;
  while (!stop) {
    for (const UniqueFd& socket : sockets) {
      if (::send(socket.get(), request.data(), request.size(), 0) < 0) std::abort();
    }
    for (const UniqueFd& socket : sockets) {
      std::size_t got = 0;
      do {
        const ssize_t part = ::recv(socket.get(), answer.data(), answer.size(), 0);
        if (part <= 0) std::abort();
        got += static_cast<std::size_t>(part);
      } while (got < length);
      if (length == 0) length = got;
    }
    count += sockets.size();
  }
}

void RunLoad(benchmark::State& state, const std::string& request) {
  Router router;
  router.Add(Method::kGet, "/hello", Hello);
  router.Add(Method::kPost, "/echo", Echo);
  asio::io_context loop;
  Server server(loop, router);
  const std::uint16_t port = Listen(server, "127.0.0.1").value_or(0);
  std::thread server_thread([&loop] { loop.run(); });
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> count = 0;
  const auto connections = static_cast<int>(state.range(0));
  std::thread client(Load, port, request, connections, std::cref(stop), std::ref(count));
  while (count == 0) std::this_thread::yield();
  const double cpu_start = CpuSeconds(server_thread);
  const std::uint64_t count_start = count;
  for (auto _ : state) {
    const std::uint64_t target = count + 10'000;
    while (count < target) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto served = static_cast<double>(count - count_start);
  const double cpu = CpuSeconds(server_thread) - cpu_start;
  stop = true;
  client.join();
  asio::post(loop, [&server] { server.Stop(); });
  server_thread.join();
  state.counters["requests/s"] = benchmark::Counter(served, benchmark::Counter::kIsRate);
  state.counters["per_loop_cpu_s"] = served / cpu;
}

void TrivialGet(benchmark::State& state) { RunLoad(state, std::string(kGet)); }
void EchoPost(benchmark::State& state) { RunLoad(state, std::string(kPost) + std::string(400, 'x')); }

BENCHMARK(TrivialGet)->Arg(1)->Arg(8)->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(EchoPost)->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard::http

BENCHMARK_MAIN();
