#include "programs/lines/redraws.h"

#include <algorithm>
#include <utility>

#include "rules/diagnosis/traceback_lines.h"

namespace trainyard::replica {

namespace {

bool IsBlank(std::string_view text) noexcept { return text.find_first_not_of(' ') == std::string_view::npos; }

bool IsOver(std::uint64_t since_ns, std::chrono::nanoseconds wait, std::uint64_t now_ns) noexcept {
  return since_ns == 0 || now_ns < since_ns || now_ns - since_ns >= static_cast<std::uint64_t>(wait.count());
}

bool Has(std::string_view bytes, char c) noexcept { return bytes.find(c) != std::string_view::npos; }

}  // namespace

void Redraws::Feed(std::string_view bytes, std::uint64_t now_ns, const Sink& sink) {
  const auto end_line = [&](std::string_view text) { EndLine(text, now_ns, sink); };
  const auto pass_piece = [&](std::string_view text) { PassLine(text, sink); };
  if (!returned_ && !redrawn_ && !Has(bytes, '\r') && !Has(bytes, '\b')) {  // nearly all output
    splitter_.Feed(bytes, end_line);
    return NoteRest(now_ns);
  }
  while (!bytes.empty()) {
    if (std::exchange(returned_, false) && bytes.front() != '\n') Replace(now_ns, sink);
    const std::size_t end = bytes.find_first_of("\n\r\b");
    splitter_.Feed(bytes.substr(0, end), pass_piece);
    if (end == std::string_view::npos) break;
    const char special = bytes[end];
    bytes.remove_prefix(end + 1);
    if (special == '\n') splitter_.Feed("\n", end_line);
    if (special == '\r') returned_ = true;
    if (special != '\b') continue;
    // One alone is text: a bar is longer than a letter.
    const std::size_t more = std::min(bytes.find_first_not_of('\b'), bytes.size());
    bytes.remove_prefix(more);
    if (more == 0)
      splitter_.Feed("\b", pass_piece);
    else
      GoBack(more + 1, now_ns, sink);
  }
  NoteRest(now_ns);
}

void Redraws::Tick(std::uint64_t now_ns, const Sink& sink) {
  const bool may_show = IsOver(shown_at_, kRedrawInterval, now_ns);
  const std::string& rest = splitter_.rest();
  if (redrawn_ || returned_) {
    if (!may_show) return;
    if (!IsBlank(rest)) {
      unshown_ = rest != shown_;
      last_ = rest;
    }
    if (unshown_) Show(now_ns, sink);
    return;
  }
  if (unshown_ && may_show) Show(now_ns, sink);
  if (rest.empty() || !IsOver(rest_since_, kLineWaitMax, now_ns)) return;
  PassLine(splitter_.TakeRest(), sink);
  is_continued_ = true;
  NoteRest(now_ns);
}

void Redraws::Finish(std::uint64_t now_ns, const Sink& sink) {
  returned_ = false;
  splitter_.Finish([&](std::string_view text) { EndLine(text, now_ns, sink); });
  if (unshown_) Show(now_ns, sink);
}

bool Redraws::holds() const noexcept {
  const std::string& rest = splitter_.rest();
  if (unshown_ || rest.empty()) return unshown_;
  const bool is_state = redrawn_ || returned_;
  return !is_state || (rest != shown_ && !IsBlank(rest));
}

void Redraws::PassLine(std::string_view text, const Sink& sink) {
  sink(text, is_continued_ ? Kind::kContinued : Kind::kLine);
  is_continued_ = splitter_.was_cut();
}

void Redraws::EndLine(std::string_view line, std::uint64_t now_ns, const Sink& sink) {
  if (!redrawn_) {
    if (is_continued_ && line.empty())
      is_continued_ = false;
    else
      PassLine(line, sink);
    return;
  }
  // A program that fails while its bar is there.
  const bool is_header = line.ends_with(diagnosis::kTracebackHeader);
  if (is_header) line.remove_suffix(diagnosis::kTracebackHeader.size());
  if (!line.empty()) {
    unshown_ = line != shown_;
    last_ = line;
  }
  if (unshown_) Show(now_ns, sink);
  redrawn_ = false;
  shown_.clear();
  if (is_header) sink(diagnosis::kTracebackHeader, Kind::kLine);
}

void Redraws::Replace(std::uint64_t now_ns, const Sink& sink) {
  std::string state = splitter_.TakeRest();
  if (IsBlank(state)) {
    redrawn_ = state.empty();  // with spaces a bar is removed, and what follows is a line of its own
    return;
  }
  redrawn_ = true;
  is_continued_ = false;
  last_ = std::move(state);
  unshown_ = last_ != shown_;
  if (unshown_ && IsOver(shown_at_, kRedrawInterval, now_ns)) Show(now_ns, sink);
}

void Redraws::GoBack(std::size_t characters, std::uint64_t now_ns, const Sink& sink) {
  std::string left = splitter_.rest();
  Replace(now_ns, sink);
  const auto is_inner = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
  for (; characters > 0 && !left.empty(); --characters) {
    while (left.size() > 1 && is_inner(left.back())) left.pop_back();
    left.pop_back();
  }
  splitter_.Feed(left, [](std::string_view) {});
}

void Redraws::Show(std::uint64_t now_ns, const Sink& sink) {
  sink(last_, Kind::kRedraw);
  shown_ = last_;
  shown_at_ = now_ns;
  unshown_ = false;
}

void Redraws::NoteRest(std::uint64_t now_ns) {
  const bool has_rest = !splitter_.rest().empty();
  if (has_rest && !had_rest_) rest_since_ = now_ns;
  had_rest_ = has_rest;
}

}  // namespace trainyard::replica
