// Bodies in chunks and gzip: the result is the same however they are cut, and within the limits. The first
// byte says how to cut.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/http/chunk_decoder.h"
#include "net/http/gzip.h"

namespace {

struct Outcome {
  bool accepted = true;
  bool done = false;
  std::size_t consumed = 0;
  std::string text;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

constexpr std::size_t kOutMax = std::size_t{1} << 20;  // gzip may grow a thousandfold

template <class Decoder>
Outcome Decode(std::string_view in, std::size_t step_in, std::size_t step_out) {
  Decoder decoder;
  Outcome outcome;
  std::array<std::byte, 4096> out{};
  while (!decoder.done() && outcome.text.size() < kOutMax) {
    const std::string_view piece = in.substr(outcome.consumed, step_in);
    const auto step = decoder.Decode(piece, std::span(out).first(step_out));
    if (!step) {
      outcome.accepted = false;
      break;
    }
    TY_CHECK(step->consumed <= piece.size() && step->produced <= step_out);
    outcome.consumed += step->consumed;
    outcome.text.append(reinterpret_cast<const char*>(out.data()), step->produced);
    if (step->consumed == 0 && step->produced == 0) break;
  }
  outcome.done = decoder.done();
  return outcome;
}

template <class Decoder>
Outcome Check(std::string_view in, std::size_t step) {
  const Outcome whole = Decode<Decoder>(in, in.size(), 4096);
  const Outcome cut = Decode<Decoder>(in, step, 1 + step * 7 % 100);
  // A body without an end is refused sooner or later; when that is noticed may differ.
  TY_CHECK((cut.accepted && cut.done) == (whole.accepted && whole.done));
  if (whole.accepted && whole.done) TY_CHECK(cut == whole);
  return whole;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainyard::http;
  if (size == 0) return 0;
  const std::string_view in(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = 1 + data[0] % 64;
  const Outcome chunks = Check<ChunkDecoder>(in, step);
  TY_CHECK(chunks.text.size() <= in.size());
  Check<GzipDecoder>(in, step);
  const Outcome back = Decode<GzipDecoder>(GzipCompress(in), step, 100);
  TY_CHECK(back.done && back.text == in);
  return 0;
}
