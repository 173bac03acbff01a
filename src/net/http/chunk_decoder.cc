#include "net/http/chunk_decoder.h"

#include <algorithm>
#include <cstring>

#include "base/text/hex.h"

namespace trainyard::http {

namespace {

constexpr int kSizeDigitsMax = 15;  // 2^60 - 1: cannot overflow

std::unexpected<Error> Malformed() {
  return std::unexpected(InvalidArgument("", "malformed chunk in the body"));
}

}  // namespace

Result<ChunkDecoder::Step> ChunkDecoder::Decode(std::string_view in, std::span<std::byte> out) {
  Step step;
  while (step.consumed < in.size() && state_ != State::kDone) {
    if (state_ != State::kData) {
      TY_RETURN_IF_ERROR(Take(in[step.consumed]));
      ++step.consumed;
      continue;
    }
    const std::size_t space = std::min(in.size() - step.consumed, out.size() - step.produced);
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(space, left_));
    if (count == 0) break;
    std::memcpy(out.data() + step.produced, in.data() + step.consumed, count);
    step.consumed += count;
    step.produced += count;
    left_ -= count;
    if (left_ == 0) state_ = State::kDataCr;
  }
  return step;
}

Status ChunkDecoder::Take(char c) {
  switch (state_) {
    case State::kSize: return TakeSize(c);
    case State::kExtension:
      if (c == '\r') state_ = State::kSizeEnd;
      return c == '\r' ? Status() : CountOverhead(c);
    case State::kSizeEnd:
      digits_ = 0;
      return Expect(c, '\n', left_ == 0 ? State::kTrailerStart : State::kData);
    case State::kDataCr: return Expect(c, '\r', State::kDataLf);
    case State::kDataLf: return Expect(c, '\n', State::kSize);
    case State::kTrailerStart:
      state_ = c == '\r' ? State::kEndLf : State::kTrailer;
      return c == '\r' ? Status() : CountOverhead(c);
    case State::kTrailer:
      if (c == '\r') state_ = State::kTrailerLf;
      return c == '\r' ? Status() : CountOverhead(c);
    case State::kTrailerLf: return Expect(c, '\n', State::kTrailerStart);
    case State::kEndLf: return Expect(c, '\n', State::kDone);
    case State::kData:
    case State::kDone: break;
  }
  return {};
}

Status ChunkDecoder::TakeSize(char c) {
  if (const int digit = text::HexValue(c); digit >= 0) {
    if (++digits_ > kSizeDigitsMax) return Malformed();
    left_ = (digits_ == 1 ? 0 : left_ * 16) + static_cast<std::uint64_t>(digit);
    return {};
  }
  if (digits_ == 0) return Malformed();
  if (c == '\r') {
    state_ = State::kSizeEnd;
  } else if (c == ';') {
    state_ = State::kExtension;
  } else {
    return Malformed();
  }
  return {};
}

Status ChunkDecoder::CountOverhead(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if ((byte < 0x20 && c != '\t') || byte == 0x7f) return Malformed();
  if (++overhead_ > kChunkOverheadMax)
    return std::unexpected(
        InvalidArgument("", "the extensions and trailers of the body's chunks are too long"));
  return {};
}

Status ChunkDecoder::Expect(char c, char expected, State next) {
  if (c != expected) return Malformed();
  state_ = next;
  return {};
}

}  // namespace trainyard::http
