#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Removes the values of secrets from text that others will read. Pure: any thread.
namespace trainyard::text {

/// Shorter pieces are not masked: they would also occur in text unrelated to the secret.
inline constexpr std::size_t kMaskedBytesMin = 4;
/// The replacement of a value.
inline constexpr std::string_view kMask = "***";

/// The pieces of a value that are masked: each of its lines that has at least kMaskedBytesMin bytes.
[[nodiscard]] std::vector<std::string> MaskedPieces(std::string_view value);

/// A set of values to hide. Overlapping values are hidden as one.
class SecretMask {
 public:
  SecretMask() = default;
  explicit SecretMask(const std::vector<std::string>& values);

  [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }
  [[nodiscard]] std::string Apply(std::string_view text) const;

 private:
  friend class MaskedStream;
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  /// The places of the pieces in the text, in order and without overlaps.
  [[nodiscard]] std::vector<Range> Find(std::string_view text) const;
  /// Bytes at the end of the text that may be the beginning of a piece.
  [[nodiscard]] std::size_t OpenBytes(std::string_view text) const;

  std::vector<std::string> pieces_;
};

/// SecretMask for text that arrives in pieces of any size. It keeps back only bytes that may be the beginning
/// of a value; no piece contains a line end, so complete lines are returned at once.
class MaskedStream {
 public:
  [[nodiscard]] std::string Feed(const SecretMask& mask, std::string_view bytes);
  /// Call it at the end of the text: returns what was kept back.
  [[nodiscard]] std::string Finish(const SecretMask& mask);

 private:
  std::string Pass(const SecretMask& mask, std::size_t keep);

  std::string held_;
  std::size_t hidden_ = 0;  ///< this many bytes of held_ are already covered by a kMask that was returned
};

}  // namespace trainyard::text
