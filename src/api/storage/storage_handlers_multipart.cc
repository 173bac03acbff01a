#include "api/storage/storage_handlers_multipart.h"

#include <algorithm>
#include <utility>

#include "net/http/text.h"

namespace trainyard::api::storage_api {
namespace {

constexpr std::size_t kLineBytesMax = 8192;
constexpr std::size_t kBoundaryBytesMax = 200;  // RFC 2046 allows 70; apitools stays below, others may not

std::unexpected<Error> Malformed(std::string_view why) {
  return std::unexpected(InvalidArgument({}, "Malformed multipart body: " + std::string(why)));
}

/// The value of a parameter without the quotes around it: double ones, or the single ones that apitools
/// writes.
std::string_view ParameterOf(std::string_view header, std::string_view name) {
  for (std::size_t semicolon; (semicolon = header.find(';')) != std::string_view::npos;) {
    header = http::Trim(header.substr(semicolon + 1));
    const std::size_t equals = header.find('=');
    if (equals == std::string_view::npos) return {};
    if (!http::EqualsIgnoringCase(http::Trim(header.substr(0, equals)), name)) continue;
    std::string_view value = http::Trim(header.substr(equals + 1));
    for (const char quote : {'"', '\''}) {
      const std::size_t end = value.starts_with(quote) ? value.find(quote, 1) : std::string_view::npos;
      if (end != std::string_view::npos) return value.substr(1, end - 1);
    }
    return value.starts_with('"') ? std::string_view() : http::Trim(value.substr(0, value.find(';')));
  }
  return {};
}

}  // namespace

Result<MultipartUpload> MultipartUpload::Create(std::string_view content_type) {
  const std::string_view type = http::Trim(content_type.substr(0, content_type.find(';')));
  const std::string_view boundary = ParameterOf(content_type, "boundary");
  if (!http::EqualsIgnoringCase(type, "multipart/related") || boundary.empty() ||
      boundary.size() > kBoundaryBytesMax) {
    return std::unexpected(InvalidArgument(
        {}, "A multipart upload needs a Content-Type of multipart/related with a boundary, but it is \"" +
                std::string(content_type) + "\""));
  }
  return MultipartUpload("--" + std::string(boundary));
}

Status MultipartUpload::Feed(std::string_view bytes) {
  if (state_ == State::kEnd) return {};  // the epilogue is ignored
  buffer_.append(bytes);
  while (true) {
    TY_TRY(const bool again, Step());
    if (!again) break;
  }
  buffer_.erase(0, std::exchange(taken_, 0));
  return {};
}

std::string MultipartUpload::TakeMedia() {
  return media_began() ? std::exchange(content_, {}) : std::string();
}

Result<bool> MultipartUpload::Step() {
  switch (state_) {
    case State::kPreamble: return ReadPreamble();
    case State::kResourceHead:
    case State::kMediaHead: return ReadHead();
    case State::kResource:
    case State::kMedia: return ReadContent();
    case State::kEnd: return false;
  }
  return false;
}

/// The next line without its line end; absent if it is incomplete.
std::optional<std::string_view> MultipartUpload::TakeLine() {
  const std::size_t end = buffer_.find('\n', taken_);
  if (end == std::string::npos) return std::nullopt;
  std::string_view line(buffer_.data() + taken_, end - taken_);
  bare_lf_ = !line.ends_with('\r');
  if (!bare_lf_) line.remove_suffix(1);
  taken_ = end + 1;
  return line;
}

Result<bool> MultipartUpload::ReadPreamble() {
  const auto line = TakeLine();
  if (!line) return buffer_.size() - taken_ > kLineBytesMax ? Result<bool>(Malformed("no boundary")) : false;
  if (http::Trim(*line) == boundary_) state_ = State::kResourceHead;
  return true;
}

Result<bool> MultipartUpload::ReadHead() {
  const auto line = TakeLine();
  if (!line)
    return buffer_.size() - taken_ > kLineBytesMax ? Result<bool>(Malformed("a header is too long")) : false;
  if (line->empty()) {
    state_ = state_ == State::kResourceHead ? State::kResource : State::kMedia;
    at_start_ = true;
    return true;
  }
  constexpr std::string_view kContentType = "content-type";
  const std::size_t colon = line->find(':');
  if (state_ == State::kMediaHead && colon != std::string_view::npos &&
      http::EqualsIgnoringCase(line->substr(0, colon), kContentType)) {
    media_type_ = std::string(http::Trim(line->substr(colon + 1)));
  }
  return true;
}

/// Moves bytes from the front of the buffer to the content.
void MultipartUpload::TakeContent(std::size_t length) {
  content_.append(buffer_, taken_, length);
  taken_ += length;
  if (length > 0) at_start_ = false;
}

Result<bool> MultipartUpload::ReadContent() {
  const std::string end = (bare_lf_ ? "\n" : "\r\n") + boundary_;
  std::string_view rest = std::string_view(buffer_).substr(taken_);
  const bool empty_part = at_start_ && rest.starts_with(boundary_);
  const std::size_t found = empty_part ? 0 : rest.find(end);
  // Bytes that may be the beginning of a boundary stay in the buffer.
  TakeContent(found != std::string_view::npos ? found : rest.size() - std::min(rest.size(), end.size()));
  if (state_ == State::kResource && content_.size() > kResourceBytesMax)
    return Malformed("the resource is too long");
  if (found == std::string_view::npos) return false;

  rest = std::string_view(buffer_).substr(taken_ + (empty_part ? boundary_.size() : end.size()));
  const bool closing = rest.starts_with("--");
  if (!closing && rest.find('\n') == std::string_view::npos) {
    return rest.size() > kLineBytesMax ? Result<bool>(Malformed("a boundary without a line end")) : false;
  }
  if (state_ == State::kMedia && !closing) return Malformed("more than two parts");
  if (state_ == State::kResource && closing) return Malformed("it has no part with the object's bytes");
  taken_ = buffer_.size() - rest.size();
  if (closing) {
    state_ = State::kEnd;
    return false;
  }
  resource_ = std::exchange(content_, {});
  state_ = State::kMediaHead;
  return TakeLine().has_value();
}

}  // namespace trainyard::api::storage_api
