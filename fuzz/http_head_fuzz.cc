// Heads of requests and answers, and whole answers: the result is the same however the bytes are cut, what
// is read contains nothing that could end a line, and no rule accepts two framings at once.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/http/head.h"
#include "net/http/response_reader.h"

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
      // A complete head may precede what the whole text is refused for.
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

struct Answer {
  bool accepted = true;
  bool done = false;
  std::size_t used = 0;
  std::string body;
  friend bool operator==(const Answer&, const Answer&) = default;
};

Answer ReadAnswer(std::string_view text, std::size_t piece_size) {
  ResponseReader reader;
  Answer answer;
  const auto keep = [&answer](std::string_view bytes) -> trainyard::Status {
    answer.body.append(bytes);
    return {};
  };
  while (answer.used < text.size() && !reader.done()) {
    const std::string_view piece = text.substr(answer.used, piece_size);
    const auto used = reader.Feed(piece, keep);
    if (!used) return {.accepted = false};
    TY_CHECK(*used == piece.size() || reader.done());
    answer.used += *used;
  }
  answer.done = reader.done();
  return answer;
}

void CheckAnswer(std::string_view text) {
  const Answer whole = ReadAnswer(text, text.size());
  TY_CHECK(whole.body.size() <= text.size());
  const Answer cut = ReadAnswer(text, 1);
  // How much of a malformed answer is used before it is refused may differ.
  TY_CHECK((cut.accepted && cut.done) == (whole.accepted && whole.done));
  if (whole.accepted) TY_CHECK(cut == whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckScanner(text);
  CheckAnswer(text);
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
