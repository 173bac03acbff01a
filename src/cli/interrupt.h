#pragma once

#include <chrono>

namespace trainyard::cli {

/// While it lives, the first Ctrl-C (SIGINT) is noted instead of ending the program; a second one ends it.
/// One at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] bool Interrupted() const;
  /// Waits that long, or until the interrupt; true if it came.
  bool WaitFor(std::chrono::milliseconds wait) const;
  /// The same, or until the descriptor can be read from.
  bool WaitForInput(int descriptor, std::chrono::milliseconds wait) const;
};

/// Ends the process as if SIGINT had not been handled.
[[noreturn]] void DieOfInterrupt();

}  // namespace trainyard::cli
