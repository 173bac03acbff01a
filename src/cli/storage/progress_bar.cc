#include "cli/storage/progress_bar.h"

#include <algorithm>
#include <utility>

#include "base/wire/visible_text.h"

namespace trainyard::cli {
namespace {

constexpr std::uint64_t kShownBytesMin = std::uint64_t{1} << 20;
constexpr std::size_t kBarMin = 10;
constexpr std::size_t kBarMax = 40;
constexpr std::size_t kDecoration = 8;  // " [", "] ", "100%"

}  // namespace

std::string PrintProgress(const std::string& title, std::uint64_t done, std::uint64_t total,
                          std::size_t columns) {
  double part = total == 0 ? 1.0 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  std::string percent = std::to_string(static_cast<int>(part * 100)) + "%";
  if (columns < kDecoration + kBarMin) return percent;
  std::size_t bar = std::clamp(columns - std::min(columns, title.size() + kDecoration), kBarMin, kBarMax);
  std::string shown_title = title.substr(0, columns - kDecoration - bar);
  auto filled = static_cast<std::size_t>(part * static_cast<double>(bar));
  return shown_title + " [" + std::string(filled, '=') + std::string(bar - filled, ' ') + "] " + percent;
}

ProgressBar::ProgressBar(const Console& console, std::string title, std::uint64_t total)
    : console_(console), title_(wire::VisibleText(title)), total_(total) {}

ProgressBar::~ProgressBar() {
  if (!shown_.empty()) console_.Transient("\r\x1b[K");
}

void ProgressBar::Show(std::uint64_t done) {
  if (total_ < kShownBytesMin || !Console::ErrIsTerminal()) return;
  std::string text = PrintProgress(title_, done, total_, Console::ErrColumns() - 1);
  if (text == shown_) return;
  console_.Transient("\r" + text + "\x1b[K");
  shown_ = std::move(text);
}

}  // namespace trainyard::cli
