#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "programs/environment/environment.h"
#include "programs/runtimes/program.h"
#include "rules/warm/mother.h"

namespace trainyard::engine {

namespace asio = boost::asio;

/// The settings of a mother that is to be started.
struct MotherPlan {
  std::filesystem::path folder;  ///< in which its socket and its own directories are made
  std::string name;              ///< of its files there
  environment::Environment environment;
  std::vector<std::string> modules;  ///< to import
  replica::Variables channels;       ///< CommonChannelVariables
};

/// A process that has imported modules of a runtime version and becomes programs of jobs
/// (programs/interpreters/trainyard_warm.py). It ends with this object, and with this process. Loop
/// thread only; must stay where it is.
class MotherProcess {
 public:
  /// Starts it. Errors of processes and files.
  [[nodiscard]] static Result<std::shared_ptr<MotherProcess>> Start(const asio::any_io_executor& loop,
                                                                    const MotherPlan& plan);
  MotherProcess(const MotherProcess&) = delete;
  MotherProcess& operator=(const MotherProcess&) = delete;
  ~MotherProcess();

  /// Ends it; what waits for it returns. Also done by the destructor.
  void End() noexcept;
  /// Ends it, and returns when the kernel has taken back its memory, which the destructor would wait for.
  asio::awaitable<void> Gone();
  /// Waits until it has imported its modules. Empty: it has ended instead.
  asio::awaitable<bool> Ready();
  [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }
  /// The top-level module that must be left out, if that is why it ended; with the reason after a blank.
  [[nodiscard]] const std::string& left_out() const noexcept { return left_out_; }
  /// Its description, for warm::ParseMother. Once it is ready.
  [[nodiscard]] const std::string& description() const noexcept { return description_; }
  /// Returns when it has started a program; false: it has ended.
  asio::awaitable<bool> Served();

  [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }
  [[nodiscard]] std::int64_t ResidentBytes() const;

 private:
  MotherProcess(ChildProcess process, asio::posix::stream_descriptor control, const MotherPlan& plan);
  asio::awaitable<std::optional<std::string>> NextLine();

  ChildProcess process_;
  asio::posix::stream_descriptor control_;
  std::string received_;
  std::string description_;
  std::string left_out_;
  bool is_ready_ = false;
  std::filesystem::path socket_;
  std::filesystem::path own_;
};

/// The variables of a mother: those of a job's program, as far as they are the same for
/// every job. `home`: its HOME.
[[nodiscard]] std::vector<std::string> MotherVariables(const MotherPlan& plan, const std::string& home);

}  // namespace trainyard::engine
