// What servers say, and names and times from outside: read without failing; what was printed reads again as
// the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/error_body.h"
#include "wire/resource_name.h"
#include "wire/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = trainyard::wire;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const trainyard::Error error = wire::ParseErrorBody(400, text);
  const trainyard::Error again =
      wire::ParseErrorBody(wire::HttpStatus(error.code), wire::PrintErrorBody(error));
  TY_CHECK(wire::ParseErrorBody(wire::HttpStatus(again.code), wire::PrintErrorBody(again)) == again);
  if (const auto uri = wire::ObjectUri::Parse(text)) TY_CHECK(wire::ObjectUri::Parse(uri->ToString()) == uri);
  if (const auto name = wire::JobName::Parse(text)) TY_CHECK(name->ToString() == text);
  if (const auto time = wire::ParseTime(text)) TY_CHECK(wire::ParseTime(wire::PrintTime(*time)) == time);
  if (const auto length = wire::ParseDuration(text))
    TY_CHECK(wire::ParseDuration(wire::PrintDuration(*length)) == length);
  return 0;
}
