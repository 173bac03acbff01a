// Page tokens: what Seal made opens as the same numbers, in the same context only; nothing else opens.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "stores/store/page_token.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace store = trainyard::store;
  static const store::PageTokenKey key = store::ParsePageTokenKey("0123456789abcdef").value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  std::array<std::int64_t, 3> numbers{};
  const auto opened = store::OpenPageToken(key, "list", text, numbers);
  if (opened) TY_CHECK(store::SealPageToken(key, "list", numbers) == text);
  if (!opened) TY_CHECK(opened.error().field == "page_token");

  std::memcpy(numbers.data(), data, std::min(size, sizeof numbers));
  const std::string token = store::SealPageToken(key, text, numbers);
  std::array<std::int64_t, 3> again{};
  TY_CHECK(store::OpenPageToken(key, text, token, again).has_value());
  TY_CHECK(again == numbers);
  TY_CHECK(!store::OpenPageToken(key, std::string(text) + ".", token, again));
  // Changing any single bit must be noticed.
  if (size > 0) {
    std::string forged = token;
    char& c = forged[data[0] % forged.size()];
    c = static_cast<char>(c ^ (1 << (data[size - 1] % 8)));
    TY_CHECK(!store::OpenPageToken(key, text, forged, again));
  }
  return 0;
}
