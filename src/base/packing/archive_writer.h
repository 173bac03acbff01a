#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace trainyard::packing {

/// A file's header in an archive. A name that ends in '/' is a directory, without bytes.
struct ArchiveEntry {
  std::string name;  ///< UTF-8; safe, as EntryNames makes it
  std::int64_t bytes = 0;
  SysTime modified;
  bool executable = false;  ///< stored in zip archives only
};

/// Makes an archive piece by piece. For each entry call Begin, Add as often as needed, and End; then Finish.
/// Each call appends to `out` the bytes that are ready to be sent. After an error the archive is unusable.
/// One thread at a time.
class ArchiveWriter {
 public:
  virtual ~ArchiveWriter() = default;

  virtual Status Begin(const ArchiveEntry& entry, std::string& out) = 0;
  /// kDataLoss: there are more bytes than ArchiveEntry::bytes.
  virtual Status Add(std::string_view bytes, std::string& out) = 0;
  /// kDataLoss: there are fewer bytes than ArchiveEntry::bytes.
  virtual Status End(std::string& out) = 0;
  /// Appends the end of the archive, or a piece of it. True: there is more, call it again.
  virtual Result<bool> Finish(std::string& out) = 0;
};

/// GNU tar, not compressed; keeps no memory of finished entries.
[[nodiscard]] std::unique_ptr<ArchiveWriter> MakeTarWriter();

/// Zip, with deflate at its fastest level, and zip64 if sizes need it. Keeps about 100 bytes per entry, and
/// its name, for the archive's end, which is written in pieces of kEndPieceBytes. Source: PKWARE's
/// APPNOTE.TXT 6.3.10.
[[nodiscard]] std::unique_ptr<ArchiveWriter> MakeZipWriter();
inline constexpr std::size_t kEndPieceBytes = std::size_t{256} << 10;

}  // namespace trainyard::packing
