// Messages of the keeper's protocol: any bytes can be read, and what was printed reads back as the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "replica/keeper/keeper_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace keeper = trainyard::keeper;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = keeper::ParseRequest(bytes))
    TY_CHECK(keeper::ParseRequest(keeper::PrintRequest(*request)) == request);
  if (const auto answer = keeper::ParseAnswer(bytes))
    TY_CHECK(keeper::ParseAnswer(keeper::PrintAnswer(*answer)) == answer);
  return 0;
}
