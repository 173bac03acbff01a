#include "programs/environment/tool_output.h"

#include <fcntl.h>

#include <utility>

#include "base/async/file.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

namespace {

bool IsWarning(std::string_view line) {
  return line.starts_with("WARNING: ") || line.starts_with("ERROR: ") || line.starts_with("warning: ");
}

}  // namespace

ToolOutput::ToolOutput(const std::filesystem::path& folder, const PreparationHooks& hooks, std::string what,
                       Now now)
    : hooks_(hooks), now_(std::move(now)), what_(std::move(what)), install_(what_) {
  if (auto file = OpenFile(Layout::Output(folder), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644))
    file_ = *std::move(file);
}

void ToolOutput::Begin(std::string_view command) {
  install_ = InstallProgress(what_);
  tail_.clear();
  begin_ = said_ = now_();
  Write(command);
  hooks_.info(command);
}

void ToolOutput::Take(std::string_view line, bool is_error) {
  Write(line);
  tail_.push_back({std::string(line), is_error});
  if (tail_.size() > kTailLines) tail_.pop_front();
  if (is_error && IsWarning(line)) hooks_.error(line);
  if (!begin_) return;
  if (const auto progress = install_.TakeLine(line); progress && hooks_.progress) hooks_.progress(*progress);
  if (const auto now = now_(); now >= said_ + kSayInterval && !install_.Text().empty()) {
    said_ = now;
    hooks_.info("So far: " + install_.Text() + ".");
  }
}

void ToolOutput::Write(std::string_view line) {
  std::string text(line.substr(0, bytes_left_));
  bytes_left_ -= text.size();
  if (bytes_left_ > 0) text += '\n', --bytes_left_;
  if (file_ && !text.empty() && !WriteAll(file_.get(), text)) file_.Reset();
}

void ToolOutput::End(bool ok) {
  if (ok) {
    if (!begin_ || install_.Text().empty()) return;
    const auto seconds = std::chrono::round<std::chrono::seconds>(now_() - *begin_).count();
    begin_.reset();
    hooks_.info("Installed in " + std::to_string(seconds) + " s: " + install_.Text() + "." +
                (hooks_.shown_by.empty() ? "" : " All output: " + hooks_.shown_by));
    return;
  }
  for (const Line& line : tail_) {
    if (line.is_error && IsWarning(line.text)) continue;  // the log has it
    (line.is_error ? hooks_.error : hooks_.info)(line.text);
  }
  if (!hooks_.shown_by.empty()) hooks_.info("All output: " + hooks_.shown_by);
}

}  // namespace trainyard::environment
