#include "programs/attempt/spool_chunk.h"

#include <algorithm>
#include <string>

#include "programs/attempt/spool_record.h"
#include "rules/jobs/lost_logs.h"

namespace trainyard::replica {

namespace {

/// Whether a record may begin there, without its checksum, text takes time: its content is a chunk, and
/// begins with the tag of the first field that is not 0.
bool MayBegin(std::string_view bytes) {
  constexpr char kFirstLineTag = v1::LogChunk::kFirstLineFieldNumber << 3;
  constexpr char kLineCountTag = v1::LogChunk::kLineCountFieldNumber << 3;
  const char tag = bytes[kSpoolHeaderBytes];
  return tag == kFirstLineTag || tag == kLineCountTag;
}

}  // namespace

std::optional<FoundChunk> FindChunk(std::string_view bytes, LineRange lines) {
  FoundChunk found;
  for (; found.begin + kSpoolHeaderBytes < bytes.size(); ++found.begin) {
    std::string_view rest = bytes.substr(found.begin);
    std::string_view content;
    if (!MayBegin(rest) || !TakeSpoolRecord(rest, content)) continue;
    if (!found.chunk.ParseFromArray(content.data(), static_cast<int>(content.size()))) continue;
    const std::int64_t first = found.chunk.first_line();
    if (first < lines.begin || found.chunk.line_count() <= 0 || first >= lines.end ||
        found.chunk.line_count() > lines.end - first)
      continue;
    found.size = kSpoolHeaderBytes + content.size();
    return found;
  }
  return std::nullopt;
}

v1::LogChunk MissingLines(LineRange lines, std::uint64_t next_stamp) {
  const std::int64_t count = std::min(lines.end - lines.begin, kMissingLinesMax);
  const std::int64_t last = lines.begin + count;
  const std::string text =
      count == 1
          ? "Line " + std::to_string(last) + " is not in this log: the disk lost it before the server had it."
          : "Lines " + std::to_string(lines.begin + 1) + " to " + std::to_string(last) +
                " are not in this log: the disk lost them before the server had them.";
  // The lost lines had stamps, which are odd and grow: before the next one there is room for as many.
  const std::uint64_t span = 2 * static_cast<std::uint64_t>(lines.end - lines.begin);
  return jobs::ChunkOfLostLines(lines.begin, last, next_stamp - std::min(next_stamp, span), text);
}

}  // namespace trainyard::replica
