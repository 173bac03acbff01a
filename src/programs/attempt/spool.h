#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

// Chunks in the bytes of a spool, including damaged ones: a disk may return other data than was written.
// Pure: any thread.

inline constexpr std::size_t kSpoolHeaderBytes = 8;

/// A record on disk: size and CRC-32 of the content, four bytes each, little-endian, then the content.
[[nodiscard]] std::string SpoolRecord(std::string_view content);

/// Size of the content that a header announces. `header` has kSpoolHeaderBytes bytes.
[[nodiscard]] std::size_t SpoolContentSize(std::string_view header) noexcept;

/// Whether the content matches the header. Pure: any thread.
[[nodiscard]] bool SpoolContentIntact(std::string_view header, std::string_view content) noexcept;

/// Removes the first record from `bytes` and returns its content; false, with nothing changed, if the rest is
/// cut off or damaged.
[[nodiscard]] bool TakeSpoolRecord(std::string_view& bytes, std::string_view& content) noexcept;

/// The most lost lines that one chunk may replace. The log store accepts twice as many lines.
inline constexpr std::int64_t kMissingLinesMax = 50'000;

/// A range of line numbers, without `end`.
struct LineRange {
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

struct FoundChunk {
  std::size_t begin = 0;  ///< of its record
  std::size_t size = 0;   ///< of its record
  v1::LogChunk chunk;
};

/// Finds the first intact record with a chunk whose lines are all in the range, and skips the bytes before
/// it. Empty: there is none.
[[nodiscard]] std::optional<FoundChunk> FindChunk(std::string_view bytes, LineRange lines);

/// Makes a chunk that replaces lost lines, at most kMissingLinesMax of them: the first line says so, the
/// others are empty. `next_stamp`: the stamp of the line after them.
[[nodiscard]] v1::LogChunk MissingLines(LineRange lines, std::uint64_t next_stamp);

/// The size of one file of the spool; a file is removed when all of its lines are acknowledged.
inline constexpr std::int64_t kSpoolSegmentBytes = std::int64_t{4} << 20;
/// A file that is smaller is kept and used further when all of its lines are acknowledged.
inline constexpr std::int64_t kSpoolSegmentKeptBytes = std::int64_t{256} << 10;
/// The most that may be on its way to the server without an acknowledgement.
inline constexpr std::int64_t kInFlightBytesMax = std::int64_t{1} << 20;
inline constexpr std::size_t kInFlightChunksMax = 256;

/// Keeps the log chunks of one attempt on disk until the server has acknowledged them: a directory of
/// segments "FIRSTLINE.log" with records (TakeSpoolRecord). Memory use does not depend on how much is
/// spooled. One thread. A crash of the supervisor loses nothing; a crash of the machine loses what was
/// written since Sync. Records that the disk has damaged are skipped, and a chunk in their place says which
/// lines are missing.
class Spool {
 public:
  /// Makes the directory. kAlreadyExists: the attempt has been started before.
  [[nodiscard]] static Result<Spool> Create(std::string folder);

  /// kResourceExhausted: the disk is full and the spool unchanged; try again.
  [[nodiscard]] Status Append(const v1::LogChunk& chunk);

  /// Makes unacknowledged lines durable. Takes no time if there is nothing to do. An error may be reported
  /// only once although lines are lost: later calls may succeed.
  [[nodiscard]] Status Sync();

  /// Returns the next chunk to send, serialized; empty if all were sent or too much is in flight. An error:
  /// the machine lacks memory, descriptors or the like; try again.
  [[nodiscard]] Result<std::optional<std::string>> TakeNext();
  /// Call it when the connection was lost: everything that is not acknowledged will be sent again.
  void Rewind();
  /// Call it when every line before `next_line` is durable at the server.
  void Acknowledge(std::int64_t next_line);

  /// Bytes that are not acknowledged. The disk holds up to a segment more.
  [[nodiscard]] std::int64_t bytes() const noexcept { return end_ - acknowledged(); }
  /// Whether all chunks were taken since the last Rewind.
  [[nodiscard]] bool all_sent() const noexcept { return next_ == end_; }

 private:
  /// Records are addressed by their distance from the first byte ever written.
  struct Sent {
    std::int64_t begin;
    std::int64_t size;  ///< including damaged bytes before it
    LineRange lines;
  };
  struct Segment {
    std::int64_t begin;
    std::int64_t size = 0;
    std::int64_t synced = 0;  ///< of `size`
    std::string path;
    UniqueFd file{};
  };
  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  /// The next intact record.
  struct Next {
    std::int64_t end = 0;   ///< offset of its end
    v1::LogChunk chunk;     ///< empty: there is none; it then begins after the last line
    std::string content{};  ///< the chunk, serialized
  };
  Status OpenSegment(std::int64_t first_line);
  [[nodiscard]] Result<Next> FindNext() const;
  [[nodiscard]] Result<Next> FindBehindDamage(std::deque<Segment>::const_iterator segment) const;
  void DropSegments();
  /// Everything before it is acknowledged.
  [[nodiscard]] std::int64_t acknowledged() const noexcept {
    return in_flight_.empty() ? next_ : in_flight_.front().begin;
  }

  std::string folder_;
  std::deque<Segment> segments_;
  std::deque<Sent> in_flight_;
  std::int64_t in_flight_bytes_ = 0;
  std::int64_t next_ = 0;  ///< the next record to send
  std::int64_t next_line_ = 0;
  std::int64_t end_ = 0;
  std::int64_t end_line_ = 0;
  std::uint64_t end_stamp_ = 0;    ///< after that of the last line
  bool has_new_segments_ = false;  ///< since the last Sync
  std::int64_t acknowledged_line_ = 0;
};

/// Reads the lines from `from_line` on that the spool still has, in order. Chunks between them say which
/// lines are missing. A damaged end is ignored: the supervisor may have been killed while it wrote. A spool
/// that was never created is empty.
[[nodiscard]] Result<std::vector<v1::LogChunk>> ReadSpool(const std::string& folder, std::int64_t from_line);

}  // namespace trainyard::replica
