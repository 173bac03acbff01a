// What a program writes to stderr: entries are the same however the bytes arrive, nothing of the text is
// lost, and what is kept of a traceback is within its limit. The first byte says how the text is cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/wire/utf8.h"
#include "programs/lines/line_splitter.h"
#include "programs/lines/stderr_entries.h"
#include "rules/diagnosis/traceback_lines.h"

namespace {

using namespace trainyard;

std::vector<std::string> Entries(std::string_view bytes, std::size_t piece) {
  std::vector<std::string> found;
  replica::LineSplitter splitter;
  replica::StderrEntries entries;
  const auto sink = [&found](std::string_view entry) { found.emplace_back(entry); };
  const auto line = [&](std::string_view text) { entries.Line(text, sink); };
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    splitter.Feed(bytes.substr(0, piece), line);
  splitter.Finish(line);
  entries.Release(sink);
  TY_CHECK(!entries.holds());
  return found;
}

std::string WithoutLineEnds(std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r'; });
  return text;
}

void CheckCut(std::string_view text, std::size_t bytes_max) {
  const std::string cut = replica::CutTraceback(text, bytes_max);
  TY_CHECK(cut.size() <= bytes_max);
  TY_CHECK(!wire::IsUtf8(text) || wire::IsUtf8(cut));
}

void CheckTraceback(std::string_view text, std::size_t bytes_max) {
  for (const std::size_t size : {bytes_max, bytes_max * 8, replica::kTracebackBytesMax}) CheckCut(text, size);
  for (const auto& exception : diagnosis::ExceptionsOf(text)) {
    TY_CHECK(!exception.empty());
    for (const std::string_view line : exception) {
      TY_CHECK(!line.empty() && !line.contains('\n'));
      TY_CHECK(line.data() >= text.data() && line.data() + line.size() <= text.data() + text.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> entries = Entries(text, 1 + data[0]);
  TY_CHECK(entries == Entries(text, std::max<std::size_t>(text.size(), 1)));
  std::string all;
  for (const std::string& entry : entries) {
    all += entry;
    CheckTraceback(entry, data[0]);
  }
  TY_CHECK(WithoutLineEnds(all) == WithoutLineEnds(std::string(text)));
  CheckTraceback(text, data[0]);
  return 0;
}
