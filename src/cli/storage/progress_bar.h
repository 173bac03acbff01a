#pragma once

#include <cstdint>
#include <string>

#include "cli/console.h"

namespace trainyard::cli {

/// The bar's text: "Uploading a.tar.gz [=====>    ] 52%", in `columns` characters at most. Pure.
[[nodiscard]] std::string PrintProgress(const std::string& title, std::uint64_t done, std::uint64_t total,
                                        std::size_t columns);

/// A line on the terminal that is redrawn while bytes are transferred; the destructor erases it. Nothing is
/// printed if stderr is not a terminal, or for small transfers.
class ProgressBar {
 public:
  ProgressBar(const Console& console, std::string title, std::uint64_t total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Show(std::uint64_t done);

 private:
  const Console& console_;
  std::string title_;
  std::uint64_t total_;
  std::string shown_;
};

}  // namespace trainyard::cli
