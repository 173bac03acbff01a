// What replicas write: structured lines of user programs, and chunks of lines from supervisors.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/wire/json.h"
#include "base/wire/utf8.h"
#include "programs/lines/structured_line.h"
#include "stores/logs/chunk_lines.h"

namespace {

using trainyard::logging::v2::LogEntry;

void CheckStructured(std::string_view text) {
  if (!trainyard::wire::IsUtf8(text)) return;
  trainyard::replica::v1::LogLine line;
  if (!trainyard::replica::ParseStructuredLine(text, line)) {
    TY_CHECK(line.ByteSizeLong() == 0);
    return;
  }
  TY_CHECK(!line.json().fields().contains("message") || line.text().empty());
  LogEntry entry;
  *entry.mutable_json_payload() = line.json();
  LogEntry again;
  TY_CHECK(trainyard::wire::ParseJson(trainyard::wire::PrintJson(entry), again).has_value());
}

void CheckChunk(std::string_view text) {
  using namespace trainyard::logs;
  std::int32_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  LineReader reader(text);
  for (auto line = reader.Next(); line; line = reader.Next(), ++count) {
    TY_CHECK(line->bytes.data() >= text.data() &&
             line->bytes.data() + line->bytes.size() <= text.data() + text.size());
    if (count == 0) first = line->stamp;
    last = line->stamp;
  }
  trainyard::replica::v1::LogChunk chunk;
  chunk.set_line_count(count);
  chunk.set_first_stamp(first);
  chunk.set_last_stamp(last);
  chunk.set_lines(std::string(text));
  if (!trainyard::logs::CheckChunk(chunk) || count == 0) return;
  TY_CHECK(!reader.Damaged());
  std::int32_t pieces = 0;
  for (const auto& piece : CutChunk(chunk, count / 2, 100)) {
    TY_CHECK(trainyard::logs::CheckChunk(piece).has_value());
    TY_CHECK(piece.last_stamp() - piece.first_stamp() <= 100);
    pieces += piece.line_count();
  }
  TY_CHECK(pieces == count - count / 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckStructured(text);
  CheckChunk(text);
  return 0;
}
