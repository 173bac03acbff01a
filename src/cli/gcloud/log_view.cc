#include "cli/gcloud/log_view.h"

#include <algorithm>

#include "base/wire/utf8.h"
#include "cli/gcloud/table.h"

namespace trainyard::cli {

namespace {

constexpr const char* kTakeLineBack = "\x1b[A\x1b[2K";  // up, and clear: ECMA-48, CUU and EL
constexpr std::size_t kTabColumns = 8;

/// The first bytes of the line that take at most so many columns, if each character takes one.
std::string_view Fitting(std::string_view line, std::size_t columns) {
  std::size_t column = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_inner = (static_cast<unsigned char>(line[i]) & 0xc0U) == 0x80U;
    if (!is_inner) column += line[i] == '\t' ? kTabColumns - column % kTabColumns : 1;
    if (column > columns) return line.substr(0, i);
  }
  return line;
}

/// The third field.
std::string_view TaskOf(std::string_view line) {
  for (int field = 0; field < 2; ++field) line.remove_prefix(std::min(line.find('\t'), line.size() - 1) + 1);
  return line.substr(0, line.find('\t'));
}

/// After the control sequence that the text begins with: ECMA-48, 5.4. 0: it is none, or not complete.
std::size_t SequenceEnd(std::string_view text) {
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (text[i] >= '@' && text[i] <= '~') return i + 1;
    if (text[i] < ' ' || text[i] > '?') return 0;
  }
  return 0;
}

std::string Coloured(const std::string& line) {
  const std::size_t tab = std::min(line.find('\t'), line.size());
  return Painted(line.substr(0, tab), ColourOfCell(line.substr(0, tab))) + line.substr(tab);
}

}  // namespace

std::string WithoutRedrawMarks(std::string_view lines) {
  std::string text(lines);
  constexpr std::string_view kMarked = "\x1d\n";
  for (std::size_t at = 0; (at = text.find(kMarked, at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string WithoutControlSequences(std::string_view text) {
  constexpr std::string_view kIntroducer = "\x1b[";
  std::string kept;
  for (std::size_t at = 0; (at = text.find(kIntroducer)) != std::string_view::npos;) {
    kept += text.substr(0, at);
    text.remove_prefix(at);
    const std::size_t end = SequenceEnd(text);
    if (end == 0) kept += kIntroducer;
    text.remove_prefix(end == 0 ? kIntroducer.size() : end);
  }
  return kept.append(text);
}

std::string LogView::Show(std::string_view lines, std::size_t columns) {
  std::string shown;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const bool is_state = line.ends_with(kRedrawMark);
    if (is_state) {
      line.remove_suffix(1);
      const std::string_view task = TaskOf(line);
      if (task == bar_task_) shown += kTakeLineBack;
      bar_task_ = task;
    } else {
      bar_task_.clear();
    }
    const std::string visible = wire::VisibleText(WithoutControlSequences(line));
    shown += Coloured(is_state ? std::string(Fitting(visible, columns)) : visible) + "\n";
  }
  return shown;
}

}  // namespace trainyard::cli
