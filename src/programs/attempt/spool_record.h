#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::replica {

inline constexpr std::size_t kSpoolHeaderBytes = 8;

/// A record on disk: size and CRC-32 of the content, four bytes each, little-endian, then the content.
[[nodiscard]] std::string SpoolRecord(std::string_view content);

/// Size of the content that a header announces. `header` has kSpoolHeaderBytes bytes.
[[nodiscard]] std::size_t SpoolContentSize(std::string_view header) noexcept;

/// Whether the content is what the header was written for. Pure: any thread.
[[nodiscard]] bool SpoolContentIntact(std::string_view header, std::string_view content) noexcept;

/// Takes the first record off `bytes`; false, and nothing changed, when the rest is cut off or damaged.
[[nodiscard]] bool TakeSpoolRecord(std::string_view& bytes, std::string_view& content) noexcept;

}  // namespace trainyard::replica
