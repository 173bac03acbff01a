#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rules/diagnosis/observation.h"

namespace trainyard::replica {

/// The last lines that a program wrote, for whoever has to say why it ended. Costs a copy of some bytes per
/// line and no allocation. Pure; one thread.
class OutputTail {
 public:
  static constexpr std::size_t kLinesMax = 64;
  /// What is kept of a line: of one that holds several (a logged traceback), the last.
  static constexpr std::size_t kLineBytesMax = 256;

  void Add(std::string_view line, bool is_error) noexcept;
  void Clear() noexcept { count_ = 0; }
  /// Oldest first.
  [[nodiscard]] std::vector<diagnosis::OutputLine> Lines() const;

 private:
  struct Slot {
    std::array<char, kLineBytesMax> bytes;
    std::uint16_t size = 0;
    bool is_error = false;
  };
  std::array<Slot, kLinesMax> slots_{};
  std::size_t count_ = 0;  ///< lines so far
};

}  // namespace trainyard::replica
