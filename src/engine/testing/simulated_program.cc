#include "engine/testing/simulated_program.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace trainyard::engine {

SimulatedProcess::SimulatedProcess(SimulatedProgram program, Time now)
    : program_(std::move(program)), next_line_(now + program_.line_pause) {}

void SimulatedProcess::Advance(Time now) {
  while (!wait_status_ && next() <= now) {
    if (end_ <= now) {
      wait_status_ = KilledBy(SIGTERM);
    } else if (written_ < program_.lines.size()) {
      ++written_;
      next_line_ += program_.line_pause;
    } else if (program_.wait_status) {
      wait_status_ = program_.wait_status;
    }
  }
}

SimulatedProcess::Time SimulatedProcess::next() const noexcept {
  if (wait_status_) return Time::max();
  const bool does_more = written_ < program_.lines.size() || program_.wait_status;
  return std::min(end_, does_more ? next_line_ : Time::max());
}

void SimulatedProcess::Terminate(Time now) {
  if (!program_.ignores_sigterm) end_ = std::min(end_, now + program_.clean_up);
  Advance(now);
}

void SimulatedProcess::Kill() {
  if (!wait_status_) wait_status_ = KilledBy(SIGKILL);
}

void SimulatedProcess::End(int wait_status) {
  if (wait_status_) return;
  written_ = program_.lines.size();
  wait_status_ = wait_status;
}

std::vector<std::string> SimulatedProcess::TakeOutput() {
  std::vector<std::string> lines(program_.lines.begin() + static_cast<std::ptrdiff_t>(read_),
                                 program_.lines.begin() + static_cast<std::ptrdiff_t>(written_));
  read_ = written_;
  return lines;
}

}  // namespace trainyard::engine
