#pragma once

#include <memory>
#include <thread>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::cli {

/// A descriptor whose bytes are printed on a terminal as wire::VisibleText, for code that writes to
/// descriptors. The destructor ends the text and waits until all of it is printed.
class VisiblePipe {
 public:
  /// The caller owns `terminal`, which outlives the pipe. Errors: those of pipe(2).
  [[nodiscard]] static Result<std::unique_ptr<VisiblePipe>> Open(int terminal);
  VisiblePipe(const VisiblePipe&) = delete;
  VisiblePipe& operator=(const VisiblePipe&) = delete;
  ~VisiblePipe();

  [[nodiscard]] int descriptor() const noexcept { return write_end_.get(); }

 private:
  VisiblePipe(UniqueFd read_end, UniqueFd write_end, int terminal);

  UniqueFd write_end_;
  std::jthread printer_;  ///< reads the other end
};

}  // namespace trainyard::cli
