#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace trainyard::packing {

/// What an archive says of a file. A name that ends in '/' is a folder, without bytes.
struct ArchiveEntry {
  std::string name;  ///< UTF-8; safe, as EntryNames makes it
  std::int64_t bytes = 0;
  SysTime modified;
  bool executable = false;  ///< zip alone keeps it
};

/// Makes an archive piece by piece: Begin, Add as often as needed, End; for each entry. Each call appends to
/// `out` what is ready to be sent. After an error the archive is of no use. One thread at a time.
class ArchiveWriter {
 public:
  virtual ~ArchiveWriter() = default;

  virtual Status Begin(const ArchiveEntry& entry, std::string& out) = 0;
  /// kDataLoss: more bytes than the entry was said to have.
  virtual Status Add(std::string_view bytes, std::string& out) = 0;
  /// kDataLoss: fewer bytes.
  virtual Status End(std::string& out) = 0;
  /// The end of the archive, or a piece of it. True: there is more, call it again.
  virtual Result<bool> Finish(std::string& out) = 0;
};

/// GNU tar, not compressed; keeps nothing of entries that are done.
[[nodiscard]] std::unique_ptr<ArchiveWriter> MakeTarWriter();

/// Zip, deflated at its fastest, zip64 where sizes need it. Keeps about 100 bytes of each entry, and its
/// name, for the archive's end, which comes in pieces of kEndPieceBytes. Source: PKWARE's APPNOTE.TXT 6.3.10.
[[nodiscard]] std::unique_ptr<ArchiveWriter> MakeZipWriter();
inline constexpr std::size_t kEndPieceBytes = std::size_t{256} << 10;

}  // namespace trainyard::packing
