#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "trainyard/replica/v1/replica.pb.h"

/// Chunks in the bytes of a spool, damaged ones too: a disk may give back something else than was written.
/// Pure: any thread.
namespace trainyard::replica {

/// Lines that one chunk may stand for where the spool has lost them. The log store takes twice as many.
inline constexpr std::int64_t kMissingLinesMax = 50'000;

/// Numbers of lines, without `end`.
struct LineRange {
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

struct FoundChunk {
  std::size_t begin = 0;  ///< of its record
  std::size_t size = 0;   ///< of its record
  v1::LogChunk chunk;
};

/// The first intact record with a chunk of lines that are all in the range; what is in front of it is passed
/// over. Nothing: there is none.
[[nodiscard]] std::optional<FoundChunk> FindChunk(std::string_view bytes, LineRange lines);

/// A chunk in the place of lines that are lost, at most kMissingLinesMax of them: the first line says so, the
/// others are empty. `next_stamp`: of the line behind them.
[[nodiscard]] v1::LogChunk MissingLines(LineRange lines, std::uint64_t next_stamp);

}  // namespace trainyard::replica
