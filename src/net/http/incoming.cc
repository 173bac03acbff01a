#include "net/http/incoming.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/wire/host_name.h"
#include "net/http/gzip.h"
#include "net/http/text.h"
#include "net/http/uri.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kFormBytesMax = std::size_t{256} << 10;

}  // namespace

std::expected<Request, HeadError> MakeRequest(RequestHead head, std::string_view scheme) {
  const std::optional<Method> method = ParseMethod(head.method);
  if (!method) return std::unexpected(HeadError{405, "the method " + head.method + " is unknown"});
  Request request;
  request.method = *method;
  request.scheme = scheme;
  request.target = std::move(head.target);
  request.headers = std::move(head.headers);
  request.host = request.headers.Get("Host");
  const Target target = SplitTarget(request.target);
  if (!target.authority.empty()) request.host = target.authority;  // RFC 9112 section 3.2.2
  if (!request.host.empty() && !wire::HostNameOf(request.host))
    return std::unexpected(
        HeadError{400, "the Host field, or the host in the request's target, is malformed"});
  request.path = target.path;
  auto query = ParseQuery(target.query);
  if (!query) return std::unexpected(HeadError{400, std::move(query).error().message});
  request.query = *std::move(query);
  return request;
}

std::expected<std::unique_ptr<BodyReader>, HeadError> DecodeBody(const Request& request, BodyReader& raw) {
  const std::string_view coding = request.headers.Get("Content-Encoding");
  if (coding.empty() || EqualsIgnoringCase(coding, "identity")) return nullptr;
  if (EqualsIgnoringCase(coding, "gzip") || EqualsIgnoringCase(coding, "x-gzip")) return InflateBody(raw);
  return std::unexpected(HeadError{415, "the only supported content coding is gzip"});
}

asio::awaitable<Status> ApplyMethodOverride(Request& request) {
  const std::string_view name = request.headers.Get("X-HTTP-Method-Override");
  if (name.empty() || request.method != Method::kPost) co_return Status();
  const std::optional<Method> method = ParseMethod(name);
  if (!method) co_return std::unexpected(InvalidArgument("", "X-HTTP-Method-Override names no known method"));
  request.method = *method;
  const bool is_form = request.headers.Get("Content-Type").starts_with("application/x-www-form-urlencoded");
  if (*method != Method::kGet || !is_form) co_return Status();
  TY_CO_TRY(const std::string form, co_await request.body->ReadAll(kFormBytesMax));
  TY_CO_TRY(auto pairs, ParseQuery(form));
  std::ranges::move(pairs, std::back_inserter(request.query));
  co_return Status();
}

namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

RequestBody::RequestBody(Channel& channel, const Framing& framing, const BodyLimits& limits)
    : channel_(channel),
      chunked_(framing.chunked),
      left_(framing.content_length.value_or(0)),
      bytes_left_(limits.bytes_max),
      wait_max_(limits.wait_max),
      rate_(limits.window_bytes_min, limits.window),
      continue_pending_(framing.expects_continue),
      finished_(!framing.chunked && framing.content_length == 0U) {}

std::unexpected<Error> RequestBody::Fail(Error error) {
  failed_ = true;
  if (error.code == Code::kDeadlineExceeded) {
    timed_out_ = true;
    error.code = Code::kUnavailable;
  }
  return std::unexpected(std::move(error));
}

asio::awaitable<Result<std::size_t>> RequestBody::ReadSome(std::span<std::byte> buffer) {
  if (failed_) co_return std::unexpected(Unavailable("the body could not be read"));
  if (finished_ || buffer.empty()) co_return 0U;
  if (std::exchange(continue_pending_, false) && channel_.Buffered().empty()) {
    Status written = co_await channel_.Write(kContinue, {}, wait_max_);
    if (!written) co_return Fail(std::move(written).error());
  }
  Result<std::size_t> got = chunked_ ? co_await ReadChunked(buffer) : co_await ReadCounted(buffer);
  if (!got) co_return Fail(std::move(got).error());
  if (*got > bytes_left_) co_return Fail({Code::kOutOfRange, "the body is too large", ""});
  bytes_left_ -= *got;
  co_return got;
}

