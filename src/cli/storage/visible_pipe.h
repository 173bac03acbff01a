#pragma once

#include <memory>
#include <thread>

#include "async/unique_fd.h"
#include "base/result.h"

namespace trainyard::cli {

/// A descriptor whose bytes a terminal is shown as wire::VisibleText, for those who write to descriptors
/// themselves. The destructor ends the text and waits until all of it is printed.
class VisiblePipe {
 public:
  /// `terminal` stays the caller's and outlives the pipe. Errors: those of pipe(2).
  [[nodiscard]] static Result<std::unique_ptr<VisiblePipe>> Open(int terminal);
  VisiblePipe(const VisiblePipe&) = delete;
  VisiblePipe& operator=(const VisiblePipe&) = delete;
  ~VisiblePipe();

  [[nodiscard]] int descriptor() const noexcept { return write_end_.get(); }

 private:
  VisiblePipe(UniqueFd read_end, UniqueFd write_end, int terminal);

  UniqueFd write_end_;
  std::jthread printer_;  ///< has the other end
};

}  // namespace trainyard::cli
