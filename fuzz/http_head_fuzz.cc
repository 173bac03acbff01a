// Heads of requests and responses: the scanner finds the same end however the bytes come, what is read has
// nothing in it that could end a line, and no rule lets two framings stand side by side.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http/head.h"

namespace {

using namespace trainyard::http;

void CheckHeaders(const Headers& headers) {
  for (const auto& [name, value] : headers.fields()) {
    TY_CHECK(!name.empty());
    TY_CHECK(name.find_first_of("\r\n: ") == std::string::npos);
    TY_CHECK(value.find_first_of("\r\n") == std::string::npos);
    TY_CHECK(!value.contains('\0'));
  }
}

void CheckScanner(std::string_view bytes) {
  HeadScanner whole;
  const auto end = whole.Scan(bytes);
  HeadScanner growing;
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    const auto step = growing.Scan(bytes.substr(0, size));
    if (!step || *step) {
      // A whole head may come before what the whole text is refused for.
      if (step && end) TY_CHECK(*step == *end);
      return;
    }
  }
  TY_CHECK(end && !*end);
}

void CheckFraming(const RequestHead& head) {
  TY_CHECK(head.target.find_first_of(" \r\n") == std::string::npos);
  CheckHeaders(head.headers);
  const auto strict = RequestFraming(head, FramingRules::kStrict);
  const auto lenient = RequestFraming(head, FramingRules::kChunkedWins);
  for (const auto& framing : {strict, lenient}) {
    if (framing) TY_CHECK(!(framing->chunked && framing->content_length) && !framing->until_close);
  }
  if (strict) TY_CHECK(lenient && *strict == *lenient);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckScanner(text);
  HeadScanner scanner;
  const auto end = scanner.Scan(text);
  if (!end || !*end) return 0;
  const std::string_view head = text.substr(0, **end);
  if (const auto request = ParseRequestHead(head)) CheckFraming(*request);
  if (const auto response = ParseResponseHead(head)) {
    CheckHeaders(response->headers);
    TY_CHECK(response->status >= 100 && response->status <= 999);
    static_cast<void>(ResponseFraming(*response, false));
    static_cast<void>(ResponseFraming(*response, true));
  }
  return 0;
}