asio::awaitable<Result<std::size_t>> RequestBody::ReadCounted(std::span<std::byte> buffer) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left_));
  const auto since = std::chrono::steady_clock::now();
  TY_CO_TRY(const std::size_t got, co_await channel_.Read(buffer.first(wanted), wait_max_));
  if (got == 0) co_return std::unexpected(InvalidArgument("", "the body is shorter than its Content-Length"));
  TY_CO_RETURN_IF_ERROR(CheckRate(got, since));
  left_ -= got;
  finished_ = left_ == 0;
  co_return got;
}

asio::awaitable<Result<std::size_t>> RequestBody::ReadChunked(std::span<std::byte> buffer) {
  while (true) {
    TY_CO_TRY(const ChunkDecoder::Step step, chunks_.Decode(channel_.Buffered(), buffer));
    channel_.Consume(step.consumed);
    finished_ = chunks_.done();
    if (step.produced > 0 || finished_) co_return step.produced;
    const auto since = std::chrono::steady_clock::now();
    TY_CO_TRY(const std::size_t got, co_await channel_.Fill(wait_max_));
    if (got == 0) co_return std::unexpected(InvalidArgument("", "the body ended before its last chunk"));
    TY_CO_RETURN_IF_ERROR(CheckRate(got, since));
  }
}

Status RequestBody::CheckRate(std::size_t bytes, std::chrono::steady_clock::time_point since) {
  if (rate_.Came(bytes, std::chrono::steady_clock::now() - since)) return {};
  return std::unexpected(Error{Code::kDeadlineExceeded, "the body arrives too slowly", ""});
}

bool RequestBody::IsWorthDraining(std::uint64_t bytes_max) const noexcept {
  return !failed_ && !continue_pending_ && (chunked_ || left_ <= bytes_max);
}

asio::awaitable<bool> RequestBody::Drain(std::uint64_t bytes_max) {
  std::array<std::byte, 8192> dropped{};
  std::uint64_t total = 0;
  while (!finished_ && total <= bytes_max) {
    const Result<std::size_t> got = co_await ReadSome(dropped);
    if (!got) co_return false;
    total += *got;
  }
  co_return finished_;
}

namespace {

class InflatingBody final : public BodyReader {
 public:
  explicit InflatingBody(BodyReader& compressed) : compressed_(compressed) {}

  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    while (!ended_ && !buffer.empty()) {
      TY_CO_TRY(const GzipDecoder::Step step, decoder_.Decode(pending_, buffer));
      pending_.remove_prefix(step.consumed);
      produced_ += step.produced;
      if (produced_ > kInflateFreeBytes && produced_ / kInflateRatioMax > taken_) {
        co_return std::unexpected(Error{Code::kOutOfRange, "the decompressed body is too large", ""});
      }
      if (step.produced > 0) co_return step.produced;
      TY_CO_RETURN_IF_ERROR(co_await TakeMore());
    }
    co_return 0U;
  }

 private:
  asio::awaitable<Status> TakeMore() {
    if (!pending_.empty())
      co_return std::unexpected(InvalidArgument("", "bytes after the end of the gzip body"));
    TY_CO_TRY(const std::size_t got,
              co_await compressed_.ReadSome(std::as_writable_bytes(std::span(buffer_))));
    taken_ += got;
    pending_ = {buffer_.data(), got};
    if (got > 0) co_return Status();
    ended_ = true;
    if (taken_ > 0 && !decoder_.done())
      co_return std::unexpected(InvalidArgument("", "the gzip body is truncated"));
    co_return Status();
  }

  BodyReader& compressed_;
  GzipDecoder decoder_;
  std::array<char, 16384> buffer_{};
  std::string_view pending_;
  std::uint64_t taken_ = 0;
  std::uint64_t produced_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<BodyReader> InflateBody(BodyReader& compressed) {
  return std::make_unique<InflatingBody>(compressed);
}

}  // namespace trainyard::http
