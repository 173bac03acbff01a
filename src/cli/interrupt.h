#pragma once

#include <chrono>
#include <string_view>

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

/// While it lives, Ctrl-C (SIGINT) prints a text on stderr and ends the process with a status, whatever it is
/// doing: for commands that have nothing to put in order. At most one exists at a time, and no InterruptWatch
/// beside it.
class InterruptEnds {
 public:
  /// `text` outlives it.
  InterruptEnds(std::string_view text, int status);
  ~InterruptEnds();
  InterruptEnds(const InterruptEnds&) = delete;
  InterruptEnds& operator=(const InterruptEnds&) = delete;
};

/// Ends the process as if SIGINT had not been handled.
[[noreturn]] void DieOfInterrupt();

}  // namespace trainyard::cli
