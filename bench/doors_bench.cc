// What a door costs (programs/sandbox/network/connect_doors.h): connect(2) of a loopback socket, to a
// listener itself, behind doors that are for other places, and through a door.
//
//     doors_bench [CONNECTIONS]
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/check.h"
#include "programs/sandbox/network/connect_doors.h"

namespace trainyard::replica {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr std::uint32_t kAddress = 0x7F4D0203;  // 127.77.2.3: nobody's
constexpr std::uint16_t kDoor = 443;

sockaddr_in Place(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(kAddress);
  address.sin_port = htons(port);
  return address;
}

/// Takes connections until it is killed.
pid_t StartServer(std::uint16_t& port) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Place(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  TY_CHECK(bind(listener.get(), generic, size) == 0 && listen(listener.get(), SOMAXCONN) == 0);
  TY_CHECK(getsockname(listener.get(), generic, &size) == 0);
  port = ntohs(address.sin_port);
  const pid_t server = fork();
  if (server != 0) return server;
  for (;;) UniqueFd(accept(listener.get(), nullptr, nullptr)).Reset();
}

void Connect(std::uint16_t port, int connections, const char* what) {
  const sockaddr_in to = Place(port);
  std::vector<std::int64_t> times;
  for (int i = 0; i < connections; ++i) {
    const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto began = steady_clock::now();
    TY_CHECK(connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
    times.push_back(std::chrono::duration_cast<nanoseconds>(steady_clock::now() - began).count());
  }
  std::ranges::sort(times);
  const auto micros = [&times](std::size_t index) { return static_cast<double>(times[index]) / 1e3; };
  std::printf("%-46s median %6.1f us   p99 %6.1f us\n", what, micros(times.size() / 2),
              micros(times.size() * 99 / 100));
  std::fflush(stdout);
}

/// The same in a program with that door.
void ConnectBehind(const ConnectDoor& door, std::uint16_t port, int connections, const char* what) {
  ConnectDoors doors({door});
  const pid_t program = fork();
  if (program == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    doors.Install();
    Connect(port, connections, what);
    _exit(0);
  }
  const UniqueFd ended(static_cast<int>(syscall(SYS_pidfd_open, program, 0)));
  TY_CHECK(doors.Receive() == 0);
  std::vector<pollfd> ready;
  do {
    ready = {{.fd = ended.get(), .events = POLLIN, .revents = 0}};
    doors.AddTo(ready);
    poll(ready.data(), ready.size(), -1);
    doors.Serve(ready);
  } while (ready.front().revents == 0);
  waitpid(program, nullptr, 0);
}

int Run(int connections) {
  std::uint16_t port = 0;
  const pid_t server = StartServer(port);
  Connect(port, connections, "connect without doors");
  const DoorPlace place{kAddress, port};
  ConnectBehind({.from = {kAddress, 1}, .to = place}, port, connections, "connect that no door is for");
  ConnectBehind({.from = {kAddress, kDoor}, .to = place}, kDoor, connections, "connect through a door");
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  return 0;
}

}  // namespace
}  // namespace trainyard::replica

int main(int argc, char** argv) { return trainyard::replica::Run(argc > 1 ? std::atoi(argv[1]) : 20'000); }
