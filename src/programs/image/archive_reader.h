#pragma once

#include <archive.h>

#include <cstddef>
#include <memory>

namespace trainyard::image {

/// libarchive reads this many bytes of a file at once.
inline constexpr std::size_t kReadBlock = std::size_t{1} << 20;

struct FreeArchive {
  void operator()(archive* reader) const noexcept { ::archive_read_free(reader); }
};
/// A reader of libarchive's. One thread at a time.
using ArchivePtr = std::unique_ptr<archive, FreeArchive>;

}  // namespace trainyard::image
