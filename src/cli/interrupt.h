#pragma once

#include <chrono>

namespace trainyard::cli {

/// While it lives, the first Ctrl-C (SIGINT) is recorded and does not end the program; a second one ends it.
/// At most one exists at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] bool Interrupted() const;
  /// Waits this long or until the interrupt; true if there was an interrupt.
  bool WaitFor(std::chrono::milliseconds wait) const;
  /// The same, but also ends when the descriptor is readable.
  bool WaitForInput(int descriptor, std::chrono::milliseconds wait) const;
};

/// Ends the process as if SIGINT had not been handled.
[[noreturn]] void DieOfInterrupt();

}  // namespace trainyard::cli
