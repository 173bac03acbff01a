// Programs and libraries of images: what is changed can be read again and says what it was to say.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "programs/environment/elf_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainyard::environment;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kPath = "$ORIGIN/../lib";
  const auto read = ReadElf(file);
  const auto changed = WithRunPath(std::string(file), kPath);
  if (!read) TY_CHECK(!changed);
  if (!changed) return 0;
  const auto again = ReadElf(*changed);
  TY_CHECK(again.has_value());
  TY_CHECK(again->run_path == kPath);
  TY_CHECK(again->needed == read->needed);
  TY_CHECK(again->loader == read->loader);
  return 0;
}
