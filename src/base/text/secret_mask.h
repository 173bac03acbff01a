#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Takes the values of secrets out of text that others will read. Pure: any thread.
namespace trainyard::text {

/// Shorter pieces are not looked for: they would be found in text that has nothing to do with the secret.
inline constexpr std::size_t kMaskedBytesMin = 4;
/// What stands for a value.
inline constexpr std::string_view kMask = "***";

/// What of a value is looked for: each of its lines that has at least kMaskedBytesMin bytes.
[[nodiscard]] std::vector<std::string> MaskedPieces(std::string_view value);

/// A set of values to hide. What overlaps is hidden as one.
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
  /// Of the pieces in the text, by place; none overlaps another.
  [[nodiscard]] std::vector<Range> Find(std::string_view text) const;
  /// Bytes at the end of the text that may be the beginning of a piece.
  [[nodiscard]] std::size_t OpenBytes(std::string_view text) const;

  std::vector<std::string> pieces_;
};

/// The same for text that comes in pieces, wherever they are cut. It keeps back only what may be the
/// beginning of a value; no value has a line's end in it, so whole lines come out at once.
class MaskedStream {
 public:
  [[nodiscard]] std::string Feed(const SecretMask& mask, std::string_view bytes);
  /// The end of the text: what was kept back.
  [[nodiscard]] std::string Finish(const SecretMask& mask);

 private:
  std::string Pass(const SecretMask& mask, std::size_t keep);

  std::string held_;
  std::size_t hidden_ = 0;  ///< so many bytes of held_ are part of what kMask stands for already
};

}  // namespace trainyard::text
