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

// Chunks in the bytes of a spool, damaged ones too: a disk may give back something else than was written.
// Pure: any thread.

inline constexpr std::size_t kSpoolHeaderBytes = 8;

/// A record on disk: size and CRC-32 of the content, four bytes each, little-endian, then the content.
[[nodiscard]] std::string SpoolRecord(std::string_view content);

/// Size of the content that a header announces. `header` has kSpoolHeaderBytes bytes.
[[nodiscard]] std::size_t SpoolContentSize(std::string_view header) noexcept;

/// Whether the content is what the header was written for. Pure: any thread.
[[nodiscard]] bool SpoolContentIntact(std::string_view header, std::string_view content) noexcept;

/// Takes the first record off `bytes`; false, and nothing changed, when the rest is cut off or damaged.
[[nodiscard]] bool TakeSpoolRecord(std::string_view& bytes, std::string_view& content) noexcept;

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

/// One file of the spool; it goes when all its lines are acknowledged.
inline constexpr std::int64_t kSpoolSegmentBytes = std::int64_t{4} << 20;
/// A smaller one is not worth a new file when all of it is acknowledged.
inline constexpr std::int64_t kSpoolSegmentKeptBytes = std::int64_t{256} << 10;
/// What may be on its way to the server without an acknowledgement.
inline constexpr std::int64_t kInFlightBytesMax = std::int64_t{1} << 20;
inline constexpr std::size_t kInFlightChunksMax = 256;

/// The log chunks of one attempt on disk, from being written to being acknowledged by the server: a directory
/// of segments "FIRSTLINE.log" with records (TakeSpoolRecord). Memory use does not depend on how much is
/// spooled. One thread. A crash of the supervisor loses nothing of it; one of the machine, what was written
/// since Sync. Records that the disk has damaged are passed over, and a chunk in their place says which lines
/// are missing.
class Spool {
 public:
  /// Makes the directory. kAlreadyExists: the attempt has been started before.
  [[nodiscard]] static Result<Spool> Create(std::string folder);

  /// kResourceExhausted: the disk is full, the spool is as before; try again.
  [[nodiscard]] Status Append(const v1::LogChunk& chunk);

  /// Makes what is not acknowledged durable. Nothing to be done: takes no time. An error may be told only
  /// once, although the lines are lost: later calls may succeed.
  [[nodiscard]] Status Sync();

  /// The next chunk to be sent, serialized; nothing when all were sent or too much is in flight. An error:
  /// the machine is short of something, try again.
  [[nodiscard]] Result<std::optional<std::string>> TakeNext();
  /// The connection was lost: everything that is not acknowledged is to be sent again.
  void Rewind();
  /// Every line before `next_line` is durable at the server.
  void Acknowledge(std::int64_t next_line);

  /// Bytes that are not acknowledged. The disk holds up to a segment more.
  [[nodiscard]] std::int64_t bytes() const noexcept { return end_ - acknowledged(); }
  /// Whether each chunk was handed out since the last Rewind.
  [[nodiscard]] bool all_sent() const noexcept { return next_ == end_; }

 private:
  /// Records are addressed by their distance from the first byte ever written.
  struct Sent {
    std::int64_t begin;
    std::int64_t size;  ///< with what is damaged in front of it
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
    std::int64_t end = 0;   ///< where it ends
    v1::LogChunk chunk;     ///< without lines: there is none, and it begins behind the last line
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
  std::uint64_t end_stamp_ = 0;    ///< behind the last line's
  bool has_new_segments_ = false;  ///< since the last Sync
  std::int64_t acknowledged_line_ = 0;
};

/// Reads the lines from `from_line` on that the spool still has, in order. Chunks between them say which
/// lines are missing. A damaged end is left out: the supervisor may have been killed while it wrote. A spool
/// that was never made is empty.
[[nodiscard]] Result<std::vector<v1::LogChunk>> ReadSpool(const std::string& folder, std::int64_t from_line);

}  // namespace trainyard::replica
