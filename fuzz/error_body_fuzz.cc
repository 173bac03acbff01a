// Error bodies of servers: any text can be read, and what was printed reads back as the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/wire/error_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = trainyard::wire;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const trainyard::Error error = wire::ParseErrorBody(400, text);
  const trainyard::Error again =
      wire::ParseErrorBody(wire::HttpStatus(error.code), wire::PrintErrorBody(error));
  TY_CHECK(wire::ParseErrorBody(wire::HttpStatus(again.code), wire::PrintErrorBody(again)) == again);
  return 0;
}
