#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "base/async/unix_socket.h"
#include "base/check.h"
#include "base/process/child_process.h"
#include "base/process/variables.h"

namespace trainyard::engine {

/// Runs a keeper as a child process until it is destroyed (with SIGKILL: supervisors that it started live
/// on). The program is the test itself: replica/supervisor/testing/supervisor_program.cc.
class KeeperProcess {
 public:
  /// Starts a keeper in that directory; several may use the same socket one after the other. Returns once it
  /// answers.
  explicit KeeperProcess(const std::string& folder)
      : socket_(folder + "/keeper.sock"), process_(Start(folder, socket_)) {}

  [[nodiscard]] const std::string& socket() const { return socket_; }
  void Signal(int signal) { TY_CHECK(process_.Kill(signal).has_value()); }
  /// Waits for its end and returns its exit status.
  ExitStatus WaitForEnd() {
    const auto ended = process_.WaitFor(std::chrono::seconds(20));
    TY_CHECK(ended.has_value());
    return *ended;
  }

 private:
  static ChildProcess Start(const std::string& folder, const std::string& socket) {
    const std::string manager = folder + "/notify.sock";
    unlink(manager.c_str());
    const UniqueFd told(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto address = UnixAddress::Make(manager);
    TY_CHECK(address && bind(told.get(), address->get(), sizeof(address->address)) == 0);
    auto started =
        ChildProcess::Spawn({.argv = {"keeper-of-test", "keeper", "--socket", socket, "--stop-timeout", "10"},
                             .program = "/proc/self/exe",
                             .environment = OwnVariables({{"NOTIFY_SOCKET", manager}}),
                             .descriptors = {{STDERR_FILENO, STDERR_FILENO}},
                             .dies_with_parent = true});
    TY_CHECK(started.has_value());
    pollfd ready{.fd = told.get(), .events = POLLIN, .revents = 0};
    TY_CHECK(poll(&ready, 1, 20'000) == 1);
    std::array<char, 16> text{};
    TY_CHECK(recv(told.get(), text.data(), text.size() - 1, 0) > 0 && std::string(text.data()) == "READY=1");
    return *std::move(started);
  }

  std::string socket_;
  ChildProcess process_;
};

}  // namespace trainyard::engine
