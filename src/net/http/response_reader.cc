#include "net/http/response_reader.h"

#include <algorithm>
#include <span>
#include <utility>

namespace trainyard::http {

namespace {

constexpr std::size_t kDecodedBytesMax = std::size_t{16} << 10;
constexpr int kSwitchingProtocols = 101;

std::unexpected<Error> Malformed(const std::string& reason) {
  return std::unexpected(Error{Code::kDataLoss, "the server's answer" + reason, ""});
}

}  // namespace

Result<std::size_t> ResponseReader::FeedHead(std::string_view bytes) {
  const std::size_t before = begun_.size();
  begun_.append(bytes.substr(0, std::min(bytes.size(), kHeadBytesMax + 1 - before)));
  const auto end = scanner_.Scan(begun_);
  if (!end || (!*end && begun_.size() > kHeadBytesMax)) return Malformed(" is not HTTP");
  if (!*end) return bytes.size();
  auto head = ParseResponseHead(std::string_view(begun_).substr(0, **end));
  if (!head) return Malformed(": " + head.error().reason);
  const std::size_t used = **end - before;
  begun_.clear();
  scanner_.Reset();
  if (head->status < 200 && head->status != kSwitchingProtocols) return used;
  head_ = *std::move(head);
  TY_RETURN_IF_ERROR(BeginBody());
  return used;
}

Status ResponseReader::BeginBody() {
  const auto framing = ResponseFraming(head_, to_head_);
  if (!framing) return Malformed(": " + framing.error().reason);
  framing_ = *framing;
  left_ = framing_.content_length.value_or(0);
  state_ = State::kCounted;
  if (framing_.chunked) state_ = State::kChunks;
  if (framing_.until_close) state_ = State::kUntilClose;
  if (framing_.content_length == 0U) state_ = State::kDone;
  return {};
}

Result<std::size_t> ResponseReader::FeedChunks(std::string_view bytes, const Sink& sink) {
  std::array<std::byte, kDecodedBytesMax> decoded;  // NOLINT(*-member-init): filled by the decoder
  const auto step = chunks_.Decode(bytes, decoded);
  if (!step) return Malformed(": " + step.error().message);
  if (step->produced > 0)
    TY_RETURN_IF_ERROR(sink({reinterpret_cast<const char*>(decoded.data()), step->produced}));
  if (chunks_.done()) state_ = State::kDone;
  return step->consumed;
}

Result<std::size_t> ResponseReader::Feed(std::string_view bytes, const Sink& sink) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ != State::kDone) {
    const std::string_view rest = bytes.substr(used);
    if (state_ == State::kHead) {
      TY_TRY(const std::size_t taken, FeedHead(rest));
      used += taken;
      continue;
    }
    if (state_ == State::kChunks) {
      TY_TRY(const std::size_t taken, FeedChunks(rest, sink));
      used += taken;
      continue;
    }
    const bool counted = state_ == State::kCounted;
    const std::string_view piece =
        counted ? rest.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), left_)))
                : rest;
    TY_RETURN_IF_ERROR(sink(piece));
    used += piece.size();
    left_ -= counted ? piece.size() : 0;
    if (counted && left_ == 0) state_ = State::kDone;
  }
  return used;
}

Status ResponseReader::End() {
  if (state_ == State::kHead && begun_.empty())
    return std::unexpected(Unavailable("the server closed the connection without an answer"));
  if (state_ != State::kDone && state_ != State::kUntilClose) return Malformed(" is cut");
  state_ = State::kDone;
  return {};
}

}  // namespace trainyard::http
