#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

/// For simulations: what a replica's program does, and what must be prepared before.
struct SimulatedProgram {
  std::chrono::milliseconds preparation{};   ///< how long it takes
  std::optional<Error> preparation_error{};  ///< set: then it fails
  bool lacks_memory = false;                 ///< the machine never has enough for its preparation
  std::vector<std::string> lines{};          ///< it writes them one after the other
  std::chrono::milliseconds line_pause{};    ///< before each line
  std::optional<int> wait_status{};          ///< with which it ends after its lines; empty: it runs on
  bool ignores_sigterm = false;
  std::chrono::milliseconds clean_up{};                ///< from SIGTERM to its end
  std::optional<replica::v1::MetricReport> metrics{};  ///< what it reports by its end
};

/// As waitpid gives it.
[[nodiscard]] constexpr int ExitedWith(int exit_code) noexcept { return exit_code << 8; }
[[nodiscard]] constexpr int KilledBy(int signal) noexcept { return signal; }

/// The process of such a program. It continues whether or not its supervisor runs. One thread.
class SimulatedProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;

  SimulatedProcess(SimulatedProgram program, Time now);

  /// Does what the program has done until now. Call it before anything else.
  void Advance(Time now);
  /// SIGTERM.
  void Terminate(Time now);
  /// SIGKILL.
  void Kill();
  /// It writes the lines that are left, and ends.
  void End(int wait_status);

  /// Returns the bytes that it has written since the last call: the content of the pipe.
  [[nodiscard]] std::vector<std::string> TakeOutput();
  [[nodiscard]] bool has_output() const noexcept { return read_ < written_; }
  [[nodiscard]] int lines_written() const noexcept { return static_cast<int>(written_); }
  /// As waitpid gives it; empty: it runs.
  [[nodiscard]] std::optional<int> wait_status() const noexcept { return wait_status_; }
  /// When it does something next; max(): nothing.
  [[nodiscard]] Time next() const noexcept;

 private:
  SimulatedProgram program_;
  std::size_t written_ = 0;  ///< of the program's lines
  std::size_t read_ = 0;
  Time next_line_ = Time::max();
  Time end_ = Time::max();  ///< after SIGTERM
  std::optional<int> wait_status_;
};

}  // namespace trainyard::engine
